//! Reading the options of the JavaScript API from JSON.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use svc_firestore::{IndexPolicy, LimitPolicy};
use svc_kit::Durability;

use super::{
    Caller, ConfigChoice, DataOptions, ImportOptions, Keep, Problem, ServiceOptions, StartOptions,
};
use crate::config::{kind, show, split_only};
use crate::limits::CACHE_MIB;
use crate::machine::Machine;
use crate::nearest::nearest;
use crate::services::{self, ONLY_NAMES, SERVICES};

/// The options that are not about one service.
const GENERAL: [&str; 6] = ["project", "only", "config", "cwd", "host", "data"];
/// The options of kept data.
const OF_DATA: [&str; 4] = ["keep", "dir", "durability", "import"];
/// The options of an import.
const OF_IMPORT: [&str; 3] = ["dir", "collections", "databases"];
/// The options of every service.
const OF_SERVICE: [&str; 2] = ["port", "host"];
/// The services that have a `rules` option.
const WITH_RULES: [&str; 1] = ["firestore"];
/// The options of Firestore alone.
const OF_FIRESTORE: [&str; 3] = ["indexes", "limits", "cacheMiB"];
/// Names that are not near what they mean: those of other tools, and those of a level below.
const MEANT: [(&str, &str); 10] = [
    ("projectId", "project"),
    ("emulators", "config"),
    ("port", "firestore.port"),
    ("rules", "firestore.rules"),
    ("indexes", "firestore.indexes"),
    ("limits", "firestore.limits"),
    ("keep", "data.keep"),
    ("dir", "data.dir"),
    ("durability", "data.durability"),
    ("import", "data.import"),
];
/// Options that other tools have, and what does the same here.
const INSTEAD: [(&str, &str); 2] = [("export", "export"), ("exportOnExit", "export")];
/// How much of a value a message shows.
const SHOWN_MAX: usize = 60;

const A_STRING: &str = "a string";
const A_PORT: &str = "an integer from 0 to 65535";
const AN_OBJECT: &str = "an object";
const A_SERVICE: &str = "the name of a service";
const A_FOLDER: &str = "a folder that exists";

pub(super) fn read(options: &Value, machine: Machine) -> Result<StartOptions, Vec<Problem>> {
    let mut result = StartOptions::new(Caller::Program, machine);
    let map = match options {
        Value::Null => return Ok(result),
        Value::Object(map) => map,
        other => {
            return Err(vec![invalid("options".to_owned(), AN_OBJECT, other)]);
        }
    };
    let mut reader = Reader { problems: Vec::new() };
    // `cwd` first: the other paths are relative to it.
    if let Some(cwd) = map.get("cwd").and_then(|value| reader.string("cwd", value)) {
        result.machine.cwd = result.machine.cwd.join(&cwd);
        if !result.machine.cwd.is_dir() {
            reader.wrong_value("cwd", A_FOLDER, &cwd);
        }
    }
    for (key, value) in map {
        match key.as_str() {
            "cwd" => {}
            "project" => result.project = reader.string(key, value),
            "host" => result.host = reader.string(key, value),
            "only" => result.only = reader.only(value),
            "config" => {
                if let Some(config) = reader.config(value, &result.machine.cwd) {
                    result.config = config;
                }
            }
            "data" => {
                result.data = reader.data(value, &result.machine.cwd);
                result.import = reader.import(value.get("import"), &result.machine.cwd);
            }
            other => reader.service(other, value, &mut result),
        }
    }
    if reader.problems.is_empty() { Ok(result) } else { Err(reader.problems) }
}

/// Collects what is wrong while it reads.
struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    fn wrong(&mut self, path: &str, expected: &'static str, found: &Value) {
        self.problems.push(invalid(path.to_owned(), expected, found));
    }

    /// A text that is none of those expected.
    fn wrong_value(&mut self, path: &str, expected: &'static str, found: &str) {
        let (path, found) = (path.to_owned(), quoted(found));
        self.problems.push(Problem::Invalid { path, expected, found });
    }

    /// A value that is to be one of a few words.
    fn no_such_word(&mut self, path: &str, expected: &'static str, found: &Value) {
        match found.as_str() {
            Some(word) if !word.is_empty() => self.wrong_value(path, expected, word),
            Some(_) | None => self.wrong(path, expected, found),
        }
    }

    /// A string that is not empty; null stands for an option not given.
    fn string(&mut self, path: &str, value: &Value) -> Option<String> {
        match value {
            Value::Null => None,
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            other => {
                self.wrong(path, A_STRING, other);
                None
            }
        }
    }

    fn port(&mut self, path: &str, value: &Value) -> Option<u16> {
        let port = value.as_u64().and_then(|port| u16::try_from(port).ok());
        if port.is_none() && !value.is_null() {
            self.wrong(path, A_PORT, value);
        }
        port
    }

    fn only(&mut self, value: &Value) -> Option<Vec<String>> {
        const EXPECTED: &str = "a string or an array of strings";
        match value {
            Value::Null => None,
            Value::String(text) => Some(split_only(text)),
            Value::Array(items) => {
                let mut names = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    match item.as_str() {
                        Some(name) => names.extend(split_only(name)),
                        None => self.wrong(&format!("only[{index}]"), A_STRING, item),
                    }
                }
                Some(names)
            }
            other => {
                self.wrong("only", EXPECTED, other);
                None
            }
        }
    }

    fn config(&mut self, value: &Value, cwd: &Path) -> Option<ConfigChoice> {
        match value {
            Value::Null => None,
            Value::Bool(false) => Some(ConfigChoice::Nothing),
            Value::String(path) if !path.is_empty() => {
                Some(ConfigChoice::File(cwd.join(PathBuf::from(path))))
            }
            Value::Object(map) => Some(ConfigChoice::Inline(map.clone())),
            other => {
                self.wrong("config", "a path, an object or false", other);
                None
            }
        }
    }

    fn data(&mut self, value: &Value, cwd: &Path) -> Option<DataOptions> {
        let map = match value {
            Value::Null => return None,
            Value::Object(map) => map,
            other => {
                self.wrong("data", AN_OBJECT, other);
                return None;
            }
        };
        let mut keep = None;
        let mut dir = None;
        let mut durability = Durability::default();
        for (key, value) in map {
            let path = format!("data.{key}");
            match key.as_str() {
                "keep" => keep = self.keep(value),
                "dir" => dir = self.string(&path, value).map(|dir| cwd.join(dir)),
                "import" => {}
                "durability" => match value.as_str() {
                    Some("write-behind") => durability = Durability::WriteBehind,
                    Some("per-commit") => durability = Durability::PerCommit,
                    Some(_) | None if value.is_null() => {}
                    Some(_) | None => {
                        self.no_such_word(&path, "`write-behind` or `per-commit`", value);
                    }
                },
                other => {
                    let nearest = nearest(other, OF_DATA).map(|name| format!("data.{name}"));
                    self.problems.push(Problem::Unknown { path, nearest });
                }
            }
        }
        if dir.is_some() && !map.contains_key("keep") {
            let expected = "given where `data.dir` is";
            let found = "left out".to_owned();
            self.problems.push(Problem::Invalid { path: "data.keep".to_owned(), expected, found });
        }
        Some(DataOptions { keep: keep?, dir, durability })
    }

    fn import(&mut self, value: Option<&Value>, cwd: &Path) -> Option<ImportOptions> {
        let map = match value? {
            Value::Null => return None,
            Value::Object(map) => map,
            dir => {
                let dir = self.string("data.import", dir)?;
                return Some(ImportOptions { dir: cwd.join(dir), ..ImportOptions::default() });
            }
        };
        let mut import = ImportOptions::default();
        let mut dir = None;
        for (key, value) in map {
            let path = format!("data.import.{key}");
            match key.as_str() {
                "dir" => dir = self.string(&path, value),
                "collections" => import.collections = self.ids(&path, value),
                "databases" => import.databases = self.ids(&path, value),
                other => {
                    let nearest =
                        nearest(other, OF_IMPORT).map(|name| format!("data.import.{name}"));
                    self.problems.push(Problem::Unknown { path, nearest });
                }
            }
        }
        if !map.contains_key("dir") {
            let (path, found) = ("data.import.dir".to_owned(), "left out".to_owned());
            self.problems.push(Problem::Invalid { path, expected: "given", found });
        }
        Some(ImportOptions { dir: cwd.join(dir?), ..import })
    }

    /// Ids, at least one.
    fn ids(&mut self, path: &str, value: &Value) -> Option<Vec<String>> {
        let items = match value {
            Value::Null => return None,
            Value::Array(items) if !items.is_empty() => items,
            Value::Array(_) => {
                self.problems.push(Problem::Empty { path: path.to_owned() });
                return None;
            }
            other => {
                self.wrong(path, "an array of strings", other);
                return None;
            }
        };
        let ids = items.iter().enumerate();
        Some(ids.filter_map(|(at, id)| self.string(&format!("{path}[{at}]"), id)).collect())
    }

    fn keep(&mut self, value: &Value) -> Option<Keep> {
        match value {
            Value::Null | Value::Bool(false) => None,
            Value::Bool(true) => Some(Keep::All),
            Value::Array(items) => {
                let mut names = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    names.extend(self.kept_service(&format!("data.keep[{index}]"), item));
                }
                Some(Keep::Only(names))
            }
            other => {
                self.wrong("data.keep", "a boolean or an array of services", other);
                None
            }
        }
    }

    /// The name of a service that can keep data.
    fn kept_service(&mut self, path: &str, item: &Value) -> Option<String> {
        let row = item.as_str().filter(|name| ONLY_NAMES.contains(name)).and_then(services::find);
        match (row, item.as_str()) {
            (Some(row), _) if row.exists() => return Some(row.name.to_owned()),
            (Some(row), _) => {
                let path = path.to_owned();
                self.problems.push(Problem::NotYet { path, description: row.description });
            }
            (None, Some(word)) if !word.is_empty() => {
                let meant = nearest(word, ONLY_NAMES)
                    .map(|name| format!(", did you mean `{name}`?"))
                    .unwrap_or_default();
                let (path, found) = (path.to_owned(), quoted(word) + &meant);
                self.problems.push(Problem::Invalid { path, expected: A_SERVICE, found });
            }
            (None, _) => self.wrong(path, A_SERVICE, item),
        }
        None
    }

    /// A name that is neither a general option nor a service.
    fn unknown(&mut self, key: &str) {
        let path = key.to_owned();
        if let Some((_, method)) = INSTEAD.into_iter().find(|(name, _)| *name == key) {
            self.problems.push(Problem::Method { path, method });
            return;
        }
        let known = SERVICES.iter().filter(|row| row.exists()).map(|row| row.name);
        let meant = MEANT.into_iter().find(|(name, _)| *name == key).map(|(_, meant)| meant);
        let nearest = meant.or_else(|| nearest(key, GENERAL.into_iter().chain(known)));
        self.problems.push(Problem::Unknown { path, nearest: nearest.map(str::to_owned) });
    }

    fn service(&mut self, key: &str, value: &Value, result: &mut StartOptions) {
        let Some(row) = services::find(key) else {
            self.unknown(key);
            return;
        };
        if !row.exists() {
            let path = key.to_owned();
            self.problems.push(Problem::NotYet { path, description: row.description });
            return;
        }
        match value {
            Value::Null => {}
            Value::Object(map) => {
                if row.name == "firestore" {
                    result.indexes = self.indexes(map);
                    result.limits = self.limits(map);
                    result.cache_mib = self.cache(map);
                }
                let options = self.service_options(row.name, map);
                result.services.insert(row.name, options);
            }
            other => self.wrong(key, AN_OBJECT, other),
        }
    }

    fn indexes(&mut self, firestore: &Map<String, Value>) -> IndexPolicy {
        let Some(value) = firestore.get("indexes").filter(|value| !value.is_null()) else {
            return IndexPolicy::default();
        };
        let named = value.as_str().and_then(index_policy);
        if named.is_none() {
            let expected = "`off`, `warn`, `strict` or `record`";
            self.no_such_word("firestore.indexes", expected, value);
        }
        named.unwrap_or_default()
    }

    fn limits(&mut self, firestore: &Map<String, Value>) -> LimitPolicy {
        let Some(value) = firestore.get("limits").filter(|value| !value.is_null()) else {
            return LimitPolicy::default();
        };
        let named = value.as_str().and_then(limit_policy);
        if named.is_none() {
            self.no_such_word("firestore.limits", "`production` or `off`", value);
        }
        named.unwrap_or_default()
    }

    fn cache(&mut self, firestore: &Map<String, Value>) -> Option<u32> {
        let value = firestore.get("cacheMiB").filter(|value| !value.is_null())?;
        let mib = value.as_u64().and_then(|mib| u32::try_from(mib).ok());
        let mib = mib.filter(|mib| CACHE_MIB.contains(mib));
        if mib.is_none() {
            let expected = "an integer from 1 to 65536";
            self.no_such_word("firestore.cacheMiB", expected, value);
        }
        mib
    }

    fn service_options(&mut self, service: &str, map: &Map<String, Value>) -> ServiceOptions {
        let mut options = ServiceOptions::default();
        let has_rules = WITH_RULES.contains(&service);
        for (key, value) in map {
            let path = format!("{service}.{key}");
            match key.as_str() {
                "port" => options.port = self.port(&path, value),
                "host" => options.host = self.string(&path, value),
                own if service == "firestore" && OF_FIRESTORE.contains(&own) => {}
                "rules" if has_rules => options.rules = self.string(&path, value),
                other => {
                    let own = OF_FIRESTORE.into_iter().filter(|_| service == "firestore");
                    let known =
                        OF_SERVICE.into_iter().chain(has_rules.then_some("rules")).chain(own);
                    let nearest = nearest(other, known).map(|name| format!("{service}.{name}"));
                    self.problems.push(Problem::Unknown { path, nearest });
                }
            }
        }
        options
    }
}

/// The names of what happens where an index is missing.
pub(crate) const INDEX_POLICIES: [(&str, IndexPolicy); 4] = [
    ("off", IndexPolicy::Off),
    ("warn", IndexPolicy::Warn),
    ("strict", IndexPolicy::Strict),
    ("record", IndexPolicy::Record),
];

/// What happens where an index is missing, by its name.
pub(crate) fn index_policy(name: &str) -> Option<IndexPolicy> {
    INDEX_POLICIES.iter().find(|(known, _)| *known == name).map(|(_, policy)| *policy)
}

/// The names of which limits hold.
pub(crate) const LIMIT_POLICIES: [(&str, LimitPolicy); 2] =
    [("production", LimitPolicy::Production), ("off", LimitPolicy::Off)];

/// Which limits hold, by its name.
pub(crate) fn limit_policy(name: &str) -> Option<LimitPolicy> {
    LIMIT_POLICIES.iter().find(|(known, _)| *known == name).map(|(_, policy)| *policy)
}

fn invalid(path: String, expected: &'static str, found: &Value) -> Problem {
    let found = match found {
        Value::Number(_) => show(found),
        Value::String(text) if text.is_empty() => return Problem::Empty { path },
        other => kind(other).to_owned(),
    };
    Problem::Invalid { path, expected, found }
}

/// A text as a message shows it.
fn quoted(text: &str) -> String {
    let start: String = text.chars().take(SHOWN_MAX).collect();
    let more = if start.len() < text.len() { "..." } else { "" };
    format!("`{start}{more}`")
}

#[cfg(test)]
mod tests;
