//! Which indexes queries are served by, and which ones production would want.
//!
//! Every query is served, by the automatic indexes of every field and the composite ones that a project
//! declares, in its files or through the admin API. A database's store derives with the indexer that its
//! queries are prepared with; where that has just changed, queries leave out what is not derived yet.

mod advice;
mod definitions;
mod file;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use base_value::{DatabaseName, FieldPath, LimitPolicy};
use engine_query::{Indexer, Prepared, Query, RequiredIndex, required_indexes};
use parking_lot::{Mutex, RwLock};
use serde_json::Value;
use svc_kit::Log;

pub(crate) use self::definitions::{Definitions, TtlPolicy};
use crate::error::Error;
use crate::limits::ADVICE_MAX;

/// What happens to a query that production would refuse, because it needs an index that nobody has
/// declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexPolicy {
    /// Nothing.
    Off,
    /// It is answered, and the developer is told once.
    #[default]
    Warn,
    /// It is refused as production does it.
    Strict,
    /// It is answered, and the index is written into the project's file, for the suites to come.
    Record,
}

/// An index that is to be declared.
#[derive(Clone, Debug)]
pub struct MissingIndex {
    /// The entry of an index file, as nothing is declared yet.
    pub entry: Value,
    /// For an index of a single field, the one of the entry's indexes that is missing: where the field has an
    /// entry already, that is all it lacks.
    pub single: Option<Value>,
}

/// Writes an index for the database of an id into the project's index file.
pub type Recorder = Arc<dyn Fn(&str, &MissingIndex) -> Result<(), String> + Send + Sync>;

/// The indexes of every database: those of one id are the same in every project.
#[derive(Clone, Default)]
pub struct Indexes {
    /// What happens where one is missing.
    pub policy: IndexPolicy,
    /// Who writes for [`IndexPolicy::Record`].
    pub recorder: Option<Recorder>,
    automatic: Arc<Definitions>,
    databases: HashMap<String, Arc<Definitions>>,
    enterprise: Enterprise,
}

/// The databases of the enterprise edition.
#[derive(Clone, Debug, Default)]
enum Enterprise {
    #[default]
    None,
    Some(HashSet<String>),
    All,
}

impl Indexes {
    /// Adds what an index file (`firestore.indexes.json`) declares for the databases of an id.
    ///
    /// # Errors
    /// Everything that is wrong with the file, each with its place.
    pub fn declare(&mut self, database: &str, file: &Value) -> Result<(), Vec<String>> {
        let read = file::read(file)?;
        let definitions = Definitions::new(read.declared, read.ttl);
        self.databases.insert(database.to_owned(), Arc::new(definitions));
        Ok(())
    }

    /// Says that the databases of an id, or all of them, are of the enterprise edition. It refuses no query for
    /// want of an index, whatever the policy.
    pub fn set_enterprise(&mut self, database: Option<&str>) {
        match (&mut self.enterprise, database) {
            (Enterprise::All, _) => {}
            (enterprise, None) => *enterprise = Enterprise::All,
            (Enterprise::Some(ids), Some(id)) => {
                ids.insert(id.to_owned());
            }
            (enterprise @ Enterprise::None, Some(id)) => {
                *enterprise = Enterprise::Some(HashSet::from([id.to_owned()]));
            }
        }
    }

    /// Whether production refuses queries of a database that lack an index, and somebody wants to know.
    fn are_required(&self, database: &DatabaseName) -> bool {
        let is_enterprise = match &self.enterprise {
            Enterprise::None => false,
            Enterprise::Some(ids) => ids.contains(&*database.database),
            Enterprise::All => true,
        };
        self.policy != IndexPolicy::Off && !is_enterprise
    }

    fn of(&self, database: &DatabaseName) -> &Arc<Definitions> {
        self.databases.get(&*database.database).unwrap_or(&self.automatic)
    }
}

impl fmt::Debug for Indexes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexes").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// Prepares the queries of one suite, and holds what is declared for each of its databases.
pub(crate) struct Preparer {
    indexes: Indexes,
    limits: LimitPolicy,
    log: Log,
    /// What the admin API has made of the declarations of a database.
    changed: RwLock<HashMap<DatabaseName, Arc<Definitions>>>,
    /// What was said or recorded, which is done once.
    advised: Mutex<HashSet<(String, RequiredIndex)>>,
}

impl Preparer {
    pub(crate) fn new(indexes: Indexes, limits: LimitPolicy, log: Log) -> Preparer {
        let (changed, advised) = (RwLock::default(), Mutex::default());
        Preparer { indexes, limits, log, changed, advised }
    }

    /// Whether production's limits hold.
    pub(crate) fn limits(&self) -> LimitPolicy {
        self.limits
    }

    /// What is declared for a database now.
    pub(crate) fn definitions(&self, database: &DatabaseName) -> Arc<Definitions> {
        let changed = self.changed.read();
        Arc::clone(changed.get(database).unwrap_or_else(|| self.indexes.of(database)))
    }

    /// Declares something else for a database from now on.
    ///
    /// # Errors
    /// Those of `change`; then nothing changes.
    pub(crate) fn change<T>(
        &self,
        database: &DatabaseName,
        change: impl FnOnce(&Definitions) -> Result<(Definitions, T), Error>,
    ) -> Result<T, Error> {
        let mut changed = self.changed.write();
        let before = changed.get(database).unwrap_or_else(|| self.indexes.of(database));
        let (after, answer) = change(before)?;
        changed.insert(database.clone(), Arc::new(after));
        Ok(answer)
    }

    /// Goes back to what the project's files declare for a database.
    pub(crate) fn forget(&self, database: &DatabaseName) {
        self.changed.write().remove(database);
    }

    /// Declares for the databases of the project `to` what is declared for those of `from`.
    pub(crate) fn fork(&self, from: &str, to: &str) {
        let mut changed = self.changed.write();
        changed.retain(|name, _| *name.project != *to);
        let of_source = changed.iter().filter(|(name, _)| *name.project == *from);
        let copies: Vec<_> = of_source
            .map(|(name, it)| (DatabaseName::new(to, &name.database), Arc::clone(it)))
            .collect();
        changed.extend(copies);
    }

    /// Whether documents of any database may end.
    pub(crate) fn has_ttl(&self) -> bool {
        let changed = self.changed.read();
        let mut all = self.indexes.databases.values().chain(changed.values());
        all.any(|definitions| !definitions.ttl().is_empty())
    }

    /// What a database derives from its documents.
    pub(crate) fn indexer(&self, database: &DatabaseName) -> Indexer {
        self.definitions(database).indexer().clone()
    }

    /// Checks and compiles a query, to be served by the indexes.
    ///
    /// # Errors
    /// Queries that production refuses.
    pub(crate) fn prepare(&self, database: &DatabaseName, query: Query) -> Result<Prepared, Error> {
        self.prepare_sums(database, query, &[])
    }

    /// Same as [`Preparer::prepare`], for a query over which these fields are summed up.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn prepare_sums(
        &self,
        database: &DatabaseName,
        query: Query,
        sums: &[FieldPath],
    ) -> Result<Prepared, Error> {
        let definitions = self.definitions(database);
        let prepared = Prepared::new(database, Query { limits: self.limits, ..query })?;
        if self.indexes.are_required(database) {
            for required in required_indexes(prepared.query(), sums, definitions.declared())? {
                self.advise(database, required)?;
            }
        }
        Ok(prepared.with_indexer(definitions.indexer()))
    }

    fn advise(&self, database: &DatabaseName, required: RequiredIndex) -> Result<(), Error> {
        if self.indexes.policy == IndexPolicy::Strict {
            return Err(Error::IndexRequired(advice::refusal(database, &required)));
        }
        let id = database.database.to_string();
        let mut advised = self.advised.lock();
        // Many shapes are a sign of generated queries; nobody reads that many warnings.
        if advised.len() >= ADVICE_MAX || !advised.insert((id.clone(), required.clone())) {
            return Ok(());
        }
        drop(advised);
        let text = match (self.indexes.policy, &self.indexes.recorder) {
            (IndexPolicy::Record, Some(record)) => match record(&id, &advice::missing(&required)) {
                Ok(()) => return Ok(()),
                Err(problem) => advice::not_recorded(&required, &problem),
            },
            _ => advice::warning(&required),
        };
        self.log.warn("firestore", &text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_enterprise_edition_wants_no_index() {
        #[track_caller]
        fn check(policy: IndexPolicy, enterprise: &[Option<&str>], expected: [bool; 2]) {
            let mut indexes = Indexes { policy, ..Indexes::default() };
            enterprise.iter().for_each(|database| indexes.set_enterprise(*database));
            let required =
                ["(default)", "data"].map(|id| indexes.are_required(&DatabaseName::new("p", id)));
            assert_eq!(required, expected, "{policy:?} {enterprise:?}");
        }
        check(IndexPolicy::Warn, &[], [true, true]);
        check(IndexPolicy::Off, &[], [false, false]);
        check(IndexPolicy::Strict, &[Some("data")], [true, false]);
        check(IndexPolicy::Strict, &[Some("data"), Some("(default)")], [false, false]);
        check(IndexPolicy::Record, &[Some("data"), None], [false, false]);
        check(IndexPolicy::Warn, &[None, Some("data")], [false, false]);
    }
}
