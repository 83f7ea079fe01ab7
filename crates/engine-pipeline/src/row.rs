//! `Row`: what stages take and give.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use base_value::{DatabaseName, FieldPath, Fields, Timestamp, Value, codec};
use bytes::Bytes;

use crate::budget::fields_weight;

/// Values bound by `let`, by name; `None` for what is absent.
pub(crate) type Variables = BTreeMap<String, Option<Value>>;

/// One row. It is a document for as long as it has the document's name.
#[derive(Clone, Debug)]
pub struct Row {
    /// The document's full name.
    pub name: Option<String>,
    /// When the document was created.
    pub created: Option<Timestamp>,
    /// When the document was last changed.
    pub updated: Option<Timestamp>,
    pub(crate) content: Content,
    pub(crate) variables: Arc<Variables>,
}

/// The fields of a row: as they are stored for as long as no stage has changed them.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// The canonical encoding.
    Stored(Bytes),
    /// Decoded.
    Fields(Fields),
}

impl Row {
    /// A row that is no document.
    pub(crate) fn of(fields: Fields, variables: Arc<Variables>) -> Self {
        let content = Content::Fields(fields);
        Row { name: None, created: None, updated: None, content, variables }
    }

    /// The row of a stored document.
    pub(crate) fn stored(
        database: &DatabaseName,
        row: engine_query::Row,
        variables: Arc<Variables>,
    ) -> Self {
        Row {
            name: Some(database.document(row.path).to_string()),
            created: Some(Timestamp::from_micros(row.record.created.0)),
            updated: Some(Timestamp::from_micros(row.record.updated.0)),
            content: Content::Stored(row.record.value),
            variables,
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
    pub(crate) fn put(&mut self, fields: Fields) {
        self.content = Content::Fields(fields);
    }

    /// About how many bytes the row takes.
    pub fn weight(&self) -> usize {
        let content = match &self.content {
            Content::Stored(bytes) => bytes.len(),
            Content::Fields(fields) => fields_weight(fields),
        };
        size_of::<Row>() + self.name.as_ref().map_or(0, String::len) + content
    }
}
