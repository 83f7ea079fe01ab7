//! Work that may take long, on threads where it holds nobody up.
//!
//! A client may go before its answer is there: its request is dropped then, and with it a [`Reader`], which ends
//! the walks over the request's snapshot.

use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use base_status::Status;
use engine_store::{Cancel, Snapshot};
use engine_txn::CommitError;
use futures_util::Stream;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};

use crate::error::Error;
use crate::limits::CHUNKS_IN_FLIGHT;

/// Who waits for what is read of a snapshot. When this is dropped, nobody does.
pub(crate) struct Reader(Cancel);

impl Reader {
    pub(crate) fn new() -> Reader {
        Reader(Cancel::default())
    }

    /// A snapshot over which walks end when this reader is gone.
    pub(crate) fn reads(&self, snapshot: Snapshot) -> Snapshot {
        snapshot.until(&self.0)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Runs work that is done whether or not anybody waits for it.
///
/// # Errors
/// The service stops before it has begun.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    spawn_blocking(work).await.map_err(|failed| {
        resume(failed);
        stopping().into()
    })
}

/// Reads a snapshot for as long as somebody waits for it.
///
/// # Errors
/// Those of `read`, and of a snapshot that the disk did not give.
pub(crate) async fn reading<T: Send + 'static>(
    snapshot: Snapshot,
    read: impl FnOnce(&Snapshot) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let reader = Reader::new();
    let snapshot = reader.reads(snapshot);
    blocking(move || {
        let done = read(&snapshot)?;
        snapshot.check().map_err(CommitError::from)?;
        Ok::<_, Error>(done)
    })
    .await?
}

/// A result that is too large to be held, in pieces as they come from a thread: a slow reader holds that back,
/// and one that goes away ends it.
pub(crate) struct Chunks<C> {
    chunks: mpsc::Receiver<Result<C, Status>>,
    /// `None` once it has ended.
    thread: Option<JoinHandle<()>>,
    _reader: Reader,
}

impl<C: Send + 'static> Chunks<C> {
    /// Reads a snapshot, and hands over what it sends.
    pub(crate) fn read(
        snapshot: Snapshot,
        read: impl FnOnce(&Snapshot, &mpsc::Sender<Result<C, Status>>) + Send + 'static,
    ) -> Chunks<C> {
        let reader = Reader::new();
        let snapshot = reader.reads(snapshot);
        let (out, chunks) = mpsc::channel(CHUNKS_IN_FLIGHT);
        let thread = Some(spawn_blocking(move || read(&snapshot, &out)));
        Chunks { chunks, thread, _reader: reader }
    }

    /// One piece that is there already.
    pub(crate) fn only(chunk: C) -> Chunks<C> {
        let (out, chunks) = mpsc::channel(1);
        out.try_send(Ok(chunk)).expect("the channel is new, and holds one chunk");
        Chunks::from(chunks)
    }
}

impl<C> From<mpsc::Receiver<Result<C, Status>>> for Chunks<C> {
    fn from(chunks: mpsc::Receiver<Result<C, Status>>) -> Chunks<C> {
        Chunks { chunks, thread: None, _reader: Reader::new() }
    }
}

impl<C> Stream for Chunks<C> {
    type Item = Result<C, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = ready!(self.chunks.poll_recv(cx));
        if next.is_none()
            && let Some(thread) = &mut self.thread
        {
            let ended = ready!(Pin::new(thread).poll(cx));
            self.thread = None;
            if let Err(failed) = ended {
                resume(failed);
                return Poll::Ready(Some(Err(stopping())));
            }
        }
        Poll::Ready(next)
    }
}

/// Goes on with the panic of a thread, if that is how it failed: the front answers it with INTERNAL and logs it, as
/// for any other request.
fn resume(failed: JoinError) {
    if let Ok(panic) = failed.try_into_panic() {
        resume_unwind(panic);
    }
}

/// The answer to whoever still waits when the service stops.
pub(crate) fn stopping() -> Status {
    Status::unavailable("the suite is stopping")
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::time::Duration;

    use base_env::{Env, UnixMicros};
    use bytes::Bytes;
    use engine_store::{KeyRange, WriteBatch};
    use engine_txn::{Database, Limits};
    use futures_util::{FutureExt, StreamExt};
    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::*;

    /// No test waits longer than this for anything.
    const PATIENCE: Duration = Duration::from_secs(60);

    fn snapshot() -> Snapshot {
        let database = Database::new(Env::simulated(1, UnixMicros(1)), Limits::default());
        let mut batch = WriteBatch::new();
        batch.put(Bytes::from_static(b"key"), Bytes::from_static(b"value"));
        database.commit(None, |_, _| Ok::<_, CommitError>((batch.clone(), ()))).unwrap();
        database.snapshot()
    }

    /// Says that it has begun, and walks until walks end.
    fn walk(snapshot: &Snapshot, begun: oneshot::Sender<()>) {
        begun.send(()).expect("the test waits");
        while snapshot.heads(&KeyRange::all()).next().is_some() {}
    }

    #[tokio::test]
    async fn a_read_ends_when_its_request_is_dropped() {
        let (begun, beginning) = oneshot::channel();
        let (ended, end) = oneshot::channel();
        let request = tokio::spawn(reading(snapshot(), |snapshot| {
            walk(snapshot, begun);
            ended.send(snapshot.check()).expect("the test waits");
            Ok(())
        }));
        beginning.await.expect("it begins");
        request.abort();
        let checked = timeout(PATIENCE, end).await.expect("it ends").expect("it is told");
        assert_eq!(checked, Err(engine_store::StoreError::Cancelled));
    }

    #[tokio::test]
    async fn a_result_in_chunks_ends_when_its_reader_goes() {
        let (begun, beginning) = oneshot::channel();
        let (ended, end) = oneshot::channel();
        let chunks = Chunks::<()>::read(snapshot(), |snapshot, _| {
            walk(snapshot, begun);
            ended.send(()).expect("the test waits");
        });
        beginning.await.expect("it begins");
        drop(chunks);
        timeout(PATIENCE, end).await.expect("it ends").expect("it is told");
    }

    #[tokio::test]
    async fn a_panic_of_the_thread_is_one_of_the_request() {
        let mut chunks = Chunks::read(snapshot(), |_, out| {
            out.try_send(Ok(1)).expect("there is room");
            panic!("on purpose");
        });
        assert_eq!(chunks.next().await, Some(Ok(1)));
        let panic = AssertUnwindSafe(chunks.next()).catch_unwind().await.unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"on purpose"));
        let one = AssertUnwindSafe(reading::<()>(snapshot(), |_| panic!("on purpose")));
        assert_eq!(one.catch_unwind().await.unwrap_err().downcast_ref(), Some(&"on purpose"));
    }

    #[tokio::test]
    async fn what_is_read_is_answered() {
        let read = |snapshot: &Snapshot| Ok(snapshot.heads(&KeyRange::all()).count());
        assert_eq!(reading(snapshot(), read).await.ok(), Some(1));
        let all: Vec<_> = Chunks::only(7).collect().await;
        assert_eq!(all, [Ok(7)]);
    }
}
