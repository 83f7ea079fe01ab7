//! One record of the journal: a commit, as bytes.
//!
//! ```text
//! header   52  magic, checksum, payload length and checksum, kind, version, time, synced version, records in the store
//! body      n  for each operation: key length, value length, key, value
//! actions   n  for each operation: what it did, and the creation time of what it put
//! ```
//!
//! The body is known before the commit has its turn, and most of the work, checksum included, is done
//! by then; the actions and the header are filled in under the mutex. The header has a checksum of its own, begun
//! with the store's number: what looks like one inside of somebody's value is not taken for one.

use bytes::{Buf, BufMut, Bytes};

use base_env::UnixMicros;

use crate::batch::Op;
use crate::error::StoreError;
use crate::record::Version;

/// Bytes of a record before its payload.
pub(crate) const HEADER_LEN: usize = 52;
/// Where in the header its checksum is.
const CRC_AT: usize = 4;
/// Where in the header the checksummed part begins.
const CHECKED_FROM: usize = 8;
/// `FREC`, at the start of every record. A place where no record has been written yet holds zeros.
const MAGIC: u32 = u32::from_le_bytes(*b"FREC");
/// Bytes of one action.
const ACTION_LEN: usize = 9;

/// What the checksums of a store's headers begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seal(u32);

impl Seal {
    /// That of the store with this number.
    pub(crate) fn of(store: u64) -> Seal {
        Seal(crc32c::crc32c(&store.to_le_bytes()))
    }
}

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Operations on keys.
    Commit,
    /// Everything before is gone.
    Clear,
}

/// The head of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    /// The version that the commit led to.
    pub(crate) version: Version,
    pub(crate) time: UnixMicros,
    /// The newest version that was known to be on the disk when this was written. What it covers and
    /// cannot be read is damaged; what it does not cover may have been lost with the power.
    pub(crate) synced: Version,
    /// How many keys the store held after the commit.
    pub(crate) len: u64,
}

/// What an operation turned out to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Nothing: what it wanted was so already.
    Skip,
    /// It put a value whose key was created then.
    Put(UnixMicros),
    /// It removed the key.
    Delete,
}

/// A record while it is being made.
#[derive(Debug)]
pub(crate) struct Encoded {
    // INVARIANT: `HEADER_LEN` bytes of room, the body, then `ACTION_LEN` bytes for each operation.
    bytes: Vec<u8>,
    /// Where each key and its value begin and end.
    spans: Vec<Span>,
    body_len: usize,
    body_crc: u32,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    key: usize,
    value: usize,
    end: usize,
}

impl Encoded {
    /// The operations of a commit.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] beyond what the length of a record can say. Nothing is copied then.
    pub(crate) fn new<'a>(
        ops: impl ExactSizeIterator<Item = (&'a Bytes, &'a Op)> + Clone,
    ) -> Result<Encoded, StoreError> {
        let value = |op: &'a Op| match op {
            Op::Put(value) | Op::Recreate(value) => value.as_ref(),
            Op::Delete => &[],
        };
        let body_len: usize = ops.clone().map(|(key, op)| 8 + key.len() + value(op).len()).sum();
        let payload_len = body_len + ops.len() * ACTION_LEN;
        if u32::try_from(payload_len).is_err() {
            return Err(StoreError::TooLarge { bytes: payload_len, bytes_max: u32::MAX });
        }
        let len = HEADER_LEN + payload_len;
        let mut bytes = Vec::with_capacity(len);
        let mut spans = Vec::with_capacity(ops.len());
        bytes.resize(HEADER_LEN, 0);
        for (key, op) in ops {
            let value = value(op);
            bytes.put_u32_le(short(key.len()));
            bytes.put_u32_le(short(value.len()));
            let start = bytes.len();
            bytes.extend_from_slice(key);
            let middle = bytes.len();
            bytes.extend_from_slice(value);
            spans.push(Span { key: start, value: middle, end: bytes.len() });
        }
        let body = bytes.get(HEADER_LEN..).unwrap_or_default();
        let body_crc = crc32c::crc32c(body);
        Ok(Encoded { bytes, spans, body_len, body_crc })
    }

    /// The record is complete once it is known what each operation does.
    pub(crate) fn finish(
        mut self,
        header: &Header,
        seal: Seal,
        actions: impl Iterator<Item = Action>,
    ) -> Finished {
        for action in actions {
            let (code, created) = match action {
                Action::Skip => (0, 0),
                Action::Put(created) => (1, created.0),
                Action::Delete => (2, 0),
            };
            self.bytes.push(code);
            self.bytes.extend_from_slice(&created.to_le_bytes());
        }
        let payload_len = self.bytes.len() - HEADER_LEN;
        let actions = self.bytes.get(HEADER_LEN + self.body_len..).unwrap_or_default();
        let crc = crc32c::crc32c_append(self.body_crc, actions);
        let head = encode_header(header, seal, payload_len, crc);
        if let Some(room) = self.bytes.get_mut(..HEADER_LEN) {
            room.copy_from_slice(&head);
        }
        Finished { bytes: Bytes::from(self.bytes), spans: self.spans }
    }
}

/// A complete record.
#[derive(Debug)]
pub(crate) struct Finished {
    bytes: Bytes,
    spans: Vec<Span>,
}

impl Finished {
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Key and value of an operation, as slices of the record.
    pub(crate) fn slices(&self, op: usize) -> Option<(Bytes, Bytes)> {
        let span = self.spans.get(op)?;
        Some((self.bytes.slice(span.key..span.value), self.bytes.slice(span.value..span.end)))
    }
}

fn short(len: usize) -> u32 {
    u32::try_from(len).expect("it is at most as long as the payload, which was measured")
}

fn encode_header(
    header: &Header,
    seal: Seal,
    payload_len: usize,
    payload_crc: u32,
) -> [u8; HEADER_LEN] {
    let mut bytes = [0; HEADER_LEN];
    let mut room = bytes.as_mut_slice();
    room.put_u32_le(MAGIC);
    room.put_u32_le(0);
    room.put_u32_le(short(payload_len));
    room.put_u32_le(payload_crc);
    room.put_u32_le(match header.kind {
        Kind::Commit => 1,
        Kind::Clear => 2,
    });
    room.put_u64_le(header.version.get());
    room.put_i64_le(header.time.0);
    room.put_u64_le(header.synced.get());
    room.put_u64_le(header.len);
    let crc = checksum(&bytes, seal);
    if let Some(room) = bytes.get_mut(CRC_AT..CHECKED_FROM) {
        room.copy_from_slice(&crc.to_le_bytes());
    }
    bytes
}

fn checksum(header: &[u8; HEADER_LEN], seal: Seal) -> u32 {
    crc32c::crc32c_append(seal.0, header.get(CHECKED_FROM..).unwrap_or_default())
}

/// A header as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) header: Header,
    pub(crate) payload_len: usize,
    payload_crc: u32,
}

impl Found {
    /// What `bytes` begin with, if that is a header of a store with this seal.
    pub(crate) fn read(bytes: &[u8], seal: Seal) -> Option<Found> {
        let (bytes, _) = bytes.split_first_chunk::<HEADER_LEN>()?;
        let mut rest = bytes.as_slice();
        if rest.get_u32_le() != MAGIC || rest.get_u32_le() != checksum(bytes, seal) {
            return None;
        }
        let payload_len = usize::try_from(rest.get_u32_le()).ok()?;
        let payload_crc = rest.get_u32_le();
        let kind = match rest.get_u32_le() {
            1 => Kind::Commit,
            2 => Kind::Clear,
            _ => return None,
        };
        let header = Header {
            kind,
            version: Version::new(rest.get_u64_le()),
            time: UnixMicros(rest.get_i64_le()),
            synced: Version::new(rest.get_u64_le()),
            len: rest.get_u64_le(),
        };
        Some(Found { header, payload_len, payload_crc })
    }

    /// How long the record is.
    pub(crate) fn len(&self) -> usize {
        HEADER_LEN.saturating_add(self.payload_len)
    }

    /// Whether this is the payload that was written with it.
    pub(crate) fn is_whole_with(&self, payload: &[u8]) -> bool {
        crc32c::crc32c(payload) == self.payload_crc
    }
}

/// An operation that did something.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) key: Bytes,
    /// The creation time and the value of what it put; `None` when it removed the key.
    pub(crate) put: Option<(UnixMicros, Bytes)>,
}

/// The operations of a checked payload that did something; `None` when it is not what [`Encoded`] makes.
pub(crate) fn decode(payload: &Bytes) -> Option<Vec<Done>> {
    let mut rest = payload.clone();
    let mut ops = Vec::new();
    // The number of operations is nowhere written: the body ends where as many actions begin.
    while rest.len() > ops.len() * ACTION_LEN {
        if rest.len() < 8 {
            return None;
        }
        let key_len = usize::try_from(rest.get_u32_le()).ok()?;
        let value_len = usize::try_from(rest.get_u32_le()).ok()?;
        if rest.len() < key_len.checked_add(value_len)? {
            return None;
        }
        ops.push((rest.split_to(key_len), rest.split_to(value_len)));
    }
    if rest.len() != ops.len() * ACTION_LEN {
        return None;
    }
    let mut done = Vec::with_capacity(ops.len());
    for (key, value) in ops {
        let code = rest.get_u8();
        let created = UnixMicros(rest.get_i64_le());
        match code {
            0 => {}
            1 => done.push(Done { key, put: Some((created, value)) }),
            2 => done.push(Done { key, put: None }),
            _ => return None,
        }
    }
    Some(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header {
        kind: Kind::Commit,
        version: Version::new(7),
        time: UnixMicros(-5),
        synced: Version::new(3),
        len: 9,
    };

    const SEAL: Seal = Seal(99);

    fn record(ops: &[(&'static str, Op, Action)]) -> Finished {
        let pairs: Vec<(Bytes, Op)> = ops
            .iter()
            .map(|(key, op, _)| (Bytes::from_static(key.as_bytes()), op.clone()))
            .collect();
        let encoded = Encoded::new(pairs.iter().map(|(key, op)| (key, op))).unwrap();
        encoded.finish(&HEADER, SEAL, ops.iter().map(|(_, _, action)| *action))
    }

    fn put(value: &'static str) -> Op {
        Op::Put(Bytes::from_static(value.as_bytes()))
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        #[track_caller]
        fn check(ops: &[(&'static str, Op, Action)], expected: &[(&str, Option<(i64, &str)>)]) {
            let finished = record(ops);
            let found = Found::read(finished.bytes(), SEAL).unwrap();
            let payload = finished.bytes().slice(HEADER_LEN..);
            assert_eq!((found.header, found.payload_len), (HEADER, payload.len()));
            assert_eq!(found.len(), finished.bytes().len());
            assert!(found.is_whole_with(&payload));
            assert_eq!(Found::read(finished.bytes(), Seal(98)), None);
            let decoded = decode(&payload).unwrap();
            let expected: Vec<_> = expected
                .iter()
                .map(|(key, value)| {
                    let put = value.map(|(created, value)| {
                        (UnixMicros(created), Bytes::copy_from_slice(value.as_bytes()))
                    });
                    Done { key: Bytes::copy_from_slice(key.as_bytes()), put }
                })
                .collect();
            assert_eq!(decoded, expected);
        }
        check(&[], &[]);
        check(&[("a", put("1"), Action::Put(UnixMicros(4)))], &[("a", Some((4, "1")))]);
        check(&[("", put(""), Action::Put(UnixMicros(4)))], &[("", Some((4, "")))]);
        check(
            &[
                ("a", put("1"), Action::Skip),
                ("b", Op::Delete, Action::Delete),
                ("c", Op::Recreate(Bytes::from_static(b"3")), Action::Put(UnixMicros(-1))),
            ],
            &[("b", None), ("c", Some((-1, "3")))],
        );
    }

    #[test]
    fn any_flipped_bit_is_noticed() {
        let good = record(&[("key", put("value"), Action::Put(UnixMicros(4)))]).bytes().to_vec();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let Some(found) = Found::read(&bad, SEAL) else { continue };
            assert!(bit / 8 >= HEADER_LEN, "bit {bit}");
            assert!(!found.is_whole_with(&bad[HEADER_LEN..]), "bit {bit}");
        }
    }

    #[test]
    fn slices_share_the_record() {
        let finished = record(&[("a", put("1"), Action::Skip), ("b", Op::Delete, Action::Delete)]);
        let (key, value) = finished.slices(0).unwrap();
        assert_eq!((key.as_ref(), value.as_ref()), (&b"a"[..], &b"1"[..]));
        let (key, value) = finished.slices(1).unwrap();
        assert_eq!((key.as_ref(), value.as_ref()), (&b"b"[..], &b""[..]));
        assert!(finished.slices(2).is_none());
    }
}
