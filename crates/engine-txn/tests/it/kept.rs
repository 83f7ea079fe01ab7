//! Databases that are opened, folded, restored in constant time, and found again.

use base_env::Env;
use engine_store::{Durability, StoreError, StoreOptions, Version};
use engine_txn::{Database, Lagged, Limits, ReadTimeError};
use tempfile::TempDir;

use crate::support::{env, show, write};

fn open(dir: &TempDir, env: &Env, durability: Durability) -> Result<Database, StoreError> {
    let options = StoreOptions { durability, ..StoreOptions::kept(env.clone(), dir.path()) };
    Database::open(env.clone(), Limits::default(), options)
}

#[test]
fn a_kept_database_goes_on_where_it_was() {
    let dir = TempDir::new().unwrap();
    let env = env();
    let database = open(&dir, &env, Durability::WriteBehind).unwrap();
    let first = write(&database, "a=1 b=1");
    database.fold_now().unwrap();
    let last = write(&database, "a=2 c=1");
    assert!(matches!(open(&dir, &env, Durability::WriteBehind), Err(StoreError::InUse { .. })));
    database.close().unwrap();
    drop(database);

    let database = open(&dir, &env, Durability::WriteBehind).unwrap();
    assert_eq!(show(&database.snapshot()), "a=2 b=1 c=1");
    assert_eq!(database.log().newest(), last.version);
    assert_eq!(database.log().since(Version::new(1)), Err(Lagged));
    let next = write(&database, "b-");
    assert_eq!(next.version, last.version.next());
    assert!(next.time > last.time);
    assert_eq!(show(&database.snapshot_at(next.time).unwrap()), "a=2 c=1");
    assert!(matches!(database.snapshot_at(first.time), Err(ReadTimeError::TooOld)));
}

#[tokio::test]
async fn a_commit_is_acknowledged_in_either_durability() {
    for durability in [Durability::WriteBehind, Durability::PerCommit] {
        let dir = TempDir::new().unwrap();
        let database = open(&dir, &Env::real(), durability).unwrap();
        let commit = write(&database, "a=1");
        database.durable(&commit).await.unwrap();
        let commit = database.clear().unwrap();
        database.durable(&commit).await.unwrap();
        let commit = write(&database, "a=2");
        database.close().unwrap();
        database.durable(&commit).await.unwrap();
    }
    let database = Database::new(Env::real(), Limits::default());
    database.durable(&write(&database, "a=1")).await.unwrap();
}

#[test]
fn what_is_too_much_to_list_is_swapped_and_followers_lag() {
    let limits = Limits { clear_changes_max: 2, ..Limits::default() };
    let database = Database::new(env(), limits);
    write(&database, "a=1 b=1 c=1 d=1");
    let then = database.snapshot();
    write(&database, "a-");
    let listed = database.restore(&then).unwrap();
    assert_eq!(listed.changes.len(), 1);
    assert_eq!(database.log().since(Version::new(1)).unwrap().len(), 2);

    write(&database, "a=2 b=2 c=2 d=2 e=2");
    database.fold_now().unwrap();
    let before = database.snapshot();
    let swapped = database.restore(&then).unwrap();
    assert!(swapped.changes.is_empty());
    assert_eq!(swapped.version, before.version().next());
    assert_eq!(show(&database.snapshot()), "a=1 b=1 c=1 d=1");
    assert_eq!(database.snapshot().updated(b"b"), Some(swapped.time), "they came back then");
    assert_eq!(database.log().since(before.version()), Err(Lagged));
    assert!(matches!(database.snapshot_at(before.time()), Err(ReadTimeError::TooOld)));
    write(&database, "b=3");
    assert_eq!(show(&database.snapshot_at(swapped.time).unwrap()), "a=1 b=1 c=1 d=1");

    let fork = Database::fork(env(), Limits::default(), &before);
    write(&fork, "f=1");
    fork.fold_now().unwrap();
    write(&fork, "a-");
    assert_eq!(show(&fork.snapshot()), "b=2 c=2 d=2 e=2 f=1");
    assert_eq!(show(&database.snapshot()), "a=1 b=3 c=1 d=1");
}
