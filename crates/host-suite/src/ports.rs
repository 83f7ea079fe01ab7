//! Binding the port of a service: a fixed one, the next free one, or any.

use front::{BindError, Bound};

use crate::error::StartError;
use crate::notice::Notice;
use crate::plan::{PlannedService, PortWish};

/// Hosting never takes the port of functions.
const FUNCTIONS_PORT: u16 = 5001;

/// Ports from 1024 on that browsers refuse to connect to (the "bad ports" of the Fetch standard).
const BLOCKED_BY_BROWSERS: [u16; 20] = [
    1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
    6679, 6697, 10080, 65535,
];

/// Binds what is planned for a service. `taken` are the ports of this suite's other services.
pub(crate) fn bind(
    planned: &PlannedService,
    taken: &[u16],
) -> Result<(Bound, Option<Notice>), StartError> {
    match planned.port {
        PortWish::Any => any(planned),
        PortWish::Fixed(port) => fixed(planned, port),
        PortWish::Search(port) => search(planned, port, taken),
    }
}

fn any(planned: &PlannedService) -> Result<(Bound, Option<Notice>), StartError> {
    Bound::bind(&planned.host, 0)
        .map(|bound| (bound, None))
        .map_err(|error| refused(planned, 0, error))
}

fn fixed(planned: &PlannedService, port: u16) -> Result<(Bound, Option<Notice>), StartError> {
    let blocked = || {
        let text = format!("browsers refuse to connect to port {port}, better choose another one");
        Notice::warning(planned.row.name, text)
    };
    let notice = BLOCKED_BY_BROWSERS.contains(&port).then(blocked);
    match Bound::bind(&planned.host, port) {
        Ok(bound) => Ok((bound, notice)),
        // `localhost` is two addresses, and only the second one is somebody else's.
        Err(BindError::InUse(address)) if planned.host == "localhost" && address.is_ipv6() => {
            let primary = Bound::bind("127.0.0.1", port);
            let bound = primary.map_err(|error| refused(planned, port, error))?;
            let text = format!(
                "Port {port} is available on 127.0.0.1 but not on ::1, listening on 127.0.0.1 only"
            );
            Ok((bound, Some(Notice::warning(planned.row.name, text))))
        }
        Err(error) => Err(refused(planned, port, error)),
    }
}

fn search(
    planned: &PlannedService,
    wanted: u16,
    taken: &[u16],
) -> Result<(Bound, Option<Notice>), StartError> {
    for port in wanted..=u16::MAX {
        let skipped = taken.contains(&port)
            || BLOCKED_BY_BROWSERS.contains(&port)
            || (planned.row.name == "hosting" && port == FUNCTIONS_PORT);
        if skipped {
            continue;
        }
        match Bound::bind(&planned.host, port) {
            Ok(bound) => {
                let moved = || {
                    let description = planned.row.description;
                    let text = format!(
                        "{description} unable to start on port {wanted}, starting on {port} instead."
                    );
                    Notice::warning(planned.row.name, text)
                };
                return Ok((bound, (port != wanted).then(moved)));
            }
            Err(error) if is_taken(&error) => {}
            Err(error) => return Err(refused(planned, port, error)),
        }
    }
    Err(in_use(planned, wanted))
}

/// Whether another port may do: this one is somebody else's, or reserved by the system.
fn is_taken(error: &BindError) -> bool {
    match error {
        BindError::InUse(_) => true,
        BindError::Refused { source, .. } => source.kind() == std::io::ErrorKind::PermissionDenied,
        BindError::Host { .. } | BindError::NoPort(_) => false,
    }
}

fn in_use(planned: &PlannedService, port: u16) -> StartError {
    StartError::PortInUse {
        service: planned.row.name,
        description: planned.row.description,
        host: planned.host.clone(),
        port,
    }
}

fn refused(planned: &PlannedService, port: u16, error: BindError) -> StartError {
    match error {
        BindError::InUse(_) => in_use(planned, port),
        other @ (BindError::Host { .. } | BindError::Refused { .. } | BindError::NoPort(_)) => {
            StartError::Listen { description: planned.row.description, reason: other.to_string() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::find;

    fn planned(service: &str, host: &str, port: PortWish) -> PlannedService {
        PlannedService { row: find(service).unwrap(), host: host.to_owned(), port }
    }

    /// Some port in use, with the next one free: found, not assumed.
    fn busy() -> Bound {
        for _ in 0..100 {
            let bound = Bound::bind("127.0.0.1", 0).unwrap();
            let next = bound.port().checked_add(1);
            if next.is_some_and(|next| Bound::bind("127.0.0.1", next).is_ok()) {
                return bound;
            }
        }
        panic!("no two free ports beside each other");
    }

    #[test]
    fn a_fixed_port_is_taken_or_refused() {
        let busy = busy();
        let port = busy.port();
        let error =
            bind(&planned("firestore", "127.0.0.1", PortWish::Fixed(port)), &[]).unwrap_err();
        assert_eq!(error.code(), "FIRELET_PORT_IN_USE");
        let expected = format!(
            "Port {port} is not open on 127.0.0.1, could not start Firestore Emulator. Another \
             program has this port: stop it, or choose another port (0 takes a free one)"
        );
        assert_eq!(error.to_string(), expected);
        drop(busy);
        let (bound, notice) =
            bind(&planned("firestore", "127.0.0.1", PortWish::Fixed(port)), &[]).unwrap();
        assert_eq!((bound.port(), notice), (port, None));
    }

    #[test]
    fn a_search_goes_on_to_the_next_port_and_says_so() {
        let busy = busy();
        let port = busy.port();
        let wish = planned("hub", "127.0.0.1", PortWish::Search(port));
        let (bound, notice) = bind(&wish, &[]).unwrap();
        assert!(bound.port() > port);
        let expected = format!(
            "emulator hub unable to start on port {port}, starting on {} instead.",
            bound.port()
        );
        assert_eq!(notice.unwrap().text, expected);
        drop(bound);
        let (bound, _) = bind(&wish, &[port + 1]).unwrap();
        assert!(bound.port() > port + 1);
    }

    #[test]
    fn a_host_that_is_not_ours_is_an_error_that_says_so() {
        for wish in [PortWish::Any, PortWish::Search(4400), PortWish::Fixed(8080)] {
            let error = bind(&planned("firestore", "192.0.2.1", wish), &[]).unwrap_err();
            assert_eq!(error.code(), "FIRELET_LISTEN_FAILED");
            let text = error.to_string();
            assert!(text.starts_with("could not start Firestore Emulator: "), "{text}");
            assert!(text.contains("192.0.2.1"), "{text}");
        }
    }
}
