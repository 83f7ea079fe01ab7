//! Intents: the queue in which read-write transactions wait for their turn on the keys they read.
//!
//! A transaction that reads a key most often writes it. Were ten to read it together, nine would be
//! aborted, and the server SDKs sleep for about a second before they try again. So they are served one
//! after the other, first come, first served. A transaction that lost once queues for query ranges too, and while it
//! holds its turn a fresh transaction that writes there is aborted, because it would lose again.
//!
//! Intents only order things: what a commit may do is decided by validation alone, so giving up on
//! one, for any reason, is always safe. Nobody waits long for a queue that does not move.

mod queue;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base_env::Env;
use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use self::queue::{Cover, Queue};
use crate::id::TxnId;
use crate::limits::{INTENT_KEYS_IN_ALL_MAX, Limits};
use crate::reads::ReadScope;

/// What a transaction is to the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rank {
    /// Its first attempt: it queues for keys, and its turn keeps nobody from committing.
    Fresh,
    /// It was aborted before.
    Retried,
}

/// The intents of one database.
#[derive(Debug)]
pub(crate) struct Intents {
    env: Env,
    len_max: usize,
    keys_max: usize,
    stall_max: Duration,
    retried_stall_max: Duration,
    wait_max: Duration,
    hold_max: Duration,
    /// How many tickets there are, so that who has none sees it without the lock.
    len: AtomicUsize,
    /// How many of them can keep a commit from writing, for the same reason.
    retried_len: AtomicUsize,
    queue: Mutex<Queue>,
}

impl Intents {
    pub(crate) fn new(env: Env, limits: &Limits) -> Intents {
        Intents {
            env,
            len_max: limits.intents_max,
            keys_max: limits.intent_keys_max,
            stall_max: limits.intent_stall_max,
            retried_stall_max: limits.intent_retried_stall_max,
            wait_max: limits.intent_wait_max,
            hold_max: limits.intent_hold_max,
            len: AtomicUsize::new(0),
            retried_len: AtomicUsize::new(0),
            queue: Mutex::default(),
        }
    }

    /// Waits for `owner`'s turn on `scope`. Returns without it when the queue does not move, the wait is
    /// too long or would never end, or the queue is full.
    pub(crate) async fn acquire(&self, owner: TxnId, rank: Rank, scope: &ReadScope) {
        let stall_max = match (rank, scope) {
            (Rank::Fresh, ReadScope::Range(..)) => return,
            (Rank::Fresh, ReadScope::Keys(_)) => self.stall_max,
            (Rank::Retried, _) => self.retried_stall_max,
        };
        if matches!(scope, ReadScope::Keys(keys) if keys.len() > self.keys_max) {
            return;
        }
        let Some((number, mut turn)) = self.enqueue(owner, rank, Cover::of(scope)) else { return };
        // Leaves the queue on time-out, and also when the client goes away and this future is dropped.
        let _waiting = Waiting { intents: self, number };
        let until = self.env.monotonic() + self.wait_max;
        let mut distance = self.distance(number);
        while tokio::time::timeout(stall_max, &mut turn).await.is_err() {
            let before = std::mem::replace(&mut distance, self.distance(number));
            if distance >= before || self.env.monotonic() >= until {
                return;
            }
        }
    }

    fn distance(&self, number: u64) -> (usize, usize) {
        self.queue.lock().distance(number)
    }

    /// Gives up everything `owner` holds or waits for.
    pub(crate) fn release(&self, owner: TxnId) {
        if self.len.load(Ordering::Acquire) == 0 {
            return;
        }
        self.change(|queue, now| queue.remove_owner(owner, now));
    }

    /// Same as [`Intents::release`] for several owners.
    pub(crate) fn release_all(&self, owners: &[TxnId]) {
        if self.len.load(Ordering::Acquire) > 0 {
            self.change(|queue, now| {
                owners.iter().for_each(|owner| queue.remove_owner(*owner, now));
            });
        }
    }

    /// The first of `keys` that another, retried transaction has the turn on.
    pub(crate) fn blocking<'a>(
        &self,
        owner: TxnId,
        keys: impl Iterator<Item = &'a Bytes>,
    ) -> Option<&'a Bytes> {
        if self.retried_len.load(Ordering::Acquire) == 0 {
            return None;
        }
        let now = self.env.monotonic();
        self.queue.lock().blocking(owner, keys, now, self.hold_max)
    }

    /// Takes a ticket. `None` when there is nothing to wait for: the turn has come, or never will.
    fn enqueue(
        &self,
        owner: TxnId,
        rank: Rank,
        cover: Cover,
    ) -> Option<(u64, oneshot::Receiver<()>)> {
        self.change(|queue, now| {
            let is_full = queue.len() >= self.len_max
                || queue.keys_len() + cover.keys_len() > INTENT_KEYS_IN_ALL_MAX;
            if is_full || queue.has_turn(owner, &cover) || queue.wait_leads_to(owner, &cover) {
                return None;
            }
            queue.push(owner, rank, cover, now)
        })
    }

    /// Changes the queue. Those whose turn comes by it go on.
    fn change<T>(&self, change: impl FnOnce(&mut Queue, Duration) -> T) -> T {
        let now = self.env.monotonic();
        let mut queue = self.queue.lock();
        queue.expire(now, self.hold_max);
        let result = change(&mut queue, now);
        self.len.store(queue.len(), Ordering::Release);
        self.retried_len.store(queue.retried_len(), Ordering::Release);
        result
    }
}

/// Leaves the queue if the turn has not come.
struct Waiting<'a> {
    intents: &'a Intents,
    number: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.intents.change(|queue, now| queue.give_up(self.number, now));
    }
}
