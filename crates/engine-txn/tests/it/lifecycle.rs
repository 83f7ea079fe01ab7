//! How transactions begin, end and expire, and what their ids say afterwards.

use std::sync::{Arc, Weak};
use std::time::Duration;

use base_env::Env;
use bytes::Bytes;
use engine_store::WriteBatch;
use engine_txn::{
    Begin, CommitError, Database, Finish, Limits, ReadTimeError, TxnError, TxnId, TxnMode,
};

use crate::support::{
    READ_ONLY, READ_WRITE, START, bytes, commit, database, env, keys, read, write,
};

fn id(counter: u64) -> TxnId {
    let mut bytes = vec![0x11];
    bytes.extend(counter.to_le_bytes());
    TxnId::from_bytes(&bytes).unwrap()
}

/// Ends a transaction in one way, then looks at what every use of it says.
#[track_caller]
fn check(end: fn(&Database, TxnId), how: Finish, rollback: Result<(), TxnError>) {
    let database = database();
    write(&database, "a=1");
    let txn = database.begin(READ_WRITE).unwrap();
    read(&database, txn, keys("a")).unwrap();
    end(&database, txn);
    let finished = TxnError::Finished(how);
    assert_eq!(read(&database, txn, keys("a")).unwrap_err(), finished);
    assert_eq!(commit(&database, Some(txn), "a=9"), Err(CommitError::Transaction(finished)));
    assert_eq!(database.txn_mode(txn), Err(finished));
    assert_eq!(database.rollback(txn), rollback);
    let retry = database.begin(Begin::ReadWrite { retry: Some(txn) }).unwrap();
    assert_eq!(database.txn_mode(retry), Ok(TxnMode::ReadWrite));
}

#[test]
fn an_ended_transaction_says_how_it_ended() {
    check(
        |database, txn| drop(commit(database, Some(txn), "a=2").unwrap()),
        Finish::Committed,
        Err(TxnError::Finished(Finish::Committed)),
    );
    check(|database, txn| database.rollback(txn).unwrap(), Finish::RolledBack, Ok(()));
    check(
        |database, txn| {
            write(database, "a=2");
            commit(database, Some(txn), "a=3").unwrap_err();
        },
        Finish::Aborted,
        Ok(()),
    );
    check(
        |database, txn| {
            database.begin(Begin::ReadWrite { retry: Some(txn) }).unwrap();
        },
        Finish::RolledBack,
        Ok(()),
    );
}

#[test]
fn ids_count_commits_without_a_transaction_too() {
    let database = database();
    assert_eq!(database.begin(READ_WRITE), Ok(id(1)));
    write(&database, "a=1");
    assert_eq!(database.begin(READ_ONLY), Ok(id(3)));
}

#[test]
fn ids_never_given_out_are_unknown() {
    let database = database();
    let last = database.begin(READ_WRITE).unwrap();
    for unknown in [id(0), id(last.to_bytes()[1].into()).next(), id(u64::MAX)] {
        assert_eq!(database.rollback(unknown), Err(TxnError::Unknown));
        assert_eq!(database.txn_mode(unknown), Err(TxnError::Unknown));
        let retry = Begin::ReadWrite { retry: Some(unknown) };
        assert_eq!(database.begin(retry), Err(TxnError::Unknown));
        let committed = commit(&database, Some(unknown), "a=1");
        assert_eq!(committed, Err(CommitError::Transaction(TxnError::Unknown)));
    }
}

trait Next {
    fn next(self) -> Self;
}
impl Next for TxnId {
    fn next(self) -> TxnId {
        let [_, counter @ ..] = self.to_bytes();
        id(u64::from_le_bytes(counter) + 1)
    }
}

#[test]
fn a_read_only_transaction_cannot_be_retried() {
    let database = database();
    let txn = database.begin(READ_ONLY).unwrap();
    let retry = Begin::ReadWrite { retry: Some(txn) };
    assert_eq!(database.begin(retry), Err(TxnError::RetryReadOnly));
    assert_eq!(database.txn_mode(txn), Ok(TxnMode::ReadOnly), "and is left alone");
    database.rollback(txn).unwrap();
    assert_eq!(database.begin(retry), Err(TxnError::RetryReadOnly));
}

/// A transaction is used at each of the seconds, counted from its beginning; only the last use may fail.
#[track_caller]
fn check_expiry(uses: &[u64], alive: bool) {
    let env = env();
    let database = Database::new(env.clone(), Limits::default());
    let txn = database.begin(READ_WRITE).unwrap();
    let mut now = 0;
    let (last, before) = uses.split_last().unwrap();
    for second in before {
        env.advance(Duration::from_secs(second - now));
        now = *second;
        read(&database, txn, keys("a")).unwrap();
    }
    env.advance(Duration::from_secs(last - now));
    let expected = if alive { Ok(()) } else { Err(TxnError::Finished(Finish::Expired)) };
    assert_eq!(read(&database, txn, keys("a")).map(|_| ()), expected, "{uses:?}");
    assert_eq!(commit(&database, Some(txn), "a=1").is_ok(), alive);
    if !alive {
        assert_eq!(database.rollback(txn), Ok(()));
    }
}

#[test]
fn transactions_expire_on_the_suites_clock() {
    check_expiry(&[58], true);
    check_expiry(&[61], false);
    check_expiry(&[50, 100], true);
    check_expiry(&[50, 111], false);
    check_expiry(&[50, 100, 150, 200, 250, 269], true);
    check_expiry(&[50, 100, 150, 200, 250, 271], false);
}

#[test]
fn open_transactions_are_bounded_and_expired_ones_make_room() {
    let env = env();
    let limits = Limits { transactions_max: 2, finished_max: 1, ..Limits::default() };
    let database = Database::new(env.clone(), limits);
    let first = database.begin(READ_WRITE).unwrap();
    let second = database.begin(READ_ONLY).unwrap();
    assert_eq!(database.begin(READ_WRITE), Err(TxnError::TooMany));
    database.rollback(second).unwrap();
    database.begin(READ_WRITE).unwrap();
    assert_eq!(database.begin(READ_WRITE), Err(TxnError::TooMany));
    env.advance(Duration::from_secs(61));
    database.begin(READ_WRITE).expect("the two others have expired");
    let expired = TxnError::Finished(Finish::Expired);
    assert_eq!(database.txn_mode(first), Err(expired));
    assert_eq!(database.txn_mode(second), Err(expired), "how it ended is forgotten by now");
}

/// Writes a value that only snapshots of now keep, and tells whether one still does.
fn write_traced(database: &Database) -> Weak<[u8; 4096]> {
    let value = Arc::new([7; 4096]);
    let traced = Arc::downgrade(&value);
    struct Owner(Arc<[u8; 4096]>);
    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            &*self.0
        }
    }
    let mut batch = WriteBatch::new();
    batch.put(bytes("traced"), Bytes::from_owner(Owner(value)));
    database.commit(None, |_, _| Ok::<_, CommitError>((batch.clone(), ()))).unwrap();
    traced
}

/// A commit that changes something whenever it is called.
fn increment(database: &Database) {
    let next = database.log().newest().get() + 1;
    write(database, &format!("b={next}"));
}

/// A forgotten transaction keeps what it saw until `look`, and no longer.
#[track_caller]
fn check_forgotten(look: fn(&Database)) {
    let env = env();
    let limits = Limits { log_commits_max: 1, ..Limits::default() };
    let database = Database::new(env.clone(), limits);
    let traced = write_traced(&database);
    let forgotten = database.begin(READ_ONLY).unwrap();
    write(&database, "traced-");
    write(&database, "a=1");
    env.advance(Duration::from_secs(59));
    look(&database);
    assert!(traced.upgrade().is_some(), "it may still be used");
    env.advance(Duration::from_secs(2));
    look(&database);
    // It is freed on another thread.
    let machine = Env::real();
    let until = machine.monotonic() + Duration::from_secs(30);
    while traced.upgrade().is_some() {
        assert!(machine.monotonic() < until, "nobody can use it any more");
        std::thread::yield_now();
    }
    assert_eq!(database.txn_mode(forgotten), Err(TxnError::Finished(Finish::Expired)));
}

#[test]
fn a_forgotten_transaction_keeps_its_snapshot_until_somebody_commits_or_moves_the_clock() {
    check_forgotten(increment);
    check_forgotten(|database| {
        database.begin(READ_WRITE).unwrap();
    });
    check_forgotten(Database::expire_transactions);
}

#[test]
fn reads_are_bounded() {
    let limits = Limits { reads_max: 2, ..Limits::default() };
    let database = Database::new(env(), limits);
    let txn = database.begin(READ_WRITE).unwrap();
    read(&database, txn, keys("a")).unwrap();
    read(&database, txn, keys("a")).expect("the same key again is not more");
    read(&database, txn, keys("b")).unwrap();
    assert_eq!(read(&database, txn, keys("c")).unwrap_err(), TxnError::TooManyReads);
    assert_eq!(read(&database, txn, keys("a b c d")).unwrap_err(), TxnError::TooManyReads);
    read(&database, txn, keys("b a a b")).expect("they are two, and known");

    let txn = database.begin(READ_WRITE).unwrap();
    let refused = read(&database, txn, keys("a b c d")).unwrap_err();
    assert_eq!(refused, TxnError::TooManyReads, "also where they come at once");
    read(&database, txn, keys("a a a b")).expect("and nothing of it was noted");

    let reader = database.begin(READ_ONLY).unwrap();
    read(&database, reader, keys("a b c d e")).expect("a read-only one keeps no read set");
}

#[test]
fn a_read_only_transaction_reads_at_its_time() {
    let database = database();
    let first = write(&database, "a=1").time;
    write(&database, "a=2");
    #[track_caller]
    fn check(database: &Database, micros: i64, expected: Result<&[u8], ReadTimeError>) {
        let read_time = Some(engine_store::UnixMicros(micros));
        let begun = database.begin(Begin::ReadOnly { read_time });
        let expected = expected.map_err(TxnError::ReadTime);
        match begun {
            Ok(txn) => {
                let view = read(database, txn, keys("a")).unwrap();
                let value = view.snapshot.get(b"a").map(|record| record.value).unwrap_or_default();
                assert_eq!(Ok(value.as_ref()), expected);
            }
            Err(error) => assert_eq!(Err(error), expected),
        }
    }
    check(&database, first.0, Ok(b"1"));
    check(&database, first.0 + 1, Ok(b"2"));
    check(&database, START.0, Ok(b""));
    check(&database, START.0 + 1_000_000, Err(ReadTimeError::Future));
}
