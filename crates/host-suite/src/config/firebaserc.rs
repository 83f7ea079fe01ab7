//! .firebaserc: the aliases of projects.

use std::path::Path;

use serde_json::{Map, Value};

use super::{ConfigError, jsonc};

/// The name of the file, beside firebase.json.
const FILE_NAME: &str = ".firebaserc";

/// The file's content, as far as the suite uses it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirebaseRc {
    aliases: Vec<(String, String)>,
}

impl FirebaseRc {
    /// Reads the file of a project directory. Without one there are no aliases.
    ///
    /// # Errors
    /// The file is broken: whether that matters depends on who names the project.
    pub fn load(directory: &Path) -> Result<Self, ConfigError> {
        let file = directory.join(FILE_NAME);
        let reason = match jsonc::read(&file) {
            Ok(None) => return Ok(Self::default()),
            Ok(Some(Value::Object(root))) => return Ok(Self::from_map(&root)),
            Ok(Some(_)) => "it must hold an object".to_owned(),
            Err(ConfigError::Syntax { message, line, column, .. }) => {
                format!("{message} on line {line}, column {column}")
            }
            Err(ConfigError::Unreadable { reason, .. }) => reason,
            Err(other) => other.to_string(),
        };
        Err(ConfigError::Aliases { file, reason })
    }

    fn from_map(root: &Map<String, Value>) -> Self {
        let aliases = root
            .get("projects")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .filter_map(|(alias, id)| Some((alias.clone(), id.as_str()?.to_owned())))
            .collect();
        Self { aliases }
    }

    /// The project an alias stands for.
    #[must_use]
    pub fn project(&self, alias: &str) -> Option<&str> {
        self.aliases.iter().find(|(name, _)| name == alias).map(|(_, id)| id.as_str())
    }

    /// The alias to use when nobody names one: the only one, or `default`.
    #[must_use]
    pub fn default_alias(&self) -> Option<&str> {
        match self.aliases.as_slice() {
            [(alias, _)] => Some(alias),
            many => many.iter().map(|(alias, _)| alias.as_str()).find(|alias| *alias == "default"),
        }
    }
}
