//! Intents: the queue in which read-write transactions wait for their turn on the keys they read.
//!
//! A transaction that reads a key most often writes it. Were ten to read it together, nine would be
//! aborted, and the server SDKs sleep for about a second before they try again. So they are served one
//! after the other, first come, first served. A transaction that lost once queues for query ranges too, and while it
//! holds its turn a fresh transaction that writes there is aborted, because it would lose again.
//!
//! Intents only order things: what a commit may do is decided by validation alone, so giving up on
//! one, for any reason, is always safe. Nobody waits long for a queue that does not move.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base_env::Env;
use bytes::Bytes;
use engine_store::KeyRange;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::id::TxnId;
use crate::limits::Limits;
use crate::reads::ReadScope;

/// What an intent covers.
#[derive(Debug)]
enum Cover {
    /// Sorted keys.
    Keys(Vec<Bytes>),
    Range(KeyRange),
}

impl Cover {
    fn of(scope: &ReadScope) -> Cover {
        match scope {
            ReadScope::Keys(keys) => {
                let mut keys = keys.clone();
                keys.sort_unstable();
                Cover::Keys(keys)
            }
            ReadScope::Range(range, _) => Cover::Range(range.clone()),
        }
    }

    fn contains(&self, key: &Bytes) -> bool {
        match self {
            Cover::Keys(keys) => keys.binary_search(key).is_ok(),
            Cover::Range(range) => range.contains(key),
        }
    }

    /// Whether `other` covers nothing that this does not.
    fn includes(&self, other: &Cover) -> bool {
        match (self, other) {
            (cover, Cover::Keys(keys)) => keys.iter().all(|key| cover.contains(key)),
            (Cover::Range(one), Cover::Range(two)) => one == two,
            (Cover::Keys(_), Cover::Range(_)) => false,
        }
    }

    fn overlaps(&self, other: &Cover) -> bool {
        match (self, other) {
            (Cover::Range(one), Cover::Range(two)) => one.overlaps(two),
            (Cover::Keys(keys), cover) | (cover, Cover::Keys(keys)) => {
                keys.iter().any(|key| cover.contains(key))
            }
        }
    }
}

#[derive(Debug)]
enum Turn {
    Waiting(oneshot::Sender<()>),
    /// Since when.
    Held(Duration),
}

/// What a transaction is to the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rank {
    /// Its first attempt: it queues for keys, and its turn keeps nobody from committing.
    Fresh,
    /// It was aborted before.
    Retried,
}

#[derive(Debug)]
struct Ticket {
    owner: TxnId,
    rank: Rank,
    cover: Cover,
    turn: Turn,
}

#[derive(Debug, Default)]
struct Queue {
    // INVARIANT: a ticket is held, or an earlier one of another owner overlaps it.
    tickets: BTreeMap<u64, Ticket>,
    last_number: u64,
}

/// The intents of one database.
#[derive(Debug)]
pub(crate) struct Intents {
    env: Env,
    len_max: usize,
    stall_max: Duration,
    retried_stall_max: Duration,
    wait_max: Duration,
    hold_max: Duration,
    /// How many tickets there are, so that a commit sees "none" without the lock.
    len: AtomicUsize,
    queue: Mutex<Queue>,
}

impl Intents {
    pub(crate) fn new(env: Env, limits: &Limits) -> Intents {
        Intents {
            env,
            len_max: limits.intents_max,
            stall_max: limits.intent_stall_max,
            retried_stall_max: limits.intent_retried_stall_max,
            wait_max: limits.intent_wait_max,
            hold_max: limits.intent_hold_max,
            len: AtomicUsize::new(0),
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
        let Some((number, mut turn)) = self.enqueue(owner, rank, Cover::of(scope)) else { return };
        // Leaves the queue on time-out, and also when the client goes away and this future is dropped.
        let _waiting = Waiting { intents: self, number };
        let until = self.env.monotonic() + self.wait_max;
        let mut ahead = self.ahead(number);
        while tokio::time::timeout(stall_max, &mut turn).await.is_err() {
            let before = std::mem::replace(&mut ahead, self.ahead(number));
            if ahead >= before || self.env.monotonic() >= until {
                return;
            }
        }
    }

    /// How many transactions the ticket waits for.
    fn ahead(&self, number: u64) -> usize {
        let queue = self.queue.lock();
        let ticket = queue.tickets.get(&number);
        ticket.map_or(0, |ticket| queue.blockers(number, ticket.owner, &ticket.cover).len())
    }

    /// Gives up everything `owner` holds or waits for.
    pub(crate) fn release(&self, owner: TxnId) {
        if self.len.load(Ordering::Acquire) == 0 {
            return;
        }
        self.change(|queue| queue.tickets.retain(|_, ticket| ticket.owner != owner));
    }

    /// Same as [`Intents::release`] for several owners.
    pub(crate) fn release_all(&self, owners: &[TxnId]) {
        if self.len.load(Ordering::Acquire) > 0 {
            let owners: BTreeSet<TxnId> = owners.iter().copied().collect();
            self.change(|queue| queue.tickets.retain(|_, ticket| !owners.contains(&ticket.owner)));
        }
    }

    /// The first of `keys` that another, retried transaction has the turn on.
    pub(crate) fn blocking<'a>(
        &self,
        owner: TxnId,
        mut keys: impl Iterator<Item = &'a Bytes>,
    ) -> Option<&'a Bytes> {
        if self.len.load(Ordering::Acquire) == 0 {
            return None;
        }
        self.change(|_| ());
        let queue = self.queue.lock();
        let held = |ticket: &&Ticket| {
            let retried = ticket.rank == Rank::Retried && ticket.owner != owner;
            retried && matches!(ticket.turn, Turn::Held(_))
        };
        keys.find(|key| {
            queue.tickets.values().filter(held).any(|ticket| ticket.cover.contains(key))
        })
    }

    /// Takes a ticket. `None` when there is nothing to wait for: the turn has come, or never will.
    fn enqueue(
        &self,
        owner: TxnId,
        rank: Rank,
        cover: Cover,
    ) -> Option<(u64, oneshot::Receiver<()>)> {
        self.change(|queue| {
            let has_it = queue.tickets.values().any(|ticket| {
                let held = ticket.owner == owner && matches!(ticket.turn, Turn::Held(_));
                held && ticket.cover.includes(&cover)
            });
            if has_it || queue.tickets.len() >= self.len_max {
                return None;
            }
            let blockers = queue.blockers(u64::MAX, owner, &cover);
            if queue.wait_leads_to(owner, &blockers) {
                return None;
            }
            let (turn, waiting) = if blockers.is_empty() {
                (Turn::Held(self.env.monotonic()), None)
            } else {
                let (sender, receiver) = oneshot::channel();
                (Turn::Waiting(sender), Some(receiver))
            };
            queue.last_number += 1;
            queue.tickets.insert(queue.last_number, Ticket { owner, rank, cover, turn });
            waiting.map(|receiver| (queue.last_number, receiver))
        })
    }

    /// Changes the queue, then lets everybody go on whose turn has come.
    fn change<T>(&self, change: impl FnOnce(&mut Queue) -> T) -> T {
        let now = self.env.monotonic();
        let mut queue = self.queue.lock();
        queue.tickets.retain(|_, ticket| match ticket.turn {
            Turn::Waiting(_) => true,
            Turn::Held(since) => now.saturating_sub(since) <= self.hold_max,
        });
        let result = change(&mut queue);
        queue.grant(now);
        self.len.store(queue.tickets.len(), Ordering::Release);
        result
    }
}

impl Queue {
    /// The other owners of tickets before `number` that overlap `cover`.
    fn blockers(&self, number: u64, owner: TxnId, cover: &Cover) -> BTreeSet<TxnId> {
        let before = self.tickets.range(..number).map(|(_, ticket)| ticket);
        let blocking =
            before.filter(|ticket| ticket.owner != owner && ticket.cover.overlaps(cover));
        blocking.map(|ticket| ticket.owner).collect()
    }

    /// Whether somebody in `waited_for` waits, directly or through others, for `owner`.
    fn wait_leads_to(&self, owner: TxnId, waited_for: &BTreeSet<TxnId>) -> bool {
        let mut seen = waited_for.clone();
        let mut next: Vec<TxnId> = waited_for.iter().copied().collect();
        while let Some(waiter) = next.pop() {
            if waiter == owner {
                return true;
            }
            for (number, ticket) in &self.tickets {
                if ticket.owner == waiter && matches!(ticket.turn, Turn::Waiting(_)) {
                    let blockers = self.blockers(*number, waiter, &ticket.cover);
                    next.extend(blockers.into_iter().filter(|blocker| seen.insert(*blocker)));
                }
            }
        }
        false
    }

    fn grant(&mut self, now: Duration) {
        let waiting = self.tickets.iter();
        let waiting = waiting.filter(|(_, ticket)| matches!(ticket.turn, Turn::Waiting(_)));
        let free = waiting.filter(|(number, ticket)| {
            !self.tickets.range(..**number).any(|(_, earlier)| {
                earlier.owner != ticket.owner && earlier.cover.overlaps(&ticket.cover)
            })
        });
        let free: Vec<u64> = free.map(|(number, _)| *number).collect();
        for number in free {
            let Some(ticket) = self.tickets.get_mut(&number) else { continue };
            if let Turn::Waiting(sender) = std::mem::replace(&mut ticket.turn, Turn::Held(now)) {
                // A waiter that is gone leaves the intent to its transaction, which ends some time.
                let _ = sender.send(());
            }
        }
    }
}

/// Leaves the queue if the turn has not come.
struct Waiting<'a> {
    intents: &'a Intents,
    number: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.intents.change(|queue| {
            let turn = queue.tickets.get(&self.number).map(|ticket| &ticket.turn);
            if matches!(turn, Some(Turn::Waiting(_))) {
                queue.tickets.remove(&self.number);
            }
        });
    }
}
