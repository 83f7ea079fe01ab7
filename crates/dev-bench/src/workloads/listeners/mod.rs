//! Listeners: what they cost a write, and how long after it they have it.
//!
//! One client writes one document after the other. Beside it ten processes listen (`clients.rs`), each with connections
//! of up to a hundred streams, as SDKs have them. The next write waits until every listener has the last one: a listener
//! that misses a state, or gets one twice, ends the run.

mod clients;
mod measure;
mod unread;

pub use clients::{LISTEN_FLAG, Listen};
pub use measure::{ALONE, Rows, measure_listeners};
pub use unread::measure_unread;
