//! Derives index entries and counters from documents.

use std::sync::Arc;

use base_value::codec::Scalar;
use base_value::index_key::{push_encoded, push_scalar, push_value};
use base_value::key::{self, Parts};
use base_value::{Fields, Value, codec};
use bytes::Bytes;
use engine_store::{Derive, DerivedEntry};

use super::definition::{Hash, IndexDefinition, IndexMode, IndexScope};
use super::layout::{self, FieldPrefix};
use crate::model::{From, Query};

/// Changes with every change of what is derived from the same document.
const LAYOUT: u64 = 2;

/// Derives what queries look up: the entries of every field of a document, at any depth, those of declared
/// composite indexes, and counters of collections and collection groups.
#[derive(Clone, Debug, Default)]
pub struct Indexer {
    composites: Arc<[Composite]>,
}

/// A composite index that is kept up.
#[derive(Debug)]
pub(crate) struct Composite {
    pub(crate) definition: IndexDefinition,
    /// See [`layout::composite`].
    pub(crate) index: Vec<u8>,
    /// Whether names run down: they run as the last field does.
    pub(crate) flips_name: bool,
    group: Bytes,
}

impl Indexer {
    /// With the automatic indexes and these composite ones; one that is defined twice is kept once.
    pub fn new(definitions: impl IntoIterator<Item = IndexDefinition>) -> Self {
        let mut composites: Vec<Composite> = Vec::new();
        for definition in definitions {
            if definition.fields.is_empty()
                || composites.iter().any(|known| known.definition == definition)
            {
                continue;
            }
            let index = layout::composite(definition.id());
            let group = crate::scope::group_bytes(&definition.collection_id);
            let last = definition.fields.last().map(|field| field.mode);
            let flips_name = last == Some(IndexMode::Descending);
            composites.push(Composite { definition, index, flips_name, group });
        }
        Indexer { composites: composites.into() }
    }

    /// The composite indexes that can serve the scope of a query.
    pub(crate) fn composites_for<'i>(
        &'i self,
        query: &'i Query,
    ) -> impl Iterator<Item = &'i Composite> {
        let wanted = match &query.from {
            From::Collection(id) => Some((id, IndexScope::Collection)),
            From::Group(id) => Some((id, IndexScope::Group)),
            From::Children | From::Descendants => None,
        };
        self.composites.iter().filter(move |composite| {
            let definition = &composite.definition;
            wanted.is_some_and(|(id, scope)| {
                definition.collection_id == *id && definition.scope == scope
            })
        })
    }

    fn composites_of<'i>(&'i self, parts: &Parts<'_>) -> impl Iterator<Item = &'i Composite> {
        let group = Bytes::copy_from_slice(parts.group);
        self.composites.iter().filter(move |composite| composite.group == group)
    }
}

impl Derive for Indexer {
    fn fingerprint(&self) -> u64 {
        let mut ids: Vec<u64> =
            self.composites.iter().map(|composite| composite.definition.id()).collect();
        ids.sort_unstable();
        let mut hash = Hash::default();
        hash.add(&LAYOUT.to_be_bytes());
        ids.iter().for_each(|id| hash.add(&id.to_be_bytes()));
        hash.0
    }

    fn entries(&self, key: &[u8], value: &[u8], out: &mut Vec<DerivedEntry>) {
        let Some(parts) = key::parts(key) else { return };
        let mut entries = Entries::new(key, &parts, out);
        for (name, encoded) in codec::entries(value) {
            entries.field(name, encoded);
        }
        for composite in self.composites_of(&parts) {
            entries.composite(composite, value);
        }
    }

    fn counters(&self, key: &[u8], out: &mut Vec<Bytes>) {
        let Some(parts) = key::parts(key) else { return };
        out.push(layout::collection_scope(parts.collection).into());
        out.push(layout::group_scope(parts.group).into());
        for composite in self.composites_of(&parts) {
            out.push(composite.index.clone().into());
        }
    }
}

/// The entries of one document.
struct Entries<'d> {
    /// Scope and name of the document in its collection, then in its group.
    places: [(Vec<u8>, &'d [u8]); 2],
    /// Whether the automatic entries are in the group's scope, too.
    in_group: bool,
    prefix: FieldPrefix,
    /// The index and values of the entry at hand; reused.
    middle: Vec<u8>,
    out: &'d mut Vec<DerivedEntry>,
}

impl<'d> Entries<'d> {
    fn new(key: &'d [u8], parts: &Parts<'d>, out: &'d mut Vec<DerivedEntry>) -> Self {
        let collection = (layout::collection_scope(parts.collection), parts.id);
        let group = (layout::group_scope(parts.group), layout::group_name(key, parts));
        Entries {
            places: [collection, group],
            in_group: !parts.is_root,
            prefix: FieldPrefix::default(),
            middle: Vec::with_capacity(128),
            out,
        }
    }

    /// A field of the document itself, as it is stored.
    fn field(&mut self, name: &str, encoded: &[u8]) {
        let Some(scalar) = codec::scalar(encoded) else {
            if let Ok(value) = codec::decode_value(encoded) {
                self.value(name, &value);
            }
            return;
        };
        self.begin(false, name);
        push_scalar(&mut self.middle, scalar);
        self.push(layout::mark(0, Some(scalar)));
    }

    fn value(&mut self, name: &str, value: &Value) {
        self.begin(false, name);
        push_value(&mut self.middle, value);
        self.push(layout::mark(0, Scalar::of(value)));
        match value {
            Value::Array(elements) => {
                self.begin(true, name);
                let length = self.middle.len();
                for element in element_keys(elements) {
                    self.middle.truncate(length);
                    self.middle.extend_from_slice(&element);
                    self.push(0);
                }
            }
            Value::Map(fields) => self.map(name, fields),
            _ => {}
        }
    }

    /// Depth is bounded by that of decoding.
    fn map(&mut self, name: &str, fields: &Fields) {
        let back = self.prefix.enter(name);
        for (name, value) in fields {
            self.value(name, value);
        }
        self.prefix.leave(back);
    }

    fn begin(&mut self, elements: bool, name: &str) {
        self.middle.clear();
        self.prefix.push_index(&mut self.middle, elements, name);
    }

    fn push(&mut self, mark: u8) {
        let places = if self.in_group {
            self.places.as_slice()
        } else {
            self.places.get(..1).unwrap_or_default()
        };
        for (scope, name) in places {
            let key = [scope.as_slice(), &self.middle, name].concat().into();
            self.out.push(DerivedEntry { key, mark });
        }
    }

    fn composite(&mut self, composite: &Composite, fields: &[u8]) {
        // One entry for every combination; more than one field of elements is not declared.
        let mut middles = vec![composite.index.clone()];
        let mut mark = 0;
        for (at, field) in composite.definition.fields.iter().enumerate() {
            let Some(encoded) = codec::find_raw(fields, &field.path) else { return };
            let keys = match field.mode {
                IndexMode::Contains => match codec::decode_value(encoded) {
                    Ok(Value::Array(elements)) => element_keys(&elements),
                    Ok(_) | Err(_) => return,
                },
                IndexMode::Ascending | IndexMode::Descending => {
                    let mut key = Vec::new();
                    if push_encoded(&mut key, encoded).is_none() {
                        return;
                    }
                    mark |= layout::mark(at, codec::scalar(encoded));
                    if field.mode == IndexMode::Descending {
                        key.iter_mut().for_each(|byte| *byte = !*byte);
                    }
                    vec![key]
                }
            };
            middles = middles
                .iter()
                .flat_map(|middle| keys.iter().map(|key| [middle.as_slice(), key].concat()))
                .collect();
        }
        let [collection, group] = &self.places;
        let (scope, name) = match composite.definition.scope {
            IndexScope::Collection => collection,
            IndexScope::Group => group,
        };
        let name = match composite.flips_name {
            true => name.iter().chain(&[0]).map(|byte| !byte).collect(),
            false => name.to_vec(),
        };
        for middle in middles {
            let key = [scope.as_slice(), &middle, &name].concat().into();
            self.out.push(DerivedEntry { key, mark });
        }
    }
}

/// The encodings of the elements that can be found, each once. Null, NaN and arrays never are.
fn element_keys(elements: &[Value]) -> Vec<Vec<u8>> {
    let mut keys: Vec<Vec<u8>> = elements
        .iter()
        .filter(|element| !matches!(element, Value::Null | Value::Array(_)) && !element.is_nan())
        .map(|element| {
            let mut key = Vec::new();
            push_value(&mut key, element);
            key
        })
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

#[cfg(test)]
mod tests;
