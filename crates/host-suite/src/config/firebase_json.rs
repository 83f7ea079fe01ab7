//! firebase.json: finding it, reading it, and following the files its sections name.

use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{ConfigError, jsonc};
use crate::limits::ANCESTORS_MAX;

/// The name of the file.
pub const FILE_NAME: &str = "firebase.json";

/// The sections that may be a path to a file that holds them.
const IMPORTABLE: [&str; 13] = [
    "database",
    "emulators",
    "extensions",
    "firestore",
    "functions",
    "hosting",
    "storage",
    "remoteconfig",
    "dataconnect",
    "apphosting",
    "auth",
    "ailogic",
    "run",
];

/// A project's configuration, with the files its sections name read in.
#[derive(Clone, Debug, PartialEq)]
pub struct FirebaseConfig {
    /// The project directory: paths in the file are relative to it.
    pub directory: PathBuf,
    /// The file, if the configuration came from one.
    pub file: Option<PathBuf>,
    root: Map<String, Value>,
}

/// The nearest folder, from `start` upwards, that holds a firebase.json.
#[must_use]
pub fn find_directory(start: &Path) -> Option<PathBuf> {
    start
        .ancestors()
        .take(ANCESTORS_MAX)
        .find(|directory| directory.join(FILE_NAME).is_file())
        .map(Path::to_owned)
}

impl FirebaseConfig {
    /// Reads a file and the files its sections name.
    ///
    /// # Errors
    /// The file or one it names is missing, unreadable or not JSON, or a section is neither an object
    /// nor a path.
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        let Some(value) = jsonc::read(file)? else {
            return Err(ConfigError::NotFound(file.to_owned()));
        };
        let directory = match file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            Some(_) | None => PathBuf::from("."),
        };
        Self::from_value(directory, Some(file.to_owned()), value)
    }

    /// A configuration given as a value, with paths relative to `directory`.
    ///
    /// # Errors
    /// As [`FirebaseConfig::load`].
    pub fn inline(directory: &Path, root: Map<String, Value>) -> Result<Self, ConfigError> {
        Self::from_value(directory.to_owned(), None, Value::Object(root))
    }

    /// What the official command line uses without a firebase.json.
    #[must_use]
    pub fn builtin(directory: &Path) -> Self {
        let root = ["eventarc", "database", "firestore", "functions", "hosting"]
            .into_iter()
            .map(|key| (key.to_owned(), json!({})))
            .chain([("emulators".to_owned(), json!({"auth": {}, "pubsub": {}}))])
            .collect();
        Self { directory: directory.to_owned(), file: None, root }
    }

    fn from_value(
        directory: PathBuf,
        file: Option<PathBuf>,
        value: Value,
    ) -> Result<Self, ConfigError> {
        let Value::Object(root) = value else {
            let file = file.unwrap_or_else(|| PathBuf::from(FILE_NAME));
            return Err(ConfigError::Invalid {
                file,
                problems: vec!["it must hold an object".to_owned()],
            });
        };
        let mut config = Self { directory, file, root };
        for section in IMPORTABLE {
            config.import(section)?;
        }
        config.merge_deprecated_rules();
        Ok(config)
    }

    /// Replaces a section that is a path by what the file holds.
    fn import(&mut self, section: &str) -> Result<(), ConfigError> {
        let path = match self.root.get(section) {
            None | Some(Value::Object(_) | Value::Array(_)) => return Ok(()),
            Some(Value::String(path)) => path.clone(),
            Some(_) => return Err(ConfigError::NotASection(section.to_owned())),
        };
        let file = self.path(&path)?;
        if Path::new(&path).extension().is_none_or(|extension| extension != "json") {
            return Err(ConfigError::ImportKind(path));
        }
        let Some(mut value) = jsonc::read(&file)? else {
            return Err(ConfigError::ImportMissing(path));
        };
        if let Value::Object(map) = &mut value
            && map.len() == 1
            && let Some(inner) = map.remove(section)
        {
            value = inner;
        }
        self.root.insert(section.to_owned(), value);
        Ok(())
    }

    /// The old top-level `rules` key means the rules of the Realtime Database.
    fn merge_deprecated_rules(&mut self) {
        let Some(rules) = self.root.get("rules").cloned() else { return };
        let database = self.root.entry("database").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(database) = database {
            database.entry("rules").or_insert(rules);
        }
    }

    /// A top-level section.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<&Value> {
        self.root.get(name)
    }

    /// What `emulators` holds for a key.
    #[must_use]
    pub fn emulator(&self, name: &str) -> Option<&Value> {
        self.root.get("emulators")?.get(name)
    }

    /// The keys of `emulators`.
    pub fn emulator_names(&self) -> impl Iterator<Item = &str> {
        self.root
            .get("emulators")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|map| map.keys().map(String::as_str))
    }

    /// Whether a service is configured: a section of its name, or an entry in `emulators`.
    #[must_use]
    pub fn names(&self, service: &str) -> bool {
        self.section(service).is_some() || self.emulator(service).is_some()
    }

    /// The deprecated `firebase` key, which names the default project.
    #[must_use]
    pub fn deprecated_project(&self) -> Option<&str> {
        self.root.get("firebase").and_then(Value::as_str)
    }

    /// Where a path in the file leads. An absolute path is taken as it is.
    ///
    /// # Errors
    /// The path leaves the project directory.
    pub fn path(&self, path: &str) -> Result<PathBuf, ConfigError> {
        let given = Path::new(path);
        if given.is_absolute() {
            return Ok(given.to_owned());
        }
        let mut depth = 0_usize;
        for component in given.components() {
            match component {
                Component::Normal(_) => depth += 1,
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    let Some(less) = depth.checked_sub(1) else {
                        return Err(ConfigError::OutsideProject(path.to_owned()));
                    };
                    depth = less;
                }
            }
        }
        Ok(self.directory.join(given))
    }

    /// The name of the file in messages.
    #[must_use]
    pub fn display_name(&self) -> PathBuf {
        self.file.clone().unwrap_or_else(|| PathBuf::from(FILE_NAME))
    }
}
