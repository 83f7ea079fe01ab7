//! .firebaserc: the aliases of projects.

use std::path::Path;

use serde_json::{Map, Value};

use super::jsonc;
use crate::notice::Notice;

/// The name of the file, beside firebase.json.
const FILE_NAME: &str = ".firebaserc";

/// The file's content, as far as the suite uses it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirebaseRc {
    aliases: Vec<(String, String)>,
}

impl FirebaseRc {
    /// Reads the file of a project directory. A broken file counts as empty, with a warning, because
    /// the official command line does so.
    #[must_use]
    pub fn load(directory: &Path) -> (Self, Option<Notice>) {
        let file = directory.join(FILE_NAME);
        match jsonc::read(&file) {
            Ok(None) => (Self::default(), None),
            Ok(Some(Value::Object(root))) => (Self::from_map(&root), None),
            Ok(Some(_)) | Err(_) => {
                let text = format!("JSON error trying to load {}", file.display());
                (Self::default(), Some(Notice::warning("emulators", text)))
            }
        }
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
