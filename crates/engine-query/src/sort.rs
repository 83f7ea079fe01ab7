//! The order of a result: sort keys, their comparison, and the cursors that cut it.

use std::cmp::Ordering;

use base_value::order::compare;
use base_value::{DatabaseName, Value};
use bytes::Bytes;

use crate::document::{Document, FieldTable, Slot};
use crate::error::QueryError;
use crate::model::{Cursor, Direction, Order};
use crate::name_key;

/// A normalised order: some fields, and the name last.
#[derive(Clone, Debug)]
pub(crate) struct Sort {
    /// The fields, first order first.
    pub(crate) fields: Vec<(Slot, Direction)>,
    /// Which way equal documents run.
    pub(crate) name: Direction,
}

impl Direction {
    /// The other one.
    pub(crate) fn reverse(self) -> Self {
        match self {
            Direction::Ascending => Direction::Descending,
            Direction::Descending => Direction::Ascending,
        }
    }

    /// `ordering` as seen in this direction.
    pub(crate) fn apply(self, ordering: Ordering) -> Ordering {
        match self {
            Direction::Ascending => ordering,
            Direction::Descending => ordering.reverse(),
        }
    }
}

impl Sort {
    /// Compiles a normalised order; its fields get slots in `table`.
    pub(crate) fn compile(order: &[Order], table: &mut FieldTable) -> Self {
        let mut sort = Sort { fields: Vec::new(), name: Direction::Ascending };
        for order in order {
            if order.field.is_name() {
                sort.name = order.direction;
            } else {
                sort.fields.push((table.slot(&order.field), order.direction));
            }
        }
        sort
    }

    /// Whether the document has every field of the order, without which it is in no result.
    pub(crate) fn places(&self, document: &mut Document<'_>) -> bool {
        self.fields.iter().all(|(slot, _)| document.get(*slot).is_some())
    }

    /// The document's values for the fields of the order.
    pub(crate) fn values(&self, document: &mut Document<'_>) -> Vec<Value> {
        self.fields.iter().filter_map(|(slot, _)| document.value(*slot)).collect()
    }

    /// Order of two documents by their values and names.
    pub(crate) fn compare(
        &self,
        (left, left_name): (&[Value], &[u8]),
        (right, right_name): (&[Value], &[u8]),
    ) -> Ordering {
        for ((_, direction), (left, right)) in self.fields.iter().zip(left.iter().zip(right)) {
            let ordering = direction.apply(compare(left, right));
            if ordering.is_ne() {
                return ordering;
            }
        }
        self.name.apply(left_name.cmp(right_name))
    }

    /// Same as [`Sort::compare`] for a document whose values are still in it.
    pub(crate) fn compare_document(
        &self,
        document: &mut Document<'_>,
        (values, name): (&[Value], &[u8]),
    ) -> Ordering {
        for ((slot, direction), other) in self.fields.iter().zip(values) {
            let ordering = document.get(*slot).map_or(Ordering::Less, |value| value.compare(other));
            let ordering = direction.apply(ordering);
            if ordering.is_ne() {
                return ordering;
            }
        }
        self.name.apply(document.name.cmp(name))
    }
}

/// A compiled cursor.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    /// Values of the first fields of the order.
    pub(crate) values: Vec<Value>,
    /// The name, where the cursor reaches it.
    pub(crate) name: Option<Bytes>,
    /// Whether the position is before the documents that are equal to it.
    pub(crate) before: bool,
}

impl Position {
    /// Compiles a cursor whose length validation has accepted.
    pub(crate) fn compile(
        cursor: &Cursor,
        sort: &Sort,
        database: &DatabaseName,
    ) -> Result<Self, QueryError> {
        let values: Vec<Value> = cursor.values.iter().take(sort.fields.len()).cloned().collect();
        let name = match cursor.values.get(sort.fields.len()) {
            Some(value) => Some(name_key::cursor_operand(value, database)?),
            None => None,
        };
        Ok(Position { values, name, before: cursor.before })
    }

    /// Whether the position lies before the document.
    pub(crate) fn precedes(&self, sort: &Sort, document: &mut Document<'_>) -> bool {
        for ((slot, direction), position) in sort.fields.iter().zip(&self.values) {
            let ordering =
                document.get(*slot).map_or(Ordering::Less, |value| value.compare(position));
            match direction.apply(ordering) {
                Ordering::Less => return false,
                Ordering::Greater => return true,
                Ordering::Equal => {}
            }
        }
        let ordering = match &self.name {
            Some(name) => sort.name.apply(document.name.cmp(name.as_ref())),
            None => Ordering::Equal,
        };
        ordering.is_gt() || (self.before && ordering.is_eq())
    }
}
