//! Transaction ids as clients hold them.

/// The first byte of every id.
const TAG: u8 = 0x11;

/// The id of a transaction: the byte 0x11 and a counter, little-endian, as the official emulator has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TxnId(u64);

impl TxnId {
    /// The id with this counter value.
    pub(crate) const fn new(counter: u64) -> TxnId {
        TxnId(counter)
    }

    pub(crate) const fn counter(self) -> u64 {
        self.0
    }

    /// The nine bytes given to clients.
    pub fn to_bytes(self) -> [u8; 9] {
        let [a, b, c, d, e, f, g, h] = self.0.to_le_bytes();
        [TAG, a, b, c, d, e, f, g, h]
    }

    /// The id in bytes that came from a client; `None` when they have not the form of one.
    pub fn from_bytes(bytes: &[u8]) -> Option<TxnId> {
        let (tag, counter) = bytes.split_first()?;
        let counter = <[u8; 8]>::try_from(counter).ok()?;
        (*tag == TAG).then(|| TxnId(u64::from_le_bytes(counter)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_nine_bytes_with_a_little_endian_counter() {
        assert_eq!(TxnId(0x0102).to_bytes(), [0x11, 2, 1, 0, 0, 0, 0, 0, 0]);
        for counter in [0, 1, 0x0102_0304, u64::MAX] {
            assert_eq!(TxnId::from_bytes(&TxnId(counter).to_bytes()), Some(TxnId(counter)));
        }
    }

    #[test]
    fn other_bytes_are_no_ids() {
        for bytes in [&b""[..], b"\x11", b"\x12\0\0\0\0\0\0\0\0", b"\x11\0\0\0\0\0\0\0\0\0"] {
            assert_eq!(TxnId::from_bytes(bytes), None, "{bytes:?}");
        }
    }
}
