//! Listen: live queries and documents, as the differences between what a client was shown and what is
//! true now.
//!
//! A stream follows one database. For each commit it works out, per target, which documents came,
//! changed or went, sends each document once with all the targets it concerns, and closes with a
//! boundary: everything before it is one consistent state.

mod follow;
mod permission;
mod stream;
mod target;
mod token;
mod window;

pub(crate) use stream::listen;
pub(crate) use target::{Scope, TargetRequest};
pub(crate) use token::Resume;

use base_env::UnixMicros;
use base_status::Status;
use base_value::DocumentName;
use bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;

use super::get_document::Document;

/// What a client asks of a listen stream.
pub(crate) enum Request {
    /// Start listening.
    Add(TargetRequest),
    /// A target that cannot be listened to, with the reason. The stream goes on.
    Refuse { id: i32, cause: Status },
    /// Stop listening.
    Remove(i32),
}

/// What a listen stream tells its client.
pub(crate) enum Event {
    Target(TargetEvent),
    /// A document that is in `targets` now, and has left `removed`.
    Changed {
        document: Document,
        targets: Vec<i32>,
        removed: Vec<i32>,
        room: Room,
    },
    /// A document that no longer exists, or never did.
    Deleted {
        name: DocumentName,
        removed: Vec<i32>,
        read_time: UnixMicros,
    },
}

/// What a document takes up of a stream's bound until it is dropped.
pub(crate) type Room = OwnedSemaphorePermit;

/// News of targets rather than of documents.
pub(crate) enum TargetEvent {
    Added(i32),
    Removed {
        id: i32,
        cause: Option<Status>,
    },
    /// Forget the target's documents: all that match follow.
    Reset(i32),
    /// The target has been sent everything up to `read_time`.
    Current {
        id: i32,
        token: Bytes,
        read_time: UnixMicros,
    },
    /// Every target is consistent at `read_time`.
    Boundary {
        token: Bytes,
        read_time: UnixMicros,
    },
}
