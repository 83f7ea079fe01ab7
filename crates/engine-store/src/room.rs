//! Who waits for a fold to make room, without a thread that stands still.

use std::fmt;

use parking_lot::Mutex;

/// Called after a fold. Whether there is room then is for the one who waits to see.
pub(crate) type RoomWaiter = Box<dyn FnOnce() + Send>;

/// Those who wait. Added to while head is held, so that no fold ends between the look and the wait.
#[derive(Default)]
pub(crate) struct Room {
    waiters: Mutex<Vec<RoomWaiter>>,
}

impl Room {
    pub(crate) fn add(&self, waiter: RoomWaiter) {
        self.waiters.lock().push(waiter);
    }

    pub(crate) fn take(&self) -> Vec<RoomWaiter> {
        std::mem::take(&mut *self.waiters.lock())
    }
}

impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room").field("waiters", &self.waiters.lock().len()).finish()
    }
}
