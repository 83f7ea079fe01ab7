//! Which commits of others are in conflict with what a transaction read.

use engine_txn::{CommitError, Conflict, Database, Finish, Limits, ReadScope, TxnError, TxnId};

use crate::support::{
    READ_ONLY, READ_WRITE, bytes, commit, database, env, keys, range, read, show, write,
};

enum Expect {
    Commits,
    Key(&'static str),
    Range(&'static str),
}
use Expect::{Commits, Key, Range};

/// `a=1 b=2` and `c=x` are there; the transaction reads `scope`; `others` are committed; then it
/// writes `z`.
#[track_caller]
fn check(scope: ReadScope, others: &[&str], expect: Expect) {
    let database = database();
    write(&database, "a=1 b=2");
    write(&database, "c=x");
    let txn = database.begin(READ_WRITE).unwrap();
    read(&database, txn, scope).unwrap();
    for other in others {
        write(&database, other);
    }
    let result = commit(&database, Some(txn), "z=1");
    let expected = match expect {
        Commits => None,
        Key(key) => Some(Conflict::Key(bytes(key))),
        Range(key) => Some(Conflict::Range(bytes(key))),
    };
    assert_eq!(result.as_ref().err(), expected.clone().map(CommitError::Conflict).as_ref());
    assert_eq!(database.snapshot().get(b"z").is_some(), expected.is_none());
}

#[test]
fn keys_are_in_conflict_when_they_changed() {
    check(keys("a"), &[], Commits);
    check(keys("a"), &["b=3", "c=y"], Commits);
    check(keys("a"), &["a=5"], Key("a"));
    check(keys("a"), &["b=3", "a=5"], Key("a"));
    check(keys("a"), &["a-"], Key("a"));
    check(keys("a"), &["a-", "a=1"], Key("a"));
    check(keys("a"), &["a=1"], Commits);
    check(keys("m"), &[], Commits);
    check(keys("m"), &["m=1"], Key("m"));
    check(keys("m"), &["m=1", "m-"], Commits);
    check(keys("a b c m n o p"), &["n=1"], Key("n"));
    check(keys(""), &["a=5"], Commits);
}

#[test]
fn ranges_are_in_conflict_when_a_matching_entry_came_went_or_changed() {
    let ones = || range("a", "c", "1");
    check(ones(), &[], Commits);
    check(ones(), &["a=12"], Range("a"));
    check(ones(), &["a=2"], Range("a"));
    check(ones(), &["a-"], Range("a"));
    check(ones(), &["aa=1"], Range("aa"));
    check(ones(), &["b=1"], Range("b"));
    check(ones(), &["b=3"], Commits);
    check(ones(), &["aa=2"], Commits);
    check(ones(), &["b-"], Commits);
    check(ones(), &["c=1"], Commits);
    check(ones(), &["0=1"], Commits);
    check(ones(), &["a=1"], Commits);
}

#[test]
fn writing_without_reading_is_never_in_conflict() {
    let database = database();
    let txn = database.begin(READ_WRITE).unwrap();
    write(&database, "a=1");
    commit(&database, Some(txn), "a=2").unwrap();
    assert_eq!(show(&database.snapshot()), "a=2");
}

#[test]
fn a_transaction_without_writes_is_never_in_conflict() {
    let database = database();
    write(&database, "a=1");
    let txn = database.begin(READ_WRITE).unwrap();
    read(&database, txn, keys("a")).unwrap();
    let other = write(&database, "a=2");
    let done = commit(&database, Some(txn), "").unwrap();
    assert!(done.time > other.time && done.changes.is_empty());
}

#[test]
fn a_transaction_sees_one_snapshot() {
    for begin in [READ_WRITE, READ_ONLY] {
        let database = database();
        write(&database, "a=1 b=1");
        let txn = database.begin(begin).unwrap();
        let first = read(&database, txn, keys("a")).unwrap().snapshot;
        write(&database, "a=2 b=2");
        let second = read(&database, txn, range("a", "c", "")).unwrap().snapshot;
        assert_eq!((show(&first), show(&second)), ("a=1 b=1".to_owned(), "a=1 b=1".to_owned()));
    }
}

#[test]
fn a_read_write_transaction_begins_to_see_at_its_first_read() {
    let database = database();
    let (reader, writer) =
        (database.begin(READ_ONLY).unwrap(), database.begin(READ_WRITE).unwrap());
    write(&database, "a=1");
    assert_eq!(show(&read(&database, reader, keys("a")).unwrap().snapshot), "");
    assert_eq!(show(&read(&database, writer, keys("a")).unwrap().snapshot), "a=1");
}

#[test]
fn a_read_only_transaction_cannot_write() {
    let database = database();
    let txn = database.begin(READ_ONLY).unwrap();
    write(&database, "a=1");
    commit(&database, Some(txn), "").expect("it may end by an empty commit");

    let asked: [fn(&Database, TxnId) -> CommitError; 2] = [
        |database, txn| commit(database, Some(txn), "a=2").unwrap_err(),
        |database, txn| database.check_may_write(txn).unwrap_err().into(),
    ];
    for ask in asked {
        let txn = database.begin(READ_ONLY).unwrap();
        assert_eq!(ask(&database, txn), CommitError::Transaction(TxnError::ReadOnly));
        let ended = TxnError::Finished(Finish::Refused);
        assert_eq!(read(&database, txn, keys("a")).unwrap_err(), ended);
        assert_eq!(commit(&database, Some(txn), ""), Err(CommitError::Transaction(ended)));
        assert_eq!(database.rollback(txn), Ok(()));
    }
    let writer = database.begin(READ_WRITE).unwrap();
    assert_eq!(database.check_may_write(writer), Ok(()));
    commit(&database, Some(writer), "a=3").unwrap();
    assert_eq!(database.check_may_write(writer), Ok(()), "its commit says that it has ended");
}

/// Two transactions see a missing key and create it: the second is told to try again, not that the
/// key it saw missing exists.
#[test]
fn a_plan_that_fails_on_a_newer_state_is_a_conflict() {
    #[derive(Debug, PartialEq)]
    enum Error {
        Exists,
        Commit(CommitError),
    }
    impl From<CommitError> for Error {
        fn from(error: CommitError) -> Error {
            Error::Commit(error)
        }
    }
    let database = database();
    let create = |txn| {
        database.commit(Some(txn), |reads, _| match reads.get(&bytes("a")) {
            Some(_) => Err(Error::Exists),
            None => Ok((crate::support::batch("a=1"), ())),
        })
    };
    let (one, two) = (database.begin(READ_WRITE).unwrap(), database.begin(READ_WRITE).unwrap());
    read(&database, one, keys("a")).unwrap();
    read(&database, two, keys("a")).unwrap();
    create(one).unwrap();
    let conflict = CommitError::Conflict(Conflict::Key(bytes("a")));
    assert_eq!(create(two).unwrap_err(), Error::Commit(conflict));

    let three = database.begin(READ_WRITE).unwrap();
    read(&database, three, keys("a")).unwrap();
    assert_eq!(create(three).unwrap_err(), Error::Exists, "which it could have seen itself");
    read(&database, three, keys("b")).expect("a failed plan leaves the transaction open");
}

#[test]
fn what_the_log_has_forgotten_is_checked_by_value_or_refused() {
    #[track_caller]
    fn check(scope: ReadScope, forget: fn(&Database), expect: Option<Conflict>) {
        let limits = Limits { log_commits_max: 2, clear_changes_max: 0, ..Limits::default() };
        let database = Database::new(env(), limits);
        write(&database, "a=1");
        let txn = database.begin(READ_WRITE).unwrap();
        read(&database, txn, scope).unwrap();
        forget(&database);
        let result = commit(&database, Some(txn), "z=1");
        assert_eq!(result.err(), expect.map(CommitError::Conflict));
    }
    let overflow = |database: &Database| {
        for value in 0..3 {
            write(database, &format!("b={value}"));
        }
    };
    let clear = |database: &Database| {
        database.clear().unwrap();
    };
    check(keys("a"), overflow, None);
    check(keys("b"), overflow, Some(Conflict::Key(bytes("b"))));
    check(range("x", "y", ""), overflow, Some(Conflict::Forgotten));
    check(keys("m"), clear, None);
    check(keys("a"), clear, Some(Conflict::Key(bytes("a"))));
    check(range("x", "y", ""), clear, Some(Conflict::Forgotten));
}
