//! Which indexes queries are served by: the automatic ones of every field, and for each database the
//! composite ones that the project declares. A database's store derives with the same indexer that its
//! queries are prepared with.

use std::collections::HashMap;

use base_value::{DatabaseName, FieldPath};
use engine_query::{
    IndexDefinition, IndexField, IndexMode, IndexScope, Indexer, Prepared, Query, QueryError,
};
use serde_json::{Map, Value};

/// The indexes of every database: those of one id are the same in every project.
#[derive(Clone, Debug, Default)]
pub struct Indexes {
    automatic: Indexer,
    declared: HashMap<String, Indexer>,
}

impl Indexes {
    /// Adds what an index file (`firestore.indexes.json`) declares for the databases of an id. What is
    /// declared of single fields changes nothing: every field is indexed in every way.
    ///
    /// # Errors
    /// Everything that is wrong with the file, each with its place.
    pub fn declare(&mut self, database: &str, file: &Value) -> Result<(), Vec<String>> {
        let mut problems = Vec::new();
        let mut definitions = Vec::new();
        match file.get("indexes") {
            None | Some(Value::Null) => {}
            Some(Value::Array(entries)) => {
                for (number, entry) in entries.iter().enumerate() {
                    match definition(entry) {
                        Ok(definition) => definitions.extend(definition),
                        Err(problem) => problems.push(format!("indexes[{number}]{problem}")),
                    }
                }
            }
            Some(_) => problems.push("indexes must be an array".to_owned()),
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        self.declared.insert(database.to_owned(), Indexer::new(definitions));
        Ok(())
    }

    /// What a database derives from its documents.
    pub(crate) fn indexer(&self, database: &DatabaseName) -> &Indexer {
        self.declared.get(&*database.database).unwrap_or(&self.automatic)
    }

    /// Checks and compiles a query, to be served by the indexes.
    ///
    /// # Errors
    /// Queries that production refuses.
    pub(crate) fn prepare(
        &self,
        database: &DatabaseName,
        query: Query,
    ) -> Result<Prepared, QueryError> {
        Ok(Prepared::new(database, query)?.with_indexer(self.indexer(database)))
    }
}

/// One entry of an index file; `None` for one that serves what is not walked by an index here.
fn definition(entry: &Value) -> Result<Option<IndexDefinition>, String> {
    let Value::Object(entry) = entry else { return Err(" must be an object".to_owned()) };
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let collection_id = text("collectionGroup")
        .or_else(|| text("collectionId"))
        .filter(|id| !id.is_empty())
        .ok_or(".collectionGroup must be the id of a collection")?;
    let scope = match text("queryScope") {
        Some("COLLECTION") | None => IndexScope::Collection,
        Some("COLLECTION_GROUP") => IndexScope::Group,
        // Serves queries of whole databases, of which there are none by fields.
        Some("COLLECTION_RECURSIVE") => return Ok(None),
        Some(_) => return Err(".queryScope must be COLLECTION or COLLECTION_GROUP".to_owned()),
    };
    let Some(Value::Array(listed)) = entry.get("fields") else {
        return Err(".fields must be an array".to_owned());
    };
    let mut fields: Vec<IndexField> = Vec::new();
    for (number, listed) in listed.iter().enumerate() {
        let read =
            listed.as_object().ok_or_else(|| " must be an object".to_owned()).and_then(field);
        let (path, mode) = read.map_err(|problem| format!(".fields[{number}]{problem}"))?;
        match mode {
            // Nearest neighbours are found by looking at every vector.
            None => return Ok(None),
            Some(mode) if path.is_name() => {
                let same = fields.last().is_none_or(|last| last.mode == mode);
                // The name runs as the last field does; an index that says otherwise is not walked.
                return Ok(same.then(|| finished(collection_id, scope, fields)).flatten());
            }
            Some(mode) => fields.push(IndexField { path, mode }),
        }
    }
    Ok(finished(collection_id, scope, fields))
}

fn finished(
    collection_id: &str,
    scope: IndexScope,
    fields: Vec<IndexField>,
) -> Option<IndexDefinition> {
    let collection_id = collection_id.to_owned();
    // An index of one field is there anyway.
    (fields.len() > 1).then_some(IndexDefinition { collection_id, scope, fields })
}

fn field(field: &Map<String, Value>) -> Result<(FieldPath, Option<IndexMode>), String> {
    let text = |key: &str| field.get(key).and_then(Value::as_str);
    let path = text("fieldPath").ok_or(".fieldPath must be a field path")?;
    let path = FieldPath::parse(path)
        .map_err(|_| format!(".fieldPath must be a field path, not `{path}`"))?;
    // Older files call the order `mode`.
    let mode = match text("order").or_else(|| text("mode")).or_else(|| text("arrayConfig")) {
        Some("ASCENDING") => Some(IndexMode::Ascending),
        Some("DESCENDING") => Some(IndexMode::Descending),
        Some("CONTAINS" | "ARRAY_CONTAINS") => Some(IndexMode::Contains),
        None if field.contains_key("vectorConfig") => None,
        Some(_) | None => {
            return Err(
                " must have an `order` (ASCENDING or DESCENDING), an `arrayConfig` (CONTAINS) or a \
                 `vectorConfig`"
                    .to_owned(),
            );
        }
    };
    Ok((path, mode))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn entries_are_read_or_left_out() {
        fn check(entry: &Value, expected: Option<&[(&str, IndexMode)]>) {
            let found = definition(entry).unwrap();
            let fields = found.as_ref().map(|found| {
                let fields = found.fields.iter();
                fields.map(|field| (field.path.to_string(), field.mode)).collect::<Vec<_>>()
            });
            let expected = expected.map(|fields| {
                fields.iter().map(|(path, mode)| ((*path).to_owned(), *mode)).collect()
            });
            assert_eq!(fields, expected, "{entry}");
        }
        use IndexMode::{Ascending, Contains, Descending};
        let with = |fields: Value| json!({"collectionGroup": "c", "queryScope": "COLLECTION", "fields": fields});
        let a = json!({"fieldPath": "a", "order": "ASCENDING"});
        let b = json!({"fieldPath": "m.b", "order": "DESCENDING"});
        let t = json!({"fieldPath": "t", "arrayConfig": "CONTAINS"});
        let v = json!({"fieldPath": "v", "vectorConfig": {"dimension": 3, "flat": {}}});
        let up = json!({"fieldPath": "__name__", "order": "ASCENDING"});
        let down = json!({"fieldPath": "__name__", "order": "DESCENDING"});
        let old = json!({"fieldPath": "a", "mode": "ASCENDING"});
        check(&with(json!([a, b])), Some(&[("a", Ascending), ("m.b", Descending)]));
        check(&with(json!([old, b])), Some(&[("a", Ascending), ("m.b", Descending)]));
        check(&with(json!([a, t])), Some(&[("a", Ascending), ("t", Contains)]));
        check(&with(json!([a, b, down])), Some(&[("a", Ascending), ("m.b", Descending)]));
        check(&with(json!([a, b, up])), None);
        check(&with(json!([a])), None);
        check(&with(json!([a, v])), None);
    }

    #[test]
    fn every_problem_has_its_place() {
        fn check(file: &Value, expected: &[&str]) {
            assert_eq!(Indexes::default().declare("x", file).unwrap_err(), expected, "{file}");
        }
        check(&json!({"indexes": {}}), &["indexes must be an array"]);
        check(
            &json!({"indexes": [
                1,
                {"fields": []},
                {"collectionGroup": "c", "queryScope": "ALL"},
                {"collectionGroup": "c"},
                {"collectionGroup": "c", "fields": [{"order": "ASCENDING"}]},
                {"collectionGroup": "c", "fields": [{"fieldPath": "a..b", "order": "ASCENDING"}]},
                {"collectionGroup": "c", "fields": [{"fieldPath": "a", "order": "UP"}]},
            ]}),
            &[
                "indexes[0] must be an object",
                "indexes[1].collectionGroup must be the id of a collection",
                "indexes[2].queryScope must be COLLECTION or COLLECTION_GROUP",
                "indexes[3].fields must be an array",
                "indexes[4].fields[0].fieldPath must be a field path",
                "indexes[5].fields[0].fieldPath must be a field path, not `a..b`",
                "indexes[6].fields[0] must have an `order` (ASCENDING or DESCENDING), an \
                 `arrayConfig` (CONTAINS) or a `vectorConfig`",
            ],
        );
        assert_eq!(Indexes::default().declare("x", &json!({})), Ok(()));
    }
}
