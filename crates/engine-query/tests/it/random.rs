//! Documents and queries drawn at random.

use std::collections::BTreeMap;

use base_value::{DocumentPath, FieldPath, Fields, Value};
use engine_query::{
    CompositeOp, Cursor, Direction, FieldOp, Filter, From, IndexDefinition, IndexField, IndexMode,
    IndexScope, Order, Query, UnaryOp,
};

use super::naive::Document;
use super::support::*;

const IDS: [&str; 9] = ["1", "a", "a-", "ab", "b", "\u{e9}", "z", "__id5__", "__id-5__"];
pub(crate) const COLLECTIONS: [&str; 3] = ["c", "d", "e"];
const FIELDS: [&str; 6] = ["a", "b", "m.x", "m.y", "`q r`", "v"];

/// A small generator of random numbers (splitmix64), so that a seed is all it takes to repeat a failure.
pub(crate) struct Random {
    state: u64,
    /// Names that are worth asking for.
    names: Vec<String>,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random { state: seed, names: Vec::new() }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    fn scalar(&mut self) -> Value {
        match self.below(22) {
            0 => Value::Null,
            1 | 2 => Value::Boolean(self.chance(50)),
            3 if self.chance(10) => int(self.pick(&[i64::MAX, i64::MIN, (1 << 53) + 1])),
            3..=8 => int(self.below(4) as i64 - 1),
            9..=12 => double(self.pick(&[-1.0, -0.0, 0.0, 0.5, 1.0, 2.0, f64::INFINITY])),
            13 => double(f64::NAN),
            14 => time(self.below(3) as i64),
            15..=17 if self.chance(15) => {
                // Long enough to be cut in an index key, behind what all of them share.
                text(&("a".repeat(400) + self.pick(&["", "b", "c"])))
            }
            15..=17 => text(self.pick(&["", "a", "b", "\u{ffee}", "\u{1f600}"])),
            18 => Value::Bytes(self.pick::<&[u8]>(&[b"", b"a", b"\x00"]).to_vec().into()),
            19 | 20 => reference(self.pick(&["c/a", "c/__id5__", "c/a/d/b"])),
            _ => Value::GeoPoint { latitude: self.below(2) as f64, longitude: 1.0 },
        }
    }

    pub(crate) fn value(&mut self) -> Value {
        match self.below(12) {
            0 | 1 => Value::Array((0..self.below(4)).map(|_| self.scalar()).collect()),
            2 => Value::Vector((0..=self.below(2)).map(|_| self.below(2) as f64).collect()),
            3 => map([(self.pick(&["k", "x"]), self.scalar())]),
            _ => self.scalar(),
        }
    }

    pub(crate) fn field(&mut self) -> FieldPath {
        path(self.pick(&FIELDS))
    }

    pub(crate) fn document_path(&mut self) -> String {
        let mut segments = vec![self.pick(&COLLECTIONS), self.pick(&IDS)];
        while self.chance(30) && segments.len() < 6 {
            segments.push(self.pick(&COLLECTIONS));
            segments.push(self.pick(&IDS));
        }
        segments.join("/")
    }

    pub(crate) fn documents(&mut self) -> Vec<Document> {
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

    pub(crate) fn direction(&mut self) -> Direction {
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

    /// Composite indexes, for queries like those of [`Random::query`].
    pub(crate) fn definitions(&mut self) -> Vec<IndexDefinition> {
        (0..self.below(12)).map(|_| self.definition()).collect()
    }

    fn definition(&mut self) -> IndexDefinition {
        use IndexMode::{Ascending, Contains, Descending};
        let mut fields: Vec<IndexField> = Vec::new();
        for _ in 0..2 + self.below(2) {
            let path = self.field();
            let mode = self.pick(&[Ascending, Ascending, Descending, Contains]);
            let has_contains = fields.iter().any(|field| field.mode == Contains);
            if fields.iter().all(|field| field.path != path) && !(has_contains && mode == Contains)
            {
                fields.push(IndexField { path, mode });
            }
        }
        let scope = self.pick(&[IndexScope::Collection, IndexScope::Group]);
        IndexDefinition { collection_id: self.pick(&COLLECTIONS).to_owned(), scope, fields }
    }

    pub(crate) fn query(&mut self) -> Query {
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
