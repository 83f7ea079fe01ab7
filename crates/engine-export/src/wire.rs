//! Protobuf's wire format with the groups that the export's messages have: walked without copies, with every
//! byte's place known, and written into a buffer.

use crate::error::FormatError;
use crate::limits::GROUP_DEPTH_MAX;

/// The one NaN that is written.
const NAN_BITS: u64 = 0x7FF8_0000_0000_0000;

/// What is wrong, and where in the record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    /// Byte of the record.
    pub(crate) at: usize,
    /// What is wrong there.
    pub(crate) reason: FormatError,
}

/// Some bytes of a record and where they start in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span<'record> {
    pub(crate) bytes: &'record [u8],
    pub(crate) at: usize,
}

impl<'record> Span<'record> {
    /// All of a record.
    pub(crate) fn whole(bytes: &'record [u8]) -> Self {
        Span { bytes, at: 0 }
    }

    /// The fields of the message that the bytes are.
    pub(crate) fn fields(self) -> Fields<'record> {
        Fields { rest: self }
    }

    /// The bytes as text.
    pub(crate) fn text(self) -> Result<&'record str, Fault> {
        str::from_utf8(self.bytes).map_err(|_| self.fault(FormatError::Utf8))
    }

    /// Something that is wrong with these bytes.
    pub(crate) fn fault(self, reason: FormatError) -> Fault {
        Fault { at: self.at, reason }
    }
}

/// What follows a tag.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Payload<'record> {
    Varint(u64),
    Fixed64(u64),
    Delimited(Span<'record>),
    /// What stands between the tags of a group.
    Group(Span<'record>),
    Fixed32,
}

/// One field of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'record> {
    pub(crate) number: u32,
    pub(crate) payload: Payload<'record>,
    /// Where its tag is in the record.
    at: usize,
}

impl Field<'_> {
    /// This field has a payload of another type than the format says.
    pub(crate) fn wrong_type(&self) -> Fault {
        Fault { at: self.at, reason: FormatError::Malformed("a field of another type") }
    }
}

/// Walks the fields of one message.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'record> {
    rest: Span<'record>,
}

impl<'record> Fields<'record> {
    /// The next field; `None` at the end of the message.
    pub(crate) fn next(&mut self) -> Result<Option<Field<'record>>, Fault> {
        if self.rest.bytes.is_empty() {
            return Ok(None);
        }
        let at = self.rest.at;
        let (number, wire_type) = self.tag()?;
        let payload = match wire_type {
            0 => Payload::Varint(self.varint()?),
            1 => Payload::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => Payload::Delimited(self.delimited()?),
            3 => Payload::Group(self.group(number)?),
            5 => {
                self.array::<4>()?;
                Payload::Fixed32
            }
            _ => return Err(Fault { at, reason: FormatError::Malformed("a tag of no type") }),
        };
        Ok(Some(Field { number, payload, at }))
    }

    /// A field's number and the type of what follows.
    fn tag(&mut self) -> Result<(u32, u8), Fault> {
        let place = self.rest;
        let tag = u32::try_from(self.varint()?).ok().filter(|tag| tag >> 3 != 0);
        let tag = tag.ok_or_else(|| place.fault(FormatError::Malformed("a field of no number")))?;
        Ok((tag >> 3, (tag & 7) as u8))
    }

    /// Reads to the end of a group whose first tag is read, and answers what stands in between.
    fn group(&mut self, number: u32) -> Result<Span<'record>, Fault> {
        let body = self.rest;
        let mut open = vec![number];
        while let Some(inner) = open.last().copied() {
            let tag = self.rest;
            let (number, wire_type) = self.tag()?;
            match wire_type {
                0 => drop(self.varint()?),
                1 => drop(self.array::<8>()?),
                2 => drop(self.delimited()?),
                5 => drop(self.array::<4>()?),
                3 if open.len() < GROUP_DEPTH_MAX => open.push(number),
                4 if number == inner => {
                    open.pop();
                    if open.is_empty() {
                        let bytes = body.bytes.get(..tag.at - body.at).unwrap_or_default();
                        return Ok(Span { bytes, at: body.at });
                    }
                }
                _ => return Err(tag.fault(FormatError::Malformed("a group in disorder"))),
            }
        }
        Err(body.fault(FormatError::Malformed("a group without an end")))
    }

    fn varint(&mut self) -> Result<u64, Fault> {
        let place = self.rest;
        let mut value = 0_u64;
        for shift in (0..70).step_by(7) {
            let [byte] = self.array::<1>()?;
            if shift == 63 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(place.fault(FormatError::Malformed("a number of more than 64 bits")))
    }

    fn delimited(&mut self) -> Result<Span<'record>, Fault> {
        let place = self.rest;
        let length = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
        let split = self.rest.bytes.split_at_checked(length);
        let (bytes, rest) =
            split.ok_or_else(|| place.fault(FormatError::Malformed("a length beyond the end")))?;
        let at = self.rest.at;
        self.rest = Span { bytes: rest, at: at + length };
        Ok(Span { bytes, at })
    }

    fn array<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], Fault> {
        let split = self.rest.bytes.split_first_chunk();
        let (array, rest) = split
            .ok_or_else(|| self.rest.fault(FormatError::Malformed("an end inside of a field")))?;
        self.rest = Span { bytes: rest, at: self.rest.at + LENGTH };
        Ok(*array)
    }
}

/// The type of a field that a tag tells.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WireType {
    Varint = 0,
    Fixed64 = 1,
    Delimited = 2,
    GroupStart = 3,
    GroupEnd = 4,
}

/// Appends a tag.
pub(crate) fn push_tag(out: &mut Vec<u8>, number: u32, wire_type: WireType) {
    push_varint(out, u64::from(number << 3 | wire_type as u32));
}

/// Appends a number.
pub(crate) fn push_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7F) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a whole field that is a number.
pub(crate) fn push_number(out: &mut Vec<u8>, number: u32, value: u64) {
    push_tag(out, number, WireType::Varint);
    push_varint(out, value);
}

/// Appends a whole field that is a double. All NaN are the same one.
pub(crate) fn push_double(out: &mut Vec<u8>, number: u32, value: f64) {
    let bits = if value.is_nan() { NAN_BITS } else { value.to_bits() };
    push_tag(out, number, WireType::Fixed64);
    out.extend_from_slice(&bits.to_le_bytes());
}

/// Appends a whole field of bytes, a text or a message.
pub(crate) fn push_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    push_tag(out, number, WireType::Delimited);
    push_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// How many bytes a number takes.
pub(crate) fn varint_length(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

#[cfg(test)]
mod tests;
