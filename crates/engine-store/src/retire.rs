//! Freeing large things away from the caller's thread.

use std::sync::Arc;
use std::thread::JoinHandle;

use base_env::thread;
use parking_lot::Mutex;

/// Owns the one thread that frees what a clear left behind. It runs only while there is something.
#[derive(Default)]
pub(crate) struct Retirement {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    garbage: Vec<Box<dyn Send>>,
    // INVARIANT: while this is set, the thread looks at `garbage` again before it ends.
    freeing: bool,
    thread: Option<JoinHandle<()>>,
}

impl Retirement {
    /// Frees `garbage` on the thread, and never waits for it.
    pub(crate) fn retire(&self, garbage: Box<dyn Send>) {
        let mut state = self.state.lock();
        state.garbage.push(garbage);
        if state.freeing {
            return;
        }
        // A thread of before has found nothing more to do and is at its end.
        join(state.thread.take());
        let shared = Arc::clone(&self.state);
        match thread::spawn("store-retire", move || free_all(&shared)) {
            Ok(thread) => {
                state.freeing = true;
                state.thread = Some(thread);
            }
            Err(_) => {
                let garbage = std::mem::take(&mut state.garbage);
                drop(state);
                drop(garbage);
            }
        }
    }
}

impl Drop for Retirement {
    fn drop(&mut self) {
        let thread = self.state.lock().thread.take();
        join(thread);
    }
}

/// Clears `freeing` where a panic ends the thread: nothing would be freed any more.
struct Freeing<'a> {
    state: &'a Mutex<State>,
    ended: bool,
}

impl Drop for Freeing<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.state.lock().freeing = false;
        }
    }
}

fn free_all(state: &Mutex<State>) {
    let mut freeing = Freeing { state, ended: false };
    loop {
        let garbage = {
            let mut state = state.lock();
            if state.garbage.is_empty() {
                state.freeing = false;
                freeing.ended = true;
                return;
            }
            std::mem::take(&mut state.garbage)
        };
        drop(garbage);
    }
}

fn join(thread: Option<JoinHandle<()>>) {
    if let Some(thread) = thread {
        // The thread only frees memory; there is no result, and a panic in it has been reported.
        let _ = thread.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_freed_when_the_owner_is_gone() {
        let alive = Arc::new(());
        let retirement = Retirement::default();
        for _ in 0..100 {
            retirement.retire(Box::new(Arc::clone(&alive)));
        }
        drop(retirement);
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    struct Panics;

    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("expected by the test");
        }
    }

    #[test]
    fn garbage_that_panics_does_not_keep_the_rest() {
        let alive = Arc::new(());
        let retirement = Retirement::default();
        retirement.retire(Box::new(Panics));
        while retirement.state.lock().freeing {
            std::thread::yield_now();
        }
        retirement.retire(Box::new(Arc::clone(&alive)));
        drop(retirement);
        assert_eq!(Arc::strong_count(&alive), 1);
    }
}
