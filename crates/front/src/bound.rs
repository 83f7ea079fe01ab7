//! Listening sockets: bound first, served later, so that clients can connect while data is still being opened.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs};

use axum::Router;

use crate::limits;
use crate::serving::{ServeOptions, Serving};

/// Why no socket could be bound.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another process listens there.
    #[error("port {} is in use on {}: stop what listens there or choose another port", .0.port(), .0.ip())]
    InUse(SocketAddr),
    /// The host is not a name or an address of this machine.
    #[error("`{host}` is not an address of this machine: {source}")]
    Host {
        /// The host as given.
        host: String,
        /// What the system says.
        source: io::Error,
    },
    /// The system refuses for another reason.
    #[error("cannot listen on {address}: {source}")]
    Refused {
        /// The address tried.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// No port was free on every address at once.
    #[error("no port is free on all of {0}")]
    NoPort(String),
}

/// Sockets that listen but do not answer yet. Dropping it closes them.
#[derive(Debug)]
pub struct Bound {
    listeners: Vec<TcpListener>,
    // INVARIANT: one address per listener, the same port in all of them.
    addrs: Vec<SocketAddr>,
}

impl Bound {
    /// Binds `host`. `localhost` means 127.0.0.1 and, where the machine has it, ::1, on the same port, because
    /// clients disagree about which of them `localhost` is. Port 0 picks a free port.
    ///
    /// # Errors
    ///
    /// When one of the addresses cannot be bound; then none is.
    pub fn bind(host: &str, port: u16) -> Result<Self, BindError> {
        let ips = addresses(host)?;
        if port != 0 {
            return bind_all(&ips, port);
        }
        for _ in 0..limits::PORT_TRIES {
            match bind_all(&ips, 0) {
                Err(BindError::InUse(_)) => {}
                other => return other,
            }
        }
        Err(BindError::NoPort(host.to_owned()))
    }

    /// The port all sockets share.
    pub fn port(&self) -> u16 {
        self.addrs.first().map_or(0, SocketAddr::port)
    }

    /// Every bound address.
    pub fn addrs(&self) -> &[SocketAddr] {
        &self.addrs
    }

    /// Starts answering with `router`. Must be called inside a tokio runtime.
    ///
    /// # Errors
    ///
    /// When the runtime refuses a socket.
    pub fn serve(self, router: Router, options: ServeOptions) -> io::Result<Serving> {
        let mut listeners = Vec::with_capacity(self.listeners.len());
        for listener in self.listeners {
            listener.set_nonblocking(true)?;
            listeners.push(tokio::net::TcpListener::from_std(listener)?);
        }
        Ok(Serving::start(listeners, self.addrs, router, options))
    }
}

fn addresses(host: &str) -> Result<Vec<IpAddr>, BindError> {
    let name = host.trim_start_matches('[').trim_end_matches(']');
    if name.eq_ignore_ascii_case("localhost") {
        return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
    }
    if let Ok(ip) = name.parse() {
        return Ok(vec![ip]);
    }
    let mut ips: Vec<IpAddr> = (name, 0)
        .to_socket_addrs()
        .map_err(|source| BindError::Host { host: host.to_owned(), source })?
        .map(|address| address.ip())
        .collect();
    ips.sort();
    ips.dedup();
    Ok(ips)
}

/// Binds all addresses to one port; an address that the machine does not have is left out, as long as one remains.
fn bind_all(ips: &[IpAddr], port: u16) -> Result<Bound, BindError> {
    let mut bound = Bound { listeners: Vec::new(), addrs: Vec::new() };
    let mut missing = None;
    for ip in ips {
        // Port 0 is settled by the first socket.
        let port = if bound.addrs.is_empty() { port } else { bound.port() };
        let address = SocketAddr::new(*ip, port);
        let failed = |source| BindError::Refused { address, source };
        match TcpListener::bind(address) {
            Ok(listener) => {
                bound.addrs.push(listener.local_addr().map_err(failed)?);
                bound.listeners.push(listener);
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                return Err(BindError::InUse(address));
            }
            Err(error) if is_missing(&error) => missing = Some(failed(error)),
            Err(error) => return Err(failed(error)),
        }
    }
    match missing {
        Some(error) if bound.listeners.is_empty() => Err(error),
        _ => Ok(bound),
    }
}

/// Machines and containers without IPv6 answer in several ways.
fn is_missing(error: &io::Error) -> bool {
    // EAFNOSUPPORT has no kind of its own: 97 on Linux, 47 on macOS, 10047 on Windows.
    error.kind() == io::ErrorKind::AddrNotAvailable
        || matches!(error.raw_os_error(), Some(97 | 47 | 10_047))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn localhost_is_every_loopback_on_one_port() {
        let bound = Bound::bind("localhost", 0).unwrap();
        assert_ne!(bound.port(), 0);
        assert!(bound.addrs().iter().all(|address| address.port() == bound.port()));
        assert!(bound.addrs().iter().all(|address| address.ip().is_loopback()));
        assert_eq!(bound.addrs()[0].ip(), Ipv4Addr::LOCALHOST);
    }

    #[test]
    fn a_taken_port_is_named() {
        let first = Bound::bind("127.0.0.1", 0).unwrap();
        for host in ["127.0.0.1", "localhost"] {
            let error = Bound::bind(host, first.port()).unwrap_err();
            let text = error.to_string();
            assert!(matches!(error, BindError::InUse(_)), "{host}: {text}");
            assert!(text.contains(&first.port().to_string()), "{text}");
        }
    }

    #[test]
    fn a_dropped_socket_frees_its_port() {
        let port = Bound::bind("127.0.0.1", 0).unwrap().port();
        assert_eq!(Bound::bind("127.0.0.1", port).unwrap().port(), port);
    }

    #[test]
    fn foreign_addresses_are_refused() {
        // 192.0.2.0/24 is reserved for documentation.
        let error = Bound::bind("192.0.2.1", 0).unwrap_err();
        assert!(matches!(error, BindError::Refused { .. }), "{error}");
    }
}
