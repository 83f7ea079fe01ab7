//! Sweeps over databases of this process, without a service around them.

use base_value::{DocumentPath, Fields, LimitPolicy};
use serde_json::json;
use svc_kit::Place;

use super::*;
use crate::indexes::Indexes;
use engine_txn::Limits;

const NOW: UnixMicros = UnixMicros(1_780_000_000_000_000);
const HOUR: Duration = Duration::from_secs(3_600);

struct Suite {
    env: Env,
    databases: Arc<Databases>,
    sweeper: Sweeper,
}

/// A suite in which documents of `c` end by `until`.
fn suite() -> Suite {
    let env = Env::simulated(1, NOW);
    let mut indexes = Indexes::default();
    let exception = json!({"collectionGroup": "c", "fieldPath": "until", "ttl": true});
    indexes.declare("(default)", &json!({"fieldOverrides": [exception]})).unwrap();
    let preparer = Arc::new(Preparer::new(indexes, LimitPolicy::Production, Log::default()));
    let databases =
        Databases::open(env.clone(), Place::Memory, Arc::clone(&preparer), None).unwrap();
    let databases = Arc::new(databases);
    let sweeper =
        Sweeper::new(env.clone(), Log::default(), Arc::clone(&databases), Arc::clone(&preparer));
    Suite { env, databases, sweeper }
}

impl Suite {
    fn database(&self) -> Database {
        self.databases.get(&DatabaseName::new("p", "(default)")).unwrap()
    }

    fn put(&self, documents: impl IntoIterator<Item = (String, Value)>) {
        let mut batch = WriteBatch::new();
        for (path, until) in documents {
            let fields: Fields = [("until".to_owned(), until)].into_iter().collect();
            let path = DocumentPath::parse(&path).unwrap();
            batch.put(key::document(&path), codec::encode_fields(&fields));
        }
        let commit = |batch: &WriteBatch| Ok::<_, CommitError>((batch.clone(), ()));
        self.database().commit(None, |_, _| commit(&batch)).unwrap();
    }

    /// The paths that are left after `by` more.
    fn after(&self, by: Duration) -> Vec<String> {
        self.env.advance(by);
        self.sweeper.sweep().unwrap();
        let snapshot = self.database().snapshot();
        let heads = snapshot.heads(&engine_store::KeyRange::all());
        heads.map(|(key, _)| key::parse(&key).unwrap().as_str().to_owned()).collect()
    }
}

fn until(time: UnixMicros) -> Value {
    Value::Timestamp(Timestamp::from_micros(time.0))
}

#[test]
fn only_times_of_the_group_s_field_count() {
    let suite = suite();
    let past = until(UnixMicros(0));
    suite.put([
        ("c/past".to_owned(), past.clone()),
        ("a/b/c/nested".to_owned(), past.clone()),
        ("c/now".to_owned(), until(NOW)),
        ("c/soon".to_owned(), until(UnixMicros(NOW.0 + 1))),
        ("c/null".to_owned(), Value::Null),
        ("c/number".to_owned(), Value::Integer(0)),
        ("c/list".to_owned(), Value::Array(vec![past.clone()])),
        (
            "c/map".to_owned(),
            Value::Map([("until".to_owned(), past.clone())].into_iter().collect()),
        ),
        ("d/past".to_owned(), past),
    ]);
    let kept = ["c/list", "c/map", "c/null", "c/number", "d/past"];
    assert_eq!(suite.after(Duration::ZERO), [&kept[..4], &["c/soon"], &kept[4..]].concat());
    assert_eq!(suite.after(Duration::from_micros(1)), kept);
}

#[test]
fn what_is_written_later_is_seen_and_what_is_put_off_stays() {
    let suite = suite();
    assert!(suite.after(Duration::ZERO).is_empty());
    suite.put([("c/a".to_owned(), until(NOW.plus(HOUR)))]);
    suite.put([("c/b".to_owned(), until(NOW.plus(2 * HOUR)))]);
    suite.put([("c/a".to_owned(), until(NOW.plus(3 * HOUR)))]);
    assert_eq!(suite.after(HOUR), ["c/a", "c/b"]);
    // More commits than the log holds.
    for number in 0..Limits::default().log_commits_max + 10 {
        suite.put([("d/a".to_owned(), Value::Integer(i64::try_from(number).unwrap()))]);
    }
    suite.put([("c/c".to_owned(), until(NOW.plus(2 * HOUR)))]);
    assert_eq!(suite.after(HOUR), ["c/a", "d/a"]);
    assert_eq!(suite.after(HOUR), ["d/a"]);
    suite.database().clear().unwrap();
    suite.put([("c/d".to_owned(), until(NOW))]);
    assert!(suite.after(Duration::ZERO).is_empty());
}

#[test]
fn large_collections_go_in_bounded_commits() {
    const DOCUMENTS: i64 = 200_000;
    let suite = suite();
    // Every second one ends within the hour, in an order that is not that of names.
    for part in (0..DOCUMENTS).collect::<Vec<_>>().chunks(5_000) {
        suite.put(part.iter().map(|number| {
            let (hours, micros) = (number % 2, (number * 7_919) % 1_000_000);
            let time = UnixMicros(NOW.plus(HOUR).0 + hours * 7_200_000_000 - micros);
            (format!("c/{number:06}"), until(time))
        }));
    }
    suite.database().fold_now().unwrap();
    assert_eq!(suite.after(Duration::ZERO).len(), 200_000);
    let before = suite.database().log().newest();
    assert_eq!(suite.after(HOUR).len(), 100_000);
    let after = suite.database().log().newest();
    assert_eq!(after.get() - before.get(), 100_000 / TTL_COMMIT_MAX as u64);
    // As far as the log reaches back.
    let commits = suite.database().log().since(Version::new(after.get() - 20)).unwrap();
    assert!(commits.iter().all(|commit| commit.changes.len() == TTL_COMMIT_MAX));
    // A look at what nothing has come of reads no documents.
    let began = suite.env.monotonic();
    suite.sweeper.sweep().unwrap();
    assert!(suite.env.monotonic() - began < Duration::from_millis(50));
    assert!(suite.after(2 * HOUR).is_empty());
}

#[test]
fn who_stops_the_suite_does_not_wait_for_the_rest() {
    let suite = suite();
    suite.put((0..2_000).map(|number| (format!("c/{number:04}"), until(NOW.plus(HOUR)))));
    suite.sweeper.end();
    assert_eq!(suite.after(HOUR).len(), 2_000);
}
