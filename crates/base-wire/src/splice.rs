//! Appends one field, as it arrived, to a run of encoded fields.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use prost::DecodeError;
use prost::encoding::varint::{decode_varint, encode_varint, encoded_len_varint};
use prost::encoding::{self, DecodeContext, WireType, encode_key, key_len};

/// Takes the field whose key was just read out of `buf` and appends key and content to `run`.
///
/// Groups are dropped: no message we serve has any.
pub(crate) fn append(
    run: &mut Bytes,
    tag: u32,
    wire_type: WireType,
    buf: &mut impl Buf,
    ctx: DecodeContext,
) -> Result<(), DecodeError> {
    match wire_type {
        WireType::LengthDelimited => {
            let mut content = Bytes::new();
            encoding::bytes::merge(wire_type, &mut content, buf, ctx)?;
            let len = content.len() as u64;
            let size = key_len(tag) + encoded_len_varint(len) + content.len();
            grow(run, size, |out| {
                encode_key(tag, wire_type, out);
                encode_varint(len, out);
                out.put_slice(&content);
            });
        }
        WireType::Varint => {
            let number = decode_varint(buf)?;
            grow(run, key_len(tag) + encoded_len_varint(number), |out| {
                encode_key(tag, wire_type, out);
                encode_varint(number, out);
            });
        }
        WireType::SixtyFourBit => {
            let mut number = 0;
            encoding::fixed64::merge(wire_type, &mut number, buf, ctx)?;
            grow(run, key_len(tag) + 8, |out| encoding::fixed64::encode(tag, &number, out));
        }
        WireType::ThirtyTwoBit => {
            let mut number = 0;
            encoding::fixed32::merge(wire_type, &mut number, buf, ctx)?;
            grow(run, key_len(tag) + 4, |out| encoding::fixed32::encode(tag, &number, out));
        }
        WireType::StartGroup | WireType::EndGroup => {
            encoding::skip_field(wire_type, tag, buf, ctx)?;
        }
    }
    Ok(())
}

/// Gives `write` room behind `run`. The room of the allocation is kept from call to call, so that a run of n fields
/// is copied O(log n) times, whatever a client sends.
fn grow(run: &mut Bytes, size: usize, write: impl FnOnce(&mut BytesMut)) {
    let mut out = match std::mem::take(run).try_into_mut() {
        Ok(out) => out,
        Err(shared) => BytesMut::from(shared),
    };
    out.reserve(size);
    write(&mut out);
    *run = out.freeze();
}
