//! Counts what every expression came to, and keeps some of the values: cheap enough to be always on.
//!
//! Truths, errors and allow statements are atomic counters by number. Another value is found by its hash among
//! those of its expression that are kept, without a lock; one that is not plain to hash, such as a map, is looked at
//! for the first few evaluations alone. All memory is bounded by the ruleset.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use engine_rules::{
    Counts, Coverage, EvalError, Observer, Position, Ruleset, Segment, Tries, Value,
};
use parking_lot::Mutex;
use serde_json::{Value as Json, json};

use crate::access::shown;
use crate::limits::{
    COVERAGE_BYTES_MAX, COVERAGE_VALUE_BYTES_MAX, COVERAGE_VALUES_MAX, COVERAGE_WHOLE_VALUES_MAX,
};

/// Text that costs more to hash is looked at as a map is.
const PLAIN_TEXT_MAX: usize = 512;

/// The counts of one ruleset. It takes memory once something was counted.
#[derive(Default)]
pub(crate) struct Recorder {
    cells: OnceLock<Cells>,
}

struct Cells {
    counts: Coverage,
    kept: Box<[OnceLock<Box<Kept>>]>,
    /// Bytes of values that may still be kept.
    room: AtomicUsize,
}

/// The values of one expression that are no truths.
struct Kept {
    /// Filled from the front.
    slots: [Slot; COVERAGE_VALUES_MAX],
    /// The value of every filled slot, as JSON.
    texts: Mutex<Vec<Box<str>>>,
    /// How many may still be looked at whole.
    whole: AtomicU32,
}

#[derive(Default)]
struct Slot {
    /// Zero for none.
    hash: AtomicU64,
    count: AtomicU64,
}

/// A recorder with the ruleset that it counts.
pub(crate) struct Recording<'r> {
    pub(crate) ruleset: &'r Ruleset,
    pub(crate) recorder: &'r Recorder,
}

impl Observer for Recording<'_> {
    fn evaluated(&self, id: u32, outcome: Result<&Value<'_>, &EvalError>) {
        let cells = self.recorder.cells(self.ruleset);
        cells.counts.evaluated(id, outcome);
        if matches!(outcome, Ok(Value::Bool(_))) {
            return;
        }
        let Some(kept) = cells.kept.get(id as usize) else { return };
        kept.get_or_init(Kept::new).note(outcome, self.ruleset, &cells.room);
    }

    fn tried(&self, statement: usize, granted: Option<bool>) {
        self.recorder.cells(self.ruleset).counts.tried(statement, granted);
    }
}

impl Recorder {
    fn cells(&self, ruleset: &Ruleset) -> &Cells {
        self.cells.get_or_init(|| Cells {
            counts: ruleset.coverage(),
            kept: ruleset.expressions().map(|_| OnceLock::new()).collect(),
            room: AtomicUsize::new(COVERAGE_BYTES_MAX),
        })
    }

    /// Adds what another one of the same ruleset has counted.
    pub(crate) fn absorb(&self, ruleset: &Ruleset, other: &Recorder) {
        let Some(from) = other.cells.get() else { return };
        let to = self.cells(ruleset);
        to.counts.absorb(&from.counts);
        for (to_kept, from_kept) in to.kept.iter().zip(&from.kept) {
            let Some(from_kept) = from_kept.get() else { continue };
            let to_kept = to_kept.get_or_init(Kept::new);
            let texts = from_kept.texts.lock();
            for (slot, text) in from_kept.slots.iter().zip(texts.iter()) {
                let (hash, count) = slot.read();
                to_kept.count(hash, count, &to.room, || Some(text.clone()));
            }
        }
    }

    /// How often an expression came to what.
    pub(super) fn counts(&self, id: u32) -> Counts {
        self.cells.get().map(|cells| cells.counts.counts(id)).unwrap_or_default()
    }

    /// How often an allow statement was tried.
    pub(super) fn tries(&self, statement: usize) -> Tries {
        self.cells.get().map(|cells| cells.counts.tries(statement)).unwrap_or_default()
    }

    /// The values of an expression that are no truths, as JSON, and how often it came to each. Those that are not
    /// kept are missing.
    pub(super) fn values(&self, id: u32) -> Vec<(Json, u64)> {
        let kept = self.cells.get().and_then(|cells| cells.kept.get(id as usize)?.get());
        let Some(kept) = kept else { return Vec::new() };
        let texts = kept.texts.lock();
        let kept = kept.slots.iter().zip(texts.iter());
        kept.filter_map(|(slot, text)| Some((serde_json::from_str(text).ok()?, slot.read().1)))
            .collect()
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("is_empty", &self.cells.get().is_none()).finish()
    }
}

impl Slot {
    fn read(&self) -> (u64, u64) {
        (self.hash.load(Ordering::Acquire), self.count.load(Ordering::Relaxed))
    }
}

impl Kept {
    fn new() -> Box<Kept> {
        Box::new(Kept {
            slots: Default::default(),
            texts: Mutex::default(),
            whole: AtomicU32::new(COVERAGE_WHOLE_VALUES_MAX),
        })
    }

    fn note(&self, outcome: Result<&Value<'_>, &EvalError>, ruleset: &Ruleset, room: &AtomicUsize) {
        if let Some(hash) = plain_hash(outcome) {
            return self.count(hash, 1, room, || rendered(outcome, ruleset));
        }
        let may_look = |left: u32| left.checked_sub(1);
        if self.whole.fetch_update(Ordering::Relaxed, Ordering::Relaxed, may_look).is_err() {
            return;
        }
        if let Some(text) = rendered(outcome, ruleset) {
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            self.count(some(hasher.finish()), 1, room, || Some(text));
        }
    }

    /// Counts a value; `text` makes its JSON where it is new.
    fn count(
        &self,
        hash: u64,
        times: u64,
        room: &AtomicUsize,
        text: impl FnOnce() -> Option<Box<str>>,
    ) {
        let mut has_place = false;
        for slot in &self.slots {
            match slot.hash.load(Ordering::Acquire) {
                0 => {
                    has_place = true;
                    break;
                }
                other if other == hash => {
                    slot.count.fetch_add(times, Ordering::Relaxed);
                    return;
                }
                _ => {}
            }
        }
        if !has_place || room.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut texts = self.texts.lock();
        // Somebody else may have been faster.
        let found = self.slots.iter().find(|slot| slot.hash.load(Ordering::Acquire) == hash);
        if let Some(slot) = found {
            slot.count.fetch_add(times, Ordering::Relaxed);
            return;
        }
        let Some(slot) = self.slots.get(texts.len()) else { return };
        let Some(text) = text() else { return };
        let take = |left: usize| left.checked_sub(text.len());
        if room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            room.store(0, Ordering::Relaxed);
            return;
        }
        texts.push(text);
        slot.count.store(times, Ordering::Relaxed);
        slot.hash.store(hash, Ordering::Release);
    }
}

/// The hash of a value that is plain to hash.
fn plain_hash(outcome: Result<&Value<'_>, &EvalError>) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    match outcome {
        Err(error) => (0_u8, error).hash(&mut hasher),
        Ok(Value::Null) => 1_u8.hash(&mut hasher),
        Ok(Value::Int(number)) => (2_u8, number).hash(&mut hasher),
        Ok(Value::Float(number)) => (3_u8, number.to_bits()).hash(&mut hasher),
        Ok(Value::String(text)) if text.len() <= PLAIN_TEXT_MAX => {
            (4_u8, &**text).hash(&mut hasher);
        }
        Ok(Value::Timestamp(time)) => (5_u8, time.seconds, time.nanos).hash(&mut hasher),
        Ok(Value::Duration(span)) => (6_u8, span.seconds, span.nanos).hash(&mut hasher),
        Ok(Value::Path(path)) => {
            7_u8.hash(&mut hasher);
            for segment in path.segments() {
                let (kind, text) = match segment {
                    Segment::Text(text) => (0_u8, text),
                    Segment::Capture(name) => (1, name),
                    Segment::Glob(name) => (2, name),
                };
                (kind, &**text).hash(&mut hasher);
            }
        }
        Ok(_) => return None,
    }
    Some(some(hasher.finish()))
}

/// Zero stands for an empty slot.
fn some(hash: u64) -> u64 {
    hash.max(1)
}

/// A value as JSON; none where it is too long to be kept.
fn rendered(outcome: Result<&Value<'_>, &EvalError>, ruleset: &Ruleset) -> Option<Box<str>> {
    let json = match outcome {
        Ok(value) => shown::json(value, COVERAGE_VALUE_BYTES_MAX)?,
        Err(error) if error.is_open() => json!({"undefined": {}}),
        Err(error) => {
            let mut undefined = json!({"causeMessage": error.text()});
            if let Some((start, last)) = ruleset.place_of(error) {
                undefined["sourcePosition"] = position(start, last);
            }
            json!({ "undefined": undefined })
        }
    };
    let text = json.to_string();
    (text.len() <= 2 * COVERAGE_VALUE_BYTES_MAX).then(|| text.into_boxed_str())
}

/// A part of a source as reports have it.
pub(super) fn position(start: Position, last: Position) -> Json {
    json!({
        "line": start.line,
        "column": start.column,
        "currentOffset": start.offset,
        "endOffset": last.offset,
    })
}
