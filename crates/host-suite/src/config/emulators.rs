//! The `emulators` section of firebase.json: hosts, ports and switches.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{ConfigError, FirebaseConfig};
use crate::nearest::nearest;
use crate::notice::Notice;
use crate::services::SERVICES;

/// Where one service is to listen, as far as the user says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The host.
    pub host: Option<String>,
    /// The port; 0 asks for any free one.
    pub port: Option<u16>,
}

/// The section, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Emulators {
    /// Addresses by service.
    pub addresses: BTreeMap<&'static str, Address>,
    /// `ui.enabled`; `None` if the file does not say.
    pub ui_enabled: Option<bool>,
}

/// Keys of the section that are no service.
const OTHER_KEYS: [&str; 1] = ["singleProjectMode"];

/// Keys that every service's section has.
const OF_EVERY_SERVICE: [&str; 2] = ["host", "port"];

/// Keys that only one service's section has, as the official schema lists them.
const OF_ONE_SERVICE: [(&str, &[&str]); 4] = [
    ("ui", &["enabled"]),
    ("firestore", &["websocketPort", "edition"]),
    ("apphosting", &["startCommand", "startCommandOverride", "rootDirectory"]),
    ("dataconnect", &["postgresHost", "postgresPort", "dataDir"]),
];

impl Emulators {
    /// Reads the section of `config`, and says which keys look mistyped.
    ///
    /// # Errors
    /// All values of a wrong kind, in one error.
    pub fn read(config: &FirebaseConfig) -> Result<(Self, Vec<Notice>), ConfigError> {
        let mut problems = Vec::new();
        let mut emulators = Self::default();
        match config.section("emulators") {
            None | Some(Value::Object(_)) => {}
            Some(other) => {
                problems.push(format!("`emulators` must be an object, not {}", kind(other)));
            }
        }
        for row in &SERVICES {
            let Some(Value::Object(section)) = config.emulator(row.name) else { continue };
            let mut address = Address::default();
            let key = |name: &str| format!("emulators.{}.{name}", row.name);
            match section.get("host") {
                None | Some(Value::Null) => {}
                Some(Value::String(host)) if !host.is_empty() => address.host = Some(host.clone()),
                Some(other) => problems.push(format!(
                    "`{}` must be a host name, not {}",
                    key("host"),
                    show(other)
                )),
            }
            if let Some(port) = section.get("port").filter(|port| !port.is_null()) {
                address.port = read_port(port);
                if address.port.is_none() {
                    problems.push(format!(
                        "`{}` must be a port from 0 to 65535, not {}",
                        key("port"),
                        show(port)
                    ));
                }
            }
            if address != Address::default() {
                emulators.addresses.insert(row.name, address);
            }
        }
        match config.emulator("ui").and_then(|ui| ui.get("enabled")) {
            None => {}
            Some(Value::Bool(enabled)) => emulators.ui_enabled = Some(*enabled),
            Some(other) => problems
                .push(format!("`emulators.ui.enabled` must be true or false, not {}", show(other))),
        }
        if problems.is_empty() {
            Ok((emulators, mistyped(config)))
        } else {
            Err(ConfigError::Invalid { file: config.display_name(), problems })
        }
    }
}

/// Keys that nobody knows but that are close to one. Others may be of a newer version of the official
/// suite and are left alone, as it does.
fn mistyped(config: &FirebaseConfig) -> Vec<Notice> {
    let services: Vec<&str> = SERVICES.iter().map(|row| row.name).chain(OTHER_KEYS).collect();
    let mut notices = Vec::new();
    for key in config.emulator_names() {
        notices.extend(unknown_key("", key, &services));
        let Some(Value::Object(section)) = config.emulator(key) else { continue };
        let own = OF_ONE_SERVICE.iter().find(|(service, _)| *service == key);
        let own = own.map_or(&[][..], |(_, keys)| keys);
        let known: Vec<&str> = OF_EVERY_SERVICE.iter().chain(own).copied().collect();
        if services.contains(&key) {
            let inside = format!("{key}.");
            notices.extend(section.keys().filter_map(|name| unknown_key(&inside, name, &known)));
        }
    }
    notices
}

/// What to say about a key of `emulators` or of a section in it.
fn unknown_key(inside: &str, key: &str, known: &[&str]) -> Option<Notice> {
    if known.contains(&key) {
        return None;
    }
    let meant = nearest(key, known.iter().copied())?;
    let text = format!("unknown key `emulators.{inside}{key}` is ignored, did you mean `{meant}`?");
    Some(Notice::warning("emulators", text))
}

/// A port: a number, or a string of digits as the official command line takes it.
fn read_port(value: &Value) -> Option<u16> {
    match value {
        Value::Number(number) => number.as_u64().and_then(|port| u16::try_from(port).ok()),
        Value::String(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}

/// The kind of a value, for messages.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A small value as it stands, a large one by its kind.
pub(crate) fn show(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => format!("`{value}`"),
        Value::String(text) => format!("`{text}`"),
        Value::Array(_) | Value::Object(_) => kind(value).to_owned(),
    }
}
