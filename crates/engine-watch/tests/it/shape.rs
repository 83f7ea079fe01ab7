//! Targets for tests: documents hold a number each.

use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use base_value::{CollectionPath, ParentPath, key};
use bytes::Bytes;
use engine_store::{KeyRange, Record, Snapshot};
use engine_watch::{Bounds, Row, Scope, Select};

use crate::{key_of, path_of};

/// A target from a text: `docs c/a c/b`, `c`, `c>2`, `**c`, `*`, `part c` (told in part); `c order 1 2 4` has two
/// matches behind the first, and knows four.
pub(crate) struct Shape {
    identity: Bytes,
    scope: Scope,
    least: i64,
    bounds: Option<Bounds>,
    is_whole: bool,
    /// How often it was asked about a document, and for the query.
    pub(crate) asked: AtomicUsize,
    pub(crate) runs: AtomicUsize,
}

impl Shape {
    pub(crate) fn new(text: &str) -> Arc<Shape> {
        let words: Vec<&str> = text.split(' ').collect();
        let (selector, is_whole) = match words[..] {
            ["part", selector, ..] => (selector, false),
            [selector, ..] => (selector, true),
            [] => panic!("no target"),
        };
        let (place, least) = selector.split_once('>').unwrap_or((selector, "-1"));
        let scope = match place {
            "docs" => Scope::Documents(words[1..].iter().map(|path| key_of(path)).collect()),
            "*" => Scope::Everywhere,
            place => match place.strip_prefix("**") {
                Some(id) => Scope::Group(key::group(id, &ParentPath::root()).0),
                None => Scope::Collection(key::collection(&collection(place)).0),
            },
        };
        let bounds = match words[..] {
            [_, "order", offset, limit, held] => {
                let number = |text: &str| text.parse().unwrap();
                Some(Bounds { offset: number(offset), limit: number(limit), held: number(held) })
            }
            _ => None,
        };
        Arc::new(Shape {
            identity: Bytes::copy_from_slice(text.as_bytes()),
            scope,
            least: least.parse().unwrap(),
            bounds,
            is_whole,
            asked: AtomicUsize::new(0),
            runs: AtomicUsize::new(0),
        })
    }

    /// All that it selects, in order: the plainest way.
    pub(crate) fn select(&self, snapshot: &Snapshot) -> Vec<Row> {
        let mut rows = self.all(snapshot);
        if let Some(bounds) = self.bounds {
            rows = rows.into_iter().skip(bounds.offset).take(bounds.limit).collect();
        }
        rows
    }

    fn all(&self, snapshot: &Snapshot) -> Vec<Row> {
        let entries = snapshot.range(&KeyRange::all());
        let rows = entries.map(|entry| entry.into_owned());
        let mut rows: Vec<Row> = rows
            .filter(|(key, record)| self.keeps(key, record))
            .map(|(key, record)| Row { key, record })
            .collect();
        rows.sort_by(|left, right| self.compare(left, right));
        rows
    }

    fn keeps(&self, key: &[u8], record: &Record) -> bool {
        let in_scope = match &self.scope {
            Scope::Documents(keys) => keys.iter().any(|one| one == key),
            Scope::Everywhere => true,
            Scope::Group(group) => key.starts_with(group),
            Scope::Collection(prefix) => {
                let path = path_of(key);
                let (parent, _) = path.rsplit_once('/').unwrap();
                key::collection(&collection(parent)).0 == *prefix
            }
        };
        in_scope && number(record) > self.least
    }
}

fn collection(path: &str) -> CollectionPath {
    let (parent, id) = path.rsplit_once('/').unwrap_or(("", path));
    ParentPath::parse(parent).unwrap().collection(id).unwrap()
}

fn number(record: &Record) -> i64 {
    str::from_utf8(&record.value).unwrap().parse().unwrap()
}

impl Select for Shape {
    type Made = usize;

    fn identity(&self) -> &Bytes {
        &self.identity
    }

    fn scope(&self) -> Scope {
        self.scope.clone()
    }

    fn bounds(&self) -> Option<Bounds> {
        self.bounds
    }

    fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn matches(&self, key: &[u8], record: &Record) -> bool {
        self.asked.fetch_add(1, Relaxed);
        self.keeps(key, record)
    }

    fn compare(&self, left: &Row, right: &Row) -> Ordering {
        (number(&left.record), &left.key).cmp(&(number(&right.record), &right.key))
    }

    fn run(&self, snapshot: &Snapshot) -> Vec<Row> {
        self.runs.fetch_add(1, Relaxed);
        let held = self.bounds.map_or(usize::MAX, |bounds| bounds.held);
        self.all(snapshot).into_iter().take(held).collect()
    }
}
