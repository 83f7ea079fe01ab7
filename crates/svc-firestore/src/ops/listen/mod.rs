//! Listen: live queries and documents, as the differences between what a client was shown and what is
//! true now.
//!
//! A stream follows one database through its hub (engine-watch). For each commit that changes something for its
//! targets it sends each document once with all the targets it concerns, and closes with a boundary: everything before
//! it is one consistent state.

mod filter;
mod follow;
mod permission;
mod start;
mod stream;
mod target;
mod token;

pub(crate) use filter::Bloom;
pub(crate) use stream::listen;
pub(crate) use target::{Scope, TargetRequest, TargetShape};
pub(crate) use token::Resume;

use std::sync::Arc;

use base_env::UnixMicros;
use base_status::Status;
use base_value::{DatabaseName, DocumentName, key};
use bytes::Bytes;
use engine_query::Prepared;
use engine_watch::Ping;
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
        document: Told,
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
    /// How many documents a target has, and which, for a client that may know others.
    Filter {
        id: i32,
        count: usize,
        names: Option<Bloom>,
    },
    /// Nothing for the client: whoever waits for what came before to leave hears of it when this is dropped.
    Passed(Ping),
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

/// A document that exists, as all streams share it.
pub(crate) struct Told {
    database: DatabaseName,
    document: Arc<engine_watch::Document<Bytes>>,
    /// The query that wants only some of the fields.
    projection: Option<Arc<Prepared>>,
}

impl Told {
    /// The encoded document: `encode` is asked once for all streams. `None` for what is no document.
    pub(crate) fn encoded(&self, encode: impl FnOnce(Document) -> Bytes) -> Option<Bytes> {
        let record = self.document.record.as_ref()?;
        let path = key::parse(&self.document.key)?;
        let make = || {
            let fields = match &self.projection {
                Some(query) => query.project(&record.value),
                None => record.value.clone(),
            };
            encode(Document { name: self.database.document(path), record: record.clone(), fields })
        };
        Some(self.document.made(make).clone())
    }
}
