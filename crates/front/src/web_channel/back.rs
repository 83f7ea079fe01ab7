//! What a client reads: all arrays that it does not have yet, as they come.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;

use super::session::{Session, State};
use crate::limits::CHANNEL_KEEPALIVE;

/// Keeps the connection alive; clients ignore it.
const NOOP: &str = r#"["noop"]"#;

/// When a response ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// When the client has enough to acknowledge.
    Full,
    /// Behind its first chunk, which is waited for no longer than this.
    Chunk(Duration),
}

/// The body of a response to a client that has everything up to the array `known`.
pub(super) fn body(session: Arc<Session>, known: u64, until: Until) -> Body {
    let number = session.attach();
    let reader = Reader { session, number, sent: known, until, chunks: 0 };
    Body::from_stream(stream::unfold(reader, async |mut reader| {
        let chunk = reader.next().await?;
        Some((Ok::<_, Infallible>(chunk), reader))
    }))
}

struct Reader {
    session: Arc<Session>,
    number: u64,
    /// The last array that was handed on.
    sent: u64,
    until: Until,
    chunks: u64,
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.session.detach(self.number);
    }
}

impl Reader {
    /// The next chunk; `None` is the end.
    async fn next(&mut self) -> Option<Bytes> {
        let session = Arc::clone(&self.session);
        let patience = match self.until {
            Until::Full => CHANNEL_KEEPALIVE,
            Until::Chunk(patience) => patience,
        };
        let chunk = session.when(|state| self.look(state));
        if let Ok(chunk) = tokio::time::timeout(patience, chunk).await {
            return chunk;
        }
        session.update(|state| state.outbox.push(NOOP.to_owned()));
        session.when(|state| self.look(state)).await
    }

    /// `None` while there is nothing to do.
    fn look(&mut self, state: &mut State) -> Option<Option<Bytes>> {
        let is_over = state.closed || state.reader != Some(self.number);
        if is_over || (self.chunks > 0 && self.until != Until::Full) {
            return Some(None);
        }
        // Clients take a stream without a beginning for one that something in between holds back.
        let opens = self.chunks == 0 && self.until == Until::Full;
        if opens && !state.ended && state.outbox.last_id() <= self.sent {
            state.outbox.push(NOOP.to_owned());
        }
        if let Some((chunk, last)) = state.outbox.behind(self.sent) {
            state.touch();
            self.sent = last;
            self.chunks += 1;
            return Some(Some(chunk));
        }
        // The client asks again, and so says what it has.
        (state.ended || state.outbox.is_full()).then_some(None)
    }
}
