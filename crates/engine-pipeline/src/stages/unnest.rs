//! One row for each element of an array, made while they are asked for: all of them may be far more than
//! there is memory.

use base_value::{Fields, Value};

use super::Rows;
use super::apply::set;
use crate::budget::{Budget, Held};
use crate::engine::Engine;
use crate::error::PipelineError;
use crate::expression::{Expression, Reference, Scope};
use crate::row::Row;

/// The rows of one row's elements.
pub(super) struct Unnest<'r> {
    engine: &'r Engine<'r>,
    alias: &'r Reference,
    index: Option<&'r Reference>,
    row: Row,
    /// Those of the row.
    fields: Fields,
    elements: std::iter::Enumerate<std::vec::IntoIter<Value>>,
    /// What the elements take.
    _held: Held<&'r Budget>,
}

impl<'r> Unnest<'r> {
    /// One row for each element. What is no array leaves its row as it is, with null for its index.
    ///
    /// # Errors
    /// The array's.
    pub(super) fn rows(
        array: &'r Expression,
        alias: &'r Reference,
        index: Option<&'r Reference>,
        engine: &'r Engine<'r>,
        mut row: Row,
    ) -> Result<Rows<'r>, PipelineError> {
        engine.tick()?;
        let mut held = Held::new(&*engine.budget);
        let value = held.own(array.evaluate(&Scope::new(engine, &row))?)?;
        let mut fields = row.take();
        let Some(Value::Array(elements)) = value else {
            if value.is_some() {
                set(&mut row, &mut fields, alias, value);
            }
            if let Some(index) = index {
                set(&mut row, &mut fields, index, Some(Value::Null));
            }
            drop(held);
            row.put(fields)?;
            return Ok(Box::new(std::iter::once(Ok(row))));
        };
        let elements = elements.into_iter().enumerate();
        Ok(Box::new(Unnest { engine, alias, index, row, fields, elements, _held: held }))
    }

    fn row(&self, place: usize, element: Value) -> Result<Row, PipelineError> {
        self.engine.work_on(self.row.weight())?;
        let mut row = self.row.beside(self.engine);
        let mut fields = self.fields.clone();
        set(&mut row, &mut fields, self.alias, Some(element));
        if let Some(index) = self.index {
            let place = i64::try_from(place).unwrap_or(i64::MAX);
            set(&mut row, &mut fields, index, Some(Value::Integer(place)));
        }
        row.put(fields)?;
        Ok(row)
    }
}

impl Iterator for Unnest<'_> {
    type Item = Result<Row, PipelineError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (place, element) = self.elements.next()?;
        Some(self.row(place, element))
    }
}
