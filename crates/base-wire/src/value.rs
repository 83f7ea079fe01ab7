//! A value that stays encoded.

use bytes::{Buf, BufMut, Bytes};
use prost::encoding::{DecodeContext, WireType};
use prost::{DecodeError, Message};

use crate::splice;

/// `google.firestore.v1.Value`, wire-equal to the generated message, left as bytes.
///
/// What `raw` holds is not checked here; `base_value::codec::decode_value` is the one decoder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WireValue {
    /// The bytes of the `Value` message, without key and length. Empty when no type is set.
    pub raw: Bytes,
}

impl From<Bytes> for WireValue {
    fn from(raw: Bytes) -> Self {
        Self { raw }
    }
}

impl Message for WireValue {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        buf.put_slice(&self.raw);
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        splice::append(&mut self.raw, tag, wire_type, buf, ctx)
    }

    fn encoded_len(&self) -> usize {
        self.raw.len()
    }

    fn clear(&mut self) {
        self.raw = Bytes::new();
    }
}
