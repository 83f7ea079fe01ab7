//! What each write does to a record and its times, and which changes it makes.

use std::time::Duration;

use bytes::Bytes;
use engine_store::{Commit, Op, Store, StoreError, StoreOptions, Version, WriteBatch};

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
    let store = Store::memory(env());
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
    let store = Store::memory(env());
    let mut batch = WriteBatch::new();
    batch.put(bytes("a"), bytes("1"));
    assert_eq!(store.apply(|_| Err(StoreError::Closed), batch), Err(StoreError::Closed));
    assert_eq!(store.snapshot().version(), Version::ZERO);
    assert!(store.snapshot().is_empty());
}

#[test]
fn a_snapshot_is_before_every_later_commit_and_after_every_earlier_one() {
    let env = env();
    let store = Store::memory(env.clone());
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
    let store = Store::memory(env());
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
    let other = Store::memory(other_env);
    run(&other, &["a=1", "b=1"]);
    let store = Store::memory(env());
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
        let store = Store::memory(env());
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
    let store = Store::memory(env());
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
        let store = Store::memory(env());
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

    let store = Store::memory(env());
    let cleared = store.clear(10).unwrap();
    assert!(cleared.listed && cleared.commit.changes.is_empty());
    assert_eq!(cleared.commit.version, Version::ZERO, "nothing was there, nothing changed");
}

#[test]
fn what_a_journal_record_cannot_hold_is_refused_before_it_is_copied() {
    let dir = tempfile::TempDir::new().unwrap();
    let store = Store::open(StoreOptions::kept(env(), dir.path())).unwrap();
    // 4.4 GiB to write, of a single mebibyte.
    let value = Bytes::from(vec![7; 1 << 20]);
    let mut batch = WriteBatch::new();
    (0..4_500).for_each(|key| batch.put(bytes(&key.to_string()), value.clone()));
    let refused =
        |error| matches!(error, StoreError::TooLarge { bytes, .. } if bytes > 4_500 << 20);
    assert!(refused(store.writer().apply(batch.clone()).unwrap_err()));
    let prepared = store.prepare(batch, &store.snapshot());
    assert!(refused(store.writer().apply_prepared(prepared).unwrap_err()));
    assert!(store.snapshot().is_empty());
    let mut small = WriteBatch::new();
    small.put(bytes("a"), bytes("1"));
    store.writer().apply(small).unwrap();
    drop(store);
    let store = Store::open(StoreOptions::kept(env(), dir.path())).unwrap();
    assert_eq!(store.snapshot().len(), 1);
}

/// Where the value of a key is in memory.
fn address(store: &Store, key: &str) -> usize {
    store.snapshot().get(key.as_bytes()).unwrap().value.as_ptr().addr()
}

#[test]
fn what_is_small_does_not_keep_a_large_record_in_memory() {
    #[track_caller]
    fn check(len: usize, shares: bool) {
        let dir = tempfile::TempDir::new().unwrap();
        let store = Store::open(StoreOptions::kept(env(), dir.path())).unwrap();
        let mut batch = WriteBatch::new();
        batch.put(bytes("large"), Bytes::from(vec![7; len]));
        batch.put(bytes("small"), bytes("1"));
        store.writer().apply(batch).unwrap();
        // In the record the small value follows the large one.
        let record = address(&store, "large")..address(&store, "large") + len + 100;
        assert_eq!(record.contains(&address(&store, "small")), shares, "{len}");
    }
    check(100, true);
    check(1_000_000, true);
    check(2_000_000, false);
}

#[test]
fn what_was_written_again_is_not_kept_in_memory_by_an_opening() {
    #[track_caller]
    fn check(value_len: usize, shares: bool) {
        const COMMITS: usize = 20;
        let dir = tempfile::TempDir::new().unwrap();
        let store = Store::open(StoreOptions::kept(env(), dir.path())).unwrap();
        for commit in 0..COMMITS {
            let mut batch = WriteBatch::new();
            batch.put(bytes("again"), Bytes::from(vec![commit.to_le_bytes()[0]; 1_000]));
            batch.put(bytes(&format!("once {commit:02}")), Bytes::from(vec![7; value_len]));
            store.writer().apply(batch).unwrap();
        }
        drop(store);
        let store = Store::open(StoreOptions::kept(env(), dir.path())).unwrap();
        let addresses: Vec<usize> =
            (0..COMMITS).map(|commit| address(&store, &format!("once {commit:02}"))).collect();
        // As far from one another as in the journal.
        let mut gaps = addresses.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
        let first = gaps.next().unwrap();
        assert_eq!(gaps.all(|gap| gap == first) && first > 1_000, shares);
        assert_eq!(store.snapshot().len(), COMMITS + 1);
    }
    check(2_000, true);
    check(10, false);
}

#[test]
fn a_key_that_was_recreated_gets_its_time_of_creation_back() {
    for unlisted in [false, true] {
        let store = Store::memory(env());
        run(&store, &["a=1"]);
        let saved = store.snapshot();
        run(&store, &["a!1"]);
        let listed_max = if unlisted { 0 } else { 10 };
        let restored = store.writer().restore(&saved, listed_max).unwrap();
        assert_eq!(restored.listed, !unlisted);
        assert_eq!(show(&store.snapshot()), "a=1@1..3");
    }
}
