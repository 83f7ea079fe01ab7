//! The stores that are put beside each other, all behind the same two calls.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use base_env::Env;
use engine_query::Indexer;
use engine_store::{Derive as _, StoreOptions, WriteBatch};
use engine_txn::{CommitError, Database, Limits};
use fjall::KeyspaceCreateOptions;
use redb::{Durability, ReadableDatabase as _, ReadableTable as _, TableDefinition};

use super::records::Put;

/// A store of keys and values in which every put is a commit of its own.
pub(super) trait Store: Send + Sync {
    fn put(&self, put: &Put) -> Result<()>;
    /// The length of a value, which was read in full.
    fn get(&self, key: &[u8]) -> Result<Option<usize>>;
}

/// How the service opens its databases, but for where they are.
pub(super) fn options(options: StoreOptions) -> StoreOptions {
    StoreOptions { derive: Arc::new(Indexer::default()), ..options }
}

pub(super) fn open(options: StoreOptions) -> Result<Database> {
    Ok(Database::open(Env::real(), Limits::default(), self::options(options))?)
}

/// One commit as the service makes it: the document is read, then written.
pub(super) fn commit(
    database: &Database,
    put: &Put,
) -> Result<Arc<engine_store::Commit>, CommitError> {
    let committed = database.commit(None, |reads, _| {
        let _before = reads.get(&put.key);
        let mut batch = WriteBatch::new();
        batch.put(put.key.clone(), put.value.clone());
        Ok::<_, CommitError>((batch, ()))
    });
    committed.map(|(commit, ())| commit)
}

/// Many puts in one commit.
pub(super) fn commit_all(database: &Database, puts: &[Put]) -> Result<(), CommitError> {
    let mut batch = WriteBatch::new();
    for put in puts {
        batch.put(put.key.clone(), put.value.clone());
    }
    database.commit(None, |_, _| Ok::<_, CommitError>((batch.clone(), ()))).map(drop)
}

impl Store for Database {
    fn put(&self, put: &Put) -> Result<()> {
        Ok(commit(self, put).map(drop)?)
    }

    fn get(&self, key: &[u8]) -> Result<Option<usize>> {
        Ok(self.snapshot().get(key).map(|record| touched(&record.value)))
    }
}

/// Looks at the value, so that no store gets away with one it has not loaded.
fn touched(value: &[u8]) -> usize {
    std::hint::black_box(value.last());
    value.len()
}

const DOCUMENTS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("documents");
const ENTRIES: TableDefinition<'_, &[u8], ()> = TableDefinition::new("entries");
const COUNTERS: TableDefinition<'_, &[u8], u64> = TableDefinition::new("counters");

/// redb as it is, with more memory for pages than the engine gives its own.
pub(super) struct Redb {
    database: redb::Database,
    durability: Durability,
    /// Writes what the engine derives, too.
    indexer: Option<Indexer>,
}

const REDB_CACHE_BYTES: usize = 64 * 1024 * 1024;

impl Redb {
    pub(super) fn open(folder: &Path, durability: Durability) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let database = redb::Database::builder()
            .set_cache_size(REDB_CACHE_BYTES)
            .create(folder.join("redb"))?;
        let begin = database.begin_write()?;
        begin.open_table(DOCUMENTS)?;
        begin.open_table(ENTRIES)?;
        begin.open_table(COUNTERS)?;
        begin.commit()?;
        Ok(Self { database, durability, indexer: None })
    }

    /// With the entries and counters that the engine derives, in the same transaction.
    pub(super) fn with_entries(self) -> Self {
        Self { indexer: Some(Indexer::default()), ..self }
    }
}

impl Store for Redb {
    fn put(&self, put: &Put) -> Result<()> {
        let mut write = self.database.begin_write()?;
        write.set_durability(self.durability)?;
        write.open_table(DOCUMENTS)?.insert(put.key.as_ref(), put.value.as_ref())?;
        if let Some(indexer) = &self.indexer {
            let (mut entries, mut counters) = (Vec::new(), Vec::new());
            indexer.entries(&put.key, &put.value, &mut entries);
            indexer.counters(&put.key, &mut counters);
            let mut table = write.open_table(ENTRIES)?;
            for entry in entries {
                table.insert(entry.key.as_ref(), ())?;
            }
            let mut table = write.open_table(COUNTERS)?;
            for counter in counters {
                let count = table.get(counter.as_ref())?.map_or(0, |count| count.value());
                table.insert(counter.as_ref(), count + 1)?;
            }
        }
        Ok(write.commit()?)
    }

    fn get(&self, key: &[u8]) -> Result<Option<usize>> {
        let table = self.database.begin_read()?.open_table(DOCUMENTS)?;
        Ok(table.get(key)?.map(|value| touched(value.value())))
    }
}

/// fjall as it is: by default every put is in the page cache when it returns, and not on the disk.
pub(super) struct Fjall {
    keyspace: fjall::Keyspace,
    // Behind the keyspace, which it must outlive.
    _database: fjall::Database,
}

impl Fjall {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let database = fjall::Database::builder(folder.join("fjall")).open();
        let database = database.context("fjall does not open")?;
        let keyspace = database.keyspace("documents", KeyspaceCreateOptions::default)?;
        Ok(Self { keyspace, _database: database })
    }
}

impl Store for Fjall {
    fn put(&self, put: &Put) -> Result<()> {
        Ok(self.keyspace.insert(put.key.as_ref(), put.value.as_ref())?)
    }

    fn get(&self, key: &[u8]) -> Result<Option<usize>> {
        Ok(self.keyspace.get(key)?.map(|value| touched(&value)))
    }
}
