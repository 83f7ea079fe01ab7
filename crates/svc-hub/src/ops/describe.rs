//! What the hub says about itself.

use serde_json::{Value, json};

use crate::Hub;

/// Version, process and addresses of the hub.
pub(crate) fn describe(hub: &Hub) -> Value {
    let listing = hub.context.directory.find("hub");
    let (origins, host, port) =
        listing.map(|listing| (listing.origins(), listing.host, listing.port)).unwrap_or_default();
    json!({
        "version": hub.config.version,
        "origins": origins,
        "pid": std::process::id(),
        "host": host,
        "port": port,
    })
}
