//! Where services listen: whose word counts, and that no two of them are to have one port.

use std::net::IpAddr;

use super::{PlannedService, PortWish};
use crate::config::{Address, Emulators};
use crate::error::StartError;
use crate::notice::Notice;
use crate::options::{Caller, StartOptions};
use crate::services::{DefaultPort, ServiceRow};

/// Where a service listens: its own option, then the general one, then the file, then the default.
pub(super) fn address(
    row: &'static ServiceRow,
    options: &StartOptions,
    emulators: &Emulators,
) -> PlannedService {
    let option = options.services.get(row.name).cloned().unwrap_or_default();
    let file = match options.caller {
        Caller::CommandLine => emulators.addresses.get(row.name).cloned().unwrap_or_default(),
        Caller::Program => Address::default(),
    };
    let host = option
        .host
        .or_else(|| options.host.clone())
        .or(file.host)
        .filter(|host| host != "localhost")
        .unwrap_or_else(|| options.machine.default_host().to_owned());
    let port = match (option.port.or(file.port), options.caller, row.port) {
        (Some(0), _, _) | (None, Caller::Program, _) => PortWish::Any,
        (Some(port), _, _) | (None, Caller::CommandLine, DefaultPort::Fixed(port)) => {
            PortWish::Fixed(port)
        }
        (None, Caller::CommandLine, DefaultPort::Search(port)) => PortWish::Search(port),
    };
    PlannedService { row, host, port }
}

/// Sees to it that no two services are to have the same port.
pub(super) fn one_port_each(services: &mut [PlannedService]) -> Result<(), StartError> {
    let fixed: Vec<(&'static ServiceRow, String, u16)> = services
        .iter()
        .filter_map(|planned| match planned.port {
            PortWish::Fixed(port) => Some((planned.row, planned.host.clone(), port)),
            PortWish::Search(_) | PortWish::Any => None,
        })
        .collect();
    for (index, (row, host, port)) in fixed.iter().enumerate() {
        let first = fixed
            .iter()
            .take(index)
            .find(|(_, other, taken)| taken == port && hosts_overlap(other, host));
        if let Some((other, ..)) = first {
            return Err(StartError::PortTwice {
                service: row.name,
                description: row.description,
                other: other.description,
                host: host.clone(),
                port: *port,
            });
        }
    }
    // One that may have any port above makes room for one that may not.
    for planned in services {
        while let PortWish::Search(port) = planned.port
            && fixed.iter().any(|(_, _, taken)| *taken == port)
        {
            planned.port = port.checked_add(1).map_or(PortWish::Any, PortWish::Search);
        }
    }
    Ok(())
}

/// Whether one port of both hosts may be the same socket.
fn hosts_overlap(left: &str, right: &str) -> bool {
    let everything = |host: &str| matches!(host, "0.0.0.0" | "::" | "[::]");
    let local = |host: &str| matches!(host, "localhost" | "127.0.0.1" | "::1" | "[::1]");
    let in_localhost = |one: &str, other: &str| one == "localhost" && local(other);
    left == right
        || everything(left)
        || everything(right)
        || in_localhost(left, right)
        || in_localhost(right, left)
}

/// What is said about a service that other machines can reach.
pub(super) fn open_to_others(planned: &PlannedService) -> Option<Notice> {
    let host = planned.host.trim_matches(['[', ']']);
    let is_local = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let text = format!("listening on {host} lets other machines in, and there is no password");
    (!is_local).then(|| Notice::warning("emulators", text))
}
