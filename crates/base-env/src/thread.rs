//! Named threads with an owner: whoever spawns one keeps the handle and joins it.

use std::io;
use std::thread::{Builder, JoinHandle};

/// Starts a named thread. The caller owns it and joins it before it goes away itself.
///
/// # Errors
/// The operating system's, when it cannot start another thread.
pub fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Builder::new().name(name.to_owned()).spawn(work)
}
