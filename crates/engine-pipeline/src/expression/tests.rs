//! Expressions and what they answer, row by row: see `testdata/*.txt`.
//!
//! A row is `expression => answer`. Literals are written as in JSON, and `b"x"`, `vec(1, 2)`, `ts(1, 5)`,
//! `geo(1, 2)`, `ref("c/d")`, `NaN`, `Inf`; a bare name is a field, `$x` a variable, `absent` a field that is
//! not there. An answer may be `absent`, `error`, or `error text` for a part of its text.

use std::collections::BTreeMap;
use std::sync::Arc;

use base_env::UnixMicros;
use base_value::{DatabaseName, Fields, Timestamp, Value};
use engine_query::Indexer;
use engine_store::Snapshot;

use super::{Expression, Parser, Scope};
use crate::engine::{Engine, EngineOptions};
use crate::error::PipelineError;
use crate::row::{Row, Variables};
use crate::term::{RawStage, Term};

/// Reads a term from the text of a row.
pub(crate) struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Reader { rest: text.trim() }
    }

    /// The whole text as one term.
    pub(crate) fn whole(mut self) -> Term {
        let term = self.term();
        assert_eq!(self.rest.trim(), "", "the text is one term");
        term
    }

    /// The whole text as one value.
    pub(crate) fn constant(self) -> Value {
        constant(self.whole())
    }

    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> &'t str {
        self.rest = self.rest.trim_start();
        let is_part = |char: char| char.is_alphanumeric() || "_.$+-`".contains(char);
        let end = self.rest.find(|char| !is_part(char)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn quoted(&mut self) -> String {
        // The opening quote is eaten already.
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((place, char)) = chars.next() {
            match char {
                '"' => {
                    self.rest = self.rest.split_at(place + 1).1;
                    return text;
                }
                '\\' => match chars.next().expect("an escape has a letter").1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    '0' => text.push('\0'),
                    other => text.push(other),
                },
                other => text.push(other),
            }
        }
        panic!("a quote is not closed: {text}");
    }

    fn list(&mut self, end: &str) -> Vec<Term> {
        let mut terms = Vec::new();
        while !self.eat(end) {
            terms.push(self.term());
            self.eat(",");
        }
        terms
    }

    fn term(&mut self) -> Term {
        if self.eat("b\"") {
            return Term::Constant(Value::Bytes(self.quoted().into_bytes().into()));
        }
        if self.eat("\"") {
            return Term::Constant(Value::String(self.quoted()));
        }
        if self.eat("[") {
            return array(self.list("]"));
        }
        if self.eat("{") {
            return self.map();
        }
        let word = self.word();
        if !word.is_empty() && self.eat("(") {
            let args = self.list(")");
            return call(word, args);
        }
        named(word)
    }

    fn map(&mut self) -> Term {
        let mut terms = BTreeMap::new();
        while !self.eat("}") {
            let name = if self.eat("\"") { self.quoted() } else { self.word().to_owned() };
            assert!(self.eat(":"), "a map has names and values");
            terms.insert(name, self.term());
            self.eat(",");
        }
        match terms.values().all(|term| matches!(term, Term::Constant(_))) {
            true => Term::Constant(Value::Map(
                terms.into_iter().map(|(name, term)| (name, constant(term))).collect(),
            )),
            false => Term::Map(terms),
        }
    }
}

fn array(terms: Vec<Term>) -> Term {
    match terms.iter().all(|term| matches!(term, Term::Constant(_))) {
        true => Term::Constant(Value::Array(terms.into_iter().map(constant).collect())),
        false => Term::Array(terms),
    }
}

fn constant(term: Term) -> Value {
    match term {
        Term::Constant(value) => value,
        other => panic!("a constant: {other:?}"),
    }
}

fn named(word: &str) -> Term {
    let value = match word {
        "null" => Value::Null,
        "true" => Value::Boolean(true),
        "false" => Value::Boolean(false),
        "NaN" => Value::Double(f64::NAN),
        "Inf" => Value::Double(f64::INFINITY),
        "-Inf" => Value::Double(f64::NEG_INFINITY),
        word if word.starts_with('$') => {
            return Term::Variable(word.trim_start_matches('$').to_owned());
        }
        word => match (word.parse::<i64>(), word.parse::<f64>()) {
            (Ok(number), _) => Value::Integer(number),
            (_, Ok(number)) => Value::Double(number),
            _ => return Term::Field(word.to_owned()),
        },
    };
    Term::Constant(value)
}

/// A stage that is written as a call.
pub(crate) fn raw_stage(term: Term) -> RawStage {
    match term {
        Term::Function { name, mut args, .. } if name == "with" => {
            let options = match args.pop() {
                Some(Term::Constant(Value::Map(options))) => options,
                other => panic!("options: {other:?}"),
            };
            let mut stage = raw_stage(args.pop().expect("options are of a stage"));
            stage.options =
                options.into_iter().map(|(name, value)| (name, Term::Constant(value))).collect();
            stage
        }
        Term::Function { name, args, options } => RawStage { name, args, options },
        other => panic!("a stage: {other:?}"),
    }
}

/// A literal that looks like a call, or a call.
fn call(name: &str, args: Vec<Term>) -> Term {
    if name == "pipeline" {
        return Term::Pipeline(args.into_iter().map(raw_stage).collect());
    }
    let number = |place: usize| match args.get(place) {
        Some(Term::Constant(Value::Integer(number))) => *number as f64,
        Some(Term::Constant(Value::Double(number))) => *number,
        None => 0.0,
        other => panic!("a number: {other:?}"),
    };
    Term::Constant(match name {
        "vec" => Value::Vector((0..args.len()).map(number).collect()),
        "ts" => Value::Timestamp(Timestamp { seconds: number(0) as i64, nanos: number(1) as i32 }),
        "geo" => Value::GeoPoint { latitude: number(0), longitude: number(1) },
        "ref" => match args.first() {
            Some(Term::Constant(Value::String(path))) => {
                Value::Reference(format!("projects/p/databases/(default)/documents/{path}"))
            }
            other => panic!("a path: {other:?}"),
        },
        name => {
            return Term::Function { name: name.to_owned(), args, options: BTreeMap::new() };
        }
    })
}

/// The row that every expression is computed for.
fn row(engine: &Engine<'_>) -> Row {
    let fields = Reader::new(ROW).constant();
    let Value::Map(fields) = fields else { panic!("the row is a map") };
    let variables = BTreeMap::from([
        ("x".to_owned(), Some(Value::Integer(7))),
        ("none".to_owned(), None),
        ("doc".to_owned(), Some(Value::Map(Fields::from([("a".to_owned(), Value::Integer(1))])))),
    ]);
    let variables = Variables::inside(&Arc::default(), variables, engine.hold());
    let mut row = Row::new(engine, variables);
    row.put(fields).expect("there is room");
    row.name = Some("projects/p/databases/(default)/documents/books/b1".to_owned());
    row.created = Some(Timestamp { seconds: 100, nanos: 0 });
    row.updated = Some(Timestamp { seconds: 200, nanos: 0 });
    row
}

const ROW: &str = r#"{
    int: 10, double: 2.5, text: "hello", yes: true, nothing: null, nan: NaN,
    tags: ["a", "b", "c"], numbers: [3, 1, 2], empty: [], mixed: [1, "2", null, 3, "10"],
    map: {a: 1, b: {c: "deep"}, "x.y": 5}, bytes: b"abc", at: ts(1741437296, 123456789),
    place: geo(1, 2), ref: ref("c/d/e/f"), vector: vec(3, 4)
}"#;

fn evaluate(text: &str) -> Result<Option<Value>, PipelineError> {
    evaluate_while(text, || Ok(()))
}

fn evaluate_while(
    text: &str,
    may_go_on: impl Fn() -> Result<(), PipelineError>,
) -> Result<Option<Value>, PipelineError> {
    let snapshot = Snapshot::empty(UnixMicros(0));
    let database = DatabaseName::new("p", "(default)");
    let options =
        EngineOptions { now: Timestamp { seconds: 1_000, nanos: 0 }, ..EngineOptions::default() };
    let engine = Engine::new(&snapshot, &database, &Indexer::default(), options, may_go_on);
    let mut parser = Parser::default();
    ["x", "none", "doc"].into_iter().for_each(|name| parser.bind(name));
    let expression: Expression = parser.expression(&Reader::new(text).whole())?;
    let row = row(&engine);
    let before = engine.budget.used();
    let value = expression.evaluate(&Scope::new(&engine, &row));
    assert_eq!(engine.budget.used(), before, "what was held is given back: {text}");
    Ok(value?.map(std::borrow::Cow::into_owned))
}

/// Answers how many rows there were.
fn check(rows: &str) -> usize {
    let mut checked = 0;
    for line in rows.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let (expression, expected) = line.split_once(" => ").expect("a row has an answer");
        let found = evaluate(expression);
        let expected = expected.trim();
        match expected.strip_prefix("error") {
            Some(text) => {
                let error = found.expect_err(line).to_string();
                assert!(error.contains(text.trim()), "{line}: {error}");
            }
            None => {
                let found = found.unwrap_or_else(|error| panic!("{line}: {error}"));
                match expected {
                    "absent" => assert_eq!(found, None, "{line}"),
                    text => assert_eq!(found, Some(Reader::new(text).constant()), "{line}"),
                }
            }
        }
        checked += 1;
    }
    checked
}

#[test]
fn expressions_answer_what_they_should() {
    let families = [
        include_str!("../../testdata/arithmetic.txt"),
        include_str!("../../testdata/comparison.txt"),
        include_str!("../../testdata/logic.txt"),
        include_str!("../../testdata/string.txt"),
        include_str!("../../testdata/array.txt"),
        include_str!("../../testdata/map.txt"),
        include_str!("../../testdata/timestamp.txt"),
        include_str!("../../testdata/other.txt"),
    ];
    let rows: usize = families.into_iter().map(check).sum();
    assert!(rows > 400, "{rows} rows");
}

#[test]
fn what_is_computed_has_bounds() {
    let double = |inner: &str, times: usize, name: &str| {
        let mut text = inner.to_owned();
        for _ in 0..times {
            text = format!("{name}(array_transform([1, 1], \"v\", {text}), \"\")");
        }
        text
    };
    let exhausted = |text: &str| match evaluate(text) {
        Err(PipelineError::Exhausted(_)) => {}
        other => panic!("{text}: {other:?}"),
    };
    exhausted(&double("string_repeat(\"0123456789\", 100000)", 6, "join"));
    exhausted("string_repeat(\"0123456789\", 100000000)");
    exhausted("is_error(string_repeat(\"0123456789\", 100000000))");
    // A thousand names of one large value, and of one that is computed.
    let large = "string_repeat(\"x\", 16000000)";
    let many = |inner: &str| format!("{inner}, ").repeat(1_000);
    let binding = |body: &str| format!("array_transform([{large}], \"v\", {body})");
    exhausted(&format!("maximum({})", many(large)));
    exhausted(&format!("type(maximum({}))", many(large)));
    exhausted(&binding(&format!("[{}]", many("$v"))));
    exhausted(&binding(&format!("map({})", numbered(1_000, "$v"))));
    exhausted(&binding(&format!("map_set({{}}, {})", numbered(1_000, "$v"))));
    exhausted(&binding(&format!("array_concat({})", many("[$v]"))));
    exhausted(&binding("split($v, \"\")"));
    exhausted(&binding("regex_find_all($v, \"\")"));
    exhausted(&binding("string_replace_all($v, \"x\", $v)"));
    exhausted(&binding("regex_contains($v, \"x{1000}y\")"));
    let deep = format!("{}1{}", "abs(".repeat(61), ")".repeat(61));
    assert!(matches!(evaluate(&deep), Err(PipelineError::Invalid(_))));
    let wide = format!("add({})", "1,".repeat(60_000));
    assert!(matches!(evaluate(&wide), Err(PipelineError::Invalid(_))));
    let long = format!("regex_contains(\"a\", \"{}\")", "a".repeat(70_000));
    assert!(matches!(evaluate(&long), Err(PipelineError::Invalid(_))));
}

/// Pairs of a name of its own and the value.
fn numbered(count: usize, value: &str) -> String {
    (0..count).map(|number| format!("\"{number}\", {value}, ")).collect()
}

#[test]
fn work_can_be_ended_wherever_it_is() {
    let hundred = format!("[{}]", "1, ".repeat(100));
    let mut nested = "$v".to_owned();
    for _ in 0..8 {
        nested = format!("array_length(array_transform({hundred}, \"v\", {nested}))");
    }
    let large = "string_repeat(\"x\", 16000000)";
    let endless = [
        nested,
        format!("like({large}, string_concat(\"%\", string_repeat(\"x\", 8000000), \"y\"))"),
        "regex_find_all(string_repeat(\"x\", 1000000), \"x*y|x\")".to_owned(),
    ];
    for text in endless {
        let looks = std::cell::Cell::new(0);
        let found = evaluate_while(&text.replace("$v", "1"), || {
            looks.set(looks.get() + 1);
            if looks.get() > 100 { Err(PipelineError::Overdue) } else { Ok(()) }
        });
        assert_eq!(found, Err(PipelineError::Overdue));
    }
}

#[test]
fn what_looks_quadratic_is_not() {
    // A million places or elements on both sides: each of these ends soon, or not at all.
    let text = |length: usize| format!("string_repeat(\"x\", {length})");
    let bytes = |length: usize| format!("string_repeat(b\"x\", {length})");
    let (large, half) = (text(2_000_000), format!("concat({}, \"y\")", text(1_000_000)));
    let many = format!("split({}, \"\")", text(200_000));
    let others = format!("array_transform({many}, \"v\", \"y\")");
    let rows = [
        format!("string_index_of({large}, {half}) => -1"),
        format!(
            "string_index_of({}, concat({}, b\"y\")) => -1",
            bytes(2_000_000),
            bytes(1_000_000)
        ),
        format!("char_length(string_replace_all({large}, {half}, \"\")) => 2000000"),
        format!("length(split({}, concat({}, b\"y\"))) => 1", bytes(2_000_000), bytes(1_000_000)),
        format!("length(trim({large}, {half})) => 0"),
        format!("array_contains_any({many}, {others}) => false"),
        format!("array_contains_all(array_concat({many}, [\"y\"]), {others}) => true"),
    ];
    assert_eq!(check(&rows.join("\n")), rows.len());
}

#[test]
fn random_numbers_lie_between_0_and_1() {
    for _ in 0..50 {
        let found = evaluate("rand()").expect("it is a number");
        assert!(matches!(found, Some(Value::Double(number)) if (0.0..1.0).contains(&number)));
    }
}
