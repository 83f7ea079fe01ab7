//! The bounds of a suite, each with its reason.

use std::time::Duration;

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
