//! Where each running service listens.

use std::net::SocketAddr;

use serde_json::{Map, Value, json};

use crate::Hub;

/// A map from the name of each running service to its addresses.
pub(crate) fn list_emulators(hub: &Hub) -> Value {
    let listings = hub.context.directory.listings().into_iter().map(|listing| {
        let listen: Vec<Value> = listing.listen.iter().map(address).collect();
        let mut info = json!({
            "listen": listen,
            "name": listing.name,
            "host": listing.host,
            "port": listing.port,
        });
        if listing.has_web_socket {
            info["webSocketHost"] = listing.host.into();
            info["webSocketPort"] = listing.port.into();
        }
        (listing.name.to_owned(), info)
    });
    Value::Object(listings.collect::<Map<_, _>>())
}

fn address(socket: &SocketAddr) -> Value {
    json!({
        "address": socket.ip().to_string(),
        "family": if socket.is_ipv4() { "IPv4" } else { "IPv6" },
        "port": socket.port(),
    })
}
