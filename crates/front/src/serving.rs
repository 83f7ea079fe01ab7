//! A running listener: it accepts, owns the tasks of its connections, and ends them at stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::connection::{self, Connections};
use crate::limits;

/// The bounds of a listener; the defaults are those of [`limits`].
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Connections at once; more wait until one ends.
    pub connections_max: usize,
    /// How long a new connection may take to send its first request.
    pub first_request_timeout: Duration,
    /// How long an HTTP/1.1 connection may take to send the next request's headers.
    pub header_timeout: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            connections_max: limits::CONNECTIONS_MAX,
            first_request_timeout: limits::FIRST_REQUEST_TIMEOUT,
            header_timeout: limits::HEADER_TIMEOUT,
        }
    }
}

/// A listener that answers. Dropping it closes everything at once; [`Serving::stop`] also waits.
#[derive(Debug)]
pub struct Serving {
    addrs: Vec<SocketAddr>,
    tasks: TaskTracker,
    /// Ends the accept loops and asks connections to finish what they have.
    stopping: CancellationToken,
    /// Ends connections at once.
    closing: CancellationToken,
}

impl Serving {
    pub(crate) fn start(
        listeners: Vec<TcpListener>,
        addrs: Vec<SocketAddr>,
        router: Router,
        options: ServeOptions,
    ) -> Self {
        let serving = Self {
            addrs,
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
            closing: CancellationToken::new(),
        };
        let connections = Arc::new(Connections::new(
            router,
            &options,
            serving.tasks.clone(),
            serving.stopping.clone(),
            serving.closing.clone(),
        ));
        let room = Arc::new(Semaphore::new(options.connections_max));
        for listener in listeners {
            let accepting = accept(listener, Arc::clone(&room), Arc::clone(&connections));
            let stopping = serving.stopping.clone();
            serving.tasks.spawn(async move {
                // Dropping the loop drops the listener, so the port is free as soon as stop begins.
                stopping.run_until_cancelled_owned(accepting).await;
            });
        }
        serving
    }

    /// The port all sockets share.
    pub fn port(&self) -> u16 {
        self.addrs.first().map_or(0, SocketAddr::port)
    }

    /// Every address that answers.
    pub fn addrs(&self) -> &[SocketAddr] {
        &self.addrs
    }

    /// Closes the listeners, lets requests that run finish within `grace`, then closes what is left, and returns when
    /// no task remains (or, for a handler that does not let go, after two seconds more).
    pub async fn stop(self, grace: Duration) {
        self.stopping.cancel();
        self.tasks.close();
        if tokio::time::timeout(grace, self.tasks.wait()).await.is_ok() {
            return;
        }
        self.closing.cancel();
        if tokio::time::timeout(limits::CLOSE_WAIT, self.tasks.wait()).await.is_err() {
            tracing::error!(
                tasks = self.tasks.len(),
                "requests still run after their connections were closed"
            );
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stopping.cancel();
        self.closing.cancel();
    }
}

async fn accept(listener: TcpListener, room: Arc<Semaphore>, connections: Arc<Connections>) {
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "accept failed");
                tokio::time::sleep(limits::ACCEPT_PAUSE).await;
                continue;
            }
        };
        tracing::trace!(%peer, "connected");
        // After accept and not before: a listener that waits for clients must not hold room that another could use.
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else {
            return;
        };
        let shared = Arc::clone(&connections);
        connections.tasks.spawn(async move {
            connection::run(stream, &shared).await;
            drop(permit);
        });
    }
}

/// Waits until a service says that it stops.
pub async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // An error means that the service is gone, which is as good as stopped.
    let _stopped = stopping.wait_for(|stopping| *stopping).await.map(drop);
}
