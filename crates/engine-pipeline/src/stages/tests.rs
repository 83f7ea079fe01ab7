//! Stages and what comes out of them, row by row: see `testdata/stages.txt`.
//!
//! A row is `stage | stage => rows`, in the notation of the expressions' tests; `with(stage, {...})` gives a
//! stage options, `pipeline(stage, ...)` is a pipeline.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use base_env::{Env, UnixMicros};
use base_value::{DatabaseName, DocumentPath, Fields, Value, codec, key, order};
use engine_query::Indexer;
use engine_store::{Snapshot, Store, StoreError, StoreOptions, WriteBatch};

use crate::engine::{Engine, EngineOptions};
use crate::error::PipelineError;
use crate::expression::{Reader, raw_stage};
use crate::pipeline::Pipeline;
use crate::term::{RawStage, Term};

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
    run_while(place, stages, options, || Ok(()))
}

fn run_while(
    place: Place,
    stages: &[RawStage],
    options: EngineOptions,
    may_go_on: impl Fn() -> Result<(), PipelineError>,
) -> Result<Vec<Value>, PipelineError> {
    let snapshot = snapshot(place);
    let database = DatabaseName::new("p", "(default)");
    let indexer = Indexer::default();
    let pipeline = Pipeline::parse(stages)?;
    let opened = pipeline.open(&database, &indexer)?;
    assert!(!pipeline.reads(&opened, &database)?.is_empty(), "every pipeline reads something");
    assert_eq!(pipeline.describe(&opened).len(), stages.len(), "every stage is told");
    let engine = Engine::new(&snapshot, &database, &indexer, options, may_go_on);
    let rows = pipeline.rows(&opened, &engine).map(|row| {
        let row = row?;
        let mut fields = codec::decode_fields(&row.encoded()).expect("rows are encoded well");
        if let Some(id) = row.name.as_deref().and_then(|name| name.rsplit('/').next()) {
            fields.insert("@".to_owned(), Value::String(id.to_owned()));
        }
        Ok(Value::Map(fields))
    });
    let rows = rows.collect();
    assert_eq!(engine.budget.used(), 0, "what was held is given back: {stages:?}");
    rows
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
    let options = |memory_max: usize| EngineOptions { memory_max, ..EngineOptions::default() };
    for text in [
        "collection(\"books\") | sort({expression: nothing})",
        "collection(\"books\") | aggregate({a: array_agg(n)})",
        "collection(\"books\") | aggregate({a: count()}, {n: n})",
        "collection(\"books\") | sample(5, \"documents\")",
        "collection(\"books\") | unnest([1, 2, 3, 4, 5, 6, 7, 8, 9], x)",
        "collection(\"vectors\") | find_nearest(v, vec(0, 0), \"euclidean\")",
        "collection(\"books\") | select({a: array(pipeline(collection(\"books\")))})",
        "collection(\"books\")",
    ] {
        let found = run(&stages(text), options(1));
        assert!(matches!(found, Err(PipelineError::Exhausted(_))), "{text}: {found:?}");
    }
    // Room for two rows or three, of five.
    for (text, fits) in [
        ("where(greater_than(n, 1)) | select({n: n})", true),
        ("sort({expression: n}) | limit(1)", false),
        ("sample(5, \"documents\")", false),
        ("aggregate({n: count()})", true),
        ("aggregate({n: array_agg(title)}, {n: n})", false),
    ] {
        let text = format!("collection(\"books\") | {text}");
        let found = run(&stages(&text), options(1_000));
        assert_eq!(found.is_ok(), fits, "{text}: {found:?}");
    }
}

#[test]
fn what_a_request_multiplies_is_bounded() {
    let large = "string_repeat(\"x\", 16000000)";
    let aliases =
        |value: &str| (0..1_000).map(|number| format!("a{number}: {value}, ")).collect::<String>();
    let hundred =
        format!("unnest([{}], x)", (0..100).map(|it| format!("{it}, ")).collect::<String>());
    let names = "a.".repeat(120) + "a";
    let wrap = " | add_fields({x: [x]})".repeat(120);
    for text in [
        format!("select({{{}}})", aliases(large)),
        format!("let({{v: {large}}}) | select({{{}}})", aliases("$v")),
        format!("let({{v: {large}}}) | add_fields({{{}}})", aliases("$v")),
        format!("let({{v: {large}}}) | let({{{}}})", aliases("$v")),
        // A row is bounded even where there is memory for it.
        format!("select({{a: {large}, b: {large}, c: {large}}})"),
        // Each row has variables of its own.
        format!("{hundred} | let({{v: string_repeat(\"x\", 2000000)}}) | sort({{expression: n}})"),
        format!("{hundred} | aggregate({{m: maximum(string_repeat(\"x\", 2000000))}}, {{x: x}})"),
        format!("{hundred} | aggregate({{m: last(string_repeat(\"x\", 2000000))}}, {{x: x}})"),
        format!("select({{\"{names}\": n}})"),
        format!("add_fields({{x: 1}}){wrap}"),
    ] {
        let text = format!("collection(\"books\") | limit(1) | {text}");
        let found = run(&stages(&text), EngineOptions::default());
        assert!(matches!(found, Err(PipelineError::Exhausted(_))), "{text}: {found:?}");
    }
    for (text, rows) in [
        // What rows share counts once.
        (
            format!("let({{v: {large}}}) | {hundred} | sort({{expression: n}}) | select({{n: n}})"),
            100,
        ),
        // A group keeps one value.
        (format!("{hundred} | aggregate({{m: last({large})}}) | select({{n: type(m)}})"), 1),
        // The rows of an array are not there before they are asked for.
        (
            format!(
                "add_fields({{t: {large}}}) | {hundred} | {hundred} | limit(50) | select({{n: n}})"
            ),
            50,
        ),
        // What has passed a stage is given back: so much together was never there.
        (
            format!(
                "{hundred} | add_fields({{t: string_repeat(\"x\", 500000)}}) | sort({{expression: x}}) \
                 | sort({{expression: n}}) | sort({{expression: x}}) | select({{n: n}})"
            ),
            100,
        ),
    ] {
        let text = format!("collection(\"books\") | limit(1) | {text}");
        let found = run(&stages(&text), EngineOptions::default());
        assert_eq!(found.map(|rows| rows.len()), Ok(rows), "{text}");
    }
}

#[test]
fn what_is_distinct_is_found_soon() {
    let many = "unnest(split(string_repeat(\"x\", 200000), \"\"), x)";
    let text = format!(
        "collection(\"books\") | limit(1) | {many} | aggregate({{n: count_distinct(rand())}})"
    );
    let expected = Reader::new("[{n: 200000}]").constant();
    assert_eq!(run(&stages(&text), EngineOptions::default()).map(Value::Array), Ok(expected));
}

#[test]
fn requests_are_read_soon() {
    let integers = (0..300_000).map(Value::Integer);
    let any = |name: &str| Term::Function {
        name: name.to_owned(),
        args: vec![
            Term::Field("n".to_owned()),
            Term::Constant(Value::Array(integers.clone().collect())),
        ],
        options: BTreeMap::new(),
    };
    let stage = |name: &str, args| RawStage { name: name.to_owned(), args, ..RawStage::default() };
    let mut long = stages("collection(\"books\")");
    long.push(stage("where", vec![any("equal_any")]));
    assert_eq!(run(&long, EngineOptions::default()).map(|rows| rows.len()), Ok(5));

    let count = Term::Function { name: "count".to_owned(), args: vec![], options: BTreeMap::new() };
    let accumulators = (0..40_000).map(|number| (format!("a{number}"), count.clone())).collect();
    let groups = (0..300_000).map(|number| (format!("g{number}"), Value::Null)).collect();
    let mut wide = stages("collection(\"none\")");
    wide.push(stage(
        "aggregate",
        vec![Term::Map(accumulators), Term::Constant(Value::Map(groups))],
    ));
    assert_eq!(run(&wide, EngineOptions::default()), Ok(Vec::new()));
}

#[test]
fn work_can_be_ended_wherever_it_is() {
    let hundred = format!(" | unnest([{}], x)", "1, ".repeat(100));
    let inner = "pipeline(collection(\"none\"))";
    let endless = [
        format!("{} | aggregate({{n: count()}})", hundred.repeat(10)),
        format!("{} | offset(1000000000)", hundred.repeat(10)),
        format!("{} | where(false)", hundred.repeat(10)),
        format!("{} | sample(0.0, \"percent\")", hundred.repeat(10)),
        format!("{} | where(greater_than(array_length(array({inner})), 0))", hundred.repeat(10)),
    ];
    for text in endless {
        let looks = Cell::new(0);
        let may_go_on = || {
            looks.set(looks.get() + 1);
            if looks.get() > 100 { Err(PipelineError::Overdue) } else { Ok(()) }
        };
        let stages = stages(&format!("collection(\"books\"){text}"));
        let found = run_while(Place::Memory, &stages, EngineOptions::default(), may_go_on);
        assert_eq!(found, Err(PipelineError::Overdue), "{text}");
    }
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
    let engine = Engine::new(&snapshot, &database, &Indexer::default(), options, || {
        Err(PipelineError::Cancelled)
    });
    let mut rows = pipeline.rows(&opened, &engine);
    assert!(matches!(rows.next(), Some(Err(PipelineError::Cancelled))));
}
