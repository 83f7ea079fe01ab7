//! What is asked of the C library's allocator, so that memory that was freed is not kept.
//!
//! glibc gives every thread an arena of its own, and keeps what is freed in it for that thread: what a fold or a
//! large answer has taken is of no use to anybody else then, and stays resident. Measured, that was more than
//! half of the memory of a large store. In a process that is ours we ask for fewer arenas; in a process that is
//! the user's its settings are the user's, and free pages are given back when there are many.

use std::time::Duration;

/// How often memory is looked at. Giving back takes some milliseconds, in which threads that allocate wait for
/// each other.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);

/// By how much the process has to have grown. Below, giving back is not worth its time.
const GROWTH_MIN: usize = 16 * 1024 * 1024;

/// Gives memory back to the system whenever the process has grown, for as long as the future is polled.
pub async fn keep_low() {
    let Some(mut low) = resident() else { return };
    let mut looks = tokio::time::interval(LOOK_INTERVAL);
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        let Some(now) = resident() else { return };
        low = low.min(now);
        if now - low < GROWTH_MIN {
            continue;
        }
        if tokio::task::spawn_blocking(give_back).await.is_err() {
            // The runtime ends.
            return;
        }
        // What is in use is no growth from here on.
        low = resident().unwrap_or(now);
    }
}

/// Memory of this process that is resident, in bytes; `None` where the system does not say so cheaply, and its
/// allocator needs no help.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn resident() -> Option<usize> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = pages.split_ascii_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(rustix::param::page_size())
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn resident() -> Option<usize> {
    None
}

/// Gives the pages that are free in any arena back to the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the C library has no safe way to say so")]
pub fn give_back() {
    // SAFETY: malloc_trim may be called at any time; it holds the lock of each arena while it is at it.
    let _any = unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_back() {}

/// Asks for no more arenas than the process has already.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the C library has no safe way to say so")]
pub fn share_arenas() {
    const ARENAS_MAX: libc::c_int = 1;
    // SAFETY: mallopt may be called at any time; it takes two numbers, holds the allocator's own lock, and
    // bounds the arenas that are made from now on. Threads that have one keep it.
    let taken = unsafe { libc::mallopt(libc::M_ARENA_MAX, ARENAS_MAX) };
    debug_assert_eq!(taken, 1, "glibc knows this setting");
}

/// Other allocators share by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn share_arenas() {}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    #[test]
    fn what_was_freed_is_given_back() {
        const BLOCKS: usize = 256;
        let before = resident().unwrap();
        // Small enough that the allocator keeps them, and with one that stays in between.
        let mut blocks: Vec<Vec<u8>> = (0..BLOCKS * 2).map(|_| vec![1; 100_000]).collect();
        let mut at = 0;
        blocks.retain(|_| {
            at += 1;
            at % BLOCKS == 0
        });
        give_back();
        let after = resident().unwrap();
        assert!(after < before + BLOCKS * 100_000 / 2, "{before} {after}");
        assert_eq!(blocks.len(), 2);
    }
}
