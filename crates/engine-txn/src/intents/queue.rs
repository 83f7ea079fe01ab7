//! The queue itself: who is before whom on which keys. Nothing here waits or looks at a clock.
//!
//! Each key has a line of the tickets that name it, so that a change costs what it concerns and not what
//! there is. Ranges are few, as only retried transactions queue for them, and are compared with every ticket.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use engine_store::KeyRange;
use tokio::sync::oneshot;

use super::Rank;
use crate::id::TxnId;
use crate::limits::INTENT_STEPS_MAX;
use crate::reads::ReadScope;

/// What an intent covers.
#[derive(Debug)]
pub(super) enum Cover {
    /// Sorted keys, each once.
    Keys(Vec<Bytes>),
    Range(KeyRange),
}

impl Cover {
    pub(super) fn of(scope: &ReadScope) -> Cover {
        match scope {
            ReadScope::Keys(keys) => {
                let mut keys = keys.clone();
                keys.sort_unstable();
                keys.dedup();
                Cover::Keys(keys)
            }
            ReadScope::Range(range, _) => Cover::Range(range.clone()),
        }
    }

    /// How many keys it names.
    pub(super) fn keys_len(&self) -> usize {
        self.keys().len()
    }

    fn keys(&self) -> &[Bytes] {
        match self {
            Cover::Keys(keys) => keys,
            Cover::Range(_) => &[],
        }
    }

    fn overlaps_range(&self, range: &KeyRange) -> bool {
        match self {
            Cover::Range(other) => other.overlaps(range),
            Cover::Keys(keys) => {
                let first = keys.partition_point(|key| *key < range.start);
                keys.get(first).is_some_and(|key| range.contains(key))
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

#[derive(Debug)]
struct Ticket {
    owner: TxnId,
    rank: Rank,
    cover: Cover,
    turn: Turn,
    /// In how many lines another owner's ticket is before it, and how many earlier tickets of others overlap it
    /// where one of the two is of a range.
    // INVARIANT: zero where the turn is held, and nowhere else.
    blocks: usize,
}

/// A ticket's place in the line of a key.
#[derive(Clone, Copy, Debug)]
struct Place {
    number: u64,
    owner: TxnId,
}

/// The tickets that name one key, oldest first. The first ones of one owner are free there.
type Line = VecDeque<Place>;

fn free_len(line: &Line) -> usize {
    let first = line.front();
    line.iter().take_while(|place| first.is_some_and(|first| first.owner == place.owner)).count()
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    tickets: BTreeMap<u64, Ticket>,
    lines: HashMap<Bytes, Line>,
    /// The tickets of ranges.
    ranges: BTreeSet<u64>,
    owners: HashMap<TxnId, BTreeSet<u64>>,
    /// The tickets whose turn has come, the longest held one first.
    held: BTreeSet<(Duration, u64)>,
    keys_len: usize,
    retried_len: usize,
    last_number: u64,
}

impl Queue {
    /// How many tickets there are.
    pub(super) fn len(&self) -> usize {
        self.tickets.len()
    }

    /// How many of them are of retried transactions.
    pub(super) fn retried_len(&self) -> usize {
        self.retried_len
    }

    /// How many keys they name together.
    pub(super) fn keys_len(&self) -> usize {
        self.keys_len
    }

    /// Whether `owner` has the turn on all of `cover`.
    pub(super) fn has_turn(&self, owner: TxnId, cover: &Cover) -> bool {
        let Some(own) = self.owners.get(&owner) else { return false };
        let held = |number: &u64| {
            self.tickets.get(number).is_some_and(|ticket| matches!(ticket.turn, Turn::Held(_)))
        };
        let ranges = || {
            let numbers = own.intersection(&self.ranges).filter(|number| held(number));
            numbers.filter_map(|number| match &self.tickets.get(number)?.cover {
                Cover::Range(range) => Some(range),
                Cover::Keys(_) => None,
            })
        };
        match cover {
            Cover::Range(range) => ranges().any(|own| own == range),
            Cover::Keys(keys) => keys.iter().all(|key| {
                let in_line = self.lines.get(key).is_some_and(|line| {
                    let free = line.iter().take_while(|place| place.owner == owner);
                    free.map(|place| place.number).any(|number| held(&number))
                });
                in_line || ranges().any(|range| range.contains(key))
            }),
        }
    }

    /// Whether one who waits for `cover` would wait, directly or through others, for `owner`: for ever. Where finding
    /// out takes too long, it is taken to be so.
    pub(super) fn wait_leads_to(&self, owner: TxnId, cover: &Cover) -> bool {
        if !self.owners.contains_key(&owner) {
            // Nobody waits for it.
            return false;
        }
        let mut seen = HashSet::new();
        let mut next = Vec::new();
        let mut steps = 0;
        self.each_before(u64::MAX, owner, cover, &mut steps, &mut |before| next.push(before));
        while let Some(waiter) = next.pop() {
            if waiter == owner || steps > INTENT_STEPS_MAX {
                return true;
            }
            if !seen.insert(waiter) {
                continue;
            }
            for number in self.owners.get(&waiter).into_iter().flatten() {
                let Some(ticket) = self.tickets.get(number) else { continue };
                if ticket.blocks > 0 {
                    let found = &mut |before| next.push(before);
                    self.each_before(*number, waiter, &ticket.cover, &mut steps, found);
                }
            }
        }
        false
    }

    /// The others that a ticket waits for: in each line the nearest one, who waits for those before it; and whoever
    /// overlaps it where one of the two is of a range. Counts into `steps` what it looks at.
    fn each_before(
        &self,
        number: u64,
        owner: TxnId,
        cover: &Cover,
        steps: &mut usize,
        found: &mut impl FnMut(TxnId),
    ) {
        for key in cover.keys() {
            *steps += 1;
            let Some(line) = self.lines.get(key) else { continue };
            let before = line.partition_point(|place| place.number < number);
            let nearest = line.range(..before).rev().find(|place| place.owner != owner);
            nearest.map(|place| place.owner).into_iter().for_each(&mut *found);
        }
        self.each_range_pair(0, number, owner, cover, |_, ticket| {
            *steps += 1;
            found(ticket.owner);
        });
    }

    /// The tickets of others between two numbers that overlap `cover`, where one of the two is of a range.
    fn each_range_pair(
        &self,
        from: u64,
        to: u64,
        owner: TxnId,
        cover: &Cover,
        mut found: impl FnMut(u64, &Ticket),
    ) {
        match cover {
            Cover::Range(range) => {
                for (number, ticket) in self.tickets.range(from..to) {
                    if ticket.owner != owner && ticket.cover.overlaps_range(range) {
                        found(*number, ticket);
                    }
                }
            }
            Cover::Keys(_) => {
                for number in self.ranges.range(from..to) {
                    let Some(ticket) = self.tickets.get(number) else { continue };
                    let Cover::Range(range) = &ticket.cover else { continue };
                    if ticket.owner != owner && cover.overlaps_range(range) {
                        found(*number, ticket);
                    }
                }
            }
        }
    }

    /// Adds a ticket at the end. Answers its number and who tells of its turn, or nothing where it has come.
    pub(super) fn push(
        &mut self,
        owner: TxnId,
        rank: Rank,
        cover: Cover,
        now: Duration,
    ) -> Option<(u64, oneshot::Receiver<()>)> {
        self.last_number += 1;
        let number = self.last_number;
        let mut blocks = 0;
        self.each_range_pair(0, number, owner, &cover, |_, _| blocks += 1);
        for key in cover.keys() {
            let line = self.lines.entry(key.clone()).or_default();
            blocks += usize::from(line.iter().any(|place| place.owner != owner));
            line.push_back(Place { number, owner });
        }
        let (turn, waiting) = if blocks == 0 {
            self.held.insert((now, number));
            (Turn::Held(now), None)
        } else {
            let (sender, receiver) = oneshot::channel();
            (Turn::Waiting(sender), Some(receiver))
        };
        if matches!(cover, Cover::Range(_)) {
            self.ranges.insert(number);
        }
        self.keys_len += cover.keys_len();
        self.retried_len += usize::from(rank == Rank::Retried);
        self.owners.entry(owner).or_default().insert(number);
        self.tickets.insert(number, Ticket { owner, rank, cover, turn, blocks });
        waiting.map(|receiver| (number, receiver))
    }

    /// Takes a ticket out, and lets those go on whose turn has come by that.
    pub(super) fn remove(&mut self, number: u64, now: Duration) {
        let Some(ticket) = self.tickets.remove(&number) else { return };
        let Ticket { owner, rank, cover, turn, .. } = ticket;
        if let Turn::Held(since) = turn {
            self.held.remove(&(since, number));
        }
        self.ranges.remove(&number);
        self.keys_len -= cover.keys_len();
        self.retried_len -= usize::from(rank == Rank::Retried);
        if let Some(own) = self.owners.get_mut(&owner) {
            own.remove(&number);
            if own.is_empty() {
                self.owners.remove(&owner);
            }
        }
        let mut freed = Vec::new();
        for key in cover.keys() {
            self.leave_line(key, number, &mut freed);
        }
        self.each_range_pair(number, u64::MAX, owner, &cover, |later, _| freed.push(later));
        for later in freed {
            self.unblock(later, now);
        }
    }

    /// Takes a ticket out of the line of a key. Adds to `freed` who has nobody before it there by that.
    fn leave_line(&mut self, key: &Bytes, number: u64, freed: &mut Vec<u64>) {
        let Some(line) = self.lines.get_mut(key) else { return };
        let Ok(at) = line.binary_search_by_key(&number, |place| place.number) else { return };
        let free_before = free_len(line);
        line.remove(at);
        let free = free_before - usize::from(at < free_before);
        let now_free = free_len(line);
        freed.extend(line.iter().take(now_free).skip(free).map(|place| place.number));
        if line.is_empty() {
            self.lines.remove(key);
        }
    }

    fn unblock(&mut self, number: u64, now: Duration) {
        let Some(ticket) = self.tickets.get_mut(&number) else { return };
        ticket.blocks = ticket.blocks.saturating_sub(1);
        if ticket.blocks > 0 {
            return;
        }
        if let Turn::Waiting(sender) = std::mem::replace(&mut ticket.turn, Turn::Held(now)) {
            self.held.insert((now, number));
            // A waiter that is gone leaves the intent to its transaction, which ends some time.
            let _ = sender.send(());
        }
    }

    /// Takes out everything of `owner`.
    pub(super) fn remove_owner(&mut self, owner: TxnId, now: Duration) {
        let own = self.owners.get(&owner).into_iter().flatten().copied();
        for number in own.collect::<Vec<u64>>() {
            self.remove(number, now);
        }
    }

    /// Takes a ticket out if its turn has not come.
    pub(super) fn give_up(&mut self, number: u64, now: Duration) {
        if self.tickets.get(&number).is_some_and(|ticket| matches!(ticket.turn, Turn::Waiting(_))) {
            self.remove(number, now);
        }
    }

    /// Takes out what has been held for longer than `hold_max`.
    pub(super) fn expire(&mut self, now: Duration, hold_max: Duration) {
        while let Some((since, number)) = self.held.first().copied() {
            if now.saturating_sub(since) <= hold_max {
                return;
            }
            self.remove(number, now);
        }
    }

    /// How far a ticket is from its turn: less whenever something before it is gone that it waits for. Where it
    /// waits in several lines, the first one counts until the ticket is free there.
    pub(super) fn distance(&self, number: u64) -> (usize, usize) {
        let Some(ticket) = self.tickets.get(&number).filter(|ticket| ticket.blocks > 0) else {
            return (0, 0);
        };
        let before = ticket.cover.keys().iter().find_map(|key| {
            let line = self.lines.get(key)?;
            let before = line.partition_point(|place| place.number < number);
            (before >= free_len(line)).then_some(before)
        });
        (ticket.blocks, before.unwrap_or(0))
    }

    /// The first of `keys` that another, retried transaction has the turn on, for no longer than `hold_max`.
    pub(super) fn blocking<'a>(
        &self,
        owner: TxnId,
        mut keys: impl Iterator<Item = &'a Bytes>,
        now: Duration,
        hold_max: Duration,
    ) -> Option<&'a Bytes> {
        let holds = |ticket: &&Ticket| match ticket.turn {
            Turn::Held(since) => {
                let counts = now.saturating_sub(since) <= hold_max;
                counts && ticket.owner != owner && ticket.rank == Rank::Retried
            }
            Turn::Waiting(_) => false,
        };
        let tickets = |number: &u64| self.tickets.get(number).filter(holds);
        // Those of different owners do not overlap, so they are few.
        let ranges = self.ranges.iter().filter_map(tickets);
        let ranges: Vec<&KeyRange> = ranges
            .filter_map(|ticket| match &ticket.cover {
                Cover::Range(range) => Some(range),
                Cover::Keys(_) => None,
            })
            .collect();
        keys.find(|key| {
            let in_line = self.lines.get(*key).is_some_and(|line| {
                let first = line.front().map(|place| place.owner);
                let free = line.iter().take_while(|place| Some(place.owner) == first);
                free.map(|place| place.number).any(|number| tickets(&number).is_some())
            });
            in_line || ranges.iter().any(|range| range.contains(key))
        })
    }
}

#[cfg(test)]
mod tests;
