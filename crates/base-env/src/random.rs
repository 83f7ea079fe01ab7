//! Random bytes: the operating system's, or a repeatable stream from a seed.

use parking_lot::Mutex;

/// Where an [`crate::Env`] takes its random bytes from.
#[derive(Debug)]
pub(crate) enum Random {
    System,
    Seeded(Mutex<SplitMix64>),
}

impl Random {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks for randomness")]
    pub(crate) fn fill(&self, bytes: &mut [u8]) {
        match self {
            Random::System => getrandom::fill(bytes)
                .expect("the operating system's random source works on every platform we ship for"),
            Random::Seeded(state) => {
                let mut state = state.lock();
                for chunk in bytes.chunks_mut(8) {
                    let word = state.next().to_le_bytes();
                    for (byte, random) in chunk.iter_mut().zip(word) {
                        *byte = random;
                    }
                }
            }
        }
    }
}

/// The SplitMix64 generator: small, fast, and the same everywhere for the same seed. Not for secrets.
#[derive(Debug)]
pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }
}
