//! Past states, the commit log's bounds, restore and clear as others see them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine_store::{Commit, Snapshot, UnixMicros, Version};
use engine_txn::{Database, Lagged, Limits, Listing, Observer, ReadTimeError};

use crate::support::{Choices, START, bytes, database, env, show, write};

#[test]
fn past_states_are_exact() {
    for seed in 0..20 {
        let mut choices = Choices::from_seed(seed);
        let env = env();
        let database = Database::new(env.clone(), Limits::default());
        let mut past: Vec<Snapshot> = vec![database.snapshot()];
        for _ in 0..100 {
            match choices.below(12) {
                0 => drop(database.clear().unwrap()),
                1 => drop(database.restore(&past[choices.below(past.len())]).unwrap()),
                2 => env.advance(Duration::from_micros(choices.below(50) as u64)),
                _ => {
                    let (key, value) = (choices.below(6), choices.below(4));
                    let op = if value == 0 { format!("{key}-") } else { format!("{key}={value}") };
                    write(&database, &op);
                }
            }
            past.push(database.snapshot());
        }
        for then in &past {
            let again = database.snapshot_at(then.time()).unwrap();
            assert_eq!(show(&again), show(then));
            assert_eq!(again.time(), then.time());
            assert_eq!(again.version(), then.version());
            let record = |snapshot: &Snapshot| snapshot.get(b"1");
            assert_eq!(record(&again), record(then), "times are those of then, too");
        }
        let before = database.snapshot_at(UnixMicros(START.0 - 1)).unwrap();
        assert!(before.is_empty());
    }
}

#[test]
fn the_log_is_bounded_by_count() {
    let limits = Limits { log_commits_max: 3, ..Limits::default() };
    let database = Database::new(env(), limits);
    let commits: Vec<_> = (0..5).map(|value| write(&database, &format!("a={value}"))).collect();
    let log = database.log();
    assert_eq!(log.newest(), Version::new(5));
    assert_eq!(log.since(Version::new(1)), Err(Lagged));
    assert_eq!(log.since(Version::new(2)).unwrap(), commits[2..]);
    assert_eq!(log.since_limited(Version::new(2), 2).unwrap(), commits[2..4]);
    assert_eq!(log.since(Version::new(5)).unwrap(), []);
    assert_eq!(log.since(Version::new(9)).unwrap(), [], "nothing is newer than what is to come");

    assert_eq!(show(&database.snapshot_at(commits[1].time).unwrap()), "a=1");
    let too_old = UnixMicros(commits[1].time.0 - 1);
    assert_eq!(database.snapshot_at(too_old).unwrap_err(), ReadTimeError::TooOld);
}

#[test]
fn the_log_is_bounded_by_bytes() {
    let limits = Limits { log_bytes_max: 10_000, ..Limits::default() };
    let database = Database::new(env(), limits);
    let large = "x".repeat(3_000);
    for key in 0..5 {
        write(&database, &format!("{key}={large}"));
    }
    let log = database.log();
    assert_eq!(log.since(Version::new(1)), Err(Lagged));
    assert_eq!(log.since(Version::new(2)).unwrap().len(), 3);

    let commit = write(&database, &format!("a={}", "x".repeat(20_000)));
    assert_eq!(log.since(Version::new(5)), Err(Lagged), "a commit larger than the log is not kept");
    assert_eq!(log.since(commit.version).unwrap(), []);
    let next = write(&database, "b=1");
    assert_eq!(log.since(commit.version).unwrap(), [next]);
}

#[test]
fn commits_that_change_nothing_are_not_logged() {
    let database = database();
    write(&database, "a=1");
    write(&database, "a=1 b-");
    assert_eq!(database.log().newest(), Version::new(1));
    assert_eq!(database.log().since(Version::ZERO).unwrap().len(), 1);
    database.restore(&database.snapshot()).unwrap();
    assert_eq!(database.log().newest(), Version::new(1));
}

#[test]
fn restore_and_small_clears_are_commits_like_others() {
    let database = database();
    write(&database, "a=1 b=1");
    let then = database.snapshot();
    write(&database, "a=2 c=1");
    let cleared = database.clear().unwrap();
    let restored = database.restore(&then).unwrap();
    assert!(restored.time > cleared.time);
    let log = database.log().since(Version::new(2)).unwrap();
    assert_eq!(log, [cleared, restored]);
    let changed = |commit: &engine_store::Commit| -> Vec<bytes::Bytes> {
        commit.changes.iter().map(|change| change.key.clone()).collect()
    };
    assert_eq!(changed(&log[0]), [bytes("a"), bytes("b"), bytes("c")]);
    assert_eq!(changed(&log[1]), [bytes("a"), bytes("b")]);
    assert_eq!(show(&database.snapshot()), "a=1 b=1");
}

#[test]
fn large_clears_begin_the_log_anew() {
    let limits = Limits { clear_changes_max: 1, ..Limits::default() };
    let database = Database::new(env(), limits);
    let before = write(&database, "a=1 b=1");
    let cleared = database.clear().unwrap();
    assert!(cleared.changes.is_empty());
    assert_eq!(database.log().since(before.version), Err(Lagged));
    assert_eq!(database.log().since(cleared.version).unwrap(), []);
    assert_eq!(database.snapshot_at(before.time).unwrap_err(), ReadTimeError::TooOld);
    assert_eq!(show(&database.snapshot_at(cleared.time).unwrap()), "");
    write(&database, "a=2");
    assert_eq!(show(&database.snapshot_at(cleared.time).unwrap()), "");
}

#[test]
fn a_fork_goes_its_own_way() {
    let database = database();
    write(&database, "a=1");
    let snapshot = database.snapshot();
    let fork = Database::fork(env(), Limits::default(), &snapshot);
    write(&fork, "a=2");
    write(&database, "b=1");
    assert_eq!(show(&database.snapshot()), "a=1 b=1");
    assert_eq!(show(&fork.snapshot()), "a=2");
    assert_eq!(show(&fork.snapshot_at(snapshot.time()).unwrap()), "a=1");
    let earlier = UnixMicros(snapshot.time().0 - 1);
    assert_eq!(fork.snapshot_at(earlier).unwrap_err(), ReadTimeError::TooOld);
    assert_eq!(fork.log().since(snapshot.version()).unwrap().len(), 1);
}

/// Writes down what it hears, and is woken by every second commit.
#[derive(Default)]
struct Diary {
    heard: Mutex<Vec<(u64, usize, Listing)>>,
    woken: AtomicUsize,
}

impl Observer for Diary {
    fn committed(&self, commit: &Arc<Commit>, listing: Listing) -> bool {
        let mut heard = self.heard.lock().unwrap();
        heard.push((commit.version.get(), commit.changes.len(), listing));
        heard.len().is_multiple_of(2)
    }

    fn wake(&self) {
        self.woken.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn an_observer_hears_of_every_commit_that_changes_something() {
    let database = Database::new(env(), Limits { clear_changes_max: 2, ..Limits::default() });
    write(&database, "a=1");
    let diary = Arc::new(Diary::default());
    database.observe(Some(Arc::<Diary>::clone(&diary)));
    write(&database, "a=1");
    write(&database, "a=2 b=1");
    let earlier = database.snapshot();
    database.clear().unwrap();
    write(&database, "a=1 b=1 c=1");
    database.clear().unwrap();
    database.restore(&earlier).unwrap();
    database.observe(None);
    write(&database, "a=3");
    let heard = diary.heard.lock().unwrap();
    let (complete, left_out) = (Listing::Complete, Listing::LeftOut);
    assert_eq!(
        heard[..],
        [(2, 2, complete), (3, 2, complete), (4, 3, complete), (5, 0, left_out), (6, 2, complete)]
    );
    assert_eq!(diary.woken.load(Ordering::Relaxed), 2);
}

#[test]
fn commits_at_once_are_heard_of_in_their_order() {
    let database = database();
    let diary = Arc::new(Diary::default());
    database.observe(Some(Arc::<Diary>::clone(&diary)));
    let writers = ["a", "b", "c"].map(|key| {
        let database = database.clone();
        let write = move || (0..200).for_each(|n| drop(write(&database, &format!("{key}={n}"))));
        base_env::thread::spawn("writer", write).unwrap()
    });
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    let heard = diary.heard.lock().unwrap();
    let versions: Vec<u64> = heard.iter().map(|(version, _, _)| *version).collect();
    assert_eq!(versions, (1..=600).collect::<Vec<_>>());
}
