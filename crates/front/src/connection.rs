//! One connection: HTTP/1.1 or HTTP/2 with prior knowledge, found out from its first bytes.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

use crate::heard::Heard;
use crate::limits;
use crate::serving::ServeOptions;
use crate::tasks::ListenerTasks;

/// What all connections of a listener share.
pub(crate) struct Connections {
    pub(crate) tasks: TaskTracker,
    router: Router,
    builder: Builder<Streams>,
    stopping: CancellationToken,
    closing: CancellationToken,
    first_request_timeout: Duration,
}

/// Runs the streams of HTTP/2 connections as tasks that `stop` waits for.
#[derive(Clone)]
struct Streams(TaskTracker);

impl<F> hyper::rt::Executor<F> for Streams
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, future: F) {
        self.0.spawn(future);
    }
}

impl Connections {
    pub(crate) fn new(
        router: Router,
        options: &ServeOptions,
        tasks: TaskTracker,
        stopping: CancellationToken,
        closing: CancellationToken,
    ) -> Self {
        let mut builder = Builder::new(Streams(tasks.clone()));
        builder.http1().timer(TokioTimer::new()).header_read_timeout(options.header_timeout);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(limits::PING_INTERVAL)
            .keep_alive_timeout(limits::PING_TIMEOUT)
            .max_concurrent_streams(limits::STREAMS_MAX)
            .max_pending_accept_reset_streams(limits::CANCELLED_STREAMS_MAX)
            .max_local_error_reset_streams(limits::CANCELLED_STREAMS_MAX)
            .max_header_list_size(limits::HEADER_BYTES_MAX)
            .initial_stream_window_size(limits::STREAM_WINDOW_BYTES)
            .initial_connection_window_size(limits::CONNECTION_WINDOW_BYTES);
        let first_request_timeout = options.first_request_timeout;
        Self { tasks, router, builder, stopping, closing, first_request_timeout }
    }
}

/// Serves one connection until it ends, is silent for too long, or the listener stops.
pub(crate) async fn run(stream: TcpStream, shared: &Connections) {
    // Answers are often small and wait for nothing: Nagle's algorithm would add 40 ms to each.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "no TCP_NODELAY");
    }
    let spoken = Arc::new(AtomicBool::new(false));
    let stream = TokioIo::new(Heard::new(stream, Arc::clone(&spoken)));
    let service = service_fn({
        let spoken = Arc::clone(&spoken);
        let router = shared.router.clone();
        let tasks = ListenerTasks::new(shared.tasks.clone());
        move |mut request: http::Request<Incoming>| {
            spoken.store(true, Ordering::Relaxed);
            request.extensions_mut().insert(tasks.clone());
            router.clone().call(request.map(Body::new))
        }
    });
    let connection = shared.builder.serve_connection_with_upgrades(stream, service);
    let mut connection = pin!(connection);
    let mut silence = pin!(tokio::time::sleep(shared.first_request_timeout));
    let mut listening = true;
    let mut stopping = false;
    loop {
        tokio::select! {
            biased;
            result = connection.as_mut() => {
                if let Err(error) = result {
                    tracing::debug!(error, "connection ended");
                }
                return;
            }
            () = shared.closing.cancelled() => return,
            () = shared.stopping.cancelled(), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            () = silence.as_mut(), if listening => {
                listening = false;
                // HTTP/2 asks a silent peer by itself whether it is still there.
                if !spoken.load(Ordering::Relaxed) {
                    tracing::debug!("a connection that sent no request is closed");
                    return;
                }
            }
        }
    }
}
