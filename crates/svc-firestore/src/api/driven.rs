//! A response stream that carries the operation producing it.
//!
//! The operation runs inside the connection's own task: nothing is spawned, a slow reader holds it back
//! through the bounded channel, and when the client goes away it is dropped with the stream.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use base_status::Status;
use futures_util::Stream;
use tokio::sync::mpsc;

use crate::limits::RESPONSES_IN_FLIGHT;

type Operation = Pin<Box<dyn Future<Output = Result<(), Status>> + Send>>;

/// What an operation sends, then how it ended.
pub(crate) struct Driven<T> {
    /// `None` once it has ended.
    operation: Option<Operation>,
    /// How it ended, until that is told.
    failure: Option<Status>,
    events: mpsc::Receiver<T>,
}

/// The stream of what `start`'s operation sends.
pub(crate) fn driven<T, F>(start: impl FnOnce(mpsc::Sender<T>) -> F) -> Driven<T>
where
    F: Future<Output = Result<(), Status>> + Send + 'static,
{
    let (out, events) = mpsc::channel(RESPONSES_IN_FLIGHT);
    Driven { operation: Some(Box::pin(start(out))), failure: None, events }
}

impl<T> Stream for Driven<T> {
    type Item = Result<T, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if let Some(operation) = &mut this.operation
            && let Poll::Ready(ended) = operation.as_mut().poll(cx)
        {
            this.operation = None;
            this.failure = ended.err();
        }
        match this.events.poll_recv(cx) {
            Poll::Ready(Some(event)) => Poll::Ready(Some(Ok(event))),
            // The operation holds the only sender, so a closed channel means that it has ended.
            Poll::Ready(None) => Poll::Ready(this.failure.take().map(Err)),
            Poll::Pending => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::*;

    #[tokio::test]
    async fn everything_sent_arrives_before_the_end() {
        let stream = driven(|out: mpsc::Sender<usize>| async move {
            for number in 0..1_000 {
                out.send(number).await.map_err(|_| Status::internal("the reader is gone"))?;
            }
            Err(Status::unavailable("enough"))
        });
        let all: Vec<_> = stream.collect().await;
        assert_eq!(all.len(), 1_001);
        assert!(all.iter().take(1_000).enumerate().all(|(n, sent)| *sent == Ok(n)));
        assert_eq!(all.last(), Some(&Err(Status::unavailable("enough"))));
    }
}
