//! What waits for what: reads of one transaction for each other and for nobody else's, and turns for few keys.

use std::sync::mpsc;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use base_env::{Env, thread};
use engine_store::{KeyRange, Record};
use engine_txn::{Begin, Database, Limits, ReadScope};

use crate::support::{READ_WRITE, bytes, commit, database, keys, read, write};

/// Longer than any test here takes; reached only by one that hangs.
const HANGS: Duration = Duration::from_secs(60);

/// Ends in every way that a transaction can, and begins and reads in others.
fn use_others(database: &Database) {
    let txn = database.begin(READ_WRITE).unwrap();
    read(database, txn, keys("x")).unwrap();
    database.rollback(txn).unwrap();
    let retry = database.begin(Begin::ReadWrite { retry: Some(txn) }).unwrap();
    commit(database, Some(retry), "y=1").unwrap();
}

#[test]
fn a_read_that_takes_long_holds_up_no_other_transaction() {
    let database = database();
    let slow = database.begin(READ_WRITE).unwrap();
    // Whether an entry matches is asked when a later read checks this one: it begins, and ends, as the test says.
    let steps = Arc::new(Barrier::new(2));
    let matches = {
        let steps = Arc::clone(&steps);
        move |_: &[u8], _: &Record| {
            steps.wait();
            steps.wait();
            false
        }
    };
    let range = KeyRange::new(bytes("a"), bytes("b"));
    read(&database, slow, ReadScope::Range(range, Arc::new(matches))).unwrap();
    write(&database, "a=1");
    let reader = {
        let database = database.clone();
        thread::spawn("read", move || read(&database, slow, keys("x")).map(drop)).unwrap()
    };
    steps.wait();
    let (done, others) = mpsc::channel();
    let user = {
        let database = database.clone();
        thread::spawn("others", move || {
            use_others(&database);
            done.send(()).unwrap();
        })
        .unwrap()
    };
    let others = others.recv_timeout(HANGS);
    steps.wait();
    others.expect("nobody waits for the slow read");
    user.join().unwrap();
    reader.join().unwrap().unwrap();
    database.rollback(slow).unwrap();
}

/// What queues for few keys keeps others off them; what would queue for too many goes on without.
#[test]
fn a_read_of_many_keys_queues_for_none_of_them() {
    #[track_caller]
    fn check(text: &str, is_held: bool) {
        let limits = Limits { intent_keys_max: 2, ..Limits::default() };
        let database = Database::new(Env::real(), limits);
        let failed = database.begin(READ_WRITE).unwrap();
        let retry = database.begin(Begin::ReadWrite { retry: Some(failed) }).unwrap();
        read(&database, retry, keys(text)).unwrap();
        let fresh = database.begin(READ_WRITE).unwrap();
        assert_eq!(commit(&database, Some(fresh), "a=1").is_err(), is_held, "{text}");
    }
    check("a b", true);
    check("a b c", false);
}
