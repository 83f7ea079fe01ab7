//! Names as bytes: what stands behind the group in a storage key, whose byte order is the order of names.

use base_value::{DatabaseName, DocumentName, DocumentPath, Value, key};
use bytes::Bytes;

use crate::error::QueryError;

/// The name bytes of a storage key.
pub(crate) fn of_key(key: &[u8]) -> &[u8] {
    key::path_bytes(key).unwrap_or_default()
}

/// The name bytes of a document.
pub(crate) fn of_path(path: &DocumentPath) -> Bytes {
    let key = key::document(path);
    key.slice_ref(of_key(&key))
}

/// The least name bytes behind those.
pub(crate) fn after(name: &[u8]) -> Bytes {
    [name, &[0]].concat().into()
}

/// The storage key in a group, whose segment is `group`, of the document with those name bytes.
pub(crate) fn in_group(group: &[u8], name: &[u8]) -> Bytes {
    [group, name].concat().into()
}

/// The document a filter of `__name__` compares with.
pub(crate) fn operand_path(
    value: &Value,
    database: &DatabaseName,
) -> Result<DocumentPath, QueryError> {
    let Value::Reference(name) = value else { return Err(QueryError::NameNotReference) };
    let name = DocumentName::parse_reference(name)?;
    name.check_limits()?;
    if name.database != *database {
        return Err(QueryError::OtherDatabase {
            requested: database.to_string(),
            other: name.database.to_string(),
        });
    }
    Ok(name.path)
}

/// The name bytes a filter of `__name__` compares with.
pub(crate) fn operand(value: &Value, database: &DatabaseName) -> Result<Bytes, QueryError> {
    operand_path(value, database).map(|path| of_path(&path))
}

/// The name bytes a cursor stands at.
pub(crate) fn cursor_operand(value: &Value, database: &DatabaseName) -> Result<Bytes, QueryError> {
    let Value::Reference(name) = value else { return Err(QueryError::CursorNotReference) };
    let name = DocumentName::parse_reference(name)?;
    if name.database != *database {
        return Err(QueryError::CursorDatabase);
    }
    Ok(of_path(&name.path))
}
