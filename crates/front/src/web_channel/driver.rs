//! The call of a session: runs it, turns its answers into arrays, and ends with the session.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use axum::response::Response;
use prost_reflect::MessageDescriptor;
use tokio::sync::watch;
use tokio::task::yield_now;

use super::session::Session;
use super::sessions::Place;
use crate::frames::{Frames, Next};
use crate::limits::{CHANNEL_BUFFER_BYTES_MAX, CHANNEL_DRAIN_MAX};
use crate::transcode::{Style, error, to_json};

/// Tells the client that nothing more comes, and that this is well.
const CLOSE: &str = r#"["close"]"#;

/// A session's call, before it runs.
pub(super) struct Driver {
    pub(super) session: Arc<Session>,
    pub(super) place: Place,
    pub(super) output: MessageDescriptor,
    pub(super) stopping: watch::Receiver<bool>,
}

impl Driver {
    /// Runs the call that `answer` begins, until it ends, then waits until the session does.
    pub(super) async fn run(self, answer: impl Future<Output = Response>) {
        let mut stopping = self.stopping.clone();
        let session = &self.session;
        let mut over = pin!(session.over());
        let frames = tokio::select! {
            biased;
            answer = answer => Some(Frames::new(answer)),
            () = over.as_mut() => None,
        };
        if let Some(mut frames) = frames {
            let has_ended = tokio::select! {
                biased;
                () = self.answer(&mut frames) => true,
                () = over.as_mut() => false,
            };
            if has_ended {
                tokio::select! {
                    () = over => {}
                    () = crate::stopped(&mut stopping) => {}
                }
            } else {
                // What was taken from the client is done, though it does not hear of it.
                let rest = async { while let Next::Message(_) = frames.next().await {} };
                let _done = tokio::time::timeout(CHANNEL_DRAIN_MAX, rest).await.is_ok();
            }
        }
        self.place.remove(session);
    }

    /// Hands the answers to the session as long as it has room.
    async fn answer(&self, frames: &mut Frames) {
        let mut stopping = self.stopping.clone();
        loop {
            tokio::select! {
                biased;
                () = self.session.when(|state| (!state.outbox.is_full()).then_some(())) => {}
                // The call has its end to tell.
                () = crate::stopped(&mut stopping) => {}
            }
            let mut arrays = Vec::new();
            let ended = self.gather(frames, &mut arrays).await;
            let has_ended = ended.is_some();
            self.session.update(|state| {
                arrays.into_iter().chain(ended).for_each(|array| state.outbox.push(array));
                state.ended = has_ended;
            });
            if has_ended {
                return;
            }
        }
    }

    /// Waits for an answer, and takes what is ready with it: a long poll ends behind one chunk, so that what would come
    /// in another costs a round trip. Answers the last array when nothing follows.
    async fn gather(&self, frames: &mut Frames, arrays: &mut Vec<String>) -> Option<String> {
        let mut bytes = 0;
        let mut next = frames.next().await;
        loop {
            match next {
                Next::Message(message) => match self.array(&message) {
                    Ok(array) => {
                        bytes += array.len();
                        arrays.push(array);
                    }
                    Err(status) => return Some(self.failure(&status)),
                },
                Next::End(Ok(())) => return Some(CLOSE.to_owned()),
                Next::End(Err(status)) => return Some(self.failure(&status)),
            }
            if bytes >= CHANNEL_BUFFER_BYTES_MAX {
                return None;
            }
            next = soon(frames.next()).await?;
        }
    }

    fn array(&self, message: &[u8]) -> Result<String, tonic::Status> {
        let json = to_json(&self.output, message, Style::Compact)?;
        let json = String::from_utf8(json).map_err(|_| tonic::Status::internal("not a text"))?;
        Ok(format!("[{json}]"))
    }

    fn failure(&self, status: &tonic::Status) -> String {
        format!("[{}]", error(status, &self.output).1)
    }
}

/// What is ready, or is when everybody else has had a turn.
async fn soon<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    for turn in 0..2 {
        if turn > 0 {
            yield_now().await;
        }
        let polled = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
        if let Poll::Ready(ready) = polled {
            return Some(ready);
        }
    }
    None
}
