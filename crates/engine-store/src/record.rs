//! What a key holds, and what a commit did to it.

use base_env::UnixMicros;
use bytes::Bytes;

/// The number of a state of one store. Every commit that changes something is one higher than the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(u64);

impl Version {
    /// The version of a new, empty store.
    pub const ZERO: Version = Version(0);

    /// The version with this number.
    pub const fn new(number: u64) -> Version {
        Version(number)
    }

    /// The number itself.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The version after this one.
    #[must_use]
    pub const fn next(self) -> Version {
        Version(self.0.saturating_add(1))
    }
}

/// The value of one key, with the times of the commits that made it. Cloning copies no bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Time of the first commit after which the key was there again.
    pub created: UnixMicros,
    /// Time of the last commit that changed the value. No two changes of a key share it.
    pub updated: UnixMicros,
    /// The value.
    pub value: Bytes,
}

/// What is known of the record of a key without reading its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// See [`Record::created`].
    pub created: UnixMicros,
    /// See [`Record::updated`].
    pub updated: UnixMicros,
    /// How long the value is.
    pub value_len: usize,
}

impl Record {
    /// Whether the other one was created with it and has its value, the very same bytes in memory. Reads none of them.
    pub(crate) fn shares_value(&self, other: &Record) -> bool {
        let place = |record: &Record| (record.value.as_ptr(), record.value.len());
        self.created == other.created && place(self) == place(other)
    }

    /// All but the value.
    pub fn head(&self) -> Head {
        Head { created: self.created, updated: self.updated, value_len: self.value.len() }
    }
}

/// What a commit did to one key. `before` and `after` always differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The key.
    pub key: Bytes,
    /// The record before the commit.
    pub before: Option<Record>,
    /// The record after the commit; `None` when the key was deleted.
    pub after: Option<Record>,
}

impl Change {
    /// By how much the number of keys changes.
    pub(crate) fn len_change(&self) -> isize {
        isize::from(self.after.is_some()) - isize::from(self.before.is_some())
    }

    /// The bytes this change keeps alive, for bounds on how many are kept.
    pub fn size(&self) -> usize {
        let len = |record: &Option<Record>| record.as_ref().map_or(0, |record| record.value.len());
        size_of::<Change>() + self.key.len() + len(&self.before) + len(&self.after)
    }
}

/// One commit and its changes, in key order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The version the commit led to. A commit that changed nothing leads to no new version and shows
    /// the one it met.
    pub version: Version,
    /// The commit's time: later than that of every earlier commit, also when nothing was changed.
    pub time: UnixMicros,
    /// The keys that changed, in order, each once.
    pub changes: Vec<Change>,
}
