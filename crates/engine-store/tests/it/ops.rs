//! What each write does to a record and its times, and which changes it makes.

use std::time::Duration;

use engine_store::{Commit, Op, Store, StoreError, Version, WriteBatch};

use crate::support::{START, bytes, env, show};

/// Writes are lines of one commit each: `a=1` puts, `a!1` recreates, `a-` deletes; several with commas.
/// Time stands still, so the n-th commit has the time n.
fn run(store: &Store, commits: &[&str]) -> Vec<Commit> {
    let mut done = Vec::new();
    for commit in commits {
        let mut batch = WriteBatch::new();
        for op in commit.split(',').filter(|op| !op.is_empty()) {
            let (key, rest) = op.split_at(1);
            let (kind, value) = rest.split_at(1);
            let op = match kind {
                "=" => Op::Put(bytes(value)),
                "!" => Op::Recreate(bytes(value)),
                "-" => Op::Delete,
                other => panic!("unknown op {other}"),
            };
            batch.set(bytes(key), op);
        }
        done.push(store.apply(|_| Ok::<_, StoreError>(()), batch).unwrap());
    }
    done
}

#[track_caller]
fn check(commits: &[&str], state: &str, last_changes: &str, version: u64) {
    let store = Store::new(env());
    let done = run(&store, commits);
    let last = done.last().unwrap();
    let changes = last.changes.iter().map(|change| {
        let side = |record: &Option<engine_store::Record>| match record {
            Some(record) => String::from_utf8_lossy(&record.value).into_owned(),
            None => "_".to_owned(),
        };
        let key = String::from_utf8_lossy(&change.key);
        format!("{key}:{}>{}", side(&change.before), side(&change.after))
    });
    assert_eq!(show(&store.snapshot()), state);
    assert_eq!(changes.collect::<Vec<_>>().join(" "), last_changes);
    assert_eq!(last.version, Version::new(version));
    let times: Vec<i64> = done.iter().map(|commit| commit.time.0 - START.0).collect();
    let expected: Vec<i64> = (1..).take(commits.len()).collect();
    assert_eq!(times, expected, "every commit has a time of its own");
}

#[test]
fn writes_keep_created_and_move_updated() {
    check(&["a=1"], "a=1@1..1", "a:_>1", 1);
    check(&["a=1", "a=2"], "a=2@1..2", "a:1>2", 2);
    check(&["a=1", "a=1"], "a=1@1..1", "", 1);
    check(&["a=1", "a=1", "a=2"], "a=2@1..3", "a:1>2", 2);
    check(&["a=1", "a-"], "", "a:1>_", 2);
    check(&["a-"], "", "", 0);
    check(&[""], "", "", 0);
    check(&["a=1", "a-", "a=1"], "a=1@3..3", "a:_>1", 3);
    check(&["a=1", "a!1"], "a=1@2..2", "a:1>1", 2);
    check(&["a!1"], "a=1@1..1", "a:_>1", 1);
    check(&["b=1,a=1,c-"], "a=1@1..1 b=1@1..1", "a:_>1 b:_>1", 1);
    check(&["a=1,b=1", "a=1,b=2"], "a=1@1..1 b=2@1..2", "b:1>2", 2);
}

#[test]
fn a_refused_commit_writes_nothing() {
    let store = Store::new(env());
    let mut batch = WriteBatch::new();
    batch.put(bytes("a"), bytes("1"));
    assert_eq!(store.apply(|_| Err(StoreError::Closed), batch), Err(StoreError::Closed));
    assert_eq!(store.snapshot().version(), Version::ZERO);
    assert!(store.snapshot().is_empty());
}

#[test]
fn a_snapshot_is_before_every_later_commit_and_after_every_earlier_one() {
    let env = env();
    let store = Store::new(env.clone());
    let mut last = START;
    for round in 0..20 {
        let commit = run(&store, &[&format!("a={round}")]).remove(0);
        assert!(commit.time > last, "{commit:?}");
        if round % 3 == 0 {
            env.advance(Duration::from_micros(round));
        }
        last = store.snapshot().time();
        assert!(last >= commit.time);
        assert!(last >= env.now());
    }
}

#[test]
fn restore_brings_values_back_with_newer_times() {
    let store = Store::new(env());
    run(&store, &["a=1,b=1,c=1"]);
    let then = store.snapshot();
    run(&store, &["a=2,b-,d=1", "e=1"]);
    let commit = store.restore(&then).unwrap();
    let keys: Vec<&[u8]> = commit.changes.iter().map(|change| change.key.as_ref()).collect();
    assert_eq!(keys, [b"a", b"b", b"d", b"e"]);
    assert_eq!(commit.version, Version::new(4));
    assert_eq!(show(&store.snapshot()), "a=1@1..4 b=1@1..4 c=1@1..1");
    assert_eq!(show(&then), "a=1@1..1 b=1@1..1 c=1@1..1");

    let again = store.restore(&then).unwrap();
    assert_eq!((again.changes.len(), again.version), (0, Version::new(4)), "nothing differs");
}

#[test]
fn restore_takes_snapshots_of_other_stores_and_of_later_times() {
    let other_env = env();
    other_env.advance(Duration::from_micros(500));
    let other = Store::new(other_env);
    run(&other, &["a=1", "b=1"]);
    let store = Store::new(env());
    run(&store, &["a=0,c=0"]);
    let commit = store.restore(&other.snapshot()).unwrap();
    assert!(commit.time > other.snapshot().time(), "no record is younger than its commit");
    assert_eq!(commit.version, Version::new(2));
    assert_eq!(show(&store.snapshot()), "a=1@501..503 b=1@502..503");
}

#[test]
fn restore_lists_what_differs_unless_it_is_large() {
    #[track_caller]
    fn check(keys: usize, value_len: usize, listed: bool) {
        let store = Store::new(env());
        run(&store, &["a=1"]);
        let then = store.snapshot();
        let mut batch = WriteBatch::new();
        for key in 0..keys {
            batch.put(bytes(&key.to_string()), bytes(&"x".repeat(value_len)));
        }
        store.apply(|_| Ok::<_, StoreError>(()), batch).unwrap();
        let restored = store.writer().restore(&then, 100).unwrap();
        assert_eq!(restored.listed, listed);
        assert_eq!(restored.commit.changes.len(), if listed { keys } else { 0 });
        assert_eq!(store.snapshot().len(), 1);
    }
    check(100, 1, true);
    check(101, 1, false);
    check(4, 1_000_000, true);
    check(5, 1_000_000, false);
}

#[test]
fn a_fork_shares_the_past_and_nothing_else() {
    let store = Store::new(env());
    run(&store, &["a=1", "b=1"]);
    let fork = Store::from_snapshot(env(), &store.snapshot());
    run(&store, &["a=2"]);
    run(&fork, &["c=1"]);
    assert_eq!(show(&store.snapshot()), "a=2@1..3 b=1@2..2");
    assert_eq!(show(&fork.snapshot()), "a=1@1..1 b=1@2..2 c=1@3..3");
    assert_eq!(fork.snapshot().version(), Version::new(3));
}

#[test]
fn clear_lists_what_it_may_and_always_counts() {
    #[track_caller]
    fn check(keys: usize, value_len: usize, listed_max: usize, listed: bool) {
        let store = Store::new(env());
        let mut batch = WriteBatch::new();
        for key in 0..keys {
            batch.put(bytes(&key.to_string()), bytes(&"x".repeat(value_len)));
        }
        store.apply(|_| Ok::<_, StoreError>(()), batch).unwrap();
        let before = store.snapshot();
        let cleared = store.clear(listed_max).unwrap();
        assert_eq!(cleared.listed, listed);
        assert_eq!(cleared.commit.changes.len(), if listed { keys } else { 0 });
        assert_eq!(cleared.commit.version, Version::new(2));
        assert!(cleared.commit.time > before.time());
        assert!(store.snapshot().is_empty());
        assert_eq!(before.len(), keys);
        // Large enough to be freed by a thread: the store joins it when it goes.
        drop(before);
    }
    check(3, 1, 3, true);
    check(4, 1, 3, false);
    check(20_000, 1, 100, false);
    // Large records are not read to be listed.
    check(3, 1_000_000, 100, true);
    check(5, 1_000_000, 100, false);

    let store = Store::new(env());
    let cleared = store.clear(10).unwrap();
    assert!(cleared.listed && cleared.commit.changes.is_empty());
    assert_eq!(cleared.commit.version, Version::ZERO, "nothing was there, nothing changed");
}
