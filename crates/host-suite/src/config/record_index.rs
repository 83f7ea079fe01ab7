//! Adds entries to a project's index files, and leaves everything else in them as people wrote it.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jsonc_parser::cst::{CstInputValue, CstNode, CstRootNode};
use parking_lot::Mutex;
use serde_json::Value;
use svc_firestore::Recorder;

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
    Ok(Arc::new(move |database, entry| {
        let files = files.lock();
        let file = files.get(database).ok_or_else(|| {
            format!("firebase.json names no index file for the database `{database}`")
        })?;
        add(file, entry)
    }))
}

fn add(file: &Path, entry: &Value) -> Result<(), String> {
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
    let not_a_list = || format!("`{}` is no index file", file.display());
    let object = root.object_value_or_create().ok_or_else(not_a_list)?;
    let key = if entry.get("fields").is_some() { "indexes" } else { "fieldOverrides" };
    // Other tools want both lists.
    for list in ["indexes", "fieldOverrides"] {
        object.array_value_or_create(list).ok_or_else(not_a_list)?;
    }
    let list = object.array_value(key).ok_or_else(not_a_list)?;
    if key == "fieldOverrides" && list.elements().iter().any(|known| is_same(known, entry)) {
        return Err(format!("`{}` has an exception for this field already", file.display()));
    }
    list.ensure_multiline();
    list.append(input(entry));
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

/// Whether both are about the same field.
fn is_same(known: &CstNode, entry: &Value) -> bool {
    let Some(known) = known.as_object() else { return false };
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
        fn check(before: Option<&str>, entries: &[Value], expected: &str) {
            let dir = tempfile::tempdir().unwrap();
            let file = dir.path().join("firestore.indexes.json");
            if let Some(before) = before {
                fs::write(&file, before).unwrap();
            }
            for entry in entries {
                add(&file, entry).unwrap();
            }
            assert_eq!(fs::read_to_string(&file).unwrap(), expected);
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        }
        let index = json!({"collectionGroup": "c", "fields": []});
        let exception = json!({"collectionGroup": "c", "fieldPath": "a", "indexes": []});
        check(
            None,
            &[index.clone(), exception.clone()],
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
      "indexes": []
    }
  ]
}
"#,
        );
        check(
            Some("{\n  // Ours.\n  \"indexes\": [\n    {\"x\": 1} // First.\n  ]\n}\n"),
            &[index],
            "{\n  // Ours.\n  \"indexes\": [\n    {\"x\": 1}, // First.\n    {\n      \
             \"collectionGroup\": \"c\",\n      \"fields\": []\n    }\n  ],\n  \
             \"fieldOverrides\": []\n}\n",
        );
    }

    #[test]
    fn what_is_no_index_file_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f.json");
        let exception = json!({"collectionGroup": "c", "fieldPath": "a", "indexes": []});
        for text in ["[]", "{\"indexes\": 1}", "{"] {
            fs::write(&file, text).unwrap();
            add(&file, &exception).unwrap_err();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        fs::write(&file, json!({"fieldOverrides": [exception]}).to_string()).unwrap();
        assert!(add(&file, &exception).unwrap_err().contains("already"));
    }
}
