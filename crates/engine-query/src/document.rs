//! What a query reads of one stored document: its name and single fields, each looked up at most once and
//! decoded only where it is a container.

use std::cmp::Ordering;

use base_value::codec::{self, Scalar};
use base_value::order::{self, TypeClass};
use base_value::{FieldPath, Value};

/// Place of a field in a [`FieldTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(usize);

/// The fields a query reads, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldTable {
    paths: Vec<FieldPath>,
}

impl FieldTable {
    /// The slot of the field, new where the table has it not.
    pub(crate) fn slot(&mut self, path: &FieldPath) -> Slot {
        if let Some(slot) = self.find(path) {
            return slot;
        }
        self.paths.push(path.clone());
        Slot(self.paths.len() - 1)
    }

    /// Whether no field is read at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The slot of the field, where the table has it.
    pub(crate) fn find(&self, path: &FieldPath) -> Option<Slot> {
        self.paths.iter().position(|known| known == path).map(Slot)
    }
}

/// Room for the fields of one document, reused from document to document.
#[derive(Debug, Default)]
pub(crate) struct Cells(Vec<Cell>);

#[derive(Debug)]
enum Cell {
    Unread,
    Missing,
    /// Where the encoded value stands in the document's bytes.
    Found(usize, usize),
    Decoded(Value),
}

/// A field's value as it is found: borrowed from the stored bytes where it is no container.
#[derive(Clone, Copy, Debug)]
pub(crate) enum View<'v> {
    /// Anything but an array, a vector or a map.
    Scalar(Scalar<'v>),
    /// An array, a vector or a map.
    Container(&'v Value),
}

impl View<'_> {
    /// The class of the value.
    pub(crate) fn class(self) -> TypeClass {
        match self {
            View::Scalar(scalar) => scalar.type_class(),
            View::Container(value) => order::type_class(value),
        }
    }

    /// Whether the value is null.
    pub(crate) fn is_null(self) -> bool {
        matches!(self, View::Scalar(Scalar::Null))
    }

    /// Whether the value is NaN.
    pub(crate) fn is_nan(self) -> bool {
        matches!(self, View::Scalar(Scalar::Double(number)) if number.is_nan())
    }

    /// Order of the value and another one.
    pub(crate) fn compare(self, other: &Value) -> Ordering {
        match (self, Scalar::of(other)) {
            (View::Scalar(scalar), Some(other)) => order::compare_scalars(scalar, other),
            (View::Container(value), None) => order::compare(value, other),
            (view, _) => view.class().cmp(&order::type_class(other)),
        }
    }

    /// Whether the value equals another one, as queries see it.
    pub(crate) fn equals(self, other: &Value) -> bool {
        self.compare(other).is_eq()
    }
}

/// One stored document, as filters and orders see it.
pub(crate) struct Document<'d> {
    /// Order-preserving bytes of the name, see [`crate::name_key`].
    pub(crate) name: &'d [u8],
    fields: &'d [u8],
    table: &'d FieldTable,
    cells: &'d mut Cells,
}

impl<'d> Document<'d> {
    /// A document of which nothing is read yet.
    pub(crate) fn new(
        name: &'d [u8],
        fields: &'d [u8],
        table: &'d FieldTable,
        cells: &'d mut Cells,
    ) -> Self {
        cells.0.clear();
        cells.0.resize_with(table.paths.len(), || Cell::Unread);
        Document { name, fields, table, cells }
    }

    /// The field, or `None` where the document has it not.
    pub(crate) fn get(&mut self, slot: Slot) -> Option<View<'_>> {
        let path = self.table.paths.get(slot.0)?;
        let cell = self.cells.0.get_mut(slot.0)?;
        if matches!(cell, Cell::Unread) {
            *cell = look_up(self.fields, path);
        }
        match cell {
            Cell::Unread | Cell::Missing => None,
            Cell::Found(start, end) => {
                codec::scalar(self.fields.get(*start..*end)?).map(View::Scalar)
            }
            Cell::Decoded(value) => Some(View::Container(value)),
        }
    }

    /// The field as a value to keep.
    pub(crate) fn value(&mut self, slot: Slot) -> Option<Value> {
        self.get(slot)?;
        match self.cells.0.get(slot.0)? {
            Cell::Unread | Cell::Missing => None,
            Cell::Found(start, end) => codec::decode_value(self.fields.get(*start..*end)?).ok(),
            Cell::Decoded(value) => Some(value.clone()),
        }
    }
}

fn look_up(fields: &[u8], path: &FieldPath) -> Cell {
    let Some(raw) = codec::find_raw(fields, path) else { return Cell::Missing };
    if codec::scalar(raw).is_some() {
        // The slice is a part of `fields`; its place, unlike a reference, fits into reused room.
        let start = (raw.as_ptr() as usize).wrapping_sub(fields.as_ptr() as usize);
        return Cell::Found(start, start + raw.len());
    }
    codec::decode_value(raw).map_or(Cell::Missing, Cell::Decoded)
}
