//! Bloom filters of document names, as existence filters carry them.

use base_value::{DatabaseName, key};
use bytes::Bytes;
use md5::{Digest, Md5};

/// How often a name that is not in a filter seems to be: once in so many.
const FALSE_POSITIVE: f64 = 0.0001;

/// Names of documents, so that a client can tell which of those it knows are not among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bloom {
    pub(crate) bitmap: Bytes,
    /// Bits at the end of the bitmap that are not part of the filter.
    pub(crate) padding: i32,
    pub(crate) hash_count: i32,
}

impl Bloom {
    /// The filter of the documents with these keys.
    pub(super) fn of_documents<'a>(
        database: &DatabaseName,
        keys: impl ExactSizeIterator<Item = &'a Bytes>,
    ) -> Bloom {
        let len = keys.len();
        let names = keys.filter_map(|key| key::parse(key));
        Bloom::new(len, names.map(|path| database.document(path).to_string()))
    }

    /// The filter of `len` names.
    fn new(len: usize, names: impl Iterator<Item = String>) -> Bloom {
        let (bits, hash_count) = size(len);
        let mut bitmap = vec![0u8; bits.div_ceil(8)];
        for name in names {
            let (first, second) = hashes(&name);
            for number in 0..hash_count {
                let bit = first.wrapping_add(number.wrapping_mul(second)) % bits as u64;
                let (byte, bit) = ((bit / 8) as usize, bit % 8);
                if let Some(byte) = bitmap.get_mut(byte) {
                    *byte |= 1 << bit;
                }
            }
        }
        let padding = bitmap.len() * 8 - bits;
        Bloom {
            padding: i32::try_from(padding).unwrap_or_default(),
            hash_count: i32::try_from(hash_count).unwrap_or(i32::MAX),
            bitmap: bitmap.into(),
        }
    }
}

/// Bits and hashes for so many names, as the theory has it. Nothing takes nothing: clients take that for a filter that
/// contains no name.
fn size(len: usize) -> (usize, u64) {
    use std::f64::consts::LN_2;
    if len == 0 {
        return (0, 0);
    }
    let bits = (len as f64 * (1.0 / FALSE_POSITIVE).ln() / (LN_2 * LN_2)).ceil();
    let hashes = (bits / len as f64 * LN_2).round().max(1.0);
    (bits as usize, hashes as u64)
}

/// The two numbers that all hashes of a name are made of: its MD5, as little-endian halves.
fn hashes(name: &str) -> (u64, u64) {
    let digest: [u8; 16] = Md5::digest(name.as_bytes()).into();
    let number = u128::from_le_bytes(digest);
    (number as u64, (number >> 64) as u64)
}
