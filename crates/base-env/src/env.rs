//! The environment handle that everything in a suite shares.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::clock::{Clock, UnixMicros};
use crate::random::{Random, SplitMix64};

/// The characters of an automatic document id, as every Firebase SDK draws them.
const ID_ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// The length of an automatic document id, as every Firebase SDK draws them.
const ID_LEN: usize = 20;

/// The clock, randomness and identifiers of one suite. Clones share the same state.
#[derive(Clone, Debug)]
pub struct Env {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    clock: Clock,
    random: Random,
    started: Instant,
}

impl Env {
    /// The machine's clock, until [`Env::advance`] moves it ahead, and the machine's random source.
    pub fn real() -> Env {
        Env::with(Clock::System { ahead: AtomicI64::new(0) }, Random::System)
    }

    /// A clock that stands at `now` until [`Env::advance`] moves it, and randomness from `seed`.
    pub fn simulated(seed: u64, now: UnixMicros) -> Env {
        Env::with(
            Clock::Simulated(AtomicI64::new(now.0)),
            Random::Seeded(Mutex::new(SplitMix64(seed))),
        )
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    fn with(clock: Clock, random: Random) -> Env {
        Env { inner: Arc::new(Inner { clock, random, started: Instant::now() }) }
    }

    /// The time on the suite's clock.
    pub fn now(&self) -> UnixMicros {
        self.inner.clock.now()
    }

    /// Moves the suite's clock forward, for everybody who reads it; nothing moves it back. Who waits for a time
    /// is told by whoever calls this.
    pub fn advance(&self, by: Duration) {
        self.inner.clock.advance(by);
    }

    /// Real time since this environment was made: for measuring, never for what clients see.
    pub fn monotonic(&self) -> Duration {
        self.inner.started.elapsed()
    }

    /// Fills `bytes` with random bytes.
    pub fn random(&self, bytes: &mut [u8]) {
        self.inner.random.fill(bytes);
    }

    /// A new automatic document id: 20 characters of `A-Za-z0-9`.
    pub fn auto_id(&self) -> String {
        let mut id = String::with_capacity(ID_LEN);
        let mut bytes = [0u8; 32];
        while id.len() < ID_LEN {
            self.random(&mut bytes);
            // Bytes of 248 and more are drawn again: 248 is the last multiple of 62 below 256.
            let fair = bytes.iter().filter(|byte| **byte < 248);
            let chars = fair.filter_map(|byte| ID_ALPHABET.get(usize::from(byte % 62)));
            id.extend(chars.take(ID_LEN - id.len()).map(|char| char::from(*char)));
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_its_run() {
        let one = Env::simulated(7, UnixMicros(0));
        let two = Env::simulated(7, UnixMicros(0));
        assert_eq!(one.auto_id(), two.auto_id());
        assert_ne!(one.auto_id(), Env::simulated(8, UnixMicros(0)).auto_id());
    }

    #[test]
    fn ids_have_the_shape_of_an_sdk_id() {
        let env = Env::real();
        for _ in 0..100 {
            let id = env.auto_id();
            assert_eq!(id.len(), 20);
            assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
        }
    }
}
