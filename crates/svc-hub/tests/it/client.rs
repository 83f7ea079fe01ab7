//! A hub on a port of its own, and the smallest HTTP client that can talk to it.

use std::net::SocketAddr;

use base_env::Env;
use svc_hub::{Config, Hub};
use svc_kit::{Context, Listing, Service};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A hub that lists itself and a Firestore.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) async fn start() -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let context = Context::new(Env::real(), "demo-hub");
    context.directory.publish(Listing::new("hub", vec![address]).unwrap());
    let firestore = vec!["127.0.0.1:8080".parse().unwrap(), "[::1]:8080".parse().unwrap()];
    context.directory.publish(Listing::new("firestore", firestore).unwrap());
    let hub = Hub::new(Config { version: "1.2.3" }, context);
    let router = hub.router();
    let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    Running { address, task }
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

pub(crate) async fn send(hub: &Running, request: &str, headers: &[(&str, &str)]) -> Answer {
    let mut text = format!("{request} HTTP/1.1\r\nhost: hub\r\nconnection: close\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    let mut stream = TcpStream::connect(hub.address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    Answer { status, headers, body: body.to_owned() }
}
