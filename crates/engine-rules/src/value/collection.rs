//! Lists, maps, sets and the difference of maps.

use std::collections::BTreeMap;
use std::sync::Arc;

use base_value::Fields;

use super::{Path, Shared, Value, equal, strictly_equal};
use crate::request::Document;

/// Values in an order.
#[derive(Clone, Debug)]
pub enum List<'e> {
    /// An array of a document.
    Stored(&'e [base_value::Value]),
    /// Made by an expression.
    Made(Arc<[Value<'e>]>),
}

impl<'e> List<'e> {
    /// How many values it has.
    pub fn len(&self) -> usize {
        match self {
            List::Stored(values) => values.len(),
            List::Made(values) => values.len(),
        }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at a place.
    pub fn get(&self, index: usize) -> Option<Value<'e>> {
        match self {
            List::Stored(values) => values.get(index).map(Value::stored),
            List::Made(values) => values.get(index).cloned(),
        }
    }

    /// All values in their order.
    pub fn iter(&self) -> impl Iterator<Item = Value<'e>> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    pub(crate) fn contains(&self, value: &Value<'_>) -> bool {
        self.iter().any(|item| strictly_equal(&item, value))
    }
}

/// Named values.
#[derive(Clone, Debug)]
pub enum Map<'e> {
    /// A map of a document, or all of its fields.
    Stored(&'e Fields),
    /// All fields of a document or all claims of a token, read when an expression asks for one.
    Deferred(&'e dyn Document),
    /// Made by an expression.
    Made(Arc<BTreeMap<Shared<'e, str>, Value<'e>>>),
    /// A document with its name: its fields are read when `data` is asked for.
    Document(Arc<DocumentMap<'e>>),
}

/// What `resource` and `get()` give of a Firestore document.
#[derive(Clone, Debug)]
pub struct DocumentMap<'e> {
    pub(crate) document: &'e dyn Document,
    pub(crate) name: Path<'e>,
}

pub(crate) const NAME: &str = "__name__";
pub(crate) const DATA: &str = "data";
pub(crate) const ID: &str = "id";

impl<'e> Map<'e> {
    /// A document as `resource` and `get()` show it.
    pub(crate) fn document(document: &'e dyn Document, name: Path<'e>) -> Self {
        Map::Document(Arc::new(DocumentMap { document, name }))
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        match self {
            Map::Stored(fields) => fields.len(),
            Map::Deferred(document) => document.fields().len(),
            Map::Made(entries) => entries.len(),
            Map::Document(_) => 3,
        }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<Value<'e>> {
        match self {
            Map::Stored(fields) => fields.get(key).map(Value::stored),
            Map::Deferred(document) => document.field(key).map(Value::stored),
            Map::Made(entries) => entries.get(key).cloned(),
            Map::Document(document) => match key {
                DATA => Some(Value::Map(Map::Deferred(document.document))),
                ID => document.name.last().map(Value::String),
                NAME => Some(Value::Path(document.name.clone())),
                _ => None,
            },
        }
    }

    /// Whether there is such a key.
    pub fn has(&self, key: &str) -> bool {
        match self {
            Map::Stored(fields) => fields.contains_key(key),
            Map::Deferred(document) => document.field(key).is_some(),
            Map::Made(entries) => entries.contains_key(key),
            Map::Document(_) => matches!(key, DATA | ID | NAME),
        }
    }

    /// All keys, sorted.
    pub fn keys(&self) -> Vec<Shared<'e, str>> {
        match self {
            Map::Stored(fields) => names(fields),
            Map::Deferred(document) => names(document.fields()),
            Map::Made(entries) => entries.keys().cloned().collect(),
            Map::Document(_) => [NAME, DATA, ID].map(Shared::Borrowed).into(),
        }
    }

    /// All entries, sorted by key.
    pub fn entries(&self) -> Vec<(Shared<'e, str>, Value<'e>)> {
        let keys = self.keys().into_iter();
        keys.filter_map(|key| self.get(&key).map(|value| (key, value))).collect()
    }
}

fn names(fields: &Fields) -> Vec<Shared<'_, str>> {
    fields.keys().map(|key| Shared::Borrowed(key.as_str())).collect()
}

impl PartialEq for Shared<'_, str> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Shared<'_, str> {}

impl PartialOrd for Shared<'_, str> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Shared<'_, str> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

impl std::borrow::Borrow<str> for Shared<'_, str> {
    fn borrow(&self) -> &str {
        self
    }
}

/// How a key fares between two maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// In the left map alone.
    Added,
    /// In the right map alone.
    Removed,
    /// In both, with different values.
    Changed,
    /// In both, with equal values.
    Unchanged,
}

/// How a left map differs from a right one, key by key.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MapDiff {
    /// Every key of either map, sorted.
    pub keys: BTreeMap<Arc<str>, Status>,
}

impl MapDiff {
    pub(crate) fn new(left: &Map<'_>, right: &Map<'_>) -> Self {
        let mut keys = BTreeMap::new();
        for (key, value) in left.entries() {
            let status = match right.get(&key) {
                None => Status::Added,
                Some(other) if equal(&value, &other) => Status::Unchanged,
                Some(_) => Status::Changed,
            };
            keys.insert(Arc::from(&*key), status);
        }
        for key in right.keys() {
            if !left.has(&key) {
                keys.insert(Arc::from(&*key), Status::Removed);
            }
        }
        MapDiff { keys }
    }

    /// The keys of these statuses, as the set expressions see.
    pub(crate) fn of<'e>(&self, statuses: &[Status]) -> Value<'e> {
        let keys = self.keys.iter().filter(|(_, status)| statuses.contains(status));
        Value::Set(keys.map(|(key, _)| Value::String(Shared::Owned(Arc::clone(key)))).collect())
    }
}

/// The values without repetition, first ones kept.
pub(crate) fn set_of<'e>(values: impl Iterator<Item = Value<'e>>) -> Arc<[Value<'e>]> {
    let mut kept: Vec<Value<'e>> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for value in values {
        // Strings, which sets are mostly made of, do not cost a comparison with all.
        let is_new = match &value {
            Value::String(text) => seen.insert(text.to_string()),
            _ => !kept.iter().any(|other| equal(other, &value)),
        };
        if is_new {
            kept.push(value);
        }
    }
    kept.into()
}
