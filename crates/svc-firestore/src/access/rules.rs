//! Which rules are in force: those of the start, those that were set since, for every database of every project.
//!
//! A request takes the rules of its database once and is decided by them whole, whatever is set meanwhile.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base_status::Status;
use base_value::DatabaseName;
use engine_rules::{Diagnostic, RulesError, Ruleset, Severity};
use parking_lot::RwLock;
use tokio::sync::watch;

use super::coverage::{Recorder, Recording};
use crate::limits::{PAST_RULESETS_MAX, RULESETS_MAX};

/// Rules with the name of their file.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) name: String,
    pub(crate) ruleset: Ruleset,
    /// What was counted where they are in force no more.
    past: Recorder,
}

impl Loaded {
    pub(crate) fn new(name: &str, ruleset: Ruleset) -> Arc<Loaded> {
        Arc::new(Loaded { name: name.to_owned(), ruleset, past: Recorder::default() })
    }
}

/// Rules as they decide in one place since they were set there, with what they came to.
#[derive(Debug)]
pub(crate) struct InForce {
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) recorder: Recorder,
}

impl InForce {
    fn new(loaded: Arc<Loaded>) -> Arc<InForce> {
        Arc::new(InForce { loaded, recorder: Recorder::default() })
    }

    /// What is to be told of every expression.
    pub(crate) fn recording(&self) -> Recording<'_> {
        Recording { ruleset: &self.loaded.ruleset, recorder: &self.recorder }
    }
}

impl Drop for InForce {
    fn drop(&mut self) {
        self.loaded.past.absorb(&self.loaded.ruleset, &self.recorder);
    }
}

/// Whose rules are set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Those of all databases, whatever was set before.
    Everybody,
    /// Those of the start: of every database of all projects, or of one database id, where nothing else is
    /// set.
    Start { database: Option<String> },
    /// Those of one project, as the official emulator's upload sets them.
    Project(String),
    /// Those of one database alone.
    Database(DatabaseName),
}

/// The rules of one suite.
pub(crate) struct Rules {
    table: RwLock<Table>,
    /// How often they were changed.
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct Table {
    everywhere: Option<Arc<InForce>>,
    of_ids: HashMap<String, Arc<InForce>>,
    of_projects: HashMap<String, Arc<InForce>>,
    of_databases: HashMap<DatabaseName, Arc<InForce>>,
    /// All that are in force, and some that were, the latest last: each source once.
    known: Vec<Arc<Loaded>>,
}

impl Default for Rules {
    fn default() -> Self {
        Rules { table: RwLock::default(), changes: watch::channel(0).0 }
    }
}

impl Rules {
    /// The rules of a database; none where everything is open to everybody.
    pub(crate) fn of(&self, name: &DatabaseName) -> Option<Arc<InForce>> {
        let table = self.table.read();
        let own = table.of_databases.get(name);
        own.or_else(|| table.of_projects.get(&*name.project))
            .or_else(|| table.of_ids.get(&*name.database))
            .or(table.everywhere.as_ref())
            .map(Arc::clone)
    }

    /// Reads a source and puts it in force.
    ///
    /// # Errors
    /// The source is not one; then everything stays as it was.
    pub(crate) fn set(
        &self,
        whose: Whose,
        name: &str,
        source: &str,
    ) -> Result<Arc<Loaded>, SetError> {
        // The same source again is the common case: many tests, each with a project of its own.
        let known = self.table.read().find(name, source);
        let loaded = match known {
            Some(loaded) => loaded,
            None => {
                let ruleset = Ruleset::parse(source)?;
                Loaded::new(name, ruleset)
            }
        };
        self.put(whose, Arc::clone(&loaded))?;
        Ok(loaded)
    }

    /// Puts rules in force that were read already.
    ///
    /// # Errors
    /// There are as many as there may be.
    pub(crate) fn put(&self, whose: Whose, loaded: Arc<Loaded>) -> Result<(), SetError> {
        {
            let mut table = self.table.write();
            if table.of_projects.len() + table.of_databases.len() >= RULESETS_MAX
                && !table.has_place(&whose)
            {
                return Err(SetError::TooMany);
            }
            table.put(whose, loaded);
        }
        self.changes.send_modify(|changes| *changes += 1);
        Ok(())
    }

    /// Gives the project `to` the rules that `from` has of its own.
    pub(crate) fn fork(&self, from: &str, to: &str) {
        let mut table = self.table.write();
        table.of_databases.retain(|name, _| *name.project != *to);
        let own = table.of_databases.iter().filter(|(name, _)| *name.project == *from);
        let copies: Vec<_> = own
            .map(|(name, rules)| {
                let copy = InForce::new(Arc::clone(&rules.loaded));
                (DatabaseName::new(to, &name.database), copy)
            })
            .collect();
        table.of_databases.extend(copies);
        match table.of_projects.get(from).cloned() {
            Some(rules) => {
                let copy = InForce::new(Arc::clone(&rules.loaded));
                drop(table.of_projects.insert(to.to_owned(), copy));
            }
            None => drop(table.of_projects.remove(to)),
        }
        drop(table);
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// All rules that are or were in force, with what they have come to in all places together, in the order in
    /// which they were set first.
    pub(crate) fn counted(&self) -> Vec<(Arc<Loaded>, Recorder)> {
        let table = self.table.read();
        let counted = |loaded: &Arc<Loaded>| {
            let total = Recorder::default();
            total.absorb(&loaded.ruleset, &loaded.past);
            for rules in table.in_force().filter(|rules| Arc::ptr_eq(&rules.loaded, loaded)) {
                total.absorb(&loaded.ruleset, &rules.recorder);
            }
            (Arc::clone(loaded), total)
        };
        table.known.iter().map(counted).collect()
    }

    /// Changes whenever rules do.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

impl Table {
    fn find(&self, name: &str, source: &str) -> Option<Arc<Loaded>> {
        let mut known = self.known.iter();
        known.find(|one| one.name == name && one.ruleset.source() == source).map(Arc::clone)
    }

    fn in_force(&self) -> impl Iterator<Item = &Arc<InForce>> {
        let all = self.everywhere.iter().chain(self.of_ids.values());
        all.chain(self.of_projects.values()).chain(self.of_databases.values())
    }

    /// Keeps rules known, and forgets the oldest ones that are in force nowhere where there are too many.
    fn learn(&mut self, loaded: &Arc<Loaded>) {
        if self.known.iter().any(|known| Arc::ptr_eq(known, loaded)) {
            return;
        }
        self.known.push(Arc::clone(loaded));
        let in_force: HashSet<_> =
            self.in_force().map(|rules| Arc::as_ptr(&rules.loaded)).collect();
        let is_past = |known: &Arc<Loaded>| !in_force.contains(&Arc::as_ptr(known));
        let past = self.known.iter().filter(|known| is_past(known)).count();
        // The one that is put in force now counts here, and mostly takes the place of another.
        let mut too_many = past.saturating_sub(PAST_RULESETS_MAX);
        self.known.retain(|known| {
            let is_forgotten = too_many > 0 && is_past(known);
            too_many -= usize::from(is_forgotten);
            !is_forgotten
        });
    }

    fn has_place(&self, whose: &Whose) -> bool {
        match whose {
            Whose::Everybody | Whose::Start { .. } => true,
            Whose::Project(project) => self.of_projects.contains_key(project),
            Whose::Database(name) => self.of_databases.contains_key(name),
        }
    }

    fn put(&mut self, whose: Whose, loaded: Arc<Loaded>) {
        self.learn(&loaded);
        let rules = InForce::new(loaded);
        match whose {
            Whose::Everybody => {
                let known = std::mem::take(&mut self.known);
                *self = Table { everywhere: Some(rules), known, ..Table::default() };
            }
            Whose::Start { database: None } => self.everywhere = Some(rules),
            Whose::Start { database: Some(database) } => {
                self.of_ids.insert(database, rules);
            }
            Whose::Project(project) => {
                // As in the official emulator: the project's rules are those of its default database, and of
                // the others unless they have their own.
                self.of_databases.remove(&DatabaseName::new(&project, "(default)"));
                self.of_projects.insert(project, rules);
            }
            Whose::Database(name) => {
                self.of_databases.insert(name, rules);
            }
        }
    }
}

/// Why rules were not set.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetError {
    #[error(transparent)]
    Source(#[from] RulesError),
    #[error("this suite already holds the rules of {RULESETS_MAX} projects and databases")]
    TooMany,
}

impl From<SetError> for Status {
    fn from(error: SetError) -> Status {
        let message = error.to_string();
        match error {
            SetError::Source(_) => {
                Status::new(base_status::Code::InvalidArgument, BAD_RULES, message)
            }
            SetError::TooMany => Status::resource_exhausted(message),
        }
    }
}

/// The reason of a status that refuses a source.
pub const BAD_RULES: &str = "bad-rules";

/// A finding as the official command line prints it.
pub(crate) fn line(name: &str, found: &Diagnostic) -> String {
    let Diagnostic { position, severity, text } = found;
    let severity = match severity {
        Severity::Error => "ERROR",
        Severity::Warning => "WARNING",
    };
    format!("{name}:{}:{} - {severity} {text}", position.line, position.column)
}
