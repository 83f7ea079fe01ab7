//! What is said of an index that is missing: production's refusal, and the entry to paste.

use base_value::{DatabaseName, FieldPath};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::BytesMut;
use engine_query::{Direction, IndexMode, IndexScope, RequiredField, RequiredIndex};
use prost::encoding::{WireType, encode_key, encode_varint, int32, string};
use serde_json::{Value, json};

use super::MissingIndex;

/// Production's text, and below it what would help.
pub(super) fn refusal(database: &DatabaseName, required: &RequiredIndex) -> String {
    format!("{}\n\n{}", product_text(database, required), advice(required))
}

/// What a developer is told whose query is answered here and would not be in production.
pub(super) fn warning(required: &RequiredIndex) -> String {
    format!("production would refuse a query for want of an index. {}", advice(required))
}

/// What is told where the entry could not be written.
pub(super) fn not_recorded(required: &RequiredIndex, problem: &str) -> String {
    format!("{problem}. {}", advice(required))
}

fn advice(required: &RequiredIndex) -> String {
    let list = match required {
        RequiredIndex::Composite { .. } => "indexes",
        RequiredIndex::Single { .. } => "fieldOverrides",
    };
    format!("Add this to \"{list}\" in firestore.indexes.json: {}", entry(required))
}

/// What is to be written into an index file.
pub(super) fn missing(required: &RequiredIndex) -> MissingIndex {
    let single = match required {
        RequiredIndex::Composite { .. } => None,
        RequiredIndex::Single { scope, mode, .. } => Some(entry_single(*mode, *scope)),
    };
    MissingIndex { entry: entry(required), single }
}

fn entry_single(mode: IndexMode, scope: IndexScope) -> Value {
    let (key, value) = mode_name(mode);
    json!({key: value, "queryScope": scope_name(scope)})
}

/// The entry of an index file.
pub(super) fn entry(required: &RequiredIndex) -> Value {
    match required {
        RequiredIndex::Composite { collection_id, scope, fields } => json!({
            "collectionGroup": collection_id,
            "queryScope": scope_name(*scope),
            "fields": without_implied_name(fields).iter().map(entry_field).collect::<Vec<_>>(),
        }),
        RequiredIndex::Single { collection_id, scope, field, mode } => {
            // An exception takes the place of the automatic indexes, so it lists them too.
            let automatic = [IndexMode::Ascending, IndexMode::Descending, IndexMode::Contains];
            let mut indexes: Vec<_> =
                automatic.map(|mode| (mode, IndexScope::Collection)).into_iter().collect();
            if !indexes.contains(&(*mode, *scope)) {
                indexes.push((*mode, *scope));
            }
            let indexes = indexes.into_iter().map(|(mode, scope)| entry_single(mode, scope));
            json!({
                "collectionGroup": collection_id,
                "fieldPath": field.to_string(),
                "indexes": indexes.collect::<Vec<_>>(),
            })
        }
    }
}

/// The fields without the name where it runs as the last field does anyway.
fn without_implied_name(fields: &[RequiredField]) -> &[RequiredField] {
    let [rest @ .., RequiredField::Ordered(path, way)] = fields else { return fields };
    let implied = match rest.last() {
        Some(RequiredField::Ordered(_, last)) => last == way,
        Some(RequiredField::Contains(_)) => *way == Direction::Ascending,
        Some(RequiredField::Vector(..)) | None => false,
    };
    if path.is_name() && implied { rest } else { fields }
}

fn entry_field(field: &RequiredField) -> Value {
    match field {
        RequiredField::Ordered(path, way) => {
            json!({"fieldPath": path.to_string(), "order": way_name(*way)})
        }
        RequiredField::Contains(path) => {
            json!({"fieldPath": path.to_string(), "arrayConfig": "CONTAINS"})
        }
        RequiredField::Vector(path, dimension) => {
            let config = json!({"dimension": dimension, "flat": {}});
            json!({"fieldPath": path.to_string(), "vectorConfig": config})
        }
    }
}

fn way_name(way: Direction) -> &'static str {
    match way {
        Direction::Ascending => "ASCENDING",
        Direction::Descending => "DESCENDING",
    }
}

fn mode_name(mode: IndexMode) -> (&'static str, &'static str) {
    match mode {
        IndexMode::Ascending => ("order", "ASCENDING"),
        IndexMode::Descending => ("order", "DESCENDING"),
        IndexMode::Contains => ("arrayConfig", "CONTAINS"),
    }
}

fn scope_name(scope: IndexScope) -> &'static str {
    match scope {
        IndexScope::Collection => "COLLECTION",
        IndexScope::Group => "COLLECTION_GROUP",
    }
}

/// Production's words, with the link to the console that its tools look for.
fn product_text(database: &DatabaseName, required: &RequiredIndex) -> String {
    let console = format!(
        "https://console.firebase.google.com/v1/r/project/{}/firestore/indexes",
        database.project
    );
    match required {
        RequiredIndex::Composite { collection_id, scope, fields } => match fields.last() {
            Some(RequiredField::Vector(..)) => vector_text(collection_id, *scope, fields),
            _ => {
                let token = token(database, collection_id, *scope, fields);
                format!(
                    "The query requires an index. You can create it here: \
                     {console}?create_composite={token}"
                )
            }
        },
        RequiredIndex::Single { collection_id, scope, field, mode } => {
            let way = match mode {
                IndexMode::Ascending => "ASC",
                IndexMode::Descending => "DESC",
                IndexMode::Contains => "CONTAINS",
            };
            let single = [single_field(field, *mode)];
            let token = token(database, collection_id, *scope, &single);
            format!(
                "The query requires a {}_{way} index for collection {collection_id} and field \
                 {field}. You can create it here: {console}?create_exemption={token}",
                scope_name(*scope)
            )
        }
    }
}

fn single_field(field: &FieldPath, mode: IndexMode) -> RequiredField {
    match mode {
        IndexMode::Ascending => RequiredField::Ordered(field.clone(), Direction::Ascending),
        IndexMode::Descending => RequiredField::Ordered(field.clone(), Direction::Descending),
        IndexMode::Contains => RequiredField::Contains(field.clone()),
    }
}

fn vector_text(collection_id: &str, scope: IndexScope, fields: &[RequiredField]) -> String {
    let configs: String = fields
        .iter()
        .map(|field| match field {
            RequiredField::Ordered(path, way) => {
                format!(" --field-config=order={},field-path={path}", way_name(*way))
            }
            RequiredField::Contains(path) => {
                format!(" --field-config=array-config=CONTAINS,field-path={path}")
            }
            RequiredField::Vector(path, dimension) => format!(
                " --field-config=vector-config='{{\"dimension\":\"{dimension}\",\"flat\": \
                 \"{{}}\"}}',field-path={path}"
            ),
        })
        .collect();
    format!(
        "Missing vector index configuration. Please create the required index with the following \
         gcloud command: gcloud firestore indexes composite create \
         --collection-group={collection_id} --query-scope={}{configs}",
        scope_name(scope)
    )
}

/// A `google.firestore.admin.v1.Index` as the console takes it: base64 of the message.
fn token(
    database: &DatabaseName,
    collection_id: &str,
    scope: IndexScope,
    fields: &[RequiredField],
) -> String {
    let mut index = BytesMut::new();
    let name = format!("{database}/collectionGroups/{collection_id}/indexes/_");
    string::encode(1, &name, &mut index);
    let scope = match scope {
        IndexScope::Collection => 1,
        IndexScope::Group => 2,
    };
    int32::encode(2, &scope, &mut index);
    for field in fields {
        let mut message = BytesMut::new();
        match field {
            RequiredField::Ordered(path, way) => {
                string::encode(1, &path.to_string(), &mut message);
                let way = match way {
                    Direction::Ascending => 1,
                    Direction::Descending => 2,
                };
                int32::encode(2, &way, &mut message);
            }
            RequiredField::Contains(path) => {
                string::encode(1, &path.to_string(), &mut message);
                int32::encode(3, &1, &mut message);
            }
            // These are not created by a link.
            RequiredField::Vector(..) => {}
        }
        encode_key(3, WireType::LengthDelimited, &mut index);
        encode_varint(message.len() as u64, &mut index);
        index.extend_from_slice(&message);
    }
    URL_SAFE_NO_PAD.encode(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> FieldPath {
        FieldPath::parse(text).expect("it is a path")
    }

    fn ascending(text: &str) -> RequiredField {
        RequiredField::Ordered(path(text), Direction::Ascending)
    }

    fn composite(fields: Vec<RequiredField>) -> RequiredIndex {
        let collection_id = "color".to_owned();
        RequiredIndex::Composite { collection_id, scope: IndexScope::Collection, fields }
    }

    #[test]
    fn the_refusal_is_productions_with_the_entry_below() {
        let required = composite(vec![ascending("foo"), ascending("bar"), ascending("__name__")]);
        let text = refusal(&DatabaseName::new("p", "(default)"), &required);
        assert_eq!(
            text,
            "The query requires an index. You can create it here: \
             https://console.firebase.google.com/v1/r/project/p/firestore/indexes?create_composite=\
             Cj9wcm9qZWN0cy9wL2RhdGFiYXNlcy8oZGVmYXVsdCkvY29sbGVjdGlvbkdyb3Vwcy9jb2xvci9pbmRleGVzL18Q\
             ARoHCgNmb28QARoHCgNiYXIQARoMCghfX25hbWVfXxAB\n\n\
             Add this to \"indexes\" in firestore.indexes.json: {\"collectionGroup\":\"color\",\
             \"queryScope\":\"COLLECTION\",\"fields\":[{\"fieldPath\":\"foo\",\
             \"order\":\"ASCENDING\"},{\"fieldPath\":\"bar\",\"order\":\"ASCENDING\"}]}"
        );
    }

    #[test]
    fn an_entry_declares_what_was_required() {
        fn check(required: RequiredIndex) {
            let list = match required {
                RequiredIndex::Composite { .. } => "indexes",
                RequiredIndex::Single { .. } => "fieldOverrides",
            };
            let declared = super::super::file::read(&json!({list: [entry(&required)]}));
            let declared = declared.expect("the entry is well formed");
            assert!(declared.declared.satisfies(&required), "{required:?} {declared:?}");
        }
        let name = |way| RequiredField::Ordered(FieldPath::name(), way);
        let (up, down) = (Direction::Ascending, Direction::Descending);
        check(composite(vec![ascending("a"), ascending("b"), name(up)]));
        check(composite(vec![ascending("a"), RequiredField::Ordered(path("b"), down), name(up)]));
        check(composite(vec![ascending("a"), RequiredField::Ordered(path("b"), down), name(down)]));
        check(composite(vec![ascending("a"), RequiredField::Contains(path("b.`x y`")), name(up)]));
        check(composite(vec![name(down)]));
        check(composite(vec![ascending("a"), RequiredField::Vector(path("v"), 3)]));
        for mode in [IndexMode::Ascending, IndexMode::Descending, IndexMode::Contains] {
            let collection_id = "color".to_owned();
            let scope = IndexScope::Group;
            check(RequiredIndex::Single { collection_id, scope, field: path("a"), mode });
        }
    }

    #[test]
    fn a_missing_index_of_a_group_names_its_field() {
        fn check(mode: IndexMode, way: &str, field: &str) {
            let collection_id = "color".to_owned();
            let scope = IndexScope::Group;
            let required = RequiredIndex::Single { collection_id, scope, field: path("foo"), mode };
            let text = refusal(&DatabaseName::new("p", "(default)"), &required);
            let (before, token) = text
                .lines()
                .next()
                .and_then(|line| line.split_once("?create_exemption="))
                .expect("the link is there");
            assert_eq!(
                before,
                format!(
                    "The query requires a COLLECTION_GROUP_{way} index for collection color and field \
                     foo. You can create it here: \
                     https://console.firebase.google.com/v1/r/project/p/firestore/indexes"
                )
            );
            let token = URL_SAFE_NO_PAD.decode(token).expect("it is base64");
            let token = String::from_utf8(token).expect("it holds names and small numbers");
            let name = "projects/p/databases/(default)/collectionGroups/color/indexes/_";
            assert_eq!(token, format!("\n?{name}\u{10}\u{2}\u{1a}\u{7}\n\u{3}foo{field}"));
        }
        check(IndexMode::Ascending, "ASC", "\u{10}\u{1}");
        check(IndexMode::Descending, "DESC", "\u{10}\u{2}");
        check(IndexMode::Contains, "CONTAINS", "\u{18}\u{1}");
    }

    #[test]
    fn a_missing_vector_index_names_the_command() {
        let required = composite(vec![ascending("a"), RequiredField::Vector(path("v"), 3)]);
        let text = refusal(&DatabaseName::new("p", "(default)"), &required);
        assert!(
            text.starts_with(
                "Missing vector index configuration. Please create the required index with the \
                 following gcloud command: gcloud firestore indexes composite create \
                 --collection-group=color --query-scope=COLLECTION \
                 --field-config=order=ASCENDING,field-path=a \
                 --field-config=vector-config='{\"dimension\":\"3\",\"flat\": \"{}\"}',field-path=v\n"
            ),
            "{text}"
        );
    }
}
