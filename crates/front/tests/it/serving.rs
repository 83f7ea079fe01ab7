//! Listeners: where they listen, how long silence lasts, and how they end.

use std::net::SocketAddr;
use std::time::Duration;

use front::{Bound, ServeOptions};
use http::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::{PATIENCE, address, check_alive, rest, serve, serve_with};

const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_secs(60);

/// Sends bytes and waits until the server closes; returns what it said.
async fn until_closed(to: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(to).await.expect("a connection");
    stream.write_all(bytes).await.expect("a server that reads");
    let mut back = Vec::new();
    let _ = timeout(PATIENCE, stream.read_to_end(&mut back)).await.expect("the server closes");
    String::from_utf8_lossy(&back).into_owned()
}

#[tokio::test]
async fn both_loopback_families_answer() {
    let serving = serve();
    assert!(!serving.addrs().is_empty());
    for to in serving.addrs() {
        check_alive(*to).await;
    }
}

#[tokio::test]
async fn clients_may_connect_before_anything_serves() {
    let bound = Bound::bind("127.0.0.1", 0).unwrap();
    let mut early = TcpStream::connect(bound.addrs()[0]).await.unwrap();
    early.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    let serving = bound.serve(crate::service::router(), ServeOptions::default()).unwrap();
    let mut back = String::new();
    timeout(PATIENCE, early.read_to_string(&mut back)).await.unwrap().unwrap();
    assert!(back.starts_with("HTTP/1.1 200"), "{back}");
    serving.stop(LONG).await;
}

#[tokio::test]
async fn silent_connections_are_closed() {
    let options = ServeOptions { first_request_timeout: SHORT, ..ServeOptions::default() };
    let serving = serve_with(options);
    for bytes in [
        b"".as_slice(),
        b"GET / HT",
        b"PRI",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
    ] {
        until_closed(address(&serving), bytes).await;
    }
    check_alive(address(&serving)).await;
}

#[tokio::test]
async fn a_client_that_has_connected_may_call_later() {
    let options = ServeOptions { first_request_timeout: SHORT, ..ServeOptions::default() };
    let serving = serve_with(options);
    let mut stream = TcpStream::connect(address(&serving)).await.unwrap();
    let settings = b"\0\0\0\x04\0\0\0\0\0";
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    stream.write_all(settings).await.unwrap();
    // The server's settings are taken note of.
    stream.write_all(b"\0\0\0\x04\x01\0\0\0\0").await.unwrap();
    tokio::time::sleep(4 * SHORT).await;
    // A ping is answered: what comes last are its eight bytes.
    stream.write_all(b"\0\0\x08\x06\0\0\0\0\0abcdefgh").await.unwrap();
    let mut seen = Vec::new();
    while !seen.ends_with(b"abcdefgh") {
        let len = stream.read_buf(&mut seen).await.unwrap();
        assert!(len > 0, "the server closed the connection");
    }
}

#[tokio::test]
async fn slow_headers_are_closed() {
    let serving = serve_with(ServeOptions { header_timeout: SHORT, ..ServeOptions::default() });
    // The first request is answered; the second never becomes whole.
    let back =
        until_closed(address(&serving), b"GET / HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\nhos")
            .await;
    assert!(back.starts_with("HTTP/1.1 200"), "{back}");
    check_alive(address(&serving)).await;
}

#[tokio::test]
async fn a_slow_answer_is_no_silence() {
    let serving = serve_with(ServeOptions {
        first_request_timeout: SHORT,
        header_timeout: SHORT,
        ..ServeOptions::default()
    });
    let mut stream = TcpStream::connect(address(&serving)).await.unwrap();
    stream.write_all(b"GET /never HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut byte = [0];
    let waited = timeout(SHORT * 6, stream.read(&mut byte)).await;
    assert!(waited.is_err(), "closed while a request ran: {waited:?}");
}

#[tokio::test]
async fn connections_above_the_bound_wait() {
    let serving = serve_with(ServeOptions { connections_max: 1, ..ServeOptions::default() });
    let to = SocketAddr::from(([127, 0, 0, 1], serving.port()));
    let mut first = TcpStream::connect(to).await.unwrap();
    let get = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";
    first.write_all(get).await.unwrap();
    let mut buffer = [0; 1024];
    timeout(PATIENCE, first.read(&mut buffer)).await.unwrap().unwrap();

    let mut second = TcpStream::connect(to).await.unwrap();
    second.write_all(get).await.unwrap();
    let waited = timeout(SHORT, second.read(&mut buffer)).await;
    assert!(waited.is_err(), "served above the bound");
    drop(first);
    let read = timeout(PATIENCE, second.read(&mut buffer)).await.unwrap().unwrap();
    assert!(buffer[..read].starts_with(b"HTTP/1.1 200"));
}

#[tokio::test]
async fn stop_lets_requests_finish_and_frees_the_port() {
    let gate = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
    let entered = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
    let handler = {
        let (gate, entered) = (gate.clone(), entered.clone());
        async move || {
            entered.add_permits(1);
            let _ = gate.acquire().await;
            "done"
        }
    };
    let router = axum::Router::new().route("/", axum::routing::get(handler));
    let bound = Bound::bind("localhost", 0).unwrap();
    let port = bound.port();
    let serving = bound.serve(router, ServeOptions::default()).unwrap();
    let to = address(&serving);
    let idle = TcpStream::connect(to).await.unwrap();
    let asked = tokio::spawn(async move { rest(to, Method::GET, "/", "").await });
    let _ = timeout(PATIENCE, entered.acquire()).await.unwrap().unwrap();

    let stopping = tokio::spawn(serving.stop(LONG));
    // The port is free while the request still runs.
    let rebound = async {
        loop {
            match Bound::bind("localhost", port) {
                Ok(bound) => return bound,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    drop(timeout(PATIENCE, rebound).await.expect("the port is free"));
    assert!(!stopping.is_finished());
    gate.add_permits(1);
    assert_eq!(timeout(PATIENCE, asked).await.unwrap().unwrap().text(), "done");
    timeout(PATIENCE, stopping).await.expect("stop returns").unwrap();
    drop(idle);
}

#[tokio::test]
async fn stop_closes_what_does_not_finish() {
    let serving = serve();
    let to = address(&serving);
    let mut never = TcpStream::connect(to).await.unwrap();
    never.write_all(b"GET /never HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let hanging = tokio::spawn(async move {
        let read = ("library.v1.ReadBooksRequest", r#"{"count":1,"then":"hang"}"#);
        crate::client::grpc(to, "/library.v1.Library/ReadBooks", read, &[]).await
    });
    check_alive(to).await;
    timeout(PATIENCE, serving.stop(SHORT)).await.expect("stop returns");
    let mut back = Vec::new();
    let _ = timeout(PATIENCE, never.read_to_end(&mut back)).await.expect("closed");
    assert!(hanging.await.is_err(), "the stream cannot have ended well");
    assert!(TcpStream::connect(to).await.is_err());
}

/// Tells when it goes.
struct Told(tokio::sync::mpsc::UnboundedSender<()>);

impl Drop for Told {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

#[tokio::test]
async fn a_handler_that_runs_is_dropped_with_its_connection() {
    for (is_http2, client_goes) in [(false, false), (false, true), (true, false), (true, true)] {
        let case = format!("HTTP/2: {is_http2}, the client goes: {client_goes}");
        let entered = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
        let (dropped, mut is_dropped) = tokio::sync::mpsc::unbounded_channel();
        let handler = {
            let entered = entered.clone();
            async move || {
                let _told = Told(dropped.clone());
                entered.add_permits(1);
                std::future::pending::<&str>().await
            }
        };
        let router = axum::Router::new().route("/", axum::routing::get(handler));
        let bound = Bound::bind("localhost", 0).unwrap();
        let serving = bound.serve(router, ServeOptions::default()).unwrap();
        let mut stream = TcpStream::connect(address(&serving)).await.unwrap();
        let client = tokio::spawn(async move {
            if is_http2 {
                let stream = hyper_util::rt::TokioIo::new(stream);
                let executor = hyper_util::rt::TokioExecutor::new();
                let (mut sender, connection) =
                    hyper::client::conn::http2::handshake(executor, stream).await.unwrap();
                let request = http::Request::get("http://localhost/");
                let request = request.body(axum::body::Body::empty()).unwrap();
                let _ended = tokio::join!(connection, sender.send_request(request));
            } else {
                stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
                let _ = stream.read_to_end(&mut Vec::new()).await;
            }
        });
        let _ = timeout(PATIENCE, entered.acquire()).await.expect(&case).unwrap();
        let serving = if client_goes {
            client.abort();
            Some(serving)
        } else {
            timeout(PATIENCE, serving.stop(SHORT)).await.expect(&case);
            None
        };
        timeout(PATIENCE, is_dropped.recv()).await.expect(&case).expect(&case);
        drop(serving);
    }
}

#[tokio::test]
async fn many_starts_and_stops_leave_nothing() {
    for _ in 0..50 {
        let serving = serve();
        let to = address(&serving);
        check_alive(to).await;
        timeout(PATIENCE, serving.stop(LONG)).await.expect("stop returns");
        assert!(TcpStream::connect(to).await.is_err());
    }
}
