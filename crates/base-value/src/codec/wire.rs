//! Protobuf's wire format: tags, varints, and the numbers of the fields of `google.firestore.v1`.

use super::DecodeError;

/// Field numbers of `Value`, `MapValue`, `ArrayValue`, `LatLng`, `Timestamp` and `Document`.
pub(super) mod number {
    pub(in crate::codec) const BOOLEAN: u64 = 1;
    pub(in crate::codec) const INTEGER: u64 = 2;
    pub(in crate::codec) const DOUBLE: u64 = 3;
    pub(in crate::codec) const REFERENCE: u64 = 5;
    pub(in crate::codec) const MAP: u64 = 6;
    pub(in crate::codec) const GEO_POINT: u64 = 8;
    pub(in crate::codec) const ARRAY: u64 = 9;
    pub(in crate::codec) const TIMESTAMP: u64 = 10;
    pub(in crate::codec) const NULL: u64 = 11;
    pub(in crate::codec) const STRING: u64 = 17;
    pub(in crate::codec) const BYTES: u64 = 18;
    pub(in crate::codec) const FIELD_REFERENCE: u64 = 19;
    pub(in crate::codec) const FUNCTION: u64 = 20;
    pub(in crate::codec) const PIPELINE: u64 = 21;
    pub(in crate::codec) const VARIABLE_REFERENCE: u64 = 22;

    /// `Document.fields`.
    pub(in crate::codec) const DOCUMENT_FIELDS: u64 = 2;
    /// `MapValue.fields` and `ArrayValue.values`.
    pub(in crate::codec) const ITEMS: u64 = 1;
    /// Key of a map entry.
    pub(in crate::codec) const ENTRY_KEY: u64 = 1;
    /// Value of a map entry.
    pub(in crate::codec) const ENTRY_VALUE: u64 = 2;
    /// `LatLng.latitude` and `Timestamp.seconds`.
    pub(in crate::codec) const FIRST: u64 = 1;
    /// `LatLng.longitude` and `Timestamp.nanos`.
    pub(in crate::codec) const SECOND: u64 = 2;
}

/// What follows a tag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Payload<'bytes> {
    Varint(u64),
    Fixed64(u64),
    Delimited(&'bytes [u8]),
    Fixed32,
}

/// Walks the fields of one message.
#[derive(Clone)]
pub(super) struct Reader<'bytes> {
    rest: &'bytes [u8],
}

impl<'bytes> Reader<'bytes> {
    pub(super) fn new(bytes: &'bytes [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// The next field's number and payload; `None` at the end of the message.
    pub(super) fn field(&mut self) -> Result<Option<(u64, Payload<'bytes>)>, DecodeError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let number = tag >> 3;
        if number == 0 || number > u64::from(u32::MAX >> 3) {
            return Err(DecodeError::Malformed);
        }
        let payload = match tag & 7 {
            0 => Payload::Varint(self.varint()?),
            1 => Payload::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => Payload::Delimited(self.delimited()?),
            5 => {
                self.array::<4>()?;
                Payload::Fixed32
            }
            // Groups are not used by any message here.
            _ => return Err(DecodeError::Malformed),
        };
        Ok(Some((number, payload)))
    }

    pub(super) fn varint(&mut self) -> Result<u64, DecodeError> {
        if let Some((&byte, rest)) = self.rest.split_first()
            && byte < 0x80
        {
            self.rest = rest;
            return Ok(u64::from(byte));
        }
        self.long_varint()
    }

    fn long_varint(&mut self) -> Result<u64, DecodeError> {
        let mut value = 0_u64;
        for shift in (0..70).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or(DecodeError::Malformed)?;
            self.rest = rest;
            if shift == 63 && byte > 1 {
                return Err(DecodeError::Malformed);
            }
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(DecodeError::Malformed)
    }

    pub(super) fn delimited(&mut self) -> Result<&'bytes [u8], DecodeError> {
        let length = usize::try_from(self.varint()?).map_err(|_| DecodeError::Malformed)?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(DecodeError::Malformed)?;
        self.rest = rest;
        Ok(bytes)
    }

    fn array<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], DecodeError> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(DecodeError::Malformed)?;
        self.rest = rest;
        Ok(*bytes)
    }
}

/// Splits one map entry into its key and its value's bytes; a missing key is empty, a missing value is
/// `None`.
pub(super) fn split_entry(entry: &[u8]) -> Result<(&[u8], Option<&[u8]>), DecodeError> {
    let mut reader = Reader::new(entry);
    let mut key: &[u8] = &[];
    let mut value = None;
    while let Some((number, payload)) = reader.field()? {
        match (number, payload) {
            (number::ENTRY_KEY, Payload::Delimited(bytes)) => key = bytes,
            (number::ENTRY_VALUE, Payload::Delimited(bytes)) => value = Some(bytes),
            (number::ENTRY_KEY | number::ENTRY_VALUE, _) => return Err(DecodeError::Malformed),
            _ => {}
        }
    }
    Ok((key, value))
}

/// What the encoding of every vector starts with: the entry `__type__: "__vector__"` of its map.
pub(super) const VECTOR_MARK: &[u8] = b"\x0a\x19\x0a\x08__type__\x12\x0d\x8a\x01\x0a__vector__";

/// The entry's value before the length of the array: `value: ArrayValue`.
pub(super) const VECTOR_KEY: &[u8] = b"\x0a\x05value";

/// One component as an item of an array, before its eight bytes.
pub(super) const VECTOR_ITEM: &[u8] = b"\x0a\x09\x19";

/// Bytes of one component as an item of an array.
pub(super) const VECTOR_ITEM_BYTES: usize = 11;
