//! Bounds of the store, each with its reason.

use std::time::Duration;

/// What has at least this many parts is freed on a thread of its own.
///
/// Freeing costs 50 to 200 ns a part, so anything smaller ends well within a millisecond where it is, about
/// as long as starting a thread takes.
pub(crate) const RETIRE_INLINE_LEN_MAX: usize = 2_000;

/// How many times the room of its records a base may take, with what is derived from them and half-empty pages.
pub(crate) const BASE_GROWTH: u64 = 3;

/// Bytes of records that a clear or a restore in memory lists as changes. They are read for it while
/// writers wait.
pub(crate) const LISTED_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Memory for pages of the base. A page that is not in it is in the system's cache, 1.5 us away. The
/// allocator keeps what a fold has used of it beside what readers use, so each byte counts twice in the 150 MiB
/// that a large store may take.
pub(crate) const CACHE_BYTES: usize = 24 * 1024 * 1024;

/// Memory for records of a base's file that were read last, and about how many there are then: enough for what a test
/// or a set of rules reads all the time, little beside [`CACHE_BYTES`].
pub(crate) const RECENT_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// See [`RECENT_BYTES_MAX`].
pub(crate) const RECENT_LEN: usize = 4_096;

/// Unfolded bytes that start a fold. Twice that is what memory holds of records at most, and what it holds
/// the allocator keeps: this is what fits below 150 MiB beside the cache.
pub(crate) const FOLD_BYTES: usize = 20 * 1024 * 1024;

/// The longest value that the base keeps beside its key and times. Longer ones are apart, so that walking keys does
/// not read them; at this length a page still holds two rows.
pub(crate) const INLINE_BYTES_MAX: usize = 2 * 1024;

/// How many times as long as what is in it the file of a base may be, beside the slack of
/// [`FILE_SLACK_FOLDS`]. Merging all of it takes twice as much, and redb grows files in steps; what is beyond is held by
/// states that somebody still looks at, and the newest one moves to a file of its own.
pub(crate) const FILE_GROWTH_MAX: u64 = 4;

/// How many times `fold_bytes` a file may be long, however little is in it.
pub(crate) const FILE_SLACK_FOLDS: usize = 4;

/// How many runs a base has at most. Each costs a point read about 1.5 us, and fewer would have
/// to be merged more often.
pub(crate) const RUNS_MAX: usize = 4;

/// Memory in which a fold sorts derived entries; what does not fit goes through a temporary file.
pub(crate) const DERIVED_SORT_BYTES: usize = 8 * 1024 * 1024;

/// Room of one file of the journal. Its place on the disk is reserved at once, which makes syncing cheap.
pub(crate) const SEGMENT_BYTES: u64 = 64 * 1024 * 1024;

/// The next file is made when this part of one is used: early enough for the disk to reserve its room meanwhile, which
/// a commit would wait for, and late enough for a store that is little written to do without.
pub(crate) const SPARE_PARTS: u64 = 4;

/// Writers wait while more than this many times `fold_bytes` is unfolded and a fold is under way.
pub(crate) const PRESSURE_FOLDS: usize = 2;

/// How often a kept store is written to the disk: what a power cut takes at most, with write-behind.
pub(crate) const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// A kept store that was not written to for this many sync intervals is idle.
pub(crate) const IDLE_INTERVALS: u32 = 3;

/// Unfolded bytes below which an idle store is left as it is: they are read again in no time.
pub(crate) const IDLE_FOLD_BYTES: usize = 1024 * 1024;

/// Bytes of the journal that start a fold, however few keys they are about: they are read again at the next
/// opening, at some hundred megabytes a second, as a store does not fold to close.
pub(crate) const JOURNAL_TAIL_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Bytes of the journal that writers add while a fold is under way, or fails, however few keys they are about. They
/// wait then, or are refused: the journal would fill the disk, and memory at the next opening.
pub(crate) const JOURNAL_PRESSURE_BYTES: u64 = 2 * JOURNAL_TAIL_BYTES_MAX;

/// Length of a journal record from which on its small parts are copied out of it for the table: one that stays would
/// keep all of it in memory. Below that the copies would cost each commit more than they save.
pub(crate) const COPIED_RECORD_BYTES_MIN: usize = 1024 * 1024;

/// A part of such a record that is smaller than this part of it is copied: the others keep at most so many times
/// their own length.
pub(crate) const COPIED_PARTS: usize = 16;

/// How many rows a fold writes between two looks at whether the store is closing.
pub(crate) const FOLD_LOOK_ROWS: u32 = 256;

/// Journal files above which an opened store folds: each is read at the next opening.
pub(crate) const SEGMENTS_MAX: usize = 4;

/// Bytes of writes to a base's file that memory holds when the disk is full. A fold gives up after the row that met the
/// full disk, and redb's commit writes half of its cache at once; this is for both, and long values.
pub(crate) const HELD_WRITE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How long after a failed fold the next one is tried: a full disk is not full for ever, and does not
/// get room by being asked again and again.
pub(crate) const FOLD_RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// How often a folder in use is tried, and how long each wait is: long enough for a process to start,
/// short enough for a person to wait.
pub(crate) const LOCK_TRIES_MAX: u32 = 25;
/// See [`LOCK_TRIES_MAX`].
pub(crate) const LOCK_TRY_INTERVAL: Duration = Duration::from_millis(10);

/// Entries passed over at once before it is asked whether anybody still waits: some tens of microseconds.
pub(crate) const PASSED_AT_ONCE: u64 = 1_024;
