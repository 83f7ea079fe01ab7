//! The requests of the admin API, decoded.

use base_value::{DatabaseName, FieldPath, check_collection_id, parse_database};
use base_wire::google::firestore::admin::v1 as wire;
use engine_query::{ALL_COLLECTIONS, Direction, IndexMode, IndexScope, RequiredField};
use wire::database::{
    ConcurrencyMode, DatabaseEdition, DatabaseType, DeleteProtectionState,
    PointInTimeRecoveryEnablement,
};
use wire::index::index_field::{ArrayConfig, Order, ValueMode};
use wire::index::{ApiScope, IndexField, QueryScope};

use crate::catalog::{Concurrency, DatabaseSettings};
use crate::error::Error;
use crate::ops::admin::databases::SettingsChange;
use crate::ops::admin::fields::{FieldFilter, FieldName, FieldUpdate, SingleIndex};
use crate::ops::admin::operations::OperationName;
use crate::ops::admin::{Group, PageOf};

/// The project that a list of databases is asked of.
pub(crate) fn project(parent: &str) -> Result<String, Error> {
    match parent.split('/').collect::<Vec<_>>().as_slice() {
        ["projects", project] if !project.is_empty() => Ok((*project).to_owned()),
        _ => Err(bad_name(parent, "projects/{project}")),
    }
}

pub(crate) fn database(name: &str) -> Result<DatabaseName, Error> {
    Ok(parse_database(name)?)
}

pub(crate) fn group(name: &str) -> Result<Group, Error> {
    let (group, rest) = split_group(name)?;
    match rest {
        "" => Ok(group),
        _ => Err(bad_name(name, GROUP)),
    }
}

/// The collection group and the id of an index.
pub(crate) fn index_name(name: &str) -> Result<(Group, String), Error> {
    let (group, rest) = split_group(name)?;
    match rest.strip_prefix("indexes/") {
        Some(id) if !id.is_empty() && !id.contains('/') => Ok((group, id.to_owned())),
        _ => Err(bad_name(name, &format!("{GROUP}/indexes/{{index}}"))),
    }
}

pub(crate) fn field_name(name: &str) -> Result<FieldName, Error> {
    let (group, rest) = split_group(name)?;
    let field = match rest.strip_prefix("fields/") {
        None | Some("") => return Err(bad_name(name, &format!("{GROUP}/fields/{{field}}"))),
        Some("*") => None,
        Some(path) => Some(FieldPath::parse(path)?),
    };
    Ok(FieldName { group, field })
}

pub(crate) fn operation_name(name: &str) -> Result<OperationName, Error> {
    let malformed = || bad_name(name, "projects/{project}/databases/{database}/operations/{id}");
    let (database, id) = name.split_once("/operations/").ok_or_else(malformed)?;
    if id.is_empty() || id.contains('/') {
        return Err(malformed());
    }
    Ok(OperationName { database: parse_database(database)?, id: id.to_owned() })
}

const GROUP: &str = "projects/{project}/databases/{database}/collectionGroups/{collection}";

/// A collection group, and what follows it in a name.
fn split_group(name: &str) -> Result<(Group, &str), Error> {
    let malformed = || bad_name(name, GROUP);
    let (database, rest) = name.split_once("/collectionGroups/").ok_or_else(malformed)?;
    let (collection_id, rest) = rest.split_once('/').unwrap_or((rest, ""));
    if collection_id.is_empty() {
        return Err(malformed());
    }
    if collection_id != ALL_COLLECTIONS {
        check_collection_id(collection_id)?;
    }
    let (database, collection_id) = (parse_database(database)?, collection_id.to_owned());
    Ok((Group { database, collection_id }, rest))
}

fn bad_name(name: &str, form: &str) -> Error {
    Error::invalid(format!("the name `{name}` must have the form {form}"))
}

pub(crate) fn page(size: i32, token: String) -> Result<PageOf, Error> {
    let size = usize::try_from(size)
        .map_err(|_| Error::invalid("page_size must be greater than or equal to zero."))?;
    Ok(PageOf { size, token })
}

/// Lists that cannot be filtered here.
pub(crate) fn no_filter(filter: &str) -> Result<(), Error> {
    match filter.trim() {
        "" => Ok(()),
        other => Err(Error::invalid(format!("the filter `{other}` is not supported"))),
    }
}

/// The filters that production takes, alone or joined by OR.
pub(crate) fn field_filter(filter: &str) -> Result<FieldFilter, Error> {
    let mut wanted = FieldFilter::default();
    for part in filter.split(" OR ") {
        let part: String = part.chars().filter(|char| !matches!(char, ' ' | '(' | ')')).collect();
        match part
            .replace('=', ":")
            .replace("index_config.uses_ancestor_config", "indexConfig.usesAncestorConfig")
            .replace("ttl_config", "ttlConfig")
            .as_str()
        {
            "indexConfig.usesAncestorConfig:false" => wanted.excepted = true,
            "ttlConfig:*" => wanted.with_ttl = true,
            _ => {
                return Err(Error::invalid(
                    "ListFields only supports listing fields that have been explicitly overridden: set the \
                     filter to `indexConfig.usesAncestorConfig:false` or `ttlConfig:*`",
                ));
            }
        }
    }
    Ok(wanted)
}

/// The collection group, the scope and the fields of a new index.
pub(crate) fn create_index(
    request: wire::CreateIndexRequest,
) -> Result<(Group, IndexScope, Vec<RequiredField>), Error> {
    let group = group(&request.parent)?;
    let index = request.index.ok_or_else(|| Error::invalid("index must be set"))?;
    check_api_scope(&index)?;
    let scope = query_scope(&index)?;
    let fields = index.fields.iter().map(required).collect::<Result<_, _>>()?;
    Ok((group, scope, fields))
}

fn check_api_scope(index: &wire::Index) -> Result<(), Error> {
    match ApiScope::try_from(index.api_scope) {
        Ok(ApiScope::AnyApi) => Ok(()),
        _ => Err(Error::invalid(
            "api_scope must be ANY_API in a database of Firestore's native mode",
        )),
    }
}

fn query_scope(index: &wire::Index) -> Result<IndexScope, Error> {
    match QueryScope::try_from(index.query_scope) {
        Ok(QueryScope::Collection) => Ok(IndexScope::Collection),
        Ok(QueryScope::CollectionGroup) => Ok(IndexScope::Group),
        _ => Err(Error::invalid("query_scope must be COLLECTION or COLLECTION_GROUP")),
    }
}

fn required(field: &IndexField) -> Result<RequiredField, Error> {
    let path = FieldPath::parse(&field.field_path)?;
    if let Some(ValueMode::VectorConfig(config)) = &field.value_mode {
        return match usize::try_from(config.dimension) {
            Ok(dimension) if dimension > 0 => Ok(RequiredField::Vector(path, dimension)),
            _ => Err(Error::invalid("the dimension of a vector must be greater than zero")),
        };
    }
    Ok(match mode(field)? {
        IndexMode::Ascending => RequiredField::Ordered(path, Direction::Ascending),
        IndexMode::Descending => RequiredField::Ordered(path, Direction::Descending),
        IndexMode::Contains => RequiredField::Contains(path),
    })
}

fn mode(field: &IndexField) -> Result<IndexMode, Error> {
    let mode = match field.value_mode {
        Some(ValueMode::Order(order)) => match Order::try_from(order) {
            Ok(Order::Ascending) => Some(IndexMode::Ascending),
            Ok(Order::Descending) => Some(IndexMode::Descending),
            Ok(Order::Unspecified) | Err(_) => None,
        },
        Some(ValueMode::ArrayConfig(config)) => match ArrayConfig::try_from(config) {
            Ok(ArrayConfig::Contains) => Some(IndexMode::Contains),
            Ok(ArrayConfig::Unspecified) | Err(_) => None,
        },
        Some(ValueMode::VectorConfig(_)) | None => None,
    };
    mode.ok_or_else(|| {
        let path = &field.field_path;
        Error::invalid(format!("No valid order or array config provided: field_path: \"{path}\""))
    })
}

/// The field and what becomes of it. Without a mask everything that is not set goes back to what is automatic.
pub(crate) fn update_field(
    request: wire::UpdateFieldRequest,
) -> Result<(FieldName, FieldUpdate), Error> {
    let field = request.field.ok_or_else(|| Error::invalid("field must be set"))?;
    let name = field_name(&field.name)?;
    let (mut with_indexes, mut with_ttl) =
        (request.update_mask.is_none(), request.update_mask.is_none());
    for path in request.update_mask.into_iter().flat_map(|mask| mask.paths) {
        match path.split('.').next().unwrap_or_default() {
            "*" => (with_indexes, with_ttl) = (true, true),
            "index_config" | "indexConfig" => with_indexes = true,
            "ttl_config" | "ttlConfig" => with_ttl = true,
            "name" => {}
            _ => {
                return Err(Error::invalid(format!(
                    "update_mask names no field that can be updated: `{path}`"
                )));
            }
        }
    }
    let indexes = match field.index_config {
        Some(config) if !config.uses_ancestor_config || !config.indexes.is_empty() => {
            Some(singles(&config.indexes)?)
        }
        Some(_) | None => None,
    };
    let update = FieldUpdate {
        indexes: with_indexes.then_some(indexes),
        has_ttl: with_ttl.then_some(field.ttl_config.is_some()),
    };
    Ok((name, update))
}

/// The indexes of one field: each at most once, so that there are few.
fn singles(indexes: &[wire::Index]) -> Result<Vec<SingleIndex>, Error> {
    let mut found = Vec::new();
    for index in indexes {
        let single = single(index)?;
        if found.contains(&single) {
            return Err(Error::invalid("the index configuration has an index twice"));
        }
        found.push(single);
    }
    Ok(found)
}

fn single(index: &wire::Index) -> Result<SingleIndex, Error> {
    check_api_scope(index)?;
    match index.fields.as_slice() {
        [field] => Ok((query_scope(index)?, mode(field)?)),
        _ => Err(Error::invalid("an index of a single field has one field")),
    }
}

/// The name and the settings of a new database.
pub(crate) fn create_database(
    request: wire::CreateDatabaseRequest,
) -> Result<(DatabaseName, DatabaseSettings), Error> {
    let project = project(&request.parent)?;
    let name = DatabaseName::new(&project, &request.database_id);
    let wanted = request.database.unwrap_or_default();
    match DatabaseType::try_from(wanted.r#type) {
        Ok(DatabaseType::FirestoreNative) => {}
        Ok(DatabaseType::DatastoreMode) => return Err(lacks("Datastore mode")),
        Ok(DatabaseType::Unspecified) | Err(_) => {
            return Err(Error::invalid("the type of the database must be set"));
        }
    }
    if DatabaseEdition::try_from(wanted.database_edition) == Ok(DatabaseEdition::Enterprise) {
        return Err(lacks("the enterprise edition"));
    }
    if wanted.location_id.is_empty() {
        return Err(Error::invalid("the location_id of the database must be set"));
    }
    let default = DatabaseSettings::default();
    let settings = DatabaseSettings {
        concurrency: concurrency(wanted.concurrency_mode)?.unwrap_or(default.concurrency),
        has_point_in_time_recovery: recovery(wanted.point_in_time_recovery_enablement)
            .unwrap_or_default(),
        is_delete_protected: protection(wanted.delete_protection_state).unwrap_or_default(),
        location_id: wanted.location_id,
    };
    Ok((name, settings))
}

fn lacks(what: &str) -> Error {
    base_status::Status::unimplemented(format!("firelet does not have {what} yet")).into()
}

/// The name, the etag and the change.
pub(crate) fn update_database(
    request: wire::UpdateDatabaseRequest,
) -> Result<(DatabaseName, String, SettingsChange), Error> {
    let wanted = request.database.ok_or_else(|| Error::invalid("database must be set"))?;
    let name = parse_database(&wanted.name)?;
    let all = SettingsChange {
        concurrency: concurrency(wanted.concurrency_mode)?,
        has_point_in_time_recovery: recovery(wanted.point_in_time_recovery_enablement),
        is_delete_protected: protection(wanted.delete_protection_state),
    };
    let Some(mask) = request.update_mask.filter(|mask| !mask.paths.is_empty()) else {
        return Ok((name, wanted.etag, all));
    };
    let mut change = SettingsChange::default();
    for path in mask.paths {
        match path.as_str() {
            "*" => change = all,
            "concurrency_mode" => change.concurrency = all.concurrency,
            "point_in_time_recovery_enablement" => {
                change.has_point_in_time_recovery = all.has_point_in_time_recovery;
            }
            "delete_protection_state" => change.is_delete_protected = all.is_delete_protected,
            "name" | "etag" => {}
            _ => {
                return Err(Error::invalid(format!(
                    "the field `{path}` of a database cannot be updated"
                )));
            }
        }
    }
    Ok((name, wanted.etag, change))
}

fn concurrency(mode: i32) -> Result<Option<Concurrency>, Error> {
    match ConcurrencyMode::try_from(mode) {
        Ok(ConcurrencyMode::Unspecified) => Ok(None),
        Ok(ConcurrencyMode::Optimistic) => Ok(Some(Concurrency::Optimistic)),
        Ok(ConcurrencyMode::Pessimistic) => Ok(Some(Concurrency::Pessimistic)),
        Ok(ConcurrencyMode::OptimisticWithEntityGroups) => {
            Ok(Some(Concurrency::OptimisticWithEntityGroups))
        }
        Err(_) => Err(Error::invalid("unknown concurrency_mode")),
    }
}

fn recovery(state: i32) -> Option<bool> {
    match PointInTimeRecoveryEnablement::try_from(state) {
        Ok(PointInTimeRecoveryEnablement::PointInTimeRecoveryEnabled) => Some(true),
        Ok(PointInTimeRecoveryEnablement::PointInTimeRecoveryDisabled) => Some(false),
        Ok(PointInTimeRecoveryEnablement::Unspecified) | Err(_) => None,
    }
}

fn protection(state: i32) -> Option<bool> {
    match DeleteProtectionState::try_from(state) {
        Ok(DeleteProtectionState::DeleteProtectionEnabled) => Some(true),
        Ok(DeleteProtectionState::DeleteProtectionDisabled) => Some(false),
        Ok(DeleteProtectionState::Unspecified) | Err(_) => None,
    }
}
