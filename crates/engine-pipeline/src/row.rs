//! `Row`: what stages take and give; `Variables`: what is bound around it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use base_value::{FieldPath, Fields, Timestamp, Value, codec};
use bytes::Bytes;

use crate::budget::{Budget, Held, Size};
use crate::engine::Engine;
use crate::error::PipelineError;
use crate::limits::ROW_MAX_BYTES;

/// Values bound by `let`, by name, around those of the same names further out; `None` for what is absent.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    outer: Option<Arc<Variables>>,
    values: BTreeMap<String, Option<Value>>,
    /// What the values take, however many rows share them.
    _held: Option<Held<Arc<Budget>>>,
}

impl Variables {
    /// Binds values inside of others.
    pub(crate) fn inside(
        outer: &Arc<Variables>,
        values: BTreeMap<String, Option<Value>>,
        held: Held<Arc<Budget>>,
    ) -> Arc<Variables> {
        Arc::new(Variables { outer: Some(Arc::clone(outer)), values, _held: Some(held) })
    }

    /// The value of a name; `None` where nobody has bound it.
    pub(crate) fn get(&self, name: &str) -> Option<&Option<Value>> {
        let mut place = self;
        loop {
            match place.values.get(name) {
                None => place = place.outer.as_deref()?,
                found => return found,
            }
        }
    }
}

/// One row. It is a document for as long as it has the document's name.
#[derive(Debug)]
pub struct Row {
    /// The document's full name.
    pub name: Option<String>,
    /// When the document was created.
    pub created: Option<Timestamp>,
    /// When the document was last changed.
    pub updated: Option<Timestamp>,
    content: Content,
    pub(crate) variables: Arc<Variables>,
    bytes: usize,
    /// What it takes of its pipeline's memory.
    held: Held<Arc<Budget>>,
}

/// The fields of a row: as they are stored for as long as no stage has changed them.
#[derive(Debug)]
enum Content {
    /// The canonical encoding.
    Stored(Bytes),
    /// Decoded.
    Fields(Fields),
}

impl Row {
    /// A row that is no document and has no fields yet.
    pub(crate) fn new(engine: &Engine<'_>, variables: Arc<Variables>) -> Self {
        Row {
            name: None,
            created: None,
            updated: None,
            content: Content::Fields(Fields::new()),
            variables,
            bytes: 0,
            held: engine.hold(),
        }
    }

    /// The row of a stored document.
    ///
    /// # Errors
    /// The pipeline has no memory left for it.
    pub(crate) fn stored(
        engine: &Engine<'_>,
        row: engine_query::Row,
        variables: Arc<Variables>,
    ) -> Result<Self, PipelineError> {
        let mut stored = Row {
            name: Some(engine.database.document(row.path).to_string()),
            created: Some(Timestamp::from_micros(row.record.created.0)),
            updated: Some(Timestamp::from_micros(row.record.updated.0)),
            content: Content::Stored(row.record.value),
            ..Row::new(engine, variables)
        };
        stored.weigh(stored.stored_bytes())?;
        Ok(stored)
    }

    /// Another row of the same document, without its fields.
    pub(crate) fn beside(&self, engine: &Engine<'_>) -> Self {
        Row {
            name: self.name.clone(),
            created: self.created,
            updated: self.updated,
            ..Row::new(engine, Arc::clone(&self.variables))
        }
    }

    /// The fields, encoded.
    pub fn encoded(&self) -> Bytes {
        match &self.content {
            Content::Stored(bytes) => bytes.clone(),
            Content::Fields(fields) => codec::encode_fields(fields),
        }
    }

    /// The value of a field.
    pub(crate) fn get(&self, path: &FieldPath) -> Option<Cow<'_, Value>> {
        match &self.content {
            Content::Stored(bytes) => codec::find(bytes, path).map(Cow::Owned),
            Content::Fields(fields) => path.get(fields).map(Cow::Borrowed),
        }
    }

    /// How many bytes are looked through for a field: none where the fields are decoded.
    pub(crate) fn stored_bytes(&self) -> usize {
        match &self.content {
            Content::Stored(bytes) => bytes.len(),
            Content::Fields(_) => 0,
        }
    }

    /// The fields, decoded.
    pub(crate) fn fields(&self) -> Cow<'_, Fields> {
        match &self.content {
            // What is stored was checked when it was written.
            Content::Stored(bytes) => Cow::Owned(codec::decode_fields(bytes).unwrap_or_default()),
            Content::Fields(fields) => Cow::Borrowed(fields),
        }
    }

    /// The fields, taken out to be changed; put them back with [`Row::put`].
    pub(crate) fn take(&mut self) -> Fields {
        match std::mem::replace(&mut self.content, Content::Fields(Fields::new())) {
            Content::Stored(bytes) => codec::decode_fields(&bytes).unwrap_or_default(),
            Content::Fields(fields) => fields,
        }
    }

    /// Makes these the row's fields.
    ///
    /// # Errors
    /// They are too large for a row, or for the memory that is left.
    pub(crate) fn put(&mut self, fields: Fields) -> Result<(), PipelineError> {
        let size = Size::of_fields(&fields);
        self.content = Content::Fields(fields);
        if size.bytes > ROW_MAX_BYTES {
            let text = format!("a row has more than {ROW_MAX_BYTES} bytes");
            return Err(PipelineError::Exhausted(text));
        }
        size.check_depth()?;
        self.weigh(size.bytes)
    }

    fn weigh(&mut self, content: usize) -> Result<(), PipelineError> {
        self.bytes = size_of::<Row>() + self.name.as_ref().map_or(0, String::len) + content;
        self.held.set(self.bytes)
    }

    /// The row as it leaves its pipeline: it takes none of its memory any more.
    pub(crate) fn left(mut self) -> Self {
        self.held.sub(self.bytes);
        self.variables = Arc::default();
        self
    }

    /// About how many bytes the row takes.
    pub fn weight(&self) -> usize {
        self.bytes
    }
}
