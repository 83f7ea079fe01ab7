//! The feed of decisions over a WebSocket: what the Emulator UI shows as requests.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::response::{IntoResponse, Response};
use base_status::Status;

use crate::feed::{Reader, Told};
use crate::state::State;

/// What a client says is not read, and need not be long.
const MESSAGE_BYTES_MAX: usize = 4 * 1024;

/// Tells what was decided last, and then every decision.
pub(super) async fn serve(
    Shared(state): Shared<Arc<State>>,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return rejection.into_response(),
    };
    let Some((history, reader)) = state.feed.follow() else {
        let text = "too many connections follow what is decided: close some of them";
        return front::status_to_http(&Status::resource_exhausted(text));
    };
    let history = format!("[{}]", history.join(","));
    upgrade.max_message_size(MESSAGE_BYTES_MAX).max_frame_size(MESSAGE_BYTES_MAX).on_upgrade(
        move |socket| async move {
            let mut stopping = state.stopping();
            tokio::select! {
                () = tell(socket, history, reader) => {}
                _ = stopping.wait_for(|stopping| *stopping) => {}
            }
        },
    )
}

/// Ends when the client goes away.
async fn tell(mut socket: WebSocket, history: String, mut reader: Reader) {
    if socket.send(Message::text(history)).await.is_err() {
        return;
    }
    loop {
        let told = tokio::select! {
            told = reader.next() => told,
            heard = socket.recv() => match heard {
                Some(Ok(_)) => continue,
                Some(Err(_)) | None => return,
            },
        };
        let text = match told {
            Told::Frame(frame) => Utf8Bytes::from(&*frame),
            // Clients know frames by their members, and pass over one that has none of those.
            Told::Lost(frames) => Utf8Bytes::from(format!("{{\"lagged\":{frames}}}")),
        };
        if socket.send(Message::Text(text)).await.is_err() {
            return;
        }
    }
}
