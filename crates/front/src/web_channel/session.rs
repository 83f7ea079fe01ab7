//! One session: what its client has sent, what it is yet to get, and how long it lives.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedMutexGuard, mpsc};
use tokio::time::Instant;

use super::outbox::Outbox;
use crate::limits::CHANNEL_IDLE_MAX;

/// What goes into a call: a frame with a message, or why there is none.
pub(super) type Sent = Result<Bytes, tonic::Status>;

/// A session as its requests and its call see it.
pub(super) struct Session {
    /// The place of its method among those that are served.
    pub(super) method: usize,
    pub(super) id: String,
    state: Mutex<State>,
    changed: Notify,
    forward: Arc<tokio::sync::Mutex<Forward>>,
}

/// What may be waited for.
pub(super) struct State {
    pub(super) outbox: Outbox,
    /// Whether the call is over: nothing is added any more.
    pub(super) ended: bool,
    /// Whether the session is: its client left, or it was given up.
    pub(super) closed: bool,
    /// Which of its readers, counted from the first, is attached.
    pub(super) reader: Option<u64>,
    readers: u64,
    /// When its client was last heard of.
    seen: Instant,
}

impl State {
    /// Notes that the client is there.
    pub(super) fn touch(&mut self) {
        self.seen = Instant::now();
    }
}

/// The messages of the client on their way into the call.
struct Forward {
    next_id: u64,
    call: Option<mpsc::Sender<Sent>>,
}

/// The turn of one request to hand its messages on.
pub(super) struct Turn(OwnedMutexGuard<Forward>);

impl Turn {
    /// Takes the messages of the request, each number once and in their order. Waits while the call takes nothing.
    ///
    /// # Errors
    ///
    /// Some messages never came; those behind them are not taken.
    pub(super) async fn take(
        self,
        messages: BTreeMap<u64, Option<String>>,
        encode: impl Fn(&str) -> Sent,
    ) -> Result<(), Gap> {
        let Turn(mut forward) = self;
        for (id, message) in messages {
            if id > forward.next_id {
                return Err(Gap);
            }
            // What comes again was taken before: its client has not heard so.
            if id < forward.next_id {
                continue;
            }
            if let (Some(message), Some(call)) = (message, &forward.call) {
                // A call that is over takes nothing: its client is told how it ended.
                let _taken = call.send(encode(&message)).await.is_ok();
            }
            forward.next_id += 1;
        }
        Ok(())
    }
}

/// A message is missing between those that came.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Gap;

impl Session {
    pub(super) fn new(method: usize, id: String, call: mpsc::Sender<Sent>) -> Session {
        let state = State {
            outbox: Outbox::default(),
            ended: false,
            closed: false,
            reader: None,
            readers: 0,
            seen: Instant::now(),
        };
        Session {
            method,
            id,
            state: Mutex::new(state),
            changed: Notify::new(),
            forward: Arc::new(tokio::sync::Mutex::new(Forward { next_id: 0, call: Some(call) })),
        }
    }

    /// Changes the state, and wakes those who wait for that.
    pub(super) fn update<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.state.lock());
        self.changed.notify_waiters();
        changed
    }

    /// Waits until the state is as wanted.
    pub(super) async fn when<T>(&self, mut wanted: impl FnMut(&mut State) -> Option<T>) -> T {
        loop {
            let mut changed = pin!(self.changed.notified());
            // From here on no change is missed.
            changed.as_mut().enable();
            if let Some(found) = wanted(&mut self.state.lock()) {
                return found;
            }
            changed.await;
        }
    }

    /// Waits until the messages of all requests before have been taken.
    pub(super) async fn turn(&self) -> Turn {
        Turn(Arc::clone(&self.forward).lock_owned().await)
    }

    /// Puts something into the call that the client did not send as a message.
    pub(super) async fn fail(&self, status: tonic::Status) {
        let forward = self.forward.lock().await;
        if let Some(call) = &forward.call {
            let _taken = call.send(Err(status)).await.is_ok();
        }
    }

    /// Gives the session up. Its call may finish what it has.
    pub(super) fn close(&self) {
        if let Ok(mut forward) = self.forward.try_lock() {
            forward.call = None;
        }
        self.update(|state| state.closed = true);
    }

    /// A new reader, in place of any before it.
    pub(super) fn attach(&self) -> u64 {
        self.update(|state| {
            state.readers += 1;
            state.reader = Some(state.readers);
            state.readers
        })
    }

    /// A reader goes away.
    pub(super) fn detach(&self, reader: u64) {
        self.update(|state| {
            if state.reader == Some(reader) {
                state.reader = None;
                state.touch();
            }
        });
    }

    /// How long nothing was heard of a client that does not read; `None` while it does.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.state.lock();
        state.reader.is_none().then_some(state.seen)
    }

    /// Waits until the session is over, which it is too when its client is silent for too long.
    pub(super) async fn over(&self) {
        loop {
            let deadline = self.state.lock().seen + CHANNEL_IDLE_MAX;
            tokio::select! {
                () = self.when(|state| state.closed.then_some(())) => return,
                () = tokio::time::sleep_until(deadline) => {}
            }
            if self.state.lock().seen + CHANNEL_IDLE_MAX <= Instant::now() {
                self.close();
                return;
            }
        }
    }
}
