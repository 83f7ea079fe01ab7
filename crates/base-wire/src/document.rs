//! A document whose fields stay encoded.

use bytes::{Buf, BufMut, Bytes};
use prost::encoding::{self, DecodeContext, WireType};
use prost::{DecodeError, Message};
use prost_types::Timestamp;

use crate::splice;

const NAME: u32 = 1;
const FIELDS: u32 = 2;
const CREATE_TIME: u32 = 3;
const UPDATE_TIME: u32 = 4;

/// `google.firestore.v1.Document`, wire-equal to the generated message, with the fields left as bytes.
///
/// What `fields` holds is not checked here; decode it with `base_value::codec` before trusting it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WireDocument {
    /// The full resource name.
    pub name: String,
    /// The map entries of `fields` one after the other, each with its key (tag 2, so the byte `0x12`) and length.
    pub fields: Bytes,
    /// When the document was created; absent in requests.
    pub create_time: Option<Timestamp>,
    /// When the document was last changed; absent in requests.
    pub update_time: Option<Timestamp>,
}

impl Message for WireDocument {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        if !self.name.is_empty() {
            encoding::string::encode(NAME, &self.name, buf);
        }
        buf.put_slice(&self.fields);
        if let Some(time) = &self.create_time {
            encoding::message::encode(CREATE_TIME, time, buf);
        }
        if let Some(time) = &self.update_time {
            encoding::message::encode(UPDATE_TIME, time, buf);
        }
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        match tag {
            NAME => encoding::string::merge(wire_type, &mut self.name, buf, ctx),
            FIELDS => {
                encoding::check_wire_type(WireType::LengthDelimited, wire_type)?;
                splice::append(&mut self.fields, tag, wire_type, buf, ctx)
            }
            CREATE_TIME => {
                let time = self.create_time.get_or_insert_default();
                encoding::message::merge(wire_type, time, buf, ctx)
            }
            UPDATE_TIME => {
                let time = self.update_time.get_or_insert_default();
                encoding::message::merge(wire_type, time, buf, ctx)
            }
            _ => encoding::skip_field(wire_type, tag, buf, ctx),
        }
    }

    fn encoded_len(&self) -> usize {
        let name = match self.name.is_empty() {
            true => 0,
            false => encoding::string::encoded_len(NAME, &self.name),
        };
        let time = |tag, time: &Option<Timestamp>| {
            time.as_ref().map_or(0, |time| encoding::message::encoded_len(tag, time))
        };
        name + self.fields.len()
            + time(CREATE_TIME, &self.create_time)
            + time(UPDATE_TIME, &self.update_time)
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}
