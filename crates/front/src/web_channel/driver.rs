//! The call of a session: runs it, turns its answers into arrays, and ends with the session.

use std::pin::pin;
use std::sync::Arc;

use axum::response::Response;
use prost_reflect::MessageDescriptor;
use tokio::sync::watch;

use super::session::Session;
use super::sessions::Place;
use crate::frames::{Frames, Next};
use crate::limits::CHANNEL_DRAIN_MAX;
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
            match frames.next().await {
                Next::Message(message) => {
                    let mut arrays = vec![self.array(&message)];
                    while let Some(message) = frames.buffered() {
                        arrays.push(self.array(&message));
                    }
                    let arrays: Result<Vec<_>, _> = arrays.into_iter().collect();
                    match arrays {
                        Ok(arrays) => self.session.update(|state| {
                            arrays.into_iter().for_each(|array| state.outbox.push(array));
                        }),
                        Err(status) => return self.end(self.failure(&status)),
                    }
                }
                Next::End(Ok(())) => return self.end(CLOSE.to_owned()),
                Next::End(Err(status)) => return self.end(self.failure(&status)),
            }
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

    fn end(&self, last: String) {
        self.session.update(|state| {
            state.outbox.push(last);
            state.ended = true;
        });
    }
}
