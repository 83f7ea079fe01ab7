//! Refuses nearest-neighbour searches.

use base_value::validate::{check_value, check_vector};
use base_value::{FieldPath, LimitPolicy, PathError, Value, ValueError};

use crate::error::QueryError;
use crate::limits::NEAREST_LIMIT_MAX;
use crate::model::{DistanceMeasure, FindNearest, Query};

impl FindNearest {
    /// Parses `distance_result_field`; empty text is none.
    ///
    /// # Errors
    /// Those of a field path, with the search's own text for reserved names.
    pub fn parse_result_field(text: &str) -> Result<Option<FieldPath>, QueryError> {
        match FieldPath::parse(text) {
            Err(PathError::Empty) => Ok(None),
            Err(PathError::Reserved(_)) => Err(QueryError::NearestFieldReserved(text.to_owned())),
            Ok(path) if path.is_name() => Err(QueryError::NearestFieldReserved(text.to_owned())),
            Ok(path) => Ok(Some(path)),
            Err(error) => Err(QueryError::Path(error)),
        }
    }
}

/// Checks the search of a query and what it cannot go with.
pub(crate) fn check_nearest(query: &Query) -> Result<(), QueryError> {
    let Some(nearest) = &query.nearest else { return Ok(()) };
    let Value::Vector(vector) = &nearest.query_vector else {
        return Err(not_vector(&nearest.query_vector, query.limits));
    };
    match check_vector(vector, query.limits) {
        // NaN is a distance like any other; it sorts last.
        Ok(()) | Err(ValueError::VectorNan) => {}
        Err(error) => return Err(QueryError::Value(error)),
    }
    let is_above = query.limits == LimitPolicy::Production && nearest.limit > NEAREST_LIMIT_MAX;
    if nearest.limit < 1 || is_above {
        return Err(QueryError::NearestLimit);
    }
    if nearest.distance_result_field.as_ref().is_some_and(FieldPath::is_name) {
        return Err(QueryError::NearestFieldReserved("__name__".to_owned()));
    }
    if query.limit.is_some() {
        return Err(QueryError::NearestQueryLimit);
    }
    if query.offset > 0 {
        return Err(QueryError::NearestQueryOffset);
    }
    if query.start.is_some() || query.end.is_some() {
        return Err(QueryError::NearestQueryCursor);
    }
    if nearest.measure == DistanceMeasure::Cosine && vector.iter().all(|part| *part == 0.0) {
        return Err(QueryError::NearestZeroMagnitude);
    }
    Ok(())
}

/// A map that calls itself a vector gets the text that says what is wrong with it.
fn not_vector(value: &Value, limits: LimitPolicy) -> QueryError {
    match value {
        Value::Map(fields) if fields.contains_key("__type__") => {
            match check_value("v", value, limits) {
                Ok(()) => QueryError::NotVector,
                Err(error) => QueryError::Value(error),
            }
        }
        _ => QueryError::NotVector,
    }
}
