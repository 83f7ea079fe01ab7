//! How many bytes a pipeline holds at one time, and how large a value is.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};

use base_value::{Fields, Value};

use crate::error::PipelineError;
use crate::limits::{VALUE_DEPTH_MAX, VALUE_MAX_BYTES};

/// The memory a pipeline may use. Rows that hold some of it go from thread to thread.
#[derive(Debug)]
pub(crate) struct Budget {
    max: usize,
    used: AtomicUsize,
}

impl Budget {
    pub(crate) fn new(max: usize) -> Self {
        Budget { max, used: AtomicUsize::new(0) }
    }

    /// What is in use.
    #[cfg(test)]
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

/// Bytes that are taken of a budget, and given back when this goes. `B` borrows the budget, or shares it.
#[derive(Debug)]
pub(crate) struct Held<B: Deref<Target = Budget>> {
    budget: B,
    bytes: usize,
}

impl<B: Deref<Target = Budget>> Held<B> {
    /// Nothing yet.
    pub(crate) fn new(budget: B) -> Self {
        Held { budget, bytes: 0 }
    }

    /// Takes so many bytes more.
    ///
    /// # Errors
    /// There are no more.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), PipelineError> {
        self.bytes = self.bytes.saturating_add(bytes);
        let used = self.budget.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if used > self.budget.max {
            let text =
                format!("the pipeline needs more than the {} bytes it may use", self.budget.max);
            return Err(PipelineError::Exhausted(text));
        }
        Ok(())
    }

    /// Gives so many bytes back.
    pub(crate) fn sub(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.budget.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Holds so many bytes from now on.
    ///
    /// # Errors
    /// There are not as many.
    pub(crate) fn set(&mut self, bytes: usize) -> Result<(), PipelineError> {
        let before = self.bytes;
        if bytes >= before {
            return self.add(bytes - before);
        }
        self.sub(before - bytes);
        Ok(())
    }

    /// Holds what another one of the same budget has held.
    pub(crate) fn absorb(&mut self, mut other: Self) {
        self.bytes += std::mem::take(&mut other.bytes);
    }

    /// The value of a cell, its bytes being taken before it is copied.
    ///
    /// # Errors
    /// There is no room for it.
    pub(crate) fn own(
        &mut self,
        cell: Option<Cow<'_, Value>>,
    ) -> Result<Option<Value>, PipelineError> {
        let Some(cell) = cell else { return Ok(None) };
        self.add(weight(&cell))?;
        Ok(Some(cell.into_owned()))
    }
}

impl<B: Deref<Target = Budget>> Drop for Held<B> {
    fn drop(&mut self) {
        self.sub(self.bytes);
    }
}

/// Bytes a value takes beside its content.
pub(crate) const CELL: usize = size_of::<Value>();

/// How large a value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// About how many bytes it takes in memory.
    pub(crate) bytes: usize,
    /// How many arrays and maps enclose one another, the value itself included.
    pub(crate) depth: usize,
}

impl Size {
    /// That of a value.
    pub(crate) fn of(value: &Value) -> Size {
        let inside = match value {
            Value::String(text) | Value::Reference(text) => Size::flat(text.len()),
            Value::Bytes(bytes) => Size::flat(bytes.len()),
            Value::Array(values) => {
                let inside = values.iter().map(Size::of).fold(Size::default(), Size::beside);
                Size { depth: inside.depth + 1, ..inside }
            }
            Value::Vector(numbers) => Size::flat(size_of_val(numbers.as_slice())),
            Value::Map(fields) => {
                let inside = Size::of_fields(fields);
                Size { depth: inside.depth + 1, ..inside }
            }
            Value::Null
            | Value::Boolean(_)
            | Value::Integer(_)
            | Value::Double(_)
            | Value::Timestamp(_)
            | Value::GeoPoint { .. } => Size::default(),
        };
        Size { bytes: inside.bytes + CELL, ..inside }
    }

    /// That of all fields of a map, without the map.
    pub(crate) fn of_fields(fields: &Fields) -> Size {
        let field = |(name, value): (&String, &Value)| {
            let size = Size::of(value);
            Size { bytes: size.bytes + name_weight(name), ..size }
        };
        fields.iter().map(field).fold(Size::default(), Size::beside)
    }

    fn flat(bytes: usize) -> Size {
        Size { bytes, depth: 0 }
    }

    fn beside(self, other: Size) -> Size {
        Size { bytes: self.bytes.saturating_add(other.bytes), depth: self.depth.max(other.depth) }
    }

    /// Checks that something of this size may be computed as one value.
    ///
    /// # Errors
    /// It is too large, or too deep.
    pub(crate) fn check(self) -> Result<(), PipelineError> {
        if self.bytes > VALUE_MAX_BYTES {
            return Err(too_large());
        }
        self.check_depth()
    }

    /// Same, whatever it weighs.
    ///
    /// # Errors
    /// It is too deep.
    pub(crate) fn check_depth(self) -> Result<(), PipelineError> {
        if self.depth > VALUE_DEPTH_MAX {
            let text =
                format!("a computed value is nested more than {VALUE_DEPTH_MAX} levels deep");
            return Err(PipelineError::Exhausted(text));
        }
        Ok(())
    }
}

/// About how many bytes a value takes in memory.
pub(crate) fn weight(value: &Value) -> usize {
    Size::of(value).bytes
}

/// About how many bytes the name of a field takes.
pub(crate) fn name_weight(name: &str) -> usize {
    size_of::<String>() + name.len()
}

/// The refusal of a value that is too large.
pub(crate) fn too_large() -> PipelineError {
    PipelineError::Exhausted(format!("a computed value has more than {VALUE_MAX_BYTES} bytes"))
}

/// An array or a map while it is put together: what has come in so far is counted before the next is copied.
#[derive(Debug)]
pub(crate) struct Parts<'b> {
    held: Held<&'b Budget>,
    size: Size,
}

impl<'b> Parts<'b> {
    /// Nothing yet.
    pub(crate) fn new(budget: &'b Budget) -> Self {
        Parts { held: Held::new(budget), size: Size { bytes: CELL, depth: 0 } }
    }

    /// Takes the name of a field in.
    ///
    /// # Errors
    /// The whole has become too large.
    pub(crate) fn name(&mut self, name: &str) -> Result<(), PipelineError> {
        self.grow(Size::flat(name_weight(name)))
    }

    /// Takes a value in; answers one that is owned.
    ///
    /// # Errors
    /// The whole has become too large.
    pub(crate) fn own(&mut self, value: Cow<'_, Value>) -> Result<Value, PipelineError> {
        self.grow(Size::of(&value))?;
        Ok(value.into_owned())
    }

    fn grow(&mut self, by: Size) -> Result<(), PipelineError> {
        self.size = self.size.beside(by);
        if self.size.bytes > VALUE_MAX_BYTES {
            return Err(too_large());
        }
        self.held.add(by.bytes)
    }

    /// Ends with the array or the map that the parts have become; answers how many bytes it has.
    ///
    /// # Errors
    /// It is too deep.
    pub(crate) fn end(self) -> Result<usize, PipelineError> {
        let Size { bytes, depth } = self.size;
        Size { bytes, depth: depth + 1 }.check_depth()?;
        Ok(bytes)
    }
}
