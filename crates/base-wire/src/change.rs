//! A changed document whose document stays encoded.

use bytes::{Buf, BufMut, Bytes};
use prost::encoding::{self, DecodeContext, WireType};
use prost::{DecodeError, Message};

use crate::WireDocument;

const DOCUMENT: u32 = 1;
const TARGET_IDS: u32 = 5;
const REMOVED_TARGET_IDS: u32 = 6;

/// `google.firestore.v1.DocumentChange`, wire-equal to the generated message, with the document left as bytes: what
/// many clients are told of it is encoded once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WireDocumentChange {
    /// The encoded [`WireDocument`].
    pub document: Bytes,
    /// The targets that have the document now.
    pub target_ids: Vec<i32>,
    /// The targets that had it before.
    pub removed_target_ids: Vec<i32>,
}

impl WireDocumentChange {
    /// The document, decoded.
    ///
    /// # Errors
    /// Bytes that are none.
    pub fn decoded(&self) -> Result<WireDocument, DecodeError> {
        WireDocument::decode(self.document.clone())
    }
}

impl Message for WireDocumentChange {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        encoding::bytes::encode(DOCUMENT, &self.document, buf);
        encoding::int32::encode_packed(TARGET_IDS, &self.target_ids, buf);
        encoding::int32::encode_packed(REMOVED_TARGET_IDS, &self.removed_target_ids, buf);
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        match tag {
            DOCUMENT => encoding::bytes::merge(wire_type, &mut self.document, buf, ctx),
            TARGET_IDS => {
                encoding::int32::merge_repeated(wire_type, &mut self.target_ids, buf, ctx)
            }
            REMOVED_TARGET_IDS => {
                encoding::int32::merge_repeated(wire_type, &mut self.removed_target_ids, buf, ctx)
            }
            _ => encoding::skip_field(wire_type, tag, buf, ctx),
        }
    }

    fn encoded_len(&self) -> usize {
        encoding::bytes::encoded_len(DOCUMENT, &self.document)
            + encoding::int32::encoded_len_packed(TARGET_IDS, &self.target_ids)
            + encoding::int32::encoded_len_packed(REMOVED_TARGET_IDS, &self.removed_target_ids)
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}
