//! Which indexes queries are served by, and which ones production would want.
//!
//! Every query is served, by the automatic indexes of every field and the composite ones that a project
//! declares. A database's store derives with the same indexer that its queries are prepared with.

mod advice;
mod file;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use base_value::{DatabaseName, FieldPath, LimitPolicy};
use engine_query::{Declared, Indexer, Prepared, Query, RequiredIndex, required_indexes};
use parking_lot::Mutex;
use serde_json::Value;
use svc_kit::Log;

use crate::config::Config;
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
    /// It is answered, and the index is declared from then on.
    Record,
}

/// Writes an entry for the database of an id into the project's index file.
pub type Recorder = Arc<dyn Fn(&str, &Value) -> Result<(), String> + Send + Sync>;

/// The indexes of every database: those of one id are the same in every project.
#[derive(Clone, Default)]
pub struct Indexes {
    /// What happens where one is missing.
    pub policy: IndexPolicy,
    /// Who writes for [`IndexPolicy::Record`].
    pub recorder: Option<Recorder>,
    automatic: OfDatabase,
    databases: HashMap<String, OfDatabase>,
}

#[derive(Clone, Default)]
struct OfDatabase {
    indexer: Indexer,
    declared: Declared,
}

impl Indexes {
    /// Adds what an index file (`firestore.indexes.json`) declares for the databases of an id.
    ///
    /// # Errors
    /// Everything that is wrong with the file, each with its place.
    pub fn declare(&mut self, database: &str, file: &Value) -> Result<(), Vec<String>> {
        let declared = file::read(file)?;
        let indexer = Indexer::new(declared.indexes.iter().filter_map(file::definition));
        self.databases.insert(database.to_owned(), OfDatabase { indexer, declared });
        Ok(())
    }

    fn of(&self, database: &DatabaseName) -> &OfDatabase {
        self.databases.get(&*database.database).unwrap_or(&self.automatic)
    }

    /// What is declared for a database.
    pub(crate) fn declared(&self, database: &DatabaseName) -> &Declared {
        &self.of(database).declared
    }

    /// What a database derives from its documents.
    pub(crate) fn indexer(&self, database: &DatabaseName) -> &Indexer {
        &self.of(database).indexer
    }
}

impl fmt::Debug for Indexes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexes").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// Prepares the queries of one suite.
pub(crate) struct Preparer {
    indexes: Indexes,
    limits: LimitPolicy,
    log: Log,
    /// What was said or recorded, which is done once.
    advised: Mutex<HashSet<(String, RequiredIndex)>>,
}

impl Preparer {
    pub(crate) fn new(config: Config, log: Log) -> Preparer {
        let Config { indexes, limits } = config;
        Preparer { indexes, limits, log, advised: Mutex::default() }
    }

    /// Whether production's limits hold.
    pub(crate) fn limits(&self) -> LimitPolicy {
        self.limits
    }

    pub(crate) fn indexes(&self) -> &Indexes {
        &self.indexes
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
        let of = self.indexes.of(database);
        let prepared = Prepared::new(database, Query { limits: self.limits, ..query })?;
        if self.indexes.policy != IndexPolicy::Off {
            for required in required_indexes(prepared.query(), sums, &of.declared)? {
                self.advise(database, required)?;
            }
        }
        Ok(prepared.with_indexer(&of.indexer))
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
            (IndexPolicy::Record, Some(record)) => match record(&id, &advice::entry(&required)) {
                Ok(()) => return Ok(()),
                Err(problem) => advice::not_recorded(&required, &problem),
            },
            _ => advice::warning(&required),
        };
        self.log.warn("firestore", &text);
        Ok(())
    }
}
