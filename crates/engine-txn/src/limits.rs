//! Bounds of transactions and of the commit log, each with its reason.

use std::time::Duration;

/// How often a plan runs outside the commit mutex before it runs inside it, where nothing can come
/// between. Three tries cost microseconds; a plan that lost three times meets real contention.
pub(crate) const OPTIMISTIC_TRIES_MAX: u32 = 3;

/// How much of the suite's time passes between two looks at which transactions have expired: a commit, or
/// the beginning of a transaction, looks. They are also looked at when used, so this only bounds how long a
/// forgotten one keeps its snapshot, which costs more the more is committed.
pub(crate) const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// Keys that all intents name together. Above the bound transactions go on without one. What an intent costs
/// is that of its own keys, so this bounds memory: about 16 MiB.
pub(crate) const INTENT_KEYS_IN_ALL_MAX: usize = 65_536;

/// Places in the queue that are looked at to find out whether a wait would never end: about a millisecond.
pub(crate) const INTENT_STEPS_MAX: usize = 4_096;

/// The bounds of one [`crate::Database`]. The default ones are right for a suite; tests shrink them.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Commits kept in the log. Enough that a listener or a transaction of a busy test never falls
    /// behind, at a few hundred bytes each.
    pub log_commits_max: usize,
    /// Bytes of changes kept in the log, so that large documents do not pile up: two values for each
    /// change, of which the newer is usually stored anyway.
    pub log_bytes_max: usize,
    /// Deleted keys that a clear lists as changes. Listing costs about 0.1 us a key, and a clear must
    /// end within a millisecond however much there is; above this bound followers lag instead.
    pub clear_changes_max: usize,
    /// Open transactions. Each keeps a snapshot, which costs memory as the store moves on.
    pub transactions_max: usize,
    /// Finished transactions that are remembered by how they ended; older ones count as expired.
    pub finished_max: usize,
    /// Keys and ranges one transaction may read: ten times what a 10 MiB commit could write.
    pub reads_max: usize,
    /// A transaction unused for this long has expired (documented by Firestore).
    pub idle_max: Duration,
    /// A transaction older than this has expired (documented by Firestore).
    pub lifetime_max: Duration,
    /// Queued intents. One on a range is compared with each of them; above the bound transactions go on
    /// without an intent.
    pub intents_max: usize,
    /// Keys of one read that its transaction queues for. The queue is locked while they are looked up, some
    /// 0.2 us each, and commits wait for that; with more keys it goes on without an intent.
    pub intent_keys_max: usize,
    /// How long a fresh transaction waits for a queue that does not move. A client that thinks for
    /// longer between read and commit is passed, and whoever commits first wins.
    pub intent_stall_max: Duration,
    /// The same for a transaction that was aborted before and would rather wait than lose again.
    pub intent_retried_stall_max: Duration,
    /// The longest wait in a queue that moves: far below any client's patience.
    pub intent_wait_max: Duration,
    /// How long an intent counts after it was granted: a client that died must not hold up the
    /// living until its transaction expires.
    pub intent_hold_max: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            log_commits_max: 16_384,
            log_bytes_max: 16 * 1024 * 1024,
            clear_changes_max: 4_096,
            transactions_max: 10_000,
            finished_max: 10_000,
            reads_max: 100_000,
            idle_max: Duration::from_secs(60),
            lifetime_max: Duration::from_secs(270),
            intents_max: 1_024,
            intent_keys_max: 500,
            intent_stall_max: Duration::from_millis(150),
            intent_retried_stall_max: Duration::from_millis(500),
            intent_wait_max: Duration::from_secs(2),
            intent_hold_max: Duration::from_secs(2),
        }
    }
}
