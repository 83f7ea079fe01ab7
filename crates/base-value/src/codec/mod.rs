//! The protobuf wire encoding of `google.firestore.v1` values, written and walked by hand.
//!
//! *Fields bytes* are a run of `Document.fields` map entries (tag 0x12), exactly what stands inside an
//! encoded `Document`. The **canonical** form, which [`encode_fields`] writes and the store keeps, has its
//! entries sorted by name and each name once, so equal documents are equal bytes.

mod decode;
mod encode;
mod find;
mod scalar;
mod wire;

pub use decode::{DecodeError, decode_fields, decode_value};
pub use encode::{encode_fields, encode_value};
pub use find::{entries, find, find_raw};
pub use scalar::{Scalar, scalar, type_class};

#[cfg(test)]
mod tests;
