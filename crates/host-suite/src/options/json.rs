//! Reading the options of the JavaScript API from JSON.

use std::path::PathBuf;

use serde_json::{Map, Value};
use svc_firestore::IndexPolicy;
use svc_kit::Durability;

use super::{Caller, ConfigChoice, DataOptions, Keep, Problem, ServiceOptions, StartOptions};
use crate::config::{kind, show, split_only};
use crate::machine::Machine;
use crate::nearest::nearest;
use crate::services::{self, ONLY_NAMES, SERVICES};

/// The options that are not about one service.
const GENERAL: [&str; 6] = ["project", "only", "config", "cwd", "host", "data"];
/// The options of kept data.
const OF_DATA: [&str; 3] = ["keep", "dir", "durability"];
/// The options of every service.
const OF_SERVICE: [&str; 2] = ["port", "host"];
/// The services that have a `rules` option.
const WITH_RULES: [&str; 1] = ["firestore"];

const A_STRING: &str = "a string";
const A_PORT: &str = "an integer from 0 to 65535";
const AN_OBJECT: &str = "an object";
const A_SERVICE: &str = "the name of a service";

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
        result.machine.cwd = result.machine.cwd.join(cwd);
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
            "data" => result.data = reader.data(value, &result.machine.cwd),
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

    fn config(&mut self, value: &Value, cwd: &std::path::Path) -> Option<ConfigChoice> {
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

    fn data(&mut self, value: &Value, cwd: &std::path::Path) -> Option<DataOptions> {
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
                "durability" => match value.as_str() {
                    Some("write-behind") => durability = Durability::WriteBehind,
                    Some("per-commit") => durability = Durability::PerCommit,
                    Some(_) | None if value.is_null() => {}
                    Some(_) | None => {
                        self.wrong(&path, "`write-behind` or `per-commit`", value);
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

    fn keep(&mut self, value: &Value) -> Option<Keep> {
        match value {
            Value::Null | Value::Bool(false) => None,
            Value::Bool(true) => Some(Keep::All),
            Value::Array(items) => {
                let mut names = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    let name = item.as_str().filter(|name| ONLY_NAMES.contains(name));
                    match name {
                        Some(name) => names.push(name.to_owned()),
                        None => self.wrong(&format!("data.keep[{index}]"), A_SERVICE, item),
                    }
                }
                Some(Keep::Only(names))
            }
            other => {
                self.wrong("data.keep", "a boolean or an array of services", other);
                None
            }
        }
    }

    fn service(&mut self, key: &str, value: &Value, result: &mut StartOptions) {
        let Some(row) = services::find(key) else {
            let known = SERVICES.iter().filter(|row| row.exists()).map(|row| row.name);
            let nearest = nearest(key, GENERAL.into_iter().chain(known)).map(str::to_owned);
            self.problems.push(Problem::Unknown { path: key.to_owned(), nearest });
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
            self.wrong("firestore.indexes", "`off`, `warn`, `strict` or `record`", value);
        }
        named.unwrap_or_default()
    }

    fn service_options(&mut self, service: &str, map: &Map<String, Value>) -> ServiceOptions {
        let mut options = ServiceOptions::default();
        let has_rules = WITH_RULES.contains(&service);
        for (key, value) in map {
            let path = format!("{service}.{key}");
            match key.as_str() {
                "port" => options.port = self.port(&path, value),
                "host" => options.host = self.string(&path, value),
                "indexes" if service == "firestore" => {}
                "rules" if has_rules => options.rules = self.string(&path, value),
                other => {
                    let indexes = (service == "firestore").then_some("indexes");
                    let known =
                        OF_SERVICE.into_iter().chain(has_rules.then_some("rules")).chain(indexes);
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

fn invalid(path: String, expected: &'static str, found: &Value) -> Problem {
    let found = match found {
        Value::Number(_) => show(found),
        Value::String(text) if text.is_empty() => "an empty string".to_owned(),
        other => kind(other).to_owned(),
    };
    Problem::Invalid { path, expected, found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_at_root(options: &Value) -> Result<StartOptions, Vec<Problem>> {
        read(options, Machine { cwd: PathBuf::from("/srv"), ..Machine::default() })
    }

    #[test]
    fn every_problem_is_named_with_its_path() {
        fn check(options: Value, expected: &[&str]) {
            let problems = read_at_root(&options).unwrap_err();
            let shown: Vec<_> = problems.iter().map(ToString::to_string).collect();
            assert_eq!(shown, expected, "{options}");
        }
        check(json!([]), &["option `options` must be an object, not an array"]);
        check(json!({"projet": 1}), &["unknown option `projet`, did you mean `project`?"]);
        check(json!({"firestor": {}}), &["unknown option `firestor`, did you mean `firestore`?"]);
        check(json!({"zzz": {}}), &["unknown option `zzz`"]);
        check(json!({"project": 7}), &["option `project` must be a string, not `7`"]);
        check(json!({"project": ""}), &["option `project` must be a string, not an empty string"]);
        check(json!({"only": [1]}), &["option `only[0]` must be a string, not `1`"]);
        check(
            json!({"only": true}),
            &["option `only` must be a string or an array of strings, not a boolean"],
        );
        check(
            json!({"config": true}),
            &["option `config` must be a path, an object or false, not a boolean"],
        );
        check(json!({"firestore": 8080}), &["option `firestore` must be an object, not `8080`"]);
        check(
            json!({"firestore": {"prot": 1, "port": "1", "rules": []}, "hub": {"port": 65536}}),
            &[
                "unknown option `firestore.prot`, did you mean `firestore.port`?",
                "option `firestore.port` must be an integer from 0 to 65535, not a string",
                "option `firestore.rules` must be a string, not an array",
                "option `hub.port` must be an integer from 0 to 65535, not `65536`",
            ],
        );
        check(
            json!({"hub": {"rules": "x", "port": -1.5}}),
            &[
                "unknown option `hub.rules`",
                "option `hub.port` must be an integer from 0 to 65535, not `-1.5`",
            ],
        );
        check(
            json!({"firestore": {"indexes": "loud"}}),
            &[
                "option `firestore.indexes` must be `off`, `warn`, `strict` or `record`, not a string",
            ],
        );
        check(
            json!({"data": {"kep": true, "durability": "never", "dir": 1}}),
            &[
                "unknown option `data.kep`, did you mean `data.keep`?",
                "option `data.durability` must be `write-behind` or `per-commit`, not a string",
                "option `data.dir` must be a string, not `1`",
            ],
        );
        check(
            json!({"data": {"keep": ["firestore", "firestor"]}}),
            &["option `data.keep[1]` must be the name of a service, not a string"],
        );
        check(
            json!({"data": {"dir": "x"}}),
            &["option `data.keep` must be given where `data.dir` is, not left out"],
        );
        check(
            json!({"data": {"keep": "yes"}}),
            &["option `data.keep` must be a boolean or an array of services, not a string"],
        );
        check(
            json!({"auth": {}}),
            &["option `auth`: firelet does not have the Authentication Emulator yet"],
        );
    }

    #[test]
    fn options_are_read() {
        let options = read_at_root(&json!({
            "firestore": {"port": 0, "host": "127.0.0.1", "rules": "a.rules", "indexes": "strict"},
            "hub": null,
            "only": ["firestore,hosting:site"],
            "config": "sub/firebase.json",
            "project": "demo-x",
            "cwd": "app",
        }))
        .unwrap();
        assert_eq!(options.caller, Caller::Program);
        assert_eq!(options.machine.cwd, PathBuf::from("/srv/app"));
        assert_eq!(options.project.as_deref(), Some("demo-x"));
        assert_eq!(options.only.unwrap(), ["firestore", "hosting"]);
        let file = PathBuf::from("/srv/app/sub/firebase.json");
        assert_eq!(options.config, ConfigChoice::File(file));
        let firestore = ServiceOptions {
            port: Some(0),
            host: Some("127.0.0.1".to_owned()),
            rules: Some("a.rules".to_owned()),
        };
        assert_eq!(options.services.into_iter().collect::<Vec<_>>(), [("firestore", firestore)]);

        assert_eq!(options.indexes, IndexPolicy::Strict);
        assert_eq!(read_at_root(&Value::Null).unwrap().indexes, IndexPolicy::Warn);
        let data = |data: Value| read_at_root(&json!({"data": data})).unwrap().data;
        assert_eq!(data(Value::Null), None);
        assert_eq!(data(json!({"keep": false, "dir": "x"})), None);
        let all = DataOptions { keep: Keep::All, dir: None, durability: Durability::WriteBehind };
        assert_eq!(data(json!({"keep": true})), Some(all));
        let some = DataOptions {
            keep: Keep::Only(vec!["firestore".to_owned()]),
            dir: Some(PathBuf::from("/srv/kept")),
            durability: Durability::PerCommit,
        };
        let given = json!({"keep": ["firestore"], "dir": "kept", "durability": "per-commit"});
        assert_eq!(data(given), Some(some));

        assert_eq!(read_at_root(&Value::Null).unwrap().only, None);
        let nothing = read_at_root(&json!({"config": false})).unwrap().config;
        assert_eq!(nothing, ConfigChoice::Nothing);
        let inline = read_at_root(&json!({"config": {"firestore": {}}})).unwrap().config;
        let expected = json!({"firestore": {}}).as_object().unwrap().clone();
        assert_eq!(inline, ConfigChoice::Inline(expected));
    }
}
