//! Stages and what comes out of them, row by row: see `testdata/stages.txt`.
//!
//! A row is `stage | stage => rows`, in the notation of the expressions' tests; `with(stage, {...})` gives a
//! stage options, `pipeline(stage, ...)` is a pipeline.

use std::sync::Arc;

use base_env::{Env, UnixMicros};
use base_value::{DatabaseName, DocumentPath, Fields, Value, codec, key, order};
use engine_query::Indexer;
use engine_store::{Snapshot, Store, StoreError, StoreOptions, WriteBatch};

use crate::engine::{Engine, EngineOptions};
use crate::error::PipelineError;
use crate::expression::{Reader, raw_stage};
use crate::pipeline::Pipeline;
use crate::term::RawStage;

const DOCUMENTS: [(&str, &str); 11] = [
    ("books/b1", r#"{n: 1, genre: "x", tags: ["a", "b"]}"#),
    ("books/b2", r#"{n: 2, genre: "y"}"#),
    ("books/b3", r#"{n: 3, genre: "x", price: 2.5}"#),
    ("books/b4", r#"{n: 4, genre: null, price: "free"}"#),
    ("books/b5", r#"{n: 5, price: NaN, tags: "none"}"#),
    ("books/b1/reviews/r1", "{stars: 5}"),
    ("books/b1/reviews/r2", "{stars: 3}"),
    ("books/b2/reviews/r3", "{stars: 4}"),
    ("vectors/v1", "{n: 1, v: vec(3, 4)}"),
    ("vectors/v2", "{n: 2, v: vec(0, 1)}"),
    ("vectors/v3", "{n: 3, v: vec(1, 1, 1)}"),
];

/// Where the documents are: only a folded store has indexes to use.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Memory,
    Base,
}

fn snapshot(place: Place) -> Snapshot {
    let options = StoreOptions::memory(Env::simulated(1, UnixMicros(1_000_000)));
    let derive = Arc::new(Indexer::default());
    let store = Store::open(StoreOptions { derive, ..options }).unwrap();
    let mut batch = WriteBatch::new();
    for (path, fields) in DOCUMENTS {
        let path = DocumentPath::parse(path).unwrap();
        batch.put(key::document(&path), codec::encode_fields(&map(fields)));
    }
    store.apply(|_| Ok::<(), StoreError>(()), batch).unwrap();
    if place == Place::Base {
        store.fold_now().unwrap();
    }
    store.snapshot()
}

fn map(text: &str) -> Fields {
    match Reader::new(text).constant() {
        Value::Map(fields) => fields,
        other => panic!("a map: {other:?}"),
    }
}

fn stages(text: &str) -> Vec<RawStage> {
    text.split(" | ").map(|stage| raw_stage(Reader::new(stage).whole())).collect()
}

/// The rows as maps, with the ids of documents under `@`.
fn run(stages: &[RawStage], options: EngineOptions) -> Result<Vec<Value>, PipelineError> {
    run_in(Place::Memory, stages, options)
}

fn run_in(
    place: Place,
    stages: &[RawStage],
    options: EngineOptions,
) -> Result<Vec<Value>, PipelineError> {
    let snapshot = snapshot(place);
    let database = DatabaseName::new("p", "(default)");
    let indexer = Indexer::default();
    let pipeline = Pipeline::parse(stages)?;
    let opened = pipeline.open(&database, &indexer)?;
    assert!(!pipeline.reads(&opened, &database)?.is_empty(), "every pipeline reads something");
    assert_eq!(pipeline.describe(&opened).len(), stages.len(), "every stage is told");
    let engine = Engine::new(&snapshot, &database, &indexer, options, || false);
    let rows = pipeline.rows(&opened, &engine).map(|row| {
        let row = row?;
        let mut fields = codec::decode_fields(&row.encoded()).expect("rows are encoded well");
        if let Some(id) = row.name.as_deref().and_then(|name| name.rsplit('/').next()) {
            fields.insert("@".to_owned(), Value::String(id.to_owned()));
        }
        Ok(Value::Map(fields))
    });
    rows.collect()
}

fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("../../testdata/stages.txt").lines();
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(" => ").expect("a row has an answer"))
}

#[test]
fn stages_give_what_they_should() {
    for (text, expected) in rows() {
        let found = run(&stages(text), EngineOptions::default());
        match expected.strip_prefix("error") {
            Some(wanted) => {
                let error = found.expect_err(text).to_string();
                assert!(error.contains(wanted.trim()), "{text}: {error}");
            }
            None => {
                let found = found.unwrap_or_else(|error| panic!("{text}: {error}"));
                assert_eq!(Value::Array(found), Reader::new(expected).constant(), "{text}");
            }
        }
    }
}

#[test]
fn the_answer_does_not_depend_on_what_the_source_takes_over() {
    for (text, expected) in rows().filter(|(_, expected)| !expected.starts_with("error")) {
        let check = |place: Place, stages: &[RawStage]| {
            let mut found = run_in(place, stages, EngineOptions::default())
                .unwrap_or_else(|error| panic!("{text}: {error}"));
            let Value::Array(mut expected) = Reader::new(expected).constant() else {
                panic!("rows: {text}")
            };
            if !text.contains("sort") {
                found.sort_by(order::compare);
                expected.sort_by(order::compare);
            }
            assert_eq!(found, expected, "{text}");
        };
        let mut stages = stages(text);
        check(Place::Base, &stages);
        // Behind a limit that keeps everything, everything goes row by row.
        stages.insert(1, raw_stage(Reader::new("limit(1000000)").whole()));
        check(Place::Memory, &stages);
    }
}

#[test]
fn memory_is_bounded() {
    let options = || EngineOptions { memory_max: 1, ..EngineOptions::default() };
    for text in [
        "collection(\"books\") | sort({expression: nothing})",
        "collection(\"books\") | aggregate({a: array_agg(n)})",
        "collection(\"books\") | aggregate({a: count()}, {n: n})",
        "collection(\"books\") | sample(1, \"documents\")",
        "collection(\"books\") | unnest([1, 2], x)",
        "collection(\"vectors\") | find_nearest(v, vec(0, 0), \"euclidean\")",
        "collection(\"books\") | select({a: array(pipeline(collection(\"books\")))})",
    ] {
        let found = run(&stages(text), options());
        assert!(matches!(found, Err(PipelineError::Exhausted(_))), "{text}: {found:?}");
    }
    let streamed = "collection(\"books\") | where(greater_than(n, 1)) | select({n: n}) | limit(3)";
    assert_eq!(run(&stages(streamed), options()).map(|rows| rows.len()), Ok(3));
}

#[test]
fn requests_are_bounded() {
    let mut text = vec!["collection(\"books\")"];
    text.extend(["limit(1)"; 200]);
    let error = run(&stages(&text.join(" | ")), EngineOptions::default()).expect_err("too many");
    assert_eq!(error.to_string(), "a pipeline may have 200 stages at most");
    let mut inner = "pipeline(collection(\"books\"))".to_owned();
    for _ in 0..40 {
        inner = format!("pipeline(collection(\"books\"), limit(1), select({{x: array({inner})}}))");
    }
    let text = format!("collection(\"books\") | select({{x: array({inner})}})");
    let error = run(&stages(&text), EngineOptions::default()).expect_err("too deep");
    assert!(error.to_string().contains("levels deep"), "{error}");
}

#[test]
fn a_pipeline_ends_when_nobody_waits_for_it() {
    let store = Store::memory(Env::simulated(1, UnixMicros(1_000_000)));
    let mut batch = WriteBatch::new();
    for number in 0..2_000 {
        let path = DocumentPath::parse(&format!("c/{number:04}")).unwrap();
        batch.put(key::document(&path), codec::encode_fields(&Fields::new()));
    }
    store.apply(|_| Ok::<(), StoreError>(()), batch).unwrap();
    let snapshot = store.snapshot();
    let database = DatabaseName::new("p", "(default)");
    let pipeline = Pipeline::parse(&stages("collection(\"c\") | where(exists(x))")).unwrap();
    let opened = pipeline.open(&database, &Indexer::default()).unwrap();
    let options = EngineOptions::default();
    let engine = Engine::new(&snapshot, &database, &Indexer::default(), options, || true);
    let mut rows = pipeline.rows(&opened, &engine);
    assert!(matches!(rows.next(), Some(Err(PipelineError::Cancelled))));
}
