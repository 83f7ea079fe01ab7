//! The one table of services. Configuration, command line, hub, environment variables and the order
//! of starting and stopping all read it.

use std::sync::Arc;

use base_status::Status;
use svc_kit::{Context, Listing, Service};

use DefaultPort::{Fixed, Search};
use Form::{Authority, Url};

/// How an environment variable names a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `host:port`.
    Authority,
    /// `http://host:port`.
    Url,
}

/// What a service's default port means when another program has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultPort {
    /// Starting fails: clients have this port written down.
    Fixed(u16),
    /// The next free port is taken.
    Search(u16),
}

impl DefaultPort {
    /// The port itself.
    #[must_use]
    pub fn number(self) -> u16 {
        match self {
            Self::Fixed(port) | Self::Search(port) => port,
        }
    }
}

/// What the project's files say to single services.
#[derive(Clone, Debug, Default)]
pub struct ServiceConfigs {
    /// To Firestore.
    pub firestore: svc_firestore::Config,
}

/// Builds a service.
pub(crate) type Constructor = fn(Context, &ServiceConfigs) -> Result<Arc<dyn Service>, Status>;

/// One line of the table.
pub struct ServiceRow {
    /// The name, which is also the key in firebase.json and the word of `--only`.
    pub name: &'static str,
    /// The name in messages.
    pub description: &'static str,
    /// The port of the official emulator.
    pub port: DefaultPort,
    /// The variables SDKs read to find it.
    pub variables: &'static [(&'static str, Form)],
    /// Whether the console has a page for it.
    pub shown_in_ui: bool,
    /// Whether it belongs to the suite itself, so that `--only` does not name it.
    pub internal: bool,
    /// Its place in the order of stopping.
    pub stop_rank: u8,
    /// What builds it; `None` while firelet does not have it.
    pub(crate) constructor: Option<Constructor>,
}

impl ServiceRow {
    /// Whether firelet has this service.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.constructor.is_some()
    }

    /// The environment variables that lead clients to `listing`.
    pub fn environment(&self, listing: &Listing) -> impl Iterator<Item = (String, String)> {
        self.variables.iter().map(|(name, form)| {
            let value = match form {
                Form::Authority => listing.authority(),
                Form::Url => listing.url(),
            };
            ((*name).to_owned(), value)
        })
    }
}

fn firestore(context: Context, configs: &ServiceConfigs) -> Result<Arc<dyn Service>, Status> {
    Ok(svc_firestore::Firestore::open(configs.firestore.clone(), context)?)
}

fn hub(context: Context, _: &ServiceConfigs) -> Result<Arc<dyn Service>, Status> {
    Ok(svc_hub::Hub::new(svc_hub::Config { version: crate::VERSION }, context))
}

const fn row(name: &'static str, description: &'static str, port: DefaultPort) -> ServiceRow {
    ServiceRow {
        name,
        description,
        port,
        variables: &[],
        shown_in_ui: false,
        internal: false,
        stop_rank: 0,
        constructor: None,
    }
}

/// Every service of the official suite, in the order in which it starts and lists them.
pub static SERVICES: [ServiceRow; 15] = [
    ServiceRow {
        variables: &[("FIREBASE_EMULATOR_HUB", Authority)],
        internal: true,
        stop_rank: 13,
        constructor: Some(hub),
        ..row("hub", "emulator hub", Search(4400))
    },
    ServiceRow { internal: true, stop_rank: 0, ..row("ui", "Emulator UI", Search(4000)) },
    ServiceRow {
        internal: true,
        stop_rank: 14,
        ..row("logging", "Logging Emulator", Search(4500))
    },
    ServiceRow {
        shown_in_ui: true,
        stop_rank: 1,
        ..row("extensions", "Extensions Emulator", Fixed(5001))
    },
    ServiceRow { stop_rank: 4, ..row("apphosting", "App Hosting Emulator", Search(5002)) },
    ServiceRow {
        variables: &[("FIREBASE_AUTH_EMULATOR_HOST", Authority)],
        shown_in_ui: true,
        stop_rank: 8,
        ..row("auth", "Authentication Emulator", Fixed(9099))
    },
    ServiceRow {
        shown_in_ui: true,
        stop_rank: 2,
        ..row("functions", "Functions Emulator", Fixed(5001))
    },
    ServiceRow {
        variables: &[
            ("FIRESTORE_EMULATOR_HOST", Authority),
            ("FIREBASE_FIRESTORE_EMULATOR_ADDRESS", Authority),
        ],
        shown_in_ui: true,
        stop_rank: 6,
        constructor: Some(firestore),
        ..row("firestore", "Firestore Emulator", Fixed(8080))
    },
    ServiceRow {
        variables: &[("FIREBASE_DATABASE_EMULATOR_HOST", Authority)],
        shown_in_ui: true,
        stop_rank: 5,
        ..row("database", "Database Emulator", Fixed(9000))
    },
    ServiceRow { stop_rank: 3, ..row("hosting", "Hosting Emulator", Search(5000)) },
    ServiceRow {
        variables: &[("PUBSUB_EMULATOR_HOST", Authority)],
        stop_rank: 7,
        ..row("pubsub", "Pub/Sub Emulator", Fixed(8085))
    },
    ServiceRow {
        variables: &[("FIREBASE_STORAGE_EMULATOR_HOST", Authority), ("STORAGE_EMULATOR_HOST", Url)],
        shown_in_ui: true,
        stop_rank: 9,
        ..row("storage", "Storage Emulator", Fixed(9199))
    },
    ServiceRow {
        variables: &[("CLOUD_EVENTARC_EMULATOR_HOST", Url)],
        stop_rank: 10,
        ..row("eventarc", "Eventarc Emulator", Search(9299))
    },
    ServiceRow {
        variables: &[
            ("FIREBASE_DATA_CONNECT_EMULATOR_HOST", Url),
            ("DATA_CONNECT_EMULATOR_HOST", Authority),
            ("FIREBASE_DATACONNECT_EMULATOR_HOST", Authority),
        ],
        stop_rank: 11,
        ..row("dataconnect", "SQL Connect Emulator", Fixed(9399))
    },
    ServiceRow {
        variables: &[("CLOUD_TASKS_EMULATOR_HOST", Authority)],
        stop_rank: 12,
        ..row("tasks", "Cloud Tasks Emulator", Search(9499))
    },
];

/// The names `--only` takes, in the order in which the official suite lists them.
pub const ONLY_NAMES: [&str; 11] = [
    "apphosting",
    "auth",
    "functions",
    "firestore",
    "database",
    "hosting",
    "pubsub",
    "storage",
    "eventarc",
    "dataconnect",
    "tasks",
];

/// The row of a service.
#[must_use]
pub fn find(name: &str) -> Option<&'static ServiceRow> {
    SERVICES.iter().find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_consistent() {
        let mut names: Vec<_> = SERVICES.iter().map(|row| row.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), SERVICES.len());
        let mut ranks: Vec<_> = SERVICES.iter().map(|row| usize::from(row.stop_rank)).collect();
        ranks.sort_unstable();
        assert_eq!(ranks, (0..SERVICES.len()).collect::<Vec<_>>());
        for name in ONLY_NAMES {
            assert!(find(name).is_some_and(|row| !row.internal), "{name}");
        }
    }

    #[test]
    fn variables_lead_to_the_listing() {
        fn check(name: &str, listen: &str, expected: &[(&str, &str)]) {
            let listing = Listing::new("x", vec![listen.parse().unwrap()]).unwrap();
            let found: Vec<_> = find(name).unwrap().environment(&listing).collect();
            let found: Vec<_> = found.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
            assert_eq!(found, expected, "{name}");
        }
        check(
            "firestore",
            "0.0.0.0:8080",
            &[
                ("FIRESTORE_EMULATOR_HOST", "127.0.0.1:8080"),
                ("FIREBASE_FIRESTORE_EMULATOR_ADDRESS", "127.0.0.1:8080"),
            ],
        );
        check("hub", "[::1]:4400", &[("FIREBASE_EMULATOR_HUB", "[::1]:4400")]);
        check(
            "storage",
            "127.0.0.1:9199",
            &[
                ("FIREBASE_STORAGE_EMULATOR_HOST", "127.0.0.1:9199"),
                ("STORAGE_EMULATOR_HOST", "http://127.0.0.1:9199"),
            ],
        );
        check("functions", "127.0.0.1:5001", &[]);
    }
}
