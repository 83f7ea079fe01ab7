//! Random queries of random documents, against the naive model, over every plan.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use base_value::{DocumentPath, FieldPath, Fields, Value, key};
use engine_query::{
    AggregateOp, Aggregation, CompositeOp, Cursor, Direction, FieldOp, Filter, From, ListDocuments,
    Order, Prepared, Query, Row, UnaryOp, aggregate, list_collection_ids, list_documents,
};
use engine_store::Snapshot;

use crate::naive::{self, Document};
use crate::support::*;

const WORLDS: u64 = 60;
const QUERIES_PER_WORLD: usize = 150;

const IDS: [&str; 9] = ["1", "a", "a-", "ab", "b", "\u{e9}", "z", "__id5__", "__id-5__"];
const COLLECTIONS: [&str; 3] = ["c", "d", "e"];
const FIELDS: [&str; 6] = ["a", "b", "m.x", "m.y", "`q r`", "v"];

/// A small generator of random numbers (splitmix64), so that a seed is all it takes to repeat a failure.
struct Random {
    state: u64,
    /// Names that are worth asking for.
    names: Vec<String>,
}

impl Random {
    fn new(seed: u64) -> Self {
        Random { state: seed, names: Vec::new() }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    fn scalar(&mut self) -> Value {
        match self.below(22) {
            0 => Value::Null,
            1 | 2 => Value::Boolean(self.chance(50)),
            3..=8 => int(self.below(4) as i64 - 1),
            9..=12 => double(self.pick(&[-1.0, -0.0, 0.0, 0.5, 1.0, 2.0, f64::INFINITY])),
            13 => double(f64::NAN),
            14 => time(self.below(3) as i64),
            15..=17 => text(self.pick(&["", "a", "b", "\u{ffee}", "\u{1f600}"])),
            18 => Value::Bytes(self.pick::<&[u8]>(&[b"", b"a", b"\x00"]).to_vec().into()),
            19 | 20 => reference(self.pick(&["c/a", "c/__id5__", "c/a/d/b"])),
            _ => Value::GeoPoint { latitude: self.below(2) as f64, longitude: 1.0 },
        }
    }

    fn value(&mut self) -> Value {
        match self.below(12) {
            0 | 1 => Value::Array((0..self.below(4)).map(|_| self.scalar()).collect()),
            2 => Value::Vector((0..=self.below(2)).map(|_| self.below(2) as f64).collect()),
            3 => map([(self.pick(&["k", "x"]), self.scalar())]),
            _ => self.scalar(),
        }
    }

    fn field(&mut self) -> FieldPath {
        path(self.pick(&FIELDS))
    }

    fn document_path(&mut self) -> String {
        let mut segments = vec![self.pick(&COLLECTIONS), self.pick(&IDS)];
        while self.chance(30) && segments.len() < 6 {
            segments.push(self.pick(&COLLECTIONS));
            segments.push(self.pick(&IDS));
        }
        segments.join("/")
    }

    fn documents(&mut self) -> Vec<Document> {
        let mut documents: BTreeMap<DocumentPath, Fields> = BTreeMap::new();
        for _ in 0..self.below(60) {
            let mut fields = Fields::new();
            for _ in 0..self.below(6) {
                let value = self.value();
                self.field().set(&mut fields, value);
            }
            documents.insert(DocumentPath::parse(&self.document_path()).unwrap(), fields);
        }
        self.names = documents.keys().map(|path| path.as_str().to_owned()).collect();
        documents.into_iter().collect()
    }

    /// A reference, mostly to a document that is there.
    fn name(&mut self) -> Value {
        if self.names.is_empty() || self.chance(40) {
            return reference(&self.document_path());
        }
        let index = self.below(self.names.len());
        reference(&self.names[index])
    }

    fn direction(&mut self) -> Direction {
        self.pick(&[Direction::Ascending, Direction::Ascending, Direction::Descending])
    }

    fn leaf(&mut self) -> Filter {
        if self.chance(20) {
            return self.name_filter();
        }
        let field = self.field();
        if self.chance(15) {
            use UnaryOp::{IsNan, IsNotNan, IsNotNull, IsNull};
            return Filter::unary(field, self.pick(&[IsNull, IsNan, IsNotNull, IsNotNan]));
        }
        let op = self.field_op();
        let value = if is_list(op) {
            Value::Array((0..=self.below(3)).map(|_| self.value()).collect())
        } else {
            self.value()
        };
        Filter::field(field, op, value)
    }

    fn field_op(&mut self) -> FieldOp {
        use FieldOp::{
            ArrayContains, ArrayContainsAny, Equal, GreaterThan, GreaterThanOrEqual, In, LessThan,
            LessThanOrEqual, NotEqual, NotIn,
        };
        self.pick(&[
            Equal,
            Equal,
            Equal,
            NotEqual,
            LessThan,
            LessThanOrEqual,
            GreaterThan,
            GreaterThanOrEqual,
            In,
            NotIn,
            ArrayContains,
            ArrayContainsAny,
        ])
    }

    fn name_filter(&mut self) -> Filter {
        let op = loop {
            let op = self.field_op();
            if !matches!(op, FieldOp::ArrayContains | FieldOp::ArrayContainsAny) {
                break op;
            }
        };
        let value = if is_list(op) {
            Value::Array((0..=self.below(3)).map(|_| self.name()).collect())
        } else {
            self.name()
        };
        Filter::field(FieldPath::name(), op, value)
    }

    fn filter(&mut self, depth: usize) -> Filter {
        if depth == 0 || self.chance(50) {
            return self.leaf();
        }
        let op = self.pick(&[CompositeOp::And, CompositeOp::And, CompositeOp::Or]);
        let filters = (0..=self.below(3)).map(|_| self.filter(depth - 1)).collect();
        Filter::Composite { op, filters }
    }

    fn cursor(&mut self, order: &[Order]) -> Option<Cursor> {
        if self.chance(70) {
            return None;
        }
        let values = order
            .iter()
            .take(self.below(order.len() + 1))
            .map(|order| if order.field.is_name() { self.name() } else { self.value() });
        let values = values.collect();
        Some(Cursor { values, before: self.chance(50) })
    }

    fn query(&mut self) -> Query {
        let id = self.pick(&COLLECTIONS).to_owned();
        let from = match self.below(10) {
            0..=5 => From::Collection(id),
            6 | 7 => From::Group(id),
            8 => From::Children,
            _ => From::Descendants,
        };
        let below = if self.chance(25) { self.document_path() } else { String::new() };
        let mut query = Query::new(parent(&below), from);
        if self.chance(75) {
            query.filter = Some(self.filter(2));
        }
        for _ in 0..self.pick(&[0, 0, 1, 1, 2]) {
            query.order.push(Order { field: self.field(), direction: self.direction() });
        }
        if self.chance(30) {
            query.order.push(Order { field: FieldPath::name(), direction: self.direction() });
        }
        query.start = self.cursor(&query.order);
        query.end = self.cursor(&query.order);
        if self.chance(30) {
            query.offset = self.below(4) as u32;
        }
        if self.chance(50) {
            query.limit = Some(self.below(6) as u32);
        }
        query
    }
}

fn is_list(op: FieldOp) -> bool {
    matches!(op, FieldOp::In | FieldOp::NotIn | FieldOp::ArrayContainsAny)
}

fn store(documents: &[Document]) -> Snapshot {
    snapshot(documents.iter().map(|(path, fields)| (path.as_str(), fields.clone())))
}

/// Runs `property` for every seed, and says which one failed.
fn for_every_world(property: impl Fn(&mut Random)) {
    for seed in 0..WORLDS {
        let result = catch_unwind(AssertUnwindSafe(|| property(&mut Random::new(seed))));
        if let Err(panic) = result {
            println!("failed with seed {seed}: repeat with `Random::new({seed})`");
            resume_unwind(panic);
        }
    }
}

#[test]
fn queries_answer_as_the_naive_model_does() {
    let (mut accepted, mut found) = (0, 0);
    for_every_world_counted(&mut accepted, &mut found);
    // Otherwise the generator has lost its point.
    let queries = WORLDS as usize * QUERIES_PER_WORLD;
    assert!(accepted * 4 > queries, "only {accepted} of {queries} queries were accepted");
    assert!(found * 10 > queries, "only {found} of {queries} queries found something");
}

fn for_every_world_counted(accepted: &mut usize, found: &mut usize) {
    let counts = std::cell::Cell::new((0, 0));
    for_every_world(|random| {
        let documents = random.documents();
        let snapshot = store(&documents);
        for _ in 0..QUERIES_PER_WORLD {
            let query = random.query();
            let Ok(prepared) = prepare(query.clone()) else { continue };
            let (accepted, found) = counts.get();
            let rows = check_query(&documents, &snapshot, &query, &prepared);
            counts.set((accepted + 1, found + usize::from(rows > 0)));
        }
    });
    (*accepted, *found) = counts.get();
}

/// Checks one query; answers how many rows it has.
fn check_query(
    documents: &[Document],
    snapshot: &Snapshot,
    query: &Query,
    prepared: &Prepared,
) -> usize {
    let matching = naive::matching(documents, query);
    let offset = query.offset as usize;
    let limit = query.limit.map_or(usize::MAX, |limit| limit as usize);
    let expected: Vec<&str> =
        matching.iter().skip(offset).take(limit).map(|(path, _)| path.as_str()).collect();

    let rows: Vec<Row> = prepared.run(snapshot).collect();
    let paths: Vec<&str> = rows.iter().map(|row| row.path.as_str()).collect();
    assert_eq!(paths, expected, "{query:#?}");
    for (index, other) in prepared.alternatives().enumerate() {
        let rows: Vec<Row> = other.run(snapshot).collect();
        let paths: Vec<&str> = rows.iter().map(|row| row.path.as_str()).collect();
        assert_eq!(paths, expected, "alternative {index}: {other:#?}");
    }

    let mut running = prepared.run(snapshot);
    while running.next().is_some() {}
    let skipped = if limit == 0 { 0 } else { offset.min(matching.len()) };
    assert_eq!(running.skipped(), skipped, "{query:#?}");

    for pair in rows.windows(2) {
        assert!(prepared.compare(&pair[0], &pair[1]).is_lt(), "{query:#?}");
        assert!(prepared.compare(&pair[1], &pair[0]).is_gt(), "{query:#?}");
    }
    for (path, _) in documents {
        let key = key::document(path);
        let record = snapshot.get(&key).unwrap();
        let is_match = matching.iter().any(|(found, _)| found == path);
        assert_eq!(prepared.matches(&key, &record), is_match, "{path} {query:#?}");
        assert!(!is_match || prepared.scope().contains(&key), "{path} {query:#?}");
    }
    check_aggregates(snapshot, query, prepared, &matching);
    rows.len()
}

fn check_aggregates(
    snapshot: &Snapshot,
    query: &Query,
    prepared: &Prepared,
    matching: &[&Document],
) {
    let offset = query.offset as usize;
    let limit = query.limit.map_or(usize::MAX, |limit| limit as usize);
    let count = |up_to| Aggregation { alias: "n".into(), op: AggregateOp::Count { up_to } };
    let total = matching.len().saturating_sub(offset).min(limit) as i64;
    for (up_to, expected) in [(None, total), (Some(2), total.min(2))] {
        let counted = aggregate(prepared, &[count(up_to)], snapshot).unwrap();
        assert_eq!(counted, [("n".to_owned(), int(expected))], "{query:#?}");
    }

    // With a limit, the summed field takes part in the order, which other tests show.
    if offset > 0 || query.limit.is_some() {
        return;
    }
    let sum = Aggregation { alias: "s".into(), op: AggregateOp::Sum(path("a")) };
    let Ok(results) = aggregate(prepared, &[count(None), sum], snapshot) else { return };
    let values: Vec<&Value> =
        matching.iter().filter_map(|(_, fields)| path("a").get(fields)).collect();
    let (mut integers, mut doubles) = (0, None);
    for value in &values {
        match value {
            Value::Integer(integer) => integers += integer,
            Value::Double(double) => *doubles.get_or_insert(0.0) += double,
            _ => {}
        }
    }
    let expected = match doubles {
        // The values are few and small, so that no addition rounds.
        Some(doubles) => double(doubles + integers as f64),
        None => int(integers),
    };
    let expected = [("n".to_owned(), int(values.len() as i64)), ("s".to_owned(), expected)];
    assert_eq!(results, expected, "{query:#?}");
}

#[test]
fn projections_are_what_the_paths_lead_to() {
    for_every_world(|random| {
        for (_, document) in random.documents() {
            let paths: Vec<FieldPath> = (0..random.below(4)).map(|_| random.field()).collect();
            let mut expected = Fields::new();
            for path in &paths {
                if let Some(value) = path.get(&document) {
                    path.set(&mut expected, value.clone());
                }
            }
            let encoded = base_value::codec::encode_fields(&document);
            let projected = engine_query::project(&encoded, &paths);
            assert_eq!(base_value::codec::decode_fields(&projected).unwrap(), expected);
        }
    });
}

#[test]
fn lists_show_what_the_names_say() {
    for_every_world(|random| {
        let documents = random.documents();
        let snapshot = store(&documents);
        for _ in 0..30 {
            let below = if random.chance(50) { random.document_path() } else { String::new() };
            check_lists(random, &documents, &snapshot, &below);
        }
    });
}

fn check_lists(random: &mut Random, documents: &[Document], snapshot: &Snapshot, below: &str) {
    let above: Vec<&str> = below.split('/').filter(|segment| !segment.is_empty()).collect();
    let inside = |(path, _): &Document| -> Option<(String, DocumentPath)> {
        let segments: Vec<&str> = path.segments().collect();
        let rest = segments.strip_prefix(above.as_slice()).filter(|rest| !rest.is_empty())?;
        let child = segments[..above.len() + 2].join("/");
        Some((rest[0].to_owned(), DocumentPath::parse(&child).unwrap()))
    };
    let mut ids: Vec<String> = documents.iter().filter_map(inside).map(|(id, _)| id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(list_collection_ids(snapshot, &parent(below)), ids, "below {below}");

    let id = if random.chance(30) { String::new() } else { random.pick(&COLLECTIONS).to_owned() };
    let mut children: Vec<DocumentPath> = documents
        .iter()
        .filter_map(inside)
        .filter(|(collection, _)| id.is_empty() || *collection == id)
        .map(|(_, child)| child)
        .collect();
    children.sort();
    children.dedup();
    for show_missing in [false, true] {
        let expected: Vec<(DocumentPath, bool)> = children
            .iter()
            .map(|child| (child.clone(), documents.iter().any(|(path, _)| path == child)))
            .filter(|(_, exists)| *exists || show_missing)
            .collect();
        let mut request = ListDocuments {
            parent: parent(below),
            collection_id: id.clone(),
            order: Vec::new(),
            show_missing,
            page_size: 1 + random.below(4),
            page_token: None,
        };
        let mut listed = Vec::new();
        loop {
            let page = list_documents(&database(), &request, snapshot).unwrap();
            let is_full = page.documents.len() == request.page_size;
            assert!(is_full || page.next_page_token.is_none());
            listed.extend(page.documents.into_iter().map(|it| (it.path, it.record.is_some())));
            request.page_token = page.next_page_token;
            if request.page_token.is_none() {
                break;
            }
        }
        assert_eq!(listed, expected, "below {below}, collection `{id}`");
    }
}
