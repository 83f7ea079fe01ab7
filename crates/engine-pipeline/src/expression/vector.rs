//! Vectors.

use base_value::Value;
use engine_query::DistanceMeasure;

use super::function::{Function, Outcome, answer, length, refuse, wrong};
use crate::error::PipelineError;

pub(crate) const FUNCTIONS: &[Function] = &[
    Function::values("cosine_distance", (2, 2), |_, args| of(args, DistanceMeasure::Cosine)),
    Function::values("dot_product", (2, 2), |_, args| of(args, DistanceMeasure::DotProduct)),
    Function::values("euclidean_distance", (2, 2), |_, args| of(args, DistanceMeasure::Euclidean)),
    Function::values("vector_length", (1, 1), |_, args| match args {
        [vector] => answer(length(numbers(vector)?.len())),
        _ => Ok(None),
    }),
];

fn numbers(value: &Value) -> Result<&[f64], PipelineError> {
    match value {
        Value::Vector(numbers) => Ok(numbers),
        other => Err(wrong("vector", other)),
    }
}

fn of(args: &[&Value], measure: DistanceMeasure) -> Outcome {
    let [left, right] = args else { return Ok(None) };
    let (left, right) = (numbers(left)?, numbers(right)?);
    let found = match measure {
        DistanceMeasure::Cosine => cosine(left, right),
        measure => distance(left, right, measure),
    };
    match found {
        Some(distance) => answer(Value::Double(distance)),
        None => refuse("vectors of the same dimension, with a direction, expected"),
    }
}

/// The distance of two vectors, where they have one.
pub(crate) fn distance(left: &[f64], right: &[f64], measure: DistanceMeasure) -> Option<f64> {
    if left.len() != right.len() {
        return None;
    }
    let distance = measure.distance(left, right);
    (!distance.is_nan()).then_some(distance)
}

/// One less the cosine, which production computes with one root here.
fn cosine(left: &[f64], right: &[f64]) -> Option<f64> {
    if left.len() != right.len() {
        return None;
    }
    let product = |left: &[f64], right: &[f64]| {
        left.iter().zip(right).map(|(left, right)| left * right).sum::<f64>()
    };
    let distance =
        1.0 - product(left, right) / (product(left, left) * product(right, right)).sqrt();
    (!distance.is_nan()).then_some(distance)
}
