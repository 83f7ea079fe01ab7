//! The bounds of a suite, each with its reason.

use std::ops::RangeInclusive;
use std::time::Duration;

use base_env::UnixMicros;

/// How far the suite's clock may be moved: protocols say times up to the year 9999, and a suite goes on for a
/// while after it was moved. This is the beginning of that year.
pub(crate) const CLOCK_MAX: UnixMicros = UnixMicros(253_370_764_800_000_000);

/// What the page cache of a database may be set to, in MiB: one page or so, and more than a test machine has.
pub(crate) const CACHE_MIB: RangeInclusive<u32> = 1..=65_536;

/// Names of snapshots in one suite: each keeps what it shows, in memory or on the disk.
pub(crate) const SNAPSHOTS_NAMED_MAX: usize = 100;

/// The name of a snapshot, in bytes: escaped, three times as long, it is the name of a folder.
pub(crate) const SNAPSHOT_NAME_LEN_MAX: usize = 64;

/// Files in a folder of kept data: 256 databases and 100 snapshots of them have fewer; a folder with more is not ours.
pub(crate) const DATA_FILES_MAX: usize = 1_000_000;

/// How long a stopping service waits for requests in flight before their connections are cut.
///
/// Requests take microseconds; what is still open then is a stream whose client does not read.
pub(crate) const STOP_GRACE: Duration = Duration::from_millis(500);

/// Repeats of a signal within this time are one: a terminal and a parent such as npm both deliver
/// one Ctrl-C.
pub(crate) const SIGNAL_REPEAT: Duration = Duration::from_millis(100);

/// How many firebase.json files a search upwards looks at before it gives up.
///
/// Deeper folders exist on no real machine; the bound ends a walk through a cyclic mount.
pub(crate) const ANCESTORS_MAX: usize = 256;

/// How long `emulators:exec` waits for what a script that was told to end has left running.
///
/// As long as container runtimes give a process by default before they kill it.
pub(crate) const DRAIN_MAX: Duration = Duration::from_secs(10);

/// How often it looks whether something is left: nobody is told when a process group is empty.
pub(crate) const DRAIN_POLL: Duration = Duration::from_millis(10);

/// How often a suite that imports says how far it is: a person sees that it goes on, and a log stays short.
pub(crate) const PROGRESS_INTERVAL: Duration = Duration::from_secs(2);
