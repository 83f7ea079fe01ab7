//! Over real sockets and on several threads: what one thread without a network cannot show.

use std::future::Future;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use base_env::Env;
use base_wire::google::firestore::v1 as wire;
use bytes::Bytes;
use front::{Bound, ServeOptions, Serving};
use hyper_util::rt::{TokioExecutor, TokioIo};
use svc_kit::Service;
use tokio::net::TcpStream;

use crate::fields;
use crate::script::Listening;
use crate::server::{Client, DATABASE, Next, Server};
use crate::watcher::{Told, View, Watcher};
use crate::wire::{add, commit, micros, name, set, target};

/// No test waits longer than this for anything.
const PATIENCE: Duration = Duration::from_secs(20);

/// A service that listens, and a client with one connection.
struct Network {
    server: Server,
    serving: Serving,
    client: Client,
    connection: tokio::task::JoinHandle<hyper::Result<()>>,
}

impl Network {
    async fn new() -> Network {
        let server = Server::with(Env::real());
        let bound = Bound::bind("127.0.0.1", 0).expect("a free port");
        let router = server.firestore.router();
        let serving = bound.serve(router, ServeOptions::default()).expect("a runtime");
        let address = (Ipv4Addr::LOCALHOST, serving.port());
        let stream = TcpStream::connect(address).await.expect("a connection");
        let (sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
                .await
                .expect("HTTP/2");
        let connection = tokio::spawn(connection);
        let client = Client::new(move |request| {
            let mut sender = sender.clone();
            Box::pin(async move {
                let response = sender.send_request(request).await.expect("an answer");
                response.map(Body::new)
            })
        });
        Network { server, serving, client, connection }
    }

    /// Stops as a suite does: the service first, then its connections.
    async fn stop(self) {
        self.server.stop();
        patiently(self.serving.stop(PATIENCE)).await;
        self.connection.abort();
    }
}

async fn patiently<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("it happens in time")
}

async fn put(client: &Client, path: &str, field: &str) -> base_env::UnixMicros {
    let request = commit(vec![set(path, fields::parse([field]))], Bytes::new());
    let committed: wire::CommitResponse =
        patiently(client.call("Commit", &request)).await.expect("a commit");
    micros(committed.commit_time)
}

/// A stream with its client's view of it.
struct Listener {
    stream: Listening,
    watcher: Watcher,
}

impl Listener {
    async fn new(client: &Client, queries: &[&str]) -> Listener {
        let stream = client.open("Listen", &[]).await;
        let mut listener = Listener { stream, watcher: Watcher::default() };
        for (id, query) in (1..).zip(queries) {
            let target = target(id, query);
            listener.watcher.ask(&target, View::new());
            listener.stream.send(&add(target, DATABASE));
        }
        listener
    }

    async fn next(&mut self) -> Told {
        match patiently(self.stream.next()).await {
            Next::Message(message) => self.watcher.take(message),
            Next::End(end) => panic!("the stream ended: {end:?}"),
        }
    }

    /// Reads up to a boundary that is not before `time`, with all targets there.
    async fn until(&mut self, time: base_env::UnixMicros) {
        loop {
            if let Told::Boundary(told) = self.next().await
                && told >= time
                && self.watcher.is_settled()
            {
                return;
            }
        }
    }

    /// The encoded fields of every document of a target.
    fn view(&self, id: i32) -> Vec<(String, Bytes)> {
        let target = self.watcher.targets.get(&id).expect("an active target");
        target.view.iter().map(|(path, seen)| (path.clone(), seen.fields.clone())).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_ends_streams_and_lets_connections_go() {
    let network = Network::new().await;
    let mut listener = Listener::new(&network.client, &["c"]).await;
    let time = put(&network.client, "c/a", "n=1").await;
    listener.until(time).await;
    let mut writing: crate::server::Call<wire::WriteRequest, wire::WriteResponse> =
        network.client.open("Write", &[]).await;
    let database = DATABASE.to_owned();
    writing.send(&wire::WriteRequest { database, ..wire::WriteRequest::default() });
    assert!(matches!(patiently(writing.next()).await, Next::Message(_)));
    network.server.stop();
    for end in [
        matches!(patiently(listener.stream.next()).await, Next::End(Err(failure)) if failure.code == 14),
        matches!(patiently(writing.next()).await, Next::End(Err(failure)) if failure.code == 14),
    ] {
        assert!(end, "UNAVAILABLE");
    }
    network.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_holds_up_nobody_and_misses_nothing() {
    const LEN: usize = 40;
    let network = Network::new().await;
    let value = |round: usize| format!("p={round}{}", "x".repeat(500_000));
    for number in 0..LEN {
        put(&network.client, &format!("c/{number:02}"), &value(0)).await;
    }
    // Far more than the connection lets through without being read.
    let mut stuck = Listener::new(&network.client, &["c"]).await;
    assert_eq!(stuck.next().await, Told::Added(1));
    let mut other = Listener::new(&network.client, &["c where n > 0"]).await;
    let mut last = put(&network.client, "c/n", "n=1").await;
    other.until(last).await;
    // Enough that the log forgets what the first stream has not been told.
    for round in 1..3 {
        for number in 0..LEN {
            last = put(&network.client, &format!("c/{number:02}"), &value(round)).await;
        }
    }
    last = last.max(put(&network.client, "c/n", "n=2").await);
    other.until(last).await;
    stuck.until(last).await;
    let view = stuck.view(1);
    assert_eq!(view.len(), LEN + 1);
    for (path, fields) in view.iter().take(LEN) {
        assert_eq!(fields, &fields::parse([&*value(2)]), "{path}");
    }
    network.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn listeners_on_other_threads_miss_nothing() {
    const WRITERS: usize = 4;
    const WRITES: usize = 500;
    const QUERIES: [&str; 5] = [
        "c",
        "c order -n limit 3",
        "c where n > 250",
        "docs c/0 c/1 c/2 c/3",
        "c order n offset 2",
    ];
    let server = Arc::new(Server::with(Env::real()));
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let server = Arc::clone(&server);
            tokio::spawn(async move {
                for number in 0..WRITES {
                    let n = (number * 7 + writer) % WRITES;
                    put(&server, &format!("c/{writer}"), &format!("n={n}")).await;
                }
            })
        })
        .collect();
    // They come while there is much going on, each with more targets than the one before, and read on
    // until they are told the end.
    let (finish, finished) = tokio::sync::watch::channel(base_env::UnixMicros(i64::MAX));
    let mut listeners = Vec::new();
    for len in 1..=QUERIES.len() {
        let (server, finished) = (Arc::clone(&server), finished.clone());
        let queries = QUERIES.get(..len).expect("some of them");
        listeners.push(tokio::spawn(async move {
            let mut listener = Listener::new(&server, queries).await;
            loop {
                if let Told::Boundary(time) = listener.next().await
                    && time >= *finished.borrow()
                {
                    return listener.view(1);
                }
            }
        }));
    }
    for writer in writers {
        writer.await.expect("no panic");
    }
    let last = put(&server, "c/last", "n=1").await;
    finish.send_replace(last);
    // Who was told of that one before hears of this one.
    put(&server, "c/last", "n=2").await;
    let mut newest = Vec::new();
    for writer in 0..WRITERS {
        let path = format!("c/{writer}");
        let get = wire::GetDocumentRequest { name: name(&path), ..Default::default() };
        let document: base_wire::WireDocument = server.call("GetDocument", &get).await.expect("it");
        newest.push((path, document.fields));
    }
    for listener in listeners {
        let view = listener.await.expect("no panic");
        assert_eq!(view.get(..WRITERS), Some(&newest[..]));
        assert_eq!(view.len(), WRITERS + 1);
    }
}
