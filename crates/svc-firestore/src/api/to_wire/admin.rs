//! Answers of the admin API.

use std::time::Duration;

use base_env::UnixMicros;
use base_value::FieldPath;
use base_wire::google::firestore::admin::v1 as wire;
use base_wire::google::longrunning as operations;
use engine_query::{Direction, IndexMode, IndexScope, RequiredField};
use prost::{Message, Name};
use prost_types::Any;
use wire::database::{
    AppEngineIntegrationMode, ConcurrencyMode, DatabaseEdition, DatabaseType,
    DeleteProtectionState, PointInTimeRecoveryEnablement,
};
use wire::field::{IndexConfig, TtlConfig, ttl_config};
use wire::field_operation_metadata::{
    IndexConfigDelta, TtlConfigDelta, index_config_delta, ttl_config_delta,
};
use wire::index::index_field::{ArrayConfig, Order, ValueMode, VectorConfig, vector_config};
use wire::index::{Density, IndexField, QueryScope, State};

use super::time;
use crate::catalog::{Concurrency, DatabaseInfo};
use crate::operations::{Operation, Outcome};
use crate::ops::admin::Group;
use crate::ops::admin::fields::{FieldChange, FieldInfo, FieldName, SingleIndex};
use crate::ops::admin::indexes::IndexInfo;

/// How far back documents can be read: an hour, or a week with point-in-time recovery.
const RETENTION: Duration = Duration::from_secs(3_600);
const RETENTION_WITH_RECOVERY: Duration = Duration::from_secs(7 * 24 * 3_600);

/// What stands before the name of a type.
const TYPES: &str = "type.googleapis.com";

/// A database as it is at a time.
pub(crate) fn database(info: &DatabaseInfo, now: UnixMicros) -> wire::Database {
    let settings = &info.settings;
    let (recovery, retention) = match settings.has_point_in_time_recovery {
        true => {
            (PointInTimeRecoveryEnablement::PointInTimeRecoveryEnabled, RETENTION_WITH_RECOVERY)
        }
        false => (PointInTimeRecoveryEnablement::PointInTimeRecoveryDisabled, RETENTION),
    };
    let reach = i64::try_from(retention.as_micros()).unwrap_or(i64::MAX);
    let earliest = UnixMicros(now.0.saturating_sub(reach)).max(info.create_time);
    let concurrency = match settings.concurrency {
        Concurrency::Optimistic => ConcurrencyMode::Optimistic,
        Concurrency::Pessimistic => ConcurrencyMode::Pessimistic,
        Concurrency::OptimisticWithEntityGroups => ConcurrencyMode::OptimisticWithEntityGroups,
    };
    let protection = match settings.is_delete_protected {
        true => DeleteProtectionState::DeleteProtectionEnabled,
        false => DeleteProtectionState::DeleteProtectionDisabled,
    };
    wire::Database {
        name: info.name.to_string(),
        uid: info.uid.clone(),
        create_time: Some(time(info.create_time)),
        update_time: Some(time(info.update_time)),
        location_id: settings.location_id.clone(),
        r#type: DatabaseType::FirestoreNative.into(),
        concurrency_mode: concurrency.into(),
        version_retention_period: prost_types::Duration::try_from(retention).ok(),
        earliest_version_time: Some(time(earliest)),
        point_in_time_recovery_enablement: recovery.into(),
        app_engine_integration_mode: AppEngineIntegrationMode::Disabled.into(),
        delete_protection_state: protection.into(),
        etag: info.etag(),
        database_edition: DatabaseEdition::Standard.into(),
        ..wire::Database::default()
    }
}

pub(crate) fn index(info: &IndexInfo) -> wire::Index {
    let IndexInfo { database, collection_id, id, scope, fields } = info;
    wire::Index {
        name: format!("{database}/collectionGroups/{collection_id}/indexes/{id}"),
        query_scope: query_scope(*scope).into(),
        fields: fields.iter().map(index_field).collect(),
        state: State::Ready.into(),
        density: Density::SparseAll.into(),
        ..wire::Index::default()
    }
}

fn query_scope(scope: IndexScope) -> QueryScope {
    match scope {
        IndexScope::Collection => QueryScope::Collection,
        IndexScope::Group => QueryScope::CollectionGroup,
    }
}

fn index_field(field: &RequiredField) -> IndexField {
    let (path, mode) = match field {
        RequiredField::Ordered(path, Direction::Ascending) => (path, mode(IndexMode::Ascending)),
        RequiredField::Ordered(path, Direction::Descending) => (path, mode(IndexMode::Descending)),
        RequiredField::Contains(path) => (path, mode(IndexMode::Contains)),
        RequiredField::Vector(path, dimension) => {
            let flat = vector_config::Type::Flat(vector_config::FlatIndex {});
            let dimension = i32::try_from(*dimension).unwrap_or(i32::MAX);
            (path, ValueMode::VectorConfig(VectorConfig { dimension, r#type: Some(flat) }))
        }
    };
    IndexField { field_path: path.to_string(), value_mode: Some(mode) }
}

fn mode(mode: IndexMode) -> ValueMode {
    match mode {
        IndexMode::Ascending => ValueMode::Order(Order::Ascending.into()),
        IndexMode::Descending => ValueMode::Order(Order::Descending.into()),
        IndexMode::Contains => ValueMode::ArrayConfig(ArrayConfig::Contains.into()),
    }
}

pub(crate) fn field(info: &FieldInfo) -> wire::Field {
    let indexes = info.indexes.iter().map(|index| single(&info.name, *index));
    let ttl = TtlConfig { state: ttl_config::State::Active.into() };
    wire::Field {
        name: field_name(&info.name),
        index_config: Some(IndexConfig {
            indexes: indexes.collect(),
            uses_ancestor_config: info.ancestor.is_some(),
            // Production names it for fields that have an exception, too.
            ancestor_field: info.ancestor.as_ref().map(field_name).unwrap_or_default(),
            reverting: false,
        }),
        ttl_config: info.has_ttl.then_some(ttl),
    }
}

fn field_path(name: &FieldName) -> String {
    name.field.as_ref().map_or_else(|| "*".to_owned(), FieldPath::to_string)
}

fn field_name(name: &FieldName) -> String {
    let Group { database, collection_id } = &name.group;
    format!("{database}/collectionGroups/{collection_id}/fields/{}", field_path(name))
}

fn single(name: &FieldName, (scope, way): SingleIndex) -> wire::Index {
    wire::Index {
        query_scope: query_scope(scope).into(),
        fields: vec![IndexField { field_path: field_path(name), value_mode: Some(mode(way)) }],
        state: State::Ready.into(),
        ..wire::Index::default()
    }
}

/// An operation, which is done.
pub(crate) fn operation(done: &Operation) -> operations::Operation {
    let at = Some(time(done.time));
    let successful = wire::OperationState::Successful.into();
    let (metadata, response) = match &done.outcome {
        Outcome::IndexCreated(made) => {
            let made = index(made);
            let metadata = wire::IndexOperationMetadata {
                start_time: at,
                end_time: at,
                index: made.name.clone(),
                state: successful,
                ..wire::IndexOperationMetadata::default()
            };
            (any(&metadata), any(&made))
        }
        Outcome::FieldUpdated { field: info, changes } => {
            let metadata = wire::FieldOperationMetadata {
                start_time: at,
                end_time: at,
                field: field_name(&info.name),
                index_config_deltas: index_deltas(&info.name, changes),
                state: successful,
                ttl_config_delta: ttl_delta(changes),
                ..wire::FieldOperationMetadata::default()
            };
            (any(&metadata), any(&field(info)))
        }
        Outcome::DatabaseCreated(info) => {
            (any(&wire::CreateDatabaseMetadata {}), any(&database(info, done.time)))
        }
        Outcome::DatabaseUpdated(info) => {
            (any(&wire::UpdateDatabaseMetadata {}), any(&database(info, done.time)))
        }
        Outcome::DatabaseDeleted(info) => {
            (any(&wire::DeleteDatabaseMetadata {}), any(&database(info, done.time)))
        }
    };
    operations::Operation {
        name: format!("{}/operations/{}", done.database, done.id),
        metadata: Some(metadata),
        done: true,
        result: Some(operations::operation::Result::Response(response)),
    }
}

fn index_deltas(name: &FieldName, changes: &[FieldChange]) -> Vec<IndexConfigDelta> {
    use index_config_delta::ChangeType;
    let delta = |change_type: ChangeType, index| IndexConfigDelta {
        change_type: change_type.into(),
        index: Some(single(name, index)),
    };
    let deltas = changes.iter().filter_map(|change| match change {
        FieldChange::IndexAdded(index) => Some(delta(ChangeType::Add, *index)),
        FieldChange::IndexRemoved(index) => Some(delta(ChangeType::Remove, *index)),
        FieldChange::TtlAdded | FieldChange::TtlRemoved => None,
    });
    deltas.collect()
}

fn ttl_delta(changes: &[FieldChange]) -> Option<TtlConfigDelta> {
    use ttl_config_delta::ChangeType;
    let change = changes.iter().find_map(|change| match change {
        FieldChange::TtlAdded => Some(ChangeType::Add),
        FieldChange::TtlRemoved => Some(ChangeType::Remove),
        FieldChange::IndexAdded(_) | FieldChange::IndexRemoved(_) => None,
    });
    change.map(|change| TtlConfigDelta { change_type: change.into() })
}

/// A message with the name of its type.
fn any<M: Message + Name>(message: &M) -> Any {
    Any { type_url: format!("{TYPES}/{}", M::full_name()), value: message.encode_to_vec() }
}
