//! Repeatable choices.

use base_env::{Env, UnixMicros};

/// Draws from a seed.
#[derive(Debug)]
pub(super) struct Draw(Env);

impl Draw {
    pub(super) fn new(seed: u64, session: usize) -> Self {
        // Neighbouring states of the generator are neighbours in its sequence: only mixed they are apart.
        let mut word = seed.wrapping_mul(0xd6e8_feb8_6659_fd93) ^ (session as u64).rotate_left(32);
        for _ in 0..2 {
            word = (word ^ (word >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        }
        Draw(Env::simulated(word ^ (word >> 32), UnixMicros(0)))
    }

    fn word(&self) -> u64 {
        let mut bytes = [0; 8];
        self.0.random(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// A number below `end`, which is at least one.
    pub(super) fn below(&self, end: usize) -> usize {
        usize::try_from(self.word() % (end.max(1) as u64)).unwrap_or(0)
    }

    /// True once in so many times.
    pub(super) fn once_in(&self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of the items.
    ///
    /// # Panics
    /// There is none.
    pub(super) fn pick<'a, T: ?Sized>(&self, items: &[&'a T]) -> &'a T {
        items.get(self.below(items.len())).expect("there is something to pick from")
    }

    /// Up to `most` made items.
    pub(super) fn some<T>(&self, most: usize, mut make: impl FnMut(&Self) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| make(self)).collect()
    }
}
