//! What a database holds, at every time, and what queries select from it: a second implementation, as
//! plain as can be.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base_env::UnixMicros;
use base_value::{FieldPath, Value, codec};
use base_wire::google::firestore::v1 as wire;
use wire::write::Operation;

use super::random::Random;
use crate::fields;
use crate::watcher::{Seen, View};
use crate::wire::{delete, path, set};

const COLLECTIONS: [&str; 3] = ["c", "d", "c/a/c"];
const IDS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// The documents at one time, by path.
pub(crate) type State = BTreeMap<Arc<str>, Seen>;

/// Everything a database ever held.
#[derive(Default)]
pub(crate) struct Model {
    history: Vec<(UnixMicros, State)>,
    filled: usize,
}

impl Model {
    /// The state at `time`.
    pub(crate) fn at(&self, time: UnixMicros) -> State {
        let past = self.history.iter().rev().find(|(committed, _)| *committed <= time);
        past.map(|(_, state)| state.clone()).unwrap_or_default()
    }

    /// The newest state.
    pub(crate) fn newest(&self) -> State {
        self.at(UnixMicros(i64::MAX))
    }

    /// Takes in what was committed at `time`.
    pub(crate) fn commit(&mut self, writes: &[wire::Write], time: UnixMicros) {
        let before = self.newest();
        let mut state = before.clone();
        let mut deleted = BTreeSet::new();
        for write in writes {
            match write.operation.as_ref().expect("an operation") {
                Operation::Update(document) => {
                    let seen = Seen { fields: document.fields.clone(), updated: time };
                    state.insert(path(&document.name).into(), seen);
                }
                Operation::Delete(name) => {
                    let path: Arc<str> = path(name).into();
                    state.remove(&path);
                    deleted.insert(path);
                }
                other => panic!("not in this model: {other:?}"),
            }
        }
        // What is as it was has not changed, unless it was gone in between.
        for (path, seen) in &mut state {
            if let Some(before) = before.get(path)
                && before.fields == seen.fields
                && !deleted.contains(path)
            {
                seen.updated = before.updated;
            }
        }
        self.history.push((time, state));
    }

    /// Takes in that everything below `path` was deleted by `time`.
    pub(crate) fn clear(&mut self, path: &str, time: UnixMicros) {
        let mut state = self.newest();
        let path = path.trim_start_matches('/');
        state.retain(|key, _| !(path.is_empty() || key.starts_with(&format!("{path}/"))));
        self.history.push((time, state));
    }

    /// Some writes, with some that change nothing.
    pub(crate) fn random_writes(&self, random: &mut Random) -> Vec<wire::Write> {
        let len = 1 + random.below(3);
        let mut writes = Vec::new();
        for _ in 0..len {
            let path = random_path(random);
            if random.one_in(4) {
                writes.push(delete(&path));
            } else {
                let name = if random.one_in(6) { "m" } else { "n" };
                writes.push(set(&path, fields::parse([&*format!("{name}={}", random.below(6))])));
            }
        }
        writes
    }

    /// Writes of `len` documents, every one a change.
    pub(crate) fn filling(
        &mut self,
        len: usize,
        padding: &str,
        random: &mut Random,
    ) -> Vec<wire::Write> {
        let collection = *random.pick(&COLLECTIONS);
        let mut one = |number| {
            self.filled += 1;
            let words = [format!("n={}", self.filled % 9), format!("k={}", self.filled)];
            let padding = (!padding.is_empty()).then(|| format!("p={padding}"));
            let words = words.iter().chain(&padding).map(String::as_str);
            set(&format!("{collection}/w{number:04}"), fields::parse(words))
        };
        (0..len).map(&mut one).collect()
    }
}

fn random_path(random: &mut Random) -> String {
    format!("{}/{}", random.pick(&COLLECTIONS), random.pick(&IDS))
}

/// What a target can ask for.
#[derive(Clone, Debug)]
pub(crate) enum Query {
    Collection(&'static str),
    Above { collection: &'static str, n: i64 },
    Window { collection: &'static str, by_n: bool, down: bool, offset: usize, limit: Option<usize> },
    Group,
    Documents(Vec<String>),
}

impl Query {
    pub(crate) fn random(random: &mut Random) -> Query {
        let collection = random.pick(&COLLECTIONS);
        match random.below(10) {
            0..2 => Query::Collection(collection),
            2..4 => Query::Above { collection, n: 2 },
            4..7 => {
                let by_n = !random.one_in(3);
                let down = by_n && random.one_in(2);
                let offset = if random.one_in(2) { random.below(4) } else { 0 };
                let limit = (!random.one_in(4)).then(|| 1 + random.below(5));
                Query::Window { collection, by_n, down, offset, limit }
            }
            7 => Query::Group,
            _ => Query::Documents((0..=random.below(4)).map(|_| random_path(random)).collect()),
        }
    }

    /// The text of the target, see `wire::target`.
    pub(crate) fn text(&self) -> String {
        match self {
            Query::Collection(collection) => (*collection).to_owned(),
            Query::Above { collection, n } => format!("{collection} where n > {n}"),
            Query::Window { collection, by_n, down, offset, limit } => {
                let mut text = format!("{collection} offset {offset}");
                if *by_n {
                    text.push_str(if *down { " order -n" } else { " order n" });
                }
                if let Some(limit) = limit {
                    text.push_str(&format!(" limit {limit}"));
                }
                text
            }
            Query::Group => "**/c".to_owned(),
            Query::Documents(paths) => format!("docs {}", paths.join(" ")),
        }
    }

    /// What it selects.
    pub(crate) fn select(&self, state: &State) -> View {
        let mut rows: Vec<_> =
            state.iter().filter(|(path, seen)| self.matches(path, seen)).collect();
        if let Query::Window { by_n, down, offset, limit, .. } = self {
            if *by_n {
                rows.sort_by_key(|(path, seen)| (n(seen), (*path).clone()));
            }
            if *down {
                rows.reverse();
            }
            rows = rows.into_iter().skip(*offset).take(limit.unwrap_or(usize::MAX)).collect();
        }
        rows.into_iter().map(|(path, seen)| (path.to_string(), seen.clone())).collect()
    }

    fn matches(&self, path: &str, seen: &Seen) -> bool {
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        match self {
            Query::Collection(collection) => parent == *collection,
            Query::Above { collection, n: least } => {
                parent == *collection && n(seen).is_some_and(|n| n > *least)
            }
            Query::Window { collection, by_n, .. } => {
                parent == *collection && (!by_n || n(seen).is_some())
            }
            Query::Group => parent.rsplit('/').next() == Some("c"),
            Query::Documents(paths) => paths.iter().any(|one| one == path),
        }
    }
}

fn n(seen: &Seen) -> Option<i64> {
    match codec::find(&seen.fields, &FieldPath::single("n")) {
        Some(Value::Integer(n)) => Some(n),
        _ => None,
    }
}
