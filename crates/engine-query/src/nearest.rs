//! Nearest-neighbour search over the matches of a query, by comparing with every one.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

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
    let mut found = Nearby::new(nearest);
    let mut compared = 0;
    let mut work = each_match(prepared, snapshot, &mut |key, record, document| {
        let Some(View::Container(Value::Vector(vector))) = document.get(slot) else { return };
        if vector.len() != target.len() {
            return;
        }
        compared += 1;
        let distance = nearest.measure.distance(vector, target);
        if nearest.distance_threshold.is_none_or(|limit| nearest.measure.within(distance, limit)) {
            found.offer(distance, key, record);
        }
    });
    let rows = found.into_sorted().into_iter().filter_map(|near| {
        let Near { distance, key, record, .. } = near;
        let record = match &nearest.distance_result_field {
            Some(field) => with_distance(record, field, distance),
            None => record,
        };
        Row::new(key, record)
    });
    work.scanned.vectors = compared;
    (rows.collect(), work)
}

/// The nearest documents so far: as many as are wanted, however many there are.
struct Nearby {
    measure: DistanceMeasure,
    wanted: usize,
    /// The farthest one is on top.
    found: BinaryHeap<Near>,
}

impl Nearby {
    fn new(nearest: &FindNearest) -> Self {
        let wanted = usize::try_from(nearest.limit).unwrap_or(0);
        Nearby { measure: nearest.measure, wanted, found: BinaryHeap::new() }
    }

    fn offer(&mut self, distance: f64, key: &Bytes, record: &Record) {
        if self.found.len() >= self.wanted {
            let is_nearer = |farthest: &Near| {
                self.measure.order(distance, key, farthest.distance, &farthest.key).is_lt()
            };
            if !self.found.peek().is_some_and(is_nearer) {
                return;
            }
            self.found.pop();
        }
        let (key, record) = (key.clone(), record.clone());
        self.found.push(Near { measure: self.measure, distance, key, record });
    }

    /// The nearest one first.
    fn into_sorted(self) -> Vec<Near> {
        self.found.into_sorted_vec()
    }
}

/// A document that is among the nearest ones so far.
struct Near {
    measure: DistanceMeasure,
    distance: f64,
    key: Bytes,
    record: Record,
}

impl Ord for Near {
    fn cmp(&self, other: &Self) -> Ordering {
        self.measure.order(self.distance, &self.key, other.distance, &other.key)
    }
}

impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Near {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Near {}

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
                let (left_square, right_square) = (product(left, left), product(right, right));
                // With one root a vector is at no distance from itself; with one of each it often is.
                let magnitudes = match (left_square * right_square).sqrt() {
                    f64::INFINITY => left_square.sqrt() * right_square.sqrt(),
                    magnitudes => magnitudes,
                };
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

    /// The order of results: by distance, equal distances by name.
    fn order(self, left: f64, left_key: &[u8], right: f64, right_key: &[u8]) -> Ordering {
        let by_name = || name_key::of_key(left_key).cmp(name_key::of_key(right_key));
        self.compare(left, right).then_with(by_name)
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

#[cfg(test)]
mod tests {
    use base_value::{DocumentPath, key};
    use engine_store::UnixMicros;

    use super::*;

    /// The nearest five of many are what a sort of all would begin with, and no more is kept at any time.
    #[test]
    fn no_more_than_is_wanted_is_kept() {
        #[track_caller]
        fn check(distances: impl Iterator<Item = f64>, measure: DistanceMeasure) {
            let mut all = Vec::new();
            let nearest = FindNearest {
                field: FieldPath::name(),
                query_vector: Value::Vector(vec![0.0]),
                measure,
                limit: 5,
                distance_result_field: None,
                distance_threshold: None,
            };
            let mut nearby = Nearby::new(&nearest);
            for (number, distance) in distances.enumerate() {
                let path = format!("c/{:03}", (number * 37) % 100);
                let path = DocumentPath::parse(&path).unwrap();
                let key = key::document(&path);
                let (created, updated) = (UnixMicros(0), UnixMicros(0));
                let record = Record { value: Bytes::new(), created, updated };
                nearby.offer(distance, &key, &record);
                assert!(nearby.found.len() <= 5, "after {} documents", number + 1);
                all.push((distance, key));
            }
            all.sort_by(|(left, left_key), (right, right_key)| {
                let by_name = || name_key::of_key(left_key).cmp(name_key::of_key(right_key));
                measure.compare(*left, *right).then_with(by_name)
            });
            let expected: Vec<Bytes> = all.into_iter().take(5).map(|(_, key)| key).collect();
            let found: Vec<Bytes> = nearby.into_sorted().into_iter().map(|near| near.key).collect();
            assert_eq!(found, expected);
        }
        for measure in
            [DistanceMeasure::Euclidean, DistanceMeasure::Cosine, DistanceMeasure::DotProduct]
        {
            check((0..100).map(f64::from), measure);
            check((0..100).rev().map(f64::from), measure);
            check((0..100).map(|number| f64::from(number * 61 % 7)), measure);
            check((0..100).map(|_| 1.0), measure);
            let mixed = |number| if number % 3 == 0 { f64::NAN } else { f64::from(number % 11) };
            check((0..100).map(mixed), measure);
            check((0..3).map(f64::from), measure);
        }
    }
}
