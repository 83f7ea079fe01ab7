//! Projection: the part of a document that was asked for.

use base_value::codec::{encode_fields, find};
use base_value::{FieldPath, Fields};
use bytes::Bytes;

/// The fields of `paths` out of encoded fields, encoded. Paths into maps prune them; paths to nothing and
/// `__name__` select nothing.
pub fn project(fields: &[u8], paths: &[FieldPath]) -> Bytes {
    let mut picked = Fields::new();
    for path in paths {
        if let Some(value) = find(fields, path) {
            path.set(&mut picked, value);
        }
    }
    encode_fields(&picked)
}
