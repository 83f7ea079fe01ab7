//! Random changes of the queue, each compared with what the plain definition of a turn says.

use base_env::{Env, UnixMicros};

use super::*;

const HOLD_MAX: Duration = Duration::from_secs(2);

/// A ticket as the definition sees it.
struct Plain {
    number: u64,
    owner: TxnId,
    rank: Rank,
    keys: Vec<Bytes>,
    range: Option<KeyRange>,
    held_since: Option<Duration>,
}

impl Plain {
    fn contains(&self, key: &Bytes) -> bool {
        self.keys.contains(key) || self.range.as_ref().is_some_and(|range| range.contains(key))
    }

    fn overlaps(&self, other: &Plain) -> bool {
        match (&self.range, &other.range) {
            (Some(one), Some(two)) => one.overlaps(two),
            (Some(_), None) => other.keys.iter().any(|key| self.contains(key)),
            (None, _) => self.keys.iter().any(|key| other.contains(key)),
        }
    }
}

/// Tickets in the order of their numbers.
#[derive(Default)]
struct Model(Vec<Plain>);

impl Model {
    fn blockers<'a>(&'a self, ticket: &'a Plain) -> impl Iterator<Item = &'a Plain> {
        let earlier = self.0.iter().filter(move |earlier| earlier.number < ticket.number);
        earlier.filter(move |earlier| earlier.owner != ticket.owner && earlier.overlaps(ticket))
    }

    fn grant(&mut self, now: Duration) {
        for at in 0..self.0.len() {
            if self.0[at].held_since.is_none() && self.blockers(&self.0[at]).next().is_none() {
                self.0[at].held_since = Some(now);
            }
        }
    }

    fn waits_for(&self, ticket: &Plain, owner: TxnId) -> bool {
        let mut seen = HashSet::new();
        let mut next: Vec<TxnId> = self.blockers(ticket).map(|ticket| ticket.owner).collect();
        while let Some(waiter) = next.pop() {
            if waiter == owner {
                return true;
            }
            if seen.insert(waiter) {
                let own = self.0.iter().filter(|ticket| ticket.owner == waiter);
                next.extend(
                    own.flat_map(|ticket| self.blockers(ticket)).map(|ticket| ticket.owner),
                );
            }
        }
        false
    }

    fn blocks(&self, owner: TxnId, key: &Bytes) -> bool {
        self.0.iter().any(|ticket| {
            let other = ticket.owner != owner && ticket.rank == Rank::Retried;
            other && ticket.held_since.is_some() && ticket.contains(key)
        })
    }
}

struct Choices(Env);

impl Choices {
    fn below(&mut self, bound: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.random(&mut bytes);
        u64::from_le_bytes(bytes) % bound
    }
}

fn key(number: u64) -> Bytes {
    Bytes::from(format!("k{number}"))
}

fn ticket(choices: &mut Choices) -> Plain {
    let is_range = choices.below(4) == 0;
    let keys = (0..8).filter(|_| !is_range && choices.below(3) == 0).map(key);
    let keys = keys.collect();
    let start = choices.below(8);
    let range = is_range.then(|| KeyRange::new(key(start), key(start + choices.below(4))));
    let rank = [Rank::Fresh, Rank::Retried][usize::from(choices.below(2) == 0)];
    let owner = TxnId::new(choices.below(6));
    Plain { number: u64::MAX, owner, rank, keys, range, held_since: None }
}

fn cover(ticket: &Plain) -> Cover {
    match &ticket.range {
        Some(range) => Cover::Range(range.clone()),
        None => Cover::Keys(ticket.keys.clone()),
    }
}

/// Everything that can be asked of the queue.
fn compare(queue: &Queue, model: &Model, now: Duration) {
    let held: Vec<(u64, bool)> = queue
        .tickets
        .iter()
        .map(|(number, ticket)| (*number, matches!(ticket.turn, Turn::Held(_))))
        .collect();
    let expected: Vec<(u64, bool)> =
        model.0.iter().map(|ticket| (ticket.number, ticket.held_since.is_some())).collect();
    assert_eq!(held, expected, "whose turn it is");
    for owner in (0..6).map(TxnId::new) {
        for key in (0..8).map(key) {
            let blocking = queue.blocking(owner, [&key].into_iter(), now, HOLD_MAX).is_some();
            assert_eq!(blocking, model.blocks(owner, &key), "{owner:?} on {key:?}");
        }
    }
    for ticket in &model.0 {
        let before = queue.distance(ticket.number);
        assert_eq!(before == (0, 0), ticket.held_since.is_some(), "{}", ticket.number);
    }
    assert_eq!(queue.keys_len(), model.0.iter().map(|ticket| ticket.keys.len()).sum::<usize>());
    assert_eq!(queue.lines.values().map(VecDeque::len).sum::<usize>(), queue.keys_len());
    let retried = model.0.iter().filter(|ticket| ticket.rank == Rank::Retried).count();
    assert_eq!(queue.retried_len(), retried);
}

#[test]
fn turns_come_as_the_definition_says() {
    let mut turns = 0;
    for seed in 0..200 {
        println!("seed {seed}");
        let mut choices = Choices(Env::simulated(seed, UnixMicros(0)));
        let (mut queue, mut model) = (Queue::default(), Model::default());
        let mut now = Duration::from_secs(1);
        for _ in 0..60 {
            now += Duration::from_millis(choices.below(200));
            queue.expire(now, HOLD_MAX);
            model.0.retain(|held| held.held_since.is_none_or(|since| now - since <= HOLD_MAX));
            model.grant(now);
            match choices.below(8) {
                0..5 => {
                    let mut new = ticket(&mut choices);
                    let leads = queue.wait_leads_to(new.owner, &cover(&new));
                    assert_eq!(leads, model.waits_for(&new, new.owner), "circles");
                    let waiting = queue.push(new.owner, new.rank, cover(&new), now);
                    turns += usize::from(waiting.is_some());
                    // Whether anybody listens makes no difference to the queue.
                    new.number = queue.last_number;
                    model.0.push(new);
                }
                5..7 => {
                    let owner = TxnId::new(choices.below(6));
                    queue.remove_owner(owner, now);
                    model.0.retain(|ticket| ticket.owner != owner);
                }
                _ => {
                    let number = choices.below(queue.last_number + 1);
                    queue.give_up(number, now);
                    model.0.retain(|it| it.number != number || it.held_since.is_some());
                }
            }
            model.grant(now);
            compare(&queue, &model, now);
        }
    }
    assert!(turns > 1_000, "{turns} tickets had to wait");
}

/// What one change costs does not grow with what it does not concern, and a line is as long as it may be.
#[test]
fn a_wait_that_takes_too_long_to_follow_is_not_begun() {
    let mut queue = Queue::default();
    let now = Duration::ZERO;
    let all: Vec<Bytes> = (0..500).map(|number| Bytes::from(format!("k{number:03}"))).collect();
    for owner in 0..20 {
        queue.push(TxnId::new(owner), Rank::Fresh, Cover::Keys(all.clone()), now);
    }
    let newcomer = Cover::Keys(all.clone());
    assert!(
        !queue.wait_leads_to(TxnId::new(99), &newcomer),
        "nobody waits for one who holds nothing"
    );
    queue.push(TxnId::new(99), Rank::Fresh, Cover::Keys(vec![key(9_999)]), now);
    assert!(queue.wait_leads_to(TxnId::new(99), &newcomer), "it is taken to be so");
}
