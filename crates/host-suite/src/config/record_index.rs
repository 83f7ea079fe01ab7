//! Adds entries to a project's index files, and leaves everything else in them as people wrote it.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use parking_lot::Mutex;
use serde_json::Value;
use svc_firestore::{MissingIndex, Recorder};

use super::{ConfigError, FirebaseConfig, firestore_indexes, jsonc};

/// The file of the default database where firebase.json names none.
const DEFAULT_FILE: &str = "firestore.indexes.json";

/// Writes to the files that `config` names.
///
/// # Errors
/// A path leaves the project.
pub fn index_recorder(config: &FirebaseConfig) -> Result<Recorder, ConfigError> {
    let mut files: HashMap<String, PathBuf> = HashMap::new();
    for named in firestore_indexes::files(config) {
        files.insert(named.database.to_owned(), config.path(named.path)?);
    }
    let default = firestore_indexes::DEFAULT_DATABASE;
    files.entry(default.to_owned()).or_insert(config.directory.join(DEFAULT_FILE));
    // One writer at a time: each reads the file first.
    let files = Mutex::new(files);
    Ok(Arc::new(move |database, missing| {
        let files = files.lock();
        let file = files.get(database).ok_or_else(|| {
            format!("firebase.json names no index file for the database `{database}`")
        })?;
        // Test runners start a suite in each of their processes, on one project.
        let _others = wait_for_others(file);
        add(file, missing)
    }))
}

/// Waits until no other process writes `file`. None is kept from writing where that cannot be said.
fn wait_for_others(file: &Path) -> Option<File> {
    let mut hash = DefaultHasher::new();
    file.hash(&mut hash);
    let name = format!("firelet-{:016x}.lock", hash.finish());
    let lock = File::create(std::env::temp_dir().join(name)).ok()?;
    lock.lock().ok()?;
    Some(lock)
}

fn add(file: &Path, missing: &MissingIndex) -> Result<(), String> {
    let failed = |doing: &str, reason: &dyn std::fmt::Display| {
        format!("could not {doing} `{}`: {reason}", file.display())
    };
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed("read", &error)),
    };
    let root =
        CstRootNode::parse(&text, &jsonc::OPTIONS).map_err(|error| failed("read", &error))?;
    if !declare(&root, missing).ok_or_else(|| format!("`{}` is no index file", file.display()))? {
        return Ok(());
    }
    let mut text = root.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    // A reader never sees half a file.
    let unfinished = file.with_extension("json.new");
    fs::write(&unfinished, text)
        .and_then(|()| fs::rename(&unfinished, file))
        .map_err(|error| failed("write", &error))
}

/// Adds what is missing; answers whether anything was. `None` where the file is none of indexes.
fn declare(root: &CstRootNode, missing: &MissingIndex) -> Option<bool> {
    let object = root.object_value_or_create()?;
    // Other tools want both lists.
    let indexes = object.array_value_or_create("indexes")?;
    let overrides = object.array_value_or_create("fieldOverrides")?;
    let Some(single) = &missing.single else {
        return Some(append(&indexes, &missing.entry));
    };
    let known = overrides.elements().into_iter().find_map(|known| {
        let known = known.as_object()?;
        is_same_field(&known, &missing.entry).then_some(known)
    });
    let Some(known) = known else { return Some(append(&overrides, &missing.entry)) };
    if known.get("indexes").is_some() {
        return Some(append(&known.array_value("indexes")?, single));
    }
    // It says something else of the field, which goes on having its automatic indexes.
    let all = missing.entry.get("indexes").map(input)?;
    known.append("indexes", all);
    Some(true)
}

/// Adds an entry that is not there yet; answers whether it was not.
fn append(list: &CstArray, entry: &Value) -> bool {
    let is_same = |known: &CstNode| {
        let known: Result<Option<Value>, _> =
            jsonc_parser::parse_to_serde_value(&known.to_string(), &jsonc::OPTIONS);
        matches!(known, Ok(Some(known)) if known == *entry)
    };
    let is_there = list.elements().iter().any(is_same);
    if !is_there {
        list.ensure_multiline();
        list.append(input(entry));
    }
    !is_there
}

/// Whether both are about the same field.
fn is_same_field(known: &CstObject, entry: &Value) -> bool {
    ["collectionGroup", "fieldPath"].iter().all(|key| {
        let text = known.get(key).and_then(|property| property.value()?.as_string_lit());
        let text = text.and_then(|text| text.decoded_value().ok());
        text.as_deref() == entry.get(*key).and_then(Value::as_str)
    })
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| (key.clone(), input(value)));
            CstInputValue::Object(entries.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_is_added_and_the_rest_stays() {
        fn check(before: Option<&str>, entries: &[MissingIndex], expected: &str) {
            let dir = tempfile::tempdir().unwrap();
            let file = dir.path().join("firestore.indexes.json");
            if let Some(before) = before {
                fs::write(&file, before).unwrap();
            }
            // The second time there is nothing to add.
            for missing in entries.iter().chain(entries) {
                add(&file, missing).unwrap();
            }
            assert_eq!(fs::read_to_string(&file).unwrap(), expected);
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        }
        let composite =
            MissingIndex { entry: json!({"collectionGroup": "c", "fields": []}), single: None };
        check(
            None,
            &[composite.clone(), single("DESCENDING")],
            r#"{
  "indexes": [
    {
      "collectionGroup": "c",
      "fields": []
    }
  ],
  "fieldOverrides": [
    {
      "collectionGroup": "c",
      "fieldPath": "a",
      "indexes": [
        {
          "order": "DESCENDING"
        }
      ]
    }
  ]
}
"#,
        );
        check(
            Some("{\n  // Ours.\n  \"indexes\": [\n    {\"x\": 1} // First.\n  ]\n}\n"),
            &[composite],
            "{\n  // Ours.\n  \"indexes\": [\n    {\"x\": 1}, // First.\n    {\n      \
             \"collectionGroup\": \"c\",\n      \"fields\": []\n    }\n  ],\n  \
             \"fieldOverrides\": []\n}\n",
        );
    }

    /// An index of the field `a`.
    fn single(order: &str) -> MissingIndex {
        let single = json!({"order": order});
        let entry = json!({"collectionGroup": "c", "fieldPath": "a", "indexes": [single]});
        MissingIndex { entry, single: Some(single) }
    }

    #[test]
    fn an_entry_of_the_field_gets_what_it_lacks() {
        fn check(before: &Value, expected: &Value) {
            let dir = tempfile::tempdir().unwrap();
            let file = dir.path().join("f.json");
            fs::write(&file, before.to_string()).unwrap();
            for missing in [single("ASCENDING"), single("DESCENDING"), single("ASCENDING")] {
                add(&file, &missing).unwrap();
            }
            let after: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
            assert_eq!(after, json!({"indexes": [], "fieldOverrides": [expected]}));
        }
        let (up, down) = (json!({"order": "ASCENDING"}), json!({"order": "DESCENDING"}));
        let of_field = |indexes: &[&Value]| json!({"collectionGroup": "c", "fieldPath": "a", "indexes": indexes});
        check(&json!({}), &of_field(&[&up, &down]));
        check(&json!({"fieldOverrides": [of_field(&[])]}), &of_field(&[&up, &down]));
        check(&json!({"fieldOverrides": [of_field(&[&down])]}), &of_field(&[&down, &up]));
        let with_ttl = json!({"collectionGroup": "c", "fieldPath": "a", "ttl": true});
        let mut expected = of_field(&[&up, &down]);
        expected["ttl"] = true.into();
        check(&json!({"fieldOverrides": [with_ttl]}), &expected);
    }

    #[test]
    fn what_is_no_index_file_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f.json");
        for text in ["[]", "{\"indexes\": 1}", "{"] {
            fs::write(&file, text).unwrap();
            add(&file, &single("ASCENDING")).unwrap_err();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
    }
}
