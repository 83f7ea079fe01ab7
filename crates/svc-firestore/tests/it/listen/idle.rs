//! Waiting until listeners have been sent what was written.

use std::time::Duration;

use base_wire::google::firestore::v1 as wire;
use bytes::Bytes;
use svc_kit::Service;

use crate::script::Listening;
use crate::server::{DATABASE, Server};
use crate::wire::{add, commit, target, writes};

async fn write(server: &Server, text: &str) {
    let request = commit(writes(text), Bytes::new());
    let _: wire::CommitResponse = server.call("Commit", &request).await.expect("a commit");
}

/// Whether the service is idle without anybody reading on.
async fn is_idle(server: &Server) -> bool {
    tokio::time::timeout(Duration::from_millis(1), server.firestore.idle()).await.is_ok()
}

async fn drain(stream: &mut Listening) -> usize {
    let mut messages = 0;
    while stream.soon().await.is_some() {
        messages += 1;
    }
    messages
}

#[tokio::test(start_paused = true)]
async fn idle_waits_for_every_listener_and_for_nothing_else() {
    let server = Server::new(1);
    assert!(is_idle(&server).await, "nobody listens");
    let mut streams: Vec<Listening> = Vec::new();
    for query in ["c", "docs c/a", "d"] {
        let mut stream: Listening = server.open("Listen", &[]).await;
        stream.send(&add(target(1, query), DATABASE));
        drain(&mut stream).await;
        streams.push(stream);
    }
    let mut readers = streams.iter_mut();
    let mut next = || readers.next().expect("three listen");
    let (all, one, other) = (next(), next(), next());
    write(&server, "set c/a n=1").await;
    assert!(!is_idle(&server).await);
    // While one waits the others read, and the last to do so ends it.
    let reading = async {
        assert_eq!(drain(all).await, 2);
        assert_eq!(drain(other).await, 0, "it says nothing to whom nothing concerns");
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(drain(one).await, 2);
        // What comes later is not waited for.
        write(&server, "set c/a n=2").await;
    };
    tokio::join!(server.firestore.idle(), reading);
    assert!(!is_idle(&server).await);
    // Nor is who has gone.
    let waiting = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        streams.clear();
    };
    tokio::join!(server.firestore.idle(), waiting);
    assert!(is_idle(&server).await);
}
