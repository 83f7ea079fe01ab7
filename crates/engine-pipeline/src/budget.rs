//! How many bytes of rows a pipeline holds at one time, and how large a value is.

use std::cell::Cell;

use base_value::{Fields, Value};

use crate::error::PipelineError;

/// What is left of the memory a pipeline may use.
#[derive(Debug)]
pub(crate) struct Budget {
    max: usize,
    used: Cell<usize>,
}

impl Budget {
    pub(crate) fn new(max: usize) -> Self {
        Budget { max, used: Cell::new(0) }
    }

    /// Takes so many bytes.
    pub(crate) fn charge(&self, bytes: usize) -> Result<(), PipelineError> {
        let used = self.used.get().saturating_add(bytes);
        self.used.set(used);
        if used > self.max {
            let text = format!("the pipeline needs more than the {} bytes it may use", self.max);
            return Err(PipelineError::Exhausted(text));
        }
        Ok(())
    }

    /// Gives so many bytes back.
    pub(crate) fn release(&self, bytes: usize) {
        self.used.set(self.used.get().saturating_sub(bytes));
    }

    /// What is in use.
    pub(crate) fn used(&self) -> usize {
        self.used.get()
    }
}

/// About how many bytes a value takes in memory.
pub(crate) fn weight(value: &Value) -> usize {
    const CELL: usize = size_of::<Value>();
    CELL + match value {
        Value::String(text) | Value::Reference(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Array(values) => values.iter().map(weight).sum(),
        Value::Vector(numbers) => size_of_val(numbers.as_slice()),
        Value::Map(fields) => fields_weight(fields),
        Value::Null
        | Value::Boolean(_)
        | Value::Integer(_)
        | Value::Double(_)
        | Value::Timestamp(_)
        | Value::GeoPoint { .. } => 0,
    }
}

/// Same for all fields of a map.
pub(crate) fn fields_weight(fields: &Fields) -> usize {
    fields.iter().map(|(name, value)| size_of::<String>() + name.len() + weight(value)).sum()
}
