//! The world outside the suite, behind one door: the clock, randomness, identifiers, threads, processes, memory,
//! files that change, folders that take one another's place.
//!
//! Everything that reads time or rolls dice does it through an [`Env`], so that a test can hold the
//! clock still and repeat a run from its seed. `clippy.toml` bans the direct calls everywhere else.

mod clock;
mod env;
mod random;

pub mod file;
pub mod folder;
pub mod memory;
pub mod process;
pub mod thread;

pub use clock::UnixMicros;
pub use env::Env;
