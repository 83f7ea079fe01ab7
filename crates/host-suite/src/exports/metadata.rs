//! `firebase-export-metadata.json`: which parts an export has, and where.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use serde_json::{Map, Value};

use super::METADATA_FILE;

/// Bytes of the file that are read. The official command line writes some hundred.
const BYTES_MAX: u64 = 1024 * 1024;

/// The content of the file. Members that nobody here knows stay as they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Metadata {
    members: Map<String, Value>,
}

impl Metadata {
    /// Reads the file of an export; `None` where there is none.
    ///
    /// # Errors
    /// It cannot be read, or is no JSON object; the text says why.
    pub(crate) fn read(dir: &Path) -> Result<Option<Metadata>, String> {
        let file = match File::open(dir.join(METADATA_FILE)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        let mut text = String::new();
        file.take(BYTES_MAX).read_to_string(&mut text).map_err(|error| error.to_string())?;
        match serde_json::from_str(&text) {
            Ok(Value::Object(members)) => Ok(Some(Metadata { members })),
            Ok(_) => Err("it is not a JSON object".to_owned()),
            Err(error) => Err(format!("it is not JSON: {error}")),
        }
    }

    /// What is said of one service.
    pub(crate) fn part(&self, service: &str) -> Option<&Map<String, Value>> {
        self.members.get(service)?.as_object()
    }

    /// The names of the services that something is said of.
    pub(crate) fn services(&self) -> impl Iterator<Item = &str> {
        self.members.iter().filter(|(_, part)| part.is_object()).map(|(name, _)| name.as_str())
    }

    /// Says something of one service, in place of what was said before.
    pub(crate) fn set_part(&mut self, service: &str, mut part: Map<String, Value>) {
        self.stamp();
        let mut stamped = Map::new();
        stamped.insert("version".to_owned(), Value::from(crate::VERSION));
        stamped.append(&mut part);
        self.members.insert(service.to_owned(), Value::Object(stamped));
    }

    /// The version comes first, as in official files.
    fn stamp(&mut self) {
        let mut members = Map::new();
        members.insert("version".to_owned(), Value::from(crate::VERSION));
        self.members.remove("version");
        members.append(&mut self.members);
        self.members = members;
    }

    /// Writes the file of an export, which must not be there yet, to the disk.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn write(&self, dir: &Path) -> io::Result<()> {
        let mut file = File::create_new(dir.join(METADATA_FILE))?;
        let text = format!("{:#}", Value::Object(self.members.clone()));
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn parts_of_others_stay() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Metadata::read(dir.path()).unwrap(), None);
        let found = json!({
            "version": "15.0.0",
            "auth": {"version": "15.0.0", "path": "auth_export"},
            "firestore": {"version": "1.19.8", "path": "old", "metadata_file": "old/old"},
        });
        fs::write(dir.path().join(METADATA_FILE), found.to_string()).unwrap();
        let mut metadata = Metadata::read(dir.path()).unwrap().unwrap();
        assert_eq!(metadata.services().collect::<Vec<_>>(), ["auth", "firestore"]);
        let part = json!({"path": "new", "metadata_file": "new/new"});
        metadata.set_part("firestore", part.as_object().unwrap().clone());
        let other = tempfile::tempdir().unwrap();
        metadata.write(other.path()).unwrap();
        let version = crate::VERSION;
        let expected = json!({
            "version": version,
            "auth": {"version": "15.0.0", "path": "auth_export"},
            "firestore": {"version": version, "path": "new", "metadata_file": "new/new"},
        });
        let text = fs::read_to_string(other.path().join(METADATA_FILE)).unwrap();
        assert_eq!(text, format!("{expected:#}"));
    }

    #[test]
    fn what_is_no_metadata_is_told() {
        for (text, expected) in [("[]", "not a JSON object"), ("{", "not JSON"), ("", "not JSON")] {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join(METADATA_FILE), text).unwrap();
            let error = Metadata::read(dir.path()).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
