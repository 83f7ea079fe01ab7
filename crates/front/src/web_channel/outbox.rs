//! What a session has for its client: numbered arrays, kept until they are acknowledged.

use std::collections::VecDeque;
use std::fmt::Write as _;

use bytes::Bytes;

use super::chunk::chunk;
use crate::limits::CHANNEL_BUFFER_BYTES_MAX;

/// The arrays that are not acknowledged. The handshake was number 0.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// The payloads of the arrays up to `last_id`, without a gap.
    arrays: VecDeque<String>,
    bytes: usize,
    last_id: u64,
}

impl Outbox {
    /// Adds an array with this JSON in it.
    pub(super) fn push(&mut self, payload: String) {
        self.bytes += payload.len();
        self.last_id += 1;
        self.arrays.push_back(payload);
    }

    /// Forgets the arrays up to a number.
    pub(super) fn acknowledge(&mut self, id: u64) {
        while self.first_id() <= id
            && let Some(payload) = self.arrays.pop_front()
        {
            self.bytes -= payload.len();
        }
    }

    /// One chunk of all arrays behind a number, and the number of the last; `None` if there is none.
    pub(super) fn behind(&self, id: u64) -> Option<(Bytes, u64)> {
        let known = id.saturating_add(1).saturating_sub(self.first_id());
        let arrays = self.arrays.iter().skip(usize::try_from(known).unwrap_or(usize::MAX));
        let ids = self.first_id().max(id.saturating_add(1))..;
        let mut json = String::new();
        for (id, payload) in ids.zip(arrays) {
            let open = if json.is_empty() { '[' } else { ',' };
            // Writing to a text does not fail.
            let _written = write!(json, "{open}[{id},{payload}]");
        }
        if json.is_empty() {
            return None;
        }
        json.push(']');
        Some((chunk(&json), self.last_id))
    }

    /// The number of the last array.
    pub(super) fn last_id(&self) -> u64 {
        self.last_id
    }

    /// Bytes that are not acknowledged.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether whoever has more must wait. One array is let in whatever its length.
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= CHANNEL_BUFFER_BYTES_MAX
    }

    pub(super) fn is_empty(&self) -> bool {
        self.arrays.is_empty()
    }

    /// The number of the first array that is here, or would be.
    fn first_id(&self) -> u64 {
        self.last_id + 1 - self.arrays.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_stay_until_they_are_acknowledged() {
        let mut outbox = Outbox::default();
        let check = |outbox: &Outbox, behind: u64, expected: &str, bytes: usize| {
            let (chunk, last) = outbox.behind(behind).unwrap_or((Bytes::new(), outbox.last_id()));
            assert_eq!((chunk.as_ref(), last), (expected.as_bytes(), outbox.last_id()), "{behind}");
            assert_eq!(outbox.bytes(), bytes);
        };
        check(&outbox, 0, "", 0);
        for payload in ["[1]", "[22]", "[333]"] {
            outbox.push(payload.to_owned());
        }
        check(&outbox, 0, "27\n[[1,[1]],[2,[22]],[3,[333]]]", 12);
        check(&outbox, 2, "11\n[[3,[333]]]", 12);
        check(&outbox, 3, "", 12);
        check(&outbox, u64::MAX, "", 12);
        outbox.acknowledge(0);
        outbox.acknowledge(1);
        // Who asks for what was acknowledged gets what is left.
        check(&outbox, 0, "20\n[[2,[22]],[3,[333]]]", 9);
        outbox.acknowledge(99);
        check(&outbox, 0, "", 0);
        outbox.push("[4]".to_owned());
        check(&outbox, 0, "9\n[[4,[4]]]", 3);
        check(&outbox, 3, "9\n[[4,[4]]]", 3);
    }

    #[test]
    fn it_is_full_by_bytes() {
        let mut outbox = Outbox::default();
        outbox.push("x".repeat(CHANNEL_BUFFER_BYTES_MAX - 1));
        assert!(!outbox.is_full());
        outbox.push("x".to_owned());
        assert!(outbox.is_full());
        outbox.acknowledge(1);
        assert!(!outbox.is_full() && !outbox.is_empty());
    }
}
