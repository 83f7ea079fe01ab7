//! A simulated environment and seeded choices for the tests.

use base_env::{Env, UnixMicros};
use bytes::Bytes;
use engine_store::Snapshot;

/// Where the clock of the tests stands at first.
pub(crate) const START: UnixMicros = UnixMicros(1_000_000);

pub(crate) fn env() -> Env {
    Env::simulated(1, START)
}

/// Choices that a seed repeats.
pub(crate) struct Choices(Env);

impl Choices {
    /// Prints the seed, which a failing test shows.
    pub(crate) fn from_seed(seed: u64) -> Choices {
        println!("seed {seed}");
        Choices(Env::simulated(seed, UnixMicros(0)))
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let mut bytes = [0; 8];
        self.0.random(&mut bytes);
        usize::try_from(u64::from_le_bytes(bytes) % bound as u64).unwrap()
    }

    /// One of few short keys, some of which are prefixes of others.
    pub(crate) fn key(&mut self) -> Bytes {
        let len = self.below(4);
        (0..len).map(|_| [0x00, b'a', 0xff][self.below(3)]).collect::<Vec<u8>>().into()
    }

    pub(crate) fn value(&mut self) -> Bytes {
        Bytes::from(self.below(4).to_string())
    }
}

pub(crate) fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

/// `key=value@created..updated` for each entry, times counted from [`START`].
pub(crate) fn show(snapshot: &Snapshot) -> String {
    let entries = snapshot.range(&engine_store::KeyRange::all()).map(|entry| {
        let record = entry.record();
        format!(
            "{}={}@{}..{}",
            String::from_utf8_lossy(entry.key()),
            String::from_utf8_lossy(&record.value),
            record.created.0 - START.0,
            record.updated.0 - START.0,
        )
    });
    entries.collect::<Vec<_>>().join(" ")
}
