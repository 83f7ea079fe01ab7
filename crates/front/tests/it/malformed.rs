//! Input of every wrong kind, each followed by a good request to the same server.

use std::net::SocketAddr;

use bytes::Bytes;
use http::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{
    Http, PATIENCE, address, check_alive, frame, grpc_bytes, request, rest, send, serve,
};
use crate::service::MESSAGE_BYTES_MAX;

/// Sends raw bytes, closes the sending half, and returns all that comes back.
async fn raw(to: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(to).await.expect("a connection");
    // The server may have closed already.
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let mut back = Vec::new();
    let read = stream.read_to_end(&mut back);
    // A reset is an end like any other.
    let _ = tokio::time::timeout(PATIENCE, read).await.expect("the server closes");
    back
}

#[tokio::test]
async fn bytes_that_are_no_http() {
    let serving = serve();
    let to = address(&serving);
    let table: &[&[u8]] = &[
        b"",
        b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        b"GARBAGE\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nhost: x\r\n\r\n",
        b"POST /v1/echo:echo HTTP/1.1\r\ncontent-length: x\r\n\r\n",
        b"POST /v1/echo:echo HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"POST /v1/echo:echo HTTP/1.1\r\ncontent-length: 50\r\n\r\n{\"text\":",
        b"GET / HTTP/1.1\r\nhost",
        b"PRI * HT",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        // A DATA frame on a stream that is not open.
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x01\0\0\0\0\0\x01x",
    ];
    for bytes in table {
        raw(to, bytes).await;
        check_alive(to).await;
    }
    let long = [b"GET /".as_slice(), &vec![b'a'; 1_000_000], b" HTTP/1.1\r\n\r\n"].concat();
    raw(to, &long).await;
    let header = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(2_000_000));
    raw(to, header.as_bytes()).await;
    check_alive(to).await;
}

#[tokio::test]
async fn grpc_bodies_that_are_no_message() {
    let serving = serve();
    let to = address(&serving);
    let table: &[(&str, &[u8])] = &[
        ("nothing", &[]),
        ("half a prefix", &[0, 0, 0]),
        ("half a message", &[0, 0, 0, 0, 9, 10]),
        ("not protobuf", &[0, 0, 0, 0, 2, 0xff, 0xff]),
        ("a number for a string", &[0, 0, 0, 0, 2, 0x08, 0x01]),
        ("not UTF-8", &[0, 0, 0, 0, 3, 0x0a, 0x01, 0xff]),
        ("compressed without saying how", &[1, 0, 0, 0, 0]),
        ("a flag that does not exist", &[9, 0, 0, 0, 0]),
        ("a huge length", &[0, 0xff, 0xff, 0xff, 0xff, 0]),
    ];
    for (what, body) in table {
        for path in ["/library.v1.Library/GetBook", "/library.v1.Library/ReadBooks"] {
            let body = Bytes::copy_from_slice(body);
            let answer = grpc_bytes(to, path, body, &[]).await;
            assert_ne!(answer.grpc_status().0, 0, "{what}");
        }
        check_alive(to).await;
    }
}

#[tokio::test]
async fn a_message_above_the_bound() {
    let serving = serve();
    let to = address(&serving);
    let body = frame(&vec![0; MESSAGE_BYTES_MAX + 1]);
    let answer = grpc_bytes(to, "/library.v1.Library/GetBook", body, &[]).await;
    assert_eq!(answer.grpc_status().0, 11);
    check_alive(to).await;
}

#[tokio::test]
async fn json_that_nests_without_end() {
    let serving = serve();
    let to = address(&serving);
    for (open, close) in
        [("{\"child\":", "}"), ("{\"anyValue\":[", "]}"), ("{\"struct\":{\"a\":", "}}")]
    {
        let body = [open.repeat(2_000), "1".to_owned(), close.repeat(2_000)].concat();
        let answer = rest(to, Method::POST, "/v1/echo:echo", &body).await;
        assert_eq!(answer.status, 400);
        check_alive(to).await;
    }
    let answer = rest(to, Method::POST, "/v1/echo:echo", "\u{feff}{}").await;
    assert_eq!(answer.status, 400);
    check_alive(to).await;
}

#[tokio::test]
async fn paths_of_every_length_and_kind() {
    let serving = serve();
    let to = address(&serving);
    let deep = format!("/v1/shelves{}", "/a".repeat(5_000));
    for path in
        [deep.as_str(), "/v1//", "/v1/shelves//", "/v1/%", "/v1/shelves/%", "/v1/shelves/%zz"]
    {
        let answer = send(to, Http::Two, request(to, Method::GET, path, &[], "")).await;
        assert!([200, 400, 404].contains(&answer.status.as_u16()), "{path}: {answer:?}");
    }
    check_alive(to).await;
}

#[tokio::test]
async fn a_client_that_goes_away_in_the_middle() {
    let serving = serve();
    let to = address(&serving);
    for start in [
        "GET /never HTTP/1.1\r\nhost: x\r\n\r\n",
        "POST /v1/shelves/a:read HTTP/1.1\r\nhost: x\r\ncontent-length: 26\r\n\r\n{\"count\":9,\"then\":\"hang\"}\n",
    ] {
        let mut stream = TcpStream::connect(to).await.unwrap();
        stream.write_all(start.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        drop(stream);
        check_alive(to).await;
    }
}
