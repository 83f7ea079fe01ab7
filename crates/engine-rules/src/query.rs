//! Queries to be decided: which documents they can answer, and what is known of every one of them.
//!
//! Nothing of what is stored is looked at: a query is allowed where its own words prove the rules.

use std::collections::BTreeMap;
use std::sync::Arc;

use base_value::Timestamp;

use crate::request::Auth;
use crate::value::{Comparison, Constraint, Map, Path, Shared, Value};

/// A segment of the paths a query ranges over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'r> {
    /// This name.
    Name(&'r str),
    /// Any one name.
    One,
    /// Any number of names.
    Many,
}

/// A query to be decided, as the method `list`.
#[derive(Clone, Debug)]
pub struct Query<'r> {
    /// The whole paths it ranges over, from `databases` on; at most one part is [`Part::Many`].
    pub domain: &'r [Part<'r>],
    /// The whole path of the collection; of a group the path it lies below.
    pub path: &'r [&'r str],
    /// Whether it ranges over collections below the path, which has no `request.path` then.
    pub is_group: bool,
    /// Its filter as alternatives, of which the rules have to allow every one. Without a filter, one that
    /// says nothing.
    pub branches: &'r [Branch<'r>],
    /// Who asks; `None` for nobody.
    pub auth: Option<Auth<'r>>,
    /// `request.time`
    pub time: Timestamp,
    /// Further members of `request`, such as `query`.
    pub members: &'r [(&'r str, Value<'r>)],
}

/// What one alternative of a query's filter says of each document it can answer.
#[derive(Clone, Debug, Default)]
pub struct Branch<'r> {
    /// The whole path of the one document, where the filter names it.
    pub name: Option<Vec<&'r str>>,
    /// What it says of fields.
    pub fields: Vec<FieldConstraint<'r>>,
}

/// What a query says of one field.
#[derive(Clone, Debug)]
pub struct FieldConstraint<'r> {
    /// The path of the field, through maps.
    pub field: &'r [String],
    /// How it compares,
    pub comparison: Comparison,
    /// and with what.
    pub value: &'r base_value::Value,
}

/// What is known of every document that one alternative of a query can answer.
#[derive(Clone, Debug)]
pub struct Selection<'r> {
    pub(crate) data: Map<'r>,
    pub(crate) name: Option<Path<'r>>,
    pub(crate) is_group: bool,
}

/// What is said of one field and of those inside of it.
#[derive(Default)]
struct Said<'r> {
    parts: Vec<(Comparison, &'r base_value::Value)>,
    inside: BTreeMap<&'r str, Said<'r>>,
}

impl<'r> Selection<'r> {
    pub(crate) fn of(branch: &'r Branch<'r>, is_group: bool) -> Self {
        let mut root = Said::default();
        for FieldConstraint { field, comparison, value } in &branch.fields {
            let mut at = &mut root;
            for segment in *field {
                at = at.inside.entry(segment).or_default();
            }
            at.parts.push((*comparison, value));
        }
        let name = branch.name.as_deref().map(Path::of);
        Selection { data: root.into_map(), name, is_group }
    }
}

impl<'r> Said<'r> {
    fn into_map(self) -> Map<'r> {
        let entries = self.inside.into_iter();
        let entries = entries.map(|(name, said)| (Shared::Borrowed(name), said.into_value()));
        Map::Made(Arc::new(entries.collect()))
    }

    fn into_value(self) -> Value<'r> {
        match self.parts.as_slice() {
            [(Comparison::Equal, value)] => Value::stored(value),
            _ if !self.inside.is_empty() => Value::Map(self.into_map()),
            // Several parts are no value, as in the product: each of them proves what it proves.
            _ => Value::Constraint(Constraint::new(self.parts)),
        }
    }
}
