//! Field transforms applied to a document, and the results a client gets for them.

use base_env::UnixMicros;
use base_value::{Fields, Timestamp, Value, ValueError, transform};

use super::model::{Transform, TransformOp};

/// Applies `transforms` in order and returns one result each: the new value, or null for the array
/// transforms (google/firestore/v1/write.proto, `WriteResult.transform_results`).
pub(super) fn apply(
    fields: &mut Fields,
    transforms: &[Transform],
    request_time: UnixMicros,
) -> Result<Vec<Value>, ValueError> {
    transforms.iter().map(|transform| apply_one(fields, transform, request_time)).collect()
}

fn apply_one(
    fields: &mut Fields,
    transform: &Transform,
    request_time: UnixMicros,
) -> Result<Value, ValueError> {
    let current = transform.field.get(fields);
    let (stored, result) = match &transform.op {
        TransformOp::RequestTime => {
            // Server timestamps have whole milliseconds: digits below are zero.
            let now = Timestamp::from_micros(request_time.0).truncated_to_millis();
            let now = Value::Timestamp(now);
            (now.clone(), now)
        }
        TransformOp::Increment(by) => same(transform::increment(current, by)?),
        TransformOp::Maximum(other) => same(transform::maximum(current, other)?),
        TransformOp::Minimum(other) => same(transform::minimum(current, other)?),
        TransformOp::Append(values) => {
            (transform::append_missing_elements(current, values), Value::Null)
        }
        TransformOp::Remove(values) => {
            (transform::remove_all_from_array(current, values), Value::Null)
        }
    };
    transform.field.set(fields, stored);
    Ok(result)
}

fn same(value: Value) -> (Value, Value) {
    (value.clone(), value)
}
