//! What the command line asks of the C library's allocator.
//!
//! glibc gives every thread an arena of its own. What a fold has freed in its arena is no use to the
//! thread of a query then, and stays: measured, a third of the memory of a large store. In a process that
//! is ours we ask for fewer. In a process that is the user's, as with `start`, its settings are the user's.

/// Asks for no more arenas than the process has already.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the C library has no safe way to say so")]
pub(crate) fn share_arenas() {
    const ARENAS_MAX: libc::c_int = 1;
    // SAFETY: mallopt may be called at any time; it takes two numbers, holds the allocator's own lock, and
    // bounds the arenas that are made from now on. Threads that have one keep it.
    let taken = unsafe { libc::mallopt(libc::M_ARENA_MAX, ARENAS_MAX) };
    debug_assert_eq!(taken, 1, "glibc knows this setting");
}

/// Other allocators share by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn share_arenas() {}
