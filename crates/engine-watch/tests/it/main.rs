//! Followers from outside: every commit once and in order, or a clear word that some were lost.
#![cfg(test)]

use std::sync::Arc;
use std::time::Duration;

use base_env::{Env, UnixMicros, thread};
use bytes::Bytes;
use engine_store::{Commit, Snapshot, Version, WriteBatch};
use engine_txn::{CommitError, Database, Limits};
use engine_watch::{Event, Follower};
use tokio::time::timeout;

/// Longer than any test here takes; reached only by one that hangs.
const HANGS: Duration = Duration::from_secs(60);

fn database(limits: Limits) -> Database {
    Database::new(Env::simulated(1, UnixMicros(0)), limits)
}

fn write(database: &Database, key: &str, value: usize) -> Arc<Commit> {
    let mut batch = WriteBatch::new();
    batch.put(Bytes::copy_from_slice(key.as_bytes()), Bytes::from(value.to_string()));
    let planned = database.commit(None, |_, _| Ok::<_, CommitError>((batch.clone(), ())));
    planned.unwrap().0
}

/// Writes to a database while following it, then checks what the follower has ready.
#[track_caller]
fn check(limits: Limits, act: fn(&Database) -> Vec<Event>) {
    let database = database(limits);
    write(&database, "before", 1);
    let mut follower = Follower::new(&database);
    assert_eq!(follower.try_next(), None);
    let expected = act(&database);
    let heard: Vec<Event> = std::iter::from_fn(|| follower.try_next()).collect();
    assert_eq!(heard, expected);
    assert_eq!(follower.version(), database.log().newest());
}

#[test]
fn a_follower_hears_every_change_or_that_it_lagged() {
    let small = Limits { log_commits_max: 2, clear_changes_max: 1, ..Limits::default() };
    check(Limits::default(), |_| vec![]);
    check(Limits::default(), |database| {
        vec![Event::Commits(vec![write(database, "a", 1), write(database, "a", 2)])]
    });
    check(Limits::default(), |database| {
        write(database, "before", 1);
        vec![]
    });
    check(Limits::default(), |database| vec![Event::Commits(vec![database.clear().unwrap()])]);
    check(small.clone(), |database| {
        (0..3).for_each(|value| drop(write(database, "a", value)));
        vec![Event::Lagged]
    });
    check(small, |database| {
        write(database, "a", 1);
        database.clear().unwrap();
        vec![Event::Lagged]
    });
}

#[test]
fn a_follower_begins_where_it_is_told() {
    let database = database(Limits::default());
    let commits: Vec<_> = (0..4).map(|value| write(&database, "a", value)).collect();
    let mut follower = Follower::after(&database, Version::new(1));
    assert_eq!(follower.try_next(), Some(Event::Commits(commits[1..].to_vec())));

    let mut follower = Follower::after(&database, Version::ZERO);
    follower.skip_to(Version::new(3));
    follower.skip_to(Version::new(2));
    assert_eq!(follower.try_next(), Some(Event::Commits(commits[3..].to_vec())));
}

#[test]
fn much_at_once_comes_in_pieces() {
    let database = database(Limits::default());
    let mut follower = Follower::new(&database);
    (0..3_000).for_each(|value| drop(write(&database, "a", value)));
    let lens = std::iter::from_fn(|| match follower.try_next()? {
        Event::Commits(commits) => Some(commits.len()),
        Event::Lagged => panic!("the log holds that much"),
    });
    let lens: Vec<usize> = lens.collect();
    assert_eq!(lens.iter().sum::<usize>(), 3_000);
    assert!(lens.len() > 1, "{lens:?}");
}

/// Keeps a copy of the database up to date from a follower alone, as a listener would.
async fn mirror(database: Database, until: Version) -> Vec<(Bytes, Bytes)> {
    let mut follower = Follower::new(&database);
    let mut copy = std::collections::BTreeMap::new();
    let start = |copy: &mut std::collections::BTreeMap<Bytes, Bytes>, snapshot: &Snapshot| {
        *copy = entries(snapshot).into_iter().collect();
    };
    let snapshot = database.snapshot();
    start(&mut copy, &snapshot);
    follower.skip_to(snapshot.version());
    while follower.version() < until {
        match follower.next().await {
            Event::Commits(commits) => {
                for change in commits.iter().flat_map(|commit| &commit.changes) {
                    match &change.after {
                        Some(record) => copy.insert(change.key.clone(), record.value.clone()),
                        None => copy.remove(&change.key),
                    };
                }
            }
            Event::Lagged => {
                let snapshot = database.snapshot();
                start(&mut copy, &snapshot);
                follower.skip_to(snapshot.version());
            }
        }
    }
    copy.into_iter().collect()
}

fn entries(snapshot: &Snapshot) -> Vec<(Bytes, Bytes)> {
    let everything = snapshot.range(&engine_store::KeyRange::all());
    everything.map(|entry| (entry.key().clone(), entry.record().value.clone())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_kept_by_following_is_equal_in_the_end() {
    const WRITERS: usize = 2;
    const COMMITS: usize = 1_000;
    // With a small log the followers lag now and then, and must come out right all the same.
    for log_commits_max in [16_384, 5] {
        let limits = Limits { log_commits_max, ..Limits::default() };
        let database = Database::new(Env::real(), limits);
        let until = Version::new((WRITERS * COMMITS) as u64);
        let mirrors: Vec<_> =
            (0..3).map(|_| tokio::spawn(mirror(database.clone(), until))).collect();
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let database = database.clone();
                let work = move || {
                    for commit in 0..COMMITS {
                        write(
                            &database,
                            &format!("{}", (commit * 7 + writer) % 50),
                            commit * 2 + writer,
                        );
                    }
                };
                thread::spawn("writer", work).unwrap()
            })
            .collect();
        for mirror in mirrors {
            let copy = timeout(HANGS, mirror).await.expect("followers come to an end").unwrap();
            assert_eq!(copy, entries(&database.snapshot()));
        }
        writers.into_iter().for_each(|writer| writer.join().unwrap());
    }
}

#[tokio::test]
async fn an_event_survives_a_dropped_wait() {
    let database = database(Limits::default());
    let mut follower = Follower::new(&database);
    for value in 0..3 {
        let waiting = timeout(Duration::from_millis(1), follower.next()).await;
        assert!(waiting.is_err(), "nothing has happened yet");
        let commit = write(&database, "a", value);
        let heard = timeout(HANGS, follower.next()).await.unwrap();
        assert_eq!(heard, Event::Commits(vec![commit]));
    }
}
