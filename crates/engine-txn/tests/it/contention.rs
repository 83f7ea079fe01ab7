//! Many at once on the same keys: exact results, no waiting for the slow, no starving, no deadlock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base_env::{Env, thread};
use bytes::Bytes;
use engine_store::WriteBatch;
use engine_txn::{Begin, CommitError, Conflict, Database, Limits, TxnId};
use tokio::sync::Barrier;
use tokio::time::timeout;

use crate::support::{
    READ_WRITE, bytes, commit, database, keys, number, parse, range, read, show, write,
};

/// Longer than any test here takes; reached only by one that hangs.
const HANGS: Duration = Duration::from_secs(60);

/// A database where only what must happen ends a wait: no time-out hides a deadlock.
fn patient() -> Database {
    let intent_wait_max = HANGS * 10;
    let intent_hold_max = HANGS * 10;
    Database::new(
        Env::real(),
        Limits {
            intent_stall_max: Duration::from_millis(1),
            intent_retried_stall_max: intent_wait_max,
            intent_wait_max,
            intent_hold_max,
            ..Limits::default()
        },
    )
}

fn increment(database: &Database, key: &Bytes) -> u64 {
    let planned = database.commit(None, |reads, _| {
        let value = reads.get(key).map_or(0, |record| parse(&record.value)) + 1;
        let mut batch = WriteBatch::new();
        batch.put(key.clone(), bytes(&value.to_string()));
        Ok::<_, CommitError>((batch, value))
    });
    planned.unwrap().1
}

#[test]
fn plans_of_many_threads_lose_no_increment() {
    const THREADS: usize = 8;
    const INCREMENTS: usize = 500;
    let database = Database::new(Env::real(), Limits::default());
    let work = || {
        let database = database.clone();
        move || (0..INCREMENTS).map(|_| increment(&database, &bytes("a"))).collect::<Vec<u64>>()
    };
    let threads: Vec<_> = (0..THREADS).map(|_| thread::spawn("work", work()).unwrap()).collect();
    let mut answers: Vec<u64> =
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    answers.sort_unstable();
    let total = (THREADS * INCREMENTS) as u64;
    assert_eq!(answers, (1..=total).collect::<Vec<u64>>(), "each answer is of one commit");
    assert_eq!(number(&database.snapshot(), "a"), total);
    assert_eq!(database.log().newest().get(), total);
}

#[test]
fn a_plan_that_keeps_losing_runs_where_nothing_can_come_between() {
    let database = database();
    let mut runs = 0;
    let result = database.commit(None, |reads, _| {
        let seen = reads.get(&bytes("a")).map_or(0, |record| parse(&record.value));
        runs += 1;
        if runs <= 3 {
            write(&database, &format!("a={}", seen + 10));
        }
        Ok::<_, CommitError>((crate::support::batch(&format!("a={}", seen + 1)), seen))
    });
    assert_eq!((runs, result.unwrap().1), (4, 30));
    assert_eq!(show(&database.snapshot()), "a=31");
}

#[test]
fn money_is_neither_made_nor_lost() {
    const ACCOUNTS: u64 = 5;
    let database = Database::new(Env::real(), Limits::default());
    for account in 0..ACCOUNTS {
        write(&database, &format!("{account}=100"));
    }
    let done = Arc::new(AtomicBool::new(false));
    let sum = |database: &Database| {
        let snapshot = database.snapshot();
        (0..ACCOUNTS).map(|account| number(&snapshot, &account.to_string())).sum::<u64>()
    };
    let transfer = |seed: u64| {
        let database = database.clone();
        move || {
            for round in 0..300 {
                let from = bytes(&((seed + round) % ACCOUNTS).to_string());
                let to = bytes(&((seed * round + 1) % ACCOUNTS).to_string());
                let moved = database.commit(None, |reads, _| {
                    let mut batch = WriteBatch::new();
                    let mut value = |key: &Bytes| parse(&reads.get(key).unwrap().value);
                    let (source, target) = (value(&from), value(&to));
                    if source > 0 && from != to {
                        batch.put(from.clone(), bytes(&(source - 1).to_string()));
                        batch.put(to.clone(), bytes(&(target + 1).to_string()));
                    }
                    Ok::<_, CommitError>((batch, ()))
                });
                moved.unwrap();
            }
        }
    };
    let watch = {
        let (database, done) = (database.clone(), Arc::clone(&done));
        move || {
            while !done.load(Ordering::Acquire) {
                assert_eq!(sum(&database), 100 * ACCOUNTS);
            }
        }
    };
    let watcher = thread::spawn("watch", watch).unwrap();
    let threads: Vec<_> =
        (0..4).map(|seed| thread::spawn("move", transfer(seed)).unwrap()).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    done.store(true, Ordering::Release);
    watcher.join().unwrap();
    assert_eq!(sum(&database), 100 * ACCOUNTS);
}

/// One client with the SDKs' retry protocol: reads `reads` one after the other, or all at once,
/// then adds one to `adds`. Answers how many attempts it took.
async fn client(
    database: Database,
    barrier: Arc<Barrier>,
    reads: Vec<&'static str>,
    at_once: bool,
    adds: &'static str,
) -> u32 {
    let mut retry = None;
    for attempt in 1.. {
        let txn = database.begin(Begin::ReadWrite { retry }).unwrap();
        let mut value = 0;
        if at_once {
            let views = tokio::join!(
                database.txn_read(txn, keys(reads[0])),
                database.txn_read(txn, keys(reads[1]))
            );
            // Each view answers for what was read in it, and for nothing else.
            let view = if reads[0] == adds { views.0 } else { views.1 };
            value = number(&view.unwrap().snapshot, adds);
        } else {
            for key in &reads {
                let view = database.txn_read(txn, keys(key)).await.unwrap();
                value = number(&view.snapshot, adds);
                tokio::task::yield_now().await;
            }
        }
        if attempt == 1 {
            barrier.wait().await;
        }
        match commit(&database, Some(txn), &format!("{adds}={}", value + 1)) {
            Ok(_) => return attempt,
            Err(CommitError::Conflict(_)) => {
                database.rollback(txn).unwrap();
                retry = Some(txn);
            }
            Err(error) => panic!("{error}"),
        }
    }
    0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_transactions_on_one_key_need_one_retry_each() {
    for _ in 0..20 {
        let database = patient();
        let barrier = Arc::new(Barrier::new(10));
        let clients: Vec<_> = (0..10)
            .map(|_| {
                let client = client(database.clone(), Arc::clone(&barrier), vec!["a"], false, "a");
                tokio::spawn(client)
            })
            .collect();
        let mut attempts = Vec::new();
        for client in clients {
            attempts.push(timeout(HANGS, client).await.expect("nobody hangs").unwrap());
        }
        assert_eq!(number(&database.snapshot(), "a"), 10);
        attempts.sort_unstable();
        assert_eq!(attempts, [1, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
    }
}

/// In both orders and all at once: such clients wait for each other in circles, if they wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_on_several_keys_do_not_deadlock() {
    let orders: [(&[&'static str], bool); 4] =
        [(&["a", "b"], false), (&["b", "a"], false), (&["a", "b"], true), (&["b", "a"], true)];
    for _ in 0..20 {
        let database = patient();
        let barrier = Arc::new(Barrier::new(12));
        let clients: Vec<_> = (0..12)
            .map(|client_number: usize| {
                let (reads, at_once) = orders[client_number % orders.len()];
                let adds = ["a", "b"][client_number / 6];
                let barrier = Arc::clone(&barrier);
                tokio::spawn(client(database.clone(), barrier, reads.to_vec(), at_once, adds))
            })
            .collect();
        let mut attempts = 0;
        for client in clients {
            attempts += timeout(HANGS, client).await.expect("nobody hangs").unwrap();
        }
        let snapshot = database.snapshot();
        assert_eq!((number(&snapshot, "a"), number(&snapshot, "b")), (6, 6));
        println!("attempts {attempts}");
        assert!(attempts <= 12 * 5, "{attempts} attempts are more than SDKs make");
    }
}

#[tokio::test]
async fn waiting_in_a_circle_is_refused() {
    let database = patient();
    let failed = database.begin(READ_WRITE).unwrap();
    let begin = || database.begin(Begin::ReadWrite { retry: Some(failed) }).unwrap();
    let (one, two, three) = (begin(), begin(), begin());
    for (txn, key) in [(one, "a"), (two, "b"), (three, "c")] {
        database.txn_read(txn, keys(key)).await.unwrap();
    }
    let read_and_write = async |txn, scope, text| {
        let read = database.txn_read(txn, scope);
        timeout(HANGS, read).await.expect("nobody hangs").unwrap();
        commit(&database, Some(txn), text).expect("nothing it read has changed");
    };
    // One waits for two, two for three: were three to wait for one, nobody would ever go on.
    tokio::join!(
        read_and_write(one, keys("b"), "a=1"),
        read_and_write(two, keys("c"), "b=2"),
        read_and_write(three, range("a", "b", ""), "c=3"),
    );
    assert_eq!(show(&database.snapshot()), "a=1 b=2 c=3");
}

/// A database in which `a` is there and a retried transaction has the turn on it.
async fn with_intent(limits: Limits) -> (Database, TxnId) {
    let database = Database::new(Env::real(), limits);
    write(&database, "a=1");
    let failed = database.begin(READ_WRITE).unwrap();
    let holder = database.begin(Begin::ReadWrite { retry: Some(failed) }).unwrap();
    database.txn_read(holder, keys("a")).await.unwrap();
    (database, holder)
}

#[tokio::test]
async fn fresh_transactions_give_way_to_an_intent_and_plain_writes_do_not() {
    let (database, holder) = with_intent(Limits::default()).await;
    let fresh = database.begin(READ_WRITE).unwrap();
    database.txn_read(fresh, keys("a")).await.expect("a queue that does not move is passed");
    let refused = commit(&database, Some(fresh), "a=2 b=1").unwrap_err();
    assert_eq!(refused, CommitError::Conflict(Conflict::Intent(bytes("a"))));

    let reader = database.begin(READ_WRITE).unwrap();
    database.txn_read(reader, keys("a")).await.unwrap();
    commit(&database, Some(reader), "b=1").expect("it writes something else");
    commit(&database, Some(holder), "a=3").expect("its turn");

    let (database, holder) = with_intent(Limits::default()).await;
    write(&database, "a=4");
    let late = commit(&database, Some(holder), "a=5").unwrap_err();
    assert_eq!(late, CommitError::Conflict(Conflict::Key(bytes("a"))));
}

#[tokio::test]
async fn an_intent_ends_with_its_transaction() {
    let ends: [fn(&Database, TxnId); 3] = [
        |database, txn| database.rollback(txn).unwrap(),
        |database, txn| drop(commit(database, Some(txn), "b=1").unwrap()),
        |database, txn| {
            database.begin(Begin::ReadWrite { retry: Some(txn) }).unwrap();
        },
    ];
    for end in ends {
        let (database, holder) = with_intent(Limits::default()).await;
        end(&database, holder);
        let fresh = database.begin(READ_WRITE).unwrap();
        commit(&database, Some(fresh), "a=2").expect("nobody has the turn");
    }
}

#[tokio::test]
async fn an_intent_on_a_range_covers_what_comes_into_it() {
    let database = Database::new(Env::real(), Limits::default());
    let failed = database.begin(READ_WRITE).unwrap();
    let holder = database.begin(Begin::ReadWrite { retry: Some(failed) }).unwrap();
    database.txn_read(holder, range("a", "c", "")).await.unwrap();
    for (text, refused) in [("aa=1", true), ("c=1", false)] {
        let fresh = database.begin(READ_WRITE).unwrap();
        assert_eq!(commit(&database, Some(fresh), text).is_err(), refused, "{text}");
    }
}

#[tokio::test]
async fn waiting_for_a_dead_client_is_bounded() {
    let intent_retried_stall_max = Duration::from_millis(20);
    let limits = Limits { intent_retried_stall_max, ..Limits::default() };
    let (database, holder) = with_intent(limits).await;
    let failed = database.begin(READ_WRITE).unwrap();
    let next = database.begin(Begin::ReadWrite { retry: Some(failed) }).unwrap();
    timeout(HANGS, database.txn_read(next, keys("a"))).await.expect("bounded").unwrap();
    commit(&database, Some(next), "a=2").expect("validation is all it takes");
    commit(&database, Some(holder), "a=3").expect_err("it came too late");

    let limits = Limits { intent_hold_max: Duration::ZERO, ..Limits::default() };
    let (database, _holder) = with_intent(limits).await;
    let fresh = database.begin(READ_WRITE).unwrap();
    commit(&database, Some(fresh), "a=2").expect("an intent does not count for ever");
}

#[tokio::test]
async fn a_client_that_goes_away_leaves_the_queue() {
    let (database, holder) = with_intent(Limits::default()).await;
    let failed = database.begin(READ_WRITE).unwrap();
    let gone = database.begin(Begin::ReadWrite { retry: Some(failed) }).unwrap();
    let waiting = timeout(Duration::from_millis(5), database.txn_read(gone, keys("a"))).await;
    assert!(waiting.is_err(), "it waits for the holder");
    database.rollback(holder).unwrap();
    let fresh = database.begin(READ_WRITE).unwrap();
    commit(&database, Some(fresh), "a=2").expect("the one that went away has no turn");
}

#[tokio::test]
async fn a_retried_transaction_sees_what_it_waited_for() {
    let (database, holder) = with_intent(Limits::default()).await;
    let failed = database.begin(READ_WRITE).unwrap();
    let next = database.begin(Begin::ReadWrite { retry: Some(failed) }).unwrap();
    database.txn_read(next, keys("x")).await.unwrap();
    let (view, ()) = tokio::join!(database.txn_read(next, keys("a")), async {
        tokio::task::yield_now().await;
        commit(&database, Some(holder), "a=2").unwrap();
    });
    assert_eq!(show(&view.unwrap().snapshot), "a=2", "what it read before is unchanged");
    write(&database, "x=1");
    let view = read_again(&database, next).await;
    assert_eq!(view, "a=2", "what it read before has changed: it stays where it is");
    commit(&database, Some(next), "a=3").expect_err("and is in conflict");
}

async fn read_again(database: &Database, txn: TxnId) -> String {
    show(&database.txn_read(txn, keys("y")).await.unwrap().snapshot)
}

#[test]
fn the_intent_queue_is_bounded() {
    let limits = Limits { intents_max: 1, ..Limits::default() };
    let database = Database::new(Env::real(), limits);
    let failed = database.begin(READ_WRITE).unwrap();
    let one = database.begin(Begin::ReadWrite { retry: Some(failed) }).unwrap();
    let two = database.begin(Begin::ReadWrite { retry: Some(failed) }).unwrap();
    read(&database, one, keys("a")).unwrap();
    read(&database, two, keys("b")).unwrap();
    let fresh = database.begin(READ_WRITE).unwrap();
    commit(&database, Some(fresh), "b=1").expect("the second intent found no room");
    let fresh = database.begin(READ_WRITE).unwrap();
    commit(&database, Some(fresh), "a=1").expect_err("the first is held");
}

/// Clients that read together before any of them writes, as ten SDKs do that are started at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_fresh_transactions_on_one_key_are_served_one_after_the_other() {
    let database = Database::new(Env::real(), Limits::default());
    write(&database, "a=0");
    let clients = (0..10).map(|_| {
        let database = database.clone();
        tokio::spawn(async move {
            let txn = database.begin(READ_WRITE).unwrap();
            let view = database.txn_read(txn, keys("a")).await.unwrap();
            let next = number(&view.snapshot, "a") + 1;
            tokio::time::sleep(Duration::from_millis(5)).await;
            commit(&database, Some(txn), &format!("a={next}")).expect("nobody came between");
        })
    });
    for client in clients.collect::<Vec<_>>() {
        timeout(HANGS, client).await.expect("no deadlock").unwrap();
    }
    assert_eq!(number(&database.snapshot(), "a"), 10);
}
