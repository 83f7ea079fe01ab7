//! The directory: which service of this suite listens where. The suite writes it once ports are
//! bound; the hub, the environment variables and services that call each other read it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use parking_lot::RwLock;

/// One service and the addresses it answers on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The service's name, such as `firestore`.
    pub name: &'static str,
    /// The host clients connect to: never a wildcard and never in brackets.
    pub host: String,
    /// The port of every address in `listen`.
    pub port: u16,
    /// The sockets that are bound, the primary one first.
    pub listen: Vec<SocketAddr>,
    /// Whether it also answers WebSockets there, by which the Emulator UI follows it.
    pub has_web_socket: bool,
}

impl Listing {
    /// A listing for bound sockets; `None` if there are none.
    ///
    /// The host is the first socket's address, with a wildcard replaced by the loopback address of
    /// the same family, because nobody can connect to a wildcard.
    #[must_use]
    pub fn new(name: &'static str, listen: Vec<SocketAddr>) -> Option<Self> {
        let first = *listen.first()?;
        let host = connectable(first).ip().to_string();
        Some(Self { name, host, port: first.port(), listen, has_web_socket: false })
    }

    /// `host:port` as URLs and environment variables write it, an IPv6 host in brackets.
    #[must_use]
    pub fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// `http://host:port`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.authority())
    }

    /// One URL for each bound socket, as the hub's locator lists them, none of them a wildcard.
    #[must_use]
    pub fn origins(&self) -> Vec<String> {
        self.listen.iter().map(|socket| format!("http://{}", connectable(*socket))).collect()
    }
}

/// The address by which a client on this machine reaches a bound socket.
fn connectable(socket: SocketAddr) -> SocketAddr {
    let ip = match socket.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, socket.port())
}

/// The listings of one suite, in the order in which they were added. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    listings: Arc<RwLock<Vec<Listing>>>,
}

impl Directory {
    /// Adds a listing, or replaces the one of the same name.
    pub fn publish(&self, listing: Listing) {
        let mut listings = self.listings.write();
        match listings.iter_mut().find(|known| known.name == listing.name) {
            Some(known) => *known = listing,
            None => listings.push(listing),
        }
    }

    /// Takes a service out, when it no longer listens.
    pub fn withdraw(&self, name: &str) {
        self.listings.write().retain(|listing| listing.name != name);
    }

    /// Where the named service listens, if it runs.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Listing> {
        self.listings.read().iter().find(|listing| listing.name == name).cloned()
    }

    /// All listings, in the order in which they were added.
    #[must_use]
    pub fn listings(&self) -> Vec<Listing> {
        self.listings.read().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(name: &'static str, listen: &[&str]) -> Listing {
        Listing::new(name, listen.iter().map(|address| address.parse().unwrap()).collect()).unwrap()
    }

    #[test]
    fn a_listing_is_connectable() {
        fn check(listen: &[&str], host: &str, authority: &str, origins: &[&str]) {
            let listing = listing("hub", listen);
            assert_eq!(listing.host, host, "{listen:?}");
            assert_eq!(listing.authority(), authority, "{listen:?}");
            assert_eq!(listing.url(), format!("http://{authority}"), "{listen:?}");
            assert_eq!(listing.origins(), origins, "{listen:?}");
        }
        check(
            &["127.0.0.1:4400", "[::1]:4400"],
            "127.0.0.1",
            "127.0.0.1:4400",
            &["http://127.0.0.1:4400", "http://[::1]:4400"],
        );
        check(&["[::1]:8080"], "::1", "[::1]:8080", &["http://[::1]:8080"]);
        check(&["0.0.0.0:8080"], "127.0.0.1", "127.0.0.1:8080", &["http://127.0.0.1:8080"]);
        check(&["[::]:8080"], "::1", "[::1]:8080", &["http://[::1]:8080"]);
        assert_eq!(Listing::new("hub", Vec::new()), None);
    }

    #[test]
    fn the_directory_keeps_one_listing_per_name_in_order() {
        let directory = Directory::default();
        let reader = directory.clone();
        directory.publish(listing("hub", &["127.0.0.1:1"]));
        directory.publish(listing("firestore", &["127.0.0.1:2"]));
        directory.publish(listing("hub", &["127.0.0.1:3"]));
        let seen: Vec<_> = reader.listings().iter().map(|known| (known.name, known.port)).collect();
        assert_eq!(seen, [("hub", 3), ("firestore", 2)]);
        assert_eq!(reader.find("firestore").unwrap().port, 2);
        directory.withdraw("firestore");
        assert_eq!(reader.find("firestore"), None);
    }
}
