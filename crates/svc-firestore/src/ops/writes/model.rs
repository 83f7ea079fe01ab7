//! One write as a client asks for it, after decoding and before anything is read.

use base_env::UnixMicros;
use base_value::{DocumentName, FieldPath, Fields, Value};

/// One write to one document.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) name: DocumentName,
    pub(crate) action: Action,
    pub(crate) precondition: Precondition,
    /// Applied in order after the action. Empty for a delete and a verify.
    pub(crate) transforms: Vec<Transform>,
}

/// What a write does before its transforms.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Replaces the whole document.
    Set(Fields),
    /// Sets the listed paths that `fields` has, deletes the listed ones it lacks, keeps the rest.
    Patch { mask: Vec<FieldPath>, fields: Fields },
    /// Deletes the document.
    Delete,
    /// Changes nothing: only the precondition counts.
    Verify,
}

/// What has to hold of the stored document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precondition {
    /// Nothing.
    None,
    /// The document is there, or is not.
    Exists(bool),
    /// The document was last changed at exactly this time.
    UpdateTime(UnixMicros),
}

/// One field transform.
#[derive(Clone, Debug)]
pub(crate) struct Transform {
    pub(crate) field: FieldPath,
    pub(crate) op: TransformOp,
}

/// What a transform does to its field.
#[derive(Clone, Debug)]
pub(crate) enum TransformOp {
    /// Sets the field to the time of the request.
    RequestTime,
    Increment(Value),
    Maximum(Value),
    Minimum(Value),
    /// Array union.
    Append(Vec<Value>),
    /// Array removal.
    Remove(Vec<Value>),
}
