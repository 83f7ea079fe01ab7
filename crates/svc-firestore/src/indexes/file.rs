//! Reading an index file, `firestore.indexes.json`: what it declares, and everything that is wrong with it.

use base_value::FieldPath;
use engine_query::{
    Declared, DeclaredIndex, Direction, FieldOverride, IndexMode, IndexScope, RequiredField,
};
use serde_json::{Map, Value};

use super::definitions::TtlPolicy;

/// What a file declares.
#[derive(Debug)]
pub(super) struct IndexFile {
    pub(super) declared: Declared,
    /// At most one for a collection group.
    pub(super) ttl: Vec<TtlPolicy>,
}

/// Reads the file's content.
///
/// # Errors
/// Every problem with its place.
pub(super) fn read(file: &Value) -> Result<IndexFile, Vec<String>> {
    let mut problems = Vec::new();
    let indexes = list(file, "indexes", index, &mut problems);
    let overrides = list(file, "fieldOverrides", field_override, &mut problems);
    let mut ttl: Vec<TtlPolicy> = Vec::new();
    for policy in list(file, "fieldOverrides", ttl_policy, &mut problems).into_iter().flatten() {
        match ttl.iter().find(|known| known.collection_id == policy.collection_id) {
            Some(known) if known.field != policy.field => problems.push(format!(
                "fieldOverrides: the collection group `{}` has a TTL policy for `{}` and another one for \
                 `{}`; there can be one",
                policy.collection_id, known.field, policy.field
            )),
            Some(_) => {}
            None => ttl.push(policy),
        }
    }
    if !problems.is_empty() {
        // Both readings of an exception may meet the same problem.
        let mut told = Vec::new();
        problems.retain(|problem| {
            !told.contains(problem) && {
                told.push(problem.clone());
                true
            }
        });
        return Err(problems);
    }
    let indexes = indexes.into_iter().flatten().collect();
    let overrides = overrides.into_iter().flatten().collect();
    Ok(IndexFile { declared: Declared { indexes, overrides }, ttl })
}

/// How long documents live, where an exception says so.
fn ttl_policy(entry: &Map<String, Value>) -> Result<Option<TtlPolicy>, String> {
    match entry.get("ttl") {
        None | Some(Value::Null | Value::Bool(false)) => return Ok(None),
        Some(Value::Bool(true)) => {}
        Some(_) => return Err(".ttl must be true or false".to_owned()),
    }
    let collection_id = collection_id(entry)?;
    let path = entry.get("fieldPath").and_then(Value::as_str);
    match path.ok_or(".fieldPath must be a field path")? {
        "*" => Err(".ttl needs a field of its own, not `*`".to_owned()),
        path => Ok(Some(TtlPolicy { collection_id, field: parse(path)? })),
    }
}

fn list<T>(
    file: &Value,
    key: &str,
    read: fn(&Map<String, Value>) -> Result<T, String>,
    problems: &mut Vec<String>,
) -> Vec<T> {
    let entries = match file.get(key) {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(entries)) => entries,
        Some(_) => {
            problems.push(format!("{key} must be an array"));
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        match entry.as_object().ok_or_else(|| " must be an object".to_owned()).and_then(read) {
            Ok(entry) => found.push(entry),
            Err(problem) => problems.push(format!("{key}[{number}]{problem}")),
        }
    }
    found
}

/// One composite index; `None` for one of a scope that no query by fields has.
fn index(entry: &Map<String, Value>) -> Result<Option<DeclaredIndex>, String> {
    let collection_id = collection_id(entry)?;
    let Some(scope) = scope(entry)? else { return Ok(None) };
    let Some(Value::Array(listed)) = entry.get("fields") else {
        return Err(".fields must be an array".to_owned());
    };
    let mut fields = Vec::new();
    for (number, listed) in listed.iter().enumerate() {
        let read =
            listed.as_object().ok_or_else(|| " must be an object".to_owned()).and_then(field);
        fields.push(read.map_err(|problem| format!(".fields[{number}]{problem}"))?);
    }
    Ok(Some(DeclaredIndex { collection_id, scope, fields }))
}

fn collection_id(entry: &Map<String, Value>) -> Result<String, String> {
    let id = entry.get("collectionGroup").or_else(|| entry.get("collectionId"));
    let id = id.and_then(Value::as_str).filter(|id| !id.is_empty());
    Ok(id.ok_or(".collectionGroup must be the id of a collection")?.to_owned())
}

fn scope(entry: &Map<String, Value>) -> Result<Option<IndexScope>, String> {
    match entry.get("queryScope").and_then(Value::as_str) {
        Some("COLLECTION") | None => Ok(Some(IndexScope::Collection)),
        Some("COLLECTION_GROUP") => Ok(Some(IndexScope::Group)),
        Some("COLLECTION_RECURSIVE") => Ok(None),
        Some(_) => Err(".queryScope must be COLLECTION or COLLECTION_GROUP".to_owned()),
    }
}

fn field(entry: &Map<String, Value>) -> Result<RequiredField, String> {
    let path = entry.get("fieldPath").and_then(Value::as_str);
    let path = parse(path.ok_or(".fieldPath must be a field path")?)?;
    if let Some(vector) = entry.get("vectorConfig") {
        let dimension = vector.get("dimension").and_then(Value::as_u64);
        let dimension = dimension.and_then(|dimension| usize::try_from(dimension).ok());
        let dimension = dimension.ok_or(".vectorConfig.dimension must be a whole number")?;
        return Ok(RequiredField::Vector(path, dimension));
    }
    Ok(match mode(entry) {
        Some(IndexMode::Ascending) => RequiredField::Ordered(path, Direction::Ascending),
        Some(IndexMode::Descending) => RequiredField::Ordered(path, Direction::Descending),
        Some(IndexMode::Contains) => RequiredField::Contains(path),
        None => {
            return Err(
                " must have an `order` (ASCENDING or DESCENDING), an `arrayConfig` (CONTAINS) or a \
                 `vectorConfig`"
                    .to_owned(),
            );
        }
    })
}

/// Older files call the order `mode`.
fn mode(entry: &Map<String, Value>) -> Option<IndexMode> {
    let named = ["order", "mode", "arrayConfig"].iter().find_map(|key| entry.get(*key)?.as_str());
    match named? {
        "ASCENDING" => Some(IndexMode::Ascending),
        "DESCENDING" => Some(IndexMode::Descending),
        "CONTAINS" | "ARRAY_CONTAINS" => Some(IndexMode::Contains),
        _ => None,
    }
}

fn parse(path: &str) -> Result<FieldPath, String> {
    FieldPath::parse(path).map_err(|_| format!(".fieldPath must be a field path, not `{path}`"))
}

/// One exception. One without `indexes` says something else of the field, such as how long documents live.
fn field_override(entry: &Map<String, Value>) -> Result<Option<FieldOverride>, String> {
    let collection_id = collection_id(entry)?;
    let path = entry.get("fieldPath").and_then(Value::as_str);
    let field = match path.ok_or(".fieldPath must be a field path")? {
        "*" => None,
        path => Some(parse(path)?),
    };
    let listed = match entry.get("indexes") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(listed)) => listed,
        Some(_) => return Err(".indexes must be an array".to_owned()),
    };
    let mut indexes = Vec::new();
    for (number, listed) in listed.iter().enumerate() {
        let at = |problem: &str| format!(".indexes[{number}]{problem}");
        let listed = listed.as_object().ok_or_else(|| at(" must be an object"))?;
        let mode = mode(listed).ok_or_else(|| at(" must have an `order` or an `arrayConfig`"))?;
        if let Some(scope) = scope(listed).map_err(|problem| at(&problem))? {
            indexes.push((scope, mode));
        }
    }
    Ok(Some(FieldOverride { collection_id, field, indexes }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::indexes::definitions::definition;

    #[test]
    fn entries_are_read_or_left_out() {
        fn check(entry: &Value, expected: Option<&[(&str, IndexMode)]>) {
            let declared = index(entry.as_object().unwrap()).unwrap().unwrap();
            let found = definition(&declared);
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
            assert_eq!(read(file).unwrap_err(), expected, "{file}");
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
        check(
            &json!({"fieldOverrides": [
                {"collectionGroup": "c", "fieldPath": "a", "indexes": [{}]},
                {"collectionGroup": "c", "fieldPath": "a..b"},
                {"collectionGroup": "c", "fieldPath": "a", "indexes": 1},
            ]}),
            &[
                "fieldOverrides[0].indexes[0] must have an `order` or an `arrayConfig`",
                "fieldOverrides[1].fieldPath must be a field path, not `a..b`",
                "fieldOverrides[2].indexes must be an array",
            ],
        );
        check(
            &json!({"fieldOverrides": [
                {"collectionGroup": "c", "fieldPath": "a", "ttl": 1},
                {"collectionGroup": "c", "fieldPath": "*", "ttl": true},
                {"collectionGroup": "c", "fieldPath": "a", "ttl": true, "indexes": []},
                {"collectionGroup": "c", "fieldPath": "b", "ttl": true},
                {"collectionGroup": "d", "fieldPath": "b", "ttl": true},
            ]}),
            &[
                "fieldOverrides[0].ttl must be true or false",
                "fieldOverrides[1].ttl needs a field of its own, not `*`",
                "fieldOverrides: the collection group `c` has a TTL policy for `a` and another one for \
                 `b`; there can be one",
            ],
        );
    }

    #[test]
    fn exceptions_are_read() {
        let file = json!({"fieldOverrides": [
            {"collectionGroup": "c", "fieldPath": "*", "indexes": []},
            {"collectionGroup": "c", "fieldPath": "ttl", "ttl": true},
            {"collectionGroup": "c", "fieldPath": "a", "indexes": [
                {"order": "ASCENDING", "queryScope": "COLLECTION_GROUP"},
                {"arrayConfig": "CONTAINS", "queryScope": "COLLECTION"},
            ]},
        ]});
        let exception = |field: Option<&str>, indexes| FieldOverride {
            collection_id: "c".to_owned(),
            field: field.map(|field| FieldPath::parse(field).unwrap()),
            indexes,
        };
        let of_a = vec![
            (IndexScope::Group, IndexMode::Ascending),
            (IndexScope::Collection, IndexMode::Contains),
        ];
        let expected = [exception(None, Vec::new()), exception(Some("a"), of_a)];
        let found = read(&file).unwrap();
        assert_eq!(found.declared.overrides, expected);
        let policy =
            TtlPolicy { collection_id: "c".to_owned(), field: FieldPath::parse("ttl").unwrap() };
        assert_eq!(found.ttl, [policy]);
    }
}
