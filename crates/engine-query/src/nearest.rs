//! Nearest-neighbour search over the matches of a query, by comparing with every one.

use std::cmp::Ordering;

use base_value::codec::{decode_fields, encode_fields};
use base_value::order::compare_doubles;
use base_value::{FieldPath, Value};
use bytes::Bytes;
use engine_store::{Record, Snapshot};

use crate::document::{Slot, View};
use crate::execute::Prepared;
use crate::explain::Work;
use crate::model::{DistanceMeasure, FindNearest};
use crate::name_key;
use crate::rows::Row;
use crate::tally::each_match;

/// The nearest documents in order of distance, equal distances in order of names; and what that took.
pub(crate) fn search(
    prepared: &Prepared,
    nearest: &FindNearest,
    slot: Slot,
    snapshot: &Snapshot,
) -> (Vec<Row>, Work) {
    let Value::Vector(target) = &nearest.query_vector else { return Default::default() };
    let mut found = Vec::new();
    let mut compared = 0;
    let mut work = each_match(prepared, snapshot, &mut |key, record, document| {
        let Some(View::Container(Value::Vector(vector))) = document.get(slot) else { return };
        if vector.len() != target.len() {
            return;
        }
        compared += 1;
        let distance = nearest.measure.distance(vector, target);
        if nearest.distance_threshold.is_none_or(|limit| nearest.measure.within(distance, limit)) {
            found.push((distance, key.clone(), record.clone()));
        }
    });
    found.sort_unstable_by(|(left, left_key, _), (right, right_key, _)| {
        let by_name = || name_key::of_key(left_key).cmp(name_key::of_key(right_key));
        nearest.measure.compare(*left, *right).then_with(by_name)
    });
    found.truncate(usize::try_from(nearest.limit).unwrap_or(0));
    let rows = found.into_iter().filter_map(|(distance, key, record)| {
        let record = match &nearest.distance_result_field {
            Some(field) => with_distance(record, field, distance),
            None => record,
        };
        Row::new(key, record)
    });
    work.scanned.vectors = compared;
    (rows.collect(), work)
}

fn with_distance(record: Record, field: &FieldPath, distance: f64) -> Record {
    let value = match decode_fields(&record.value) {
        Ok(mut fields) => {
            field.set(&mut fields, Value::Double(distance));
            encode_fields(&fields)
        }
        Err(_) => Bytes::clone(&record.value),
    };
    Record { value, ..record }
}

impl DistanceMeasure {
    /// The distance of two vectors of one dimension. A vector without a magnitude has no cosine: NaN.
    pub fn distance(self, left: &[f64], right: &[f64]) -> f64 {
        let product = |left: &[f64], right: &[f64]| {
            left.iter().zip(right).map(|(left, right)| left * right).sum::<f64>()
        };
        match self {
            DistanceMeasure::Euclidean => {
                let squares = left.iter().zip(right).map(|(left, right)| (left - right).powi(2));
                squares.sum::<f64>().sqrt()
            }
            DistanceMeasure::Cosine => {
                let magnitudes = product(left, left).sqrt() * product(right, right).sqrt();
                1.0 - product(left, right) / magnitudes
            }
            DistanceMeasure::DotProduct => product(left, right),
        }
    }

    fn within(self, distance: f64, threshold: f64) -> bool {
        match self {
            DistanceMeasure::Euclidean | DistanceMeasure::Cosine => distance <= threshold,
            DistanceMeasure::DotProduct => distance >= threshold,
        }
    }

    /// Near before far, and NaN last.
    pub fn compare(self, left: f64, right: f64) -> Ordering {
        let by_distance = || match self {
            DistanceMeasure::Euclidean | DistanceMeasure::Cosine => compare_doubles(left, right),
            DistanceMeasure::DotProduct => compare_doubles(right, left),
        };
        left.is_nan().cmp(&right.is_nan()).then_with(by_distance)
    }
}
