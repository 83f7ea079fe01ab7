//! Walks the fields of an encoded message without decoding it.

/// What cannot be read of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed protobuf: {0}")]
pub(crate) struct Malformed(pub(crate) &'static str);

/// The content of one field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Raw<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
}

/// The fields of a message in wire order; ends after the first error.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Raw<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = field(&mut self.0);
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}

fn field<'a>(bytes: &mut &'a [u8]) -> Result<(u32, Raw<'a>), Malformed> {
    let key = varint(bytes)?;
    let number = u32::try_from(key >> 3).map_err(|_| Malformed("field number"))?;
    let raw = match key & 7 {
        0 => Raw::Varint(varint(bytes)?),
        1 => Raw::Fixed64(fixed64(bytes)?),
        2 => {
            let len = usize::try_from(varint(bytes)?).map_err(|_| Malformed("length"))?;
            let (content, rest) = bytes.split_at_checked(len).ok_or(Malformed("length"))?;
            *bytes = rest;
            Raw::Bytes(content)
        }
        5 => Raw::Fixed32(fixed32(bytes)?),
        _ => return Err(Malformed("wire type")),
    };
    Ok((number, raw))
}

pub(crate) fn varint(bytes: &mut &[u8]) -> Result<u64, Malformed> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or(Malformed("varint"))?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(Malformed("varint"))
}

pub(crate) fn fixed64(bytes: &mut &[u8]) -> Result<u64, Malformed> {
    let (number, rest) = bytes.split_first_chunk().ok_or(Malformed("fixed64"))?;
    *bytes = rest;
    Ok(u64::from_le_bytes(*number))
}

pub(crate) fn fixed32(bytes: &mut &[u8]) -> Result<u32, Malformed> {
    let (number, rest) = bytes.split_first_chunk().ok_or(Malformed("fixed32"))?;
    *bytes = rest;
    Ok(u32::from_le_bytes(*number))
}
