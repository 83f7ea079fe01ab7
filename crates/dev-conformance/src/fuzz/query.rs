//! Random structured queries, with every operator, order, cursor and clause.

use serde_json::{Map, Value, json};

use super::draw::Draw;
use super::{documents, values};

const OPERATORS: [&str; 10] = [
    "LESS_THAN",
    "LESS_THAN_OR_EQUAL",
    "GREATER_THAN",
    "GREATER_THAN_OR_EQUAL",
    "EQUAL",
    "NOT_EQUAL",
    "ARRAY_CONTAINS",
    "IN",
    "ARRAY_CONTAINS_ANY",
    "NOT_IN",
];

/// A query over what is below a parent.
pub(super) fn structured(draw: &Draw, docs: &str) -> Value {
    let mut query = Map::new();
    if !draw.once_in(15) {
        let mut selector = Map::new();
        if !draw.once_in(25) {
            selector.insert("collectionId".into(), json!(documents::collection(draw)));
        }
        if draw.once_in(4) {
            selector.insert("allDescendants".into(), json!(true));
        }
        let from = if draw.once_in(80) { vec![selector.clone(), selector] } else { vec![selector] };
        query.insert("from".into(), json!(from));
    }
    if !draw.once_in(3) {
        query.insert("where".into(), filter(draw, docs, 2));
    }
    let orders = draw.below(4).saturating_sub(1);
    if orders > 0 {
        let orders: Vec<Value> = (0..orders).map(|_| order(draw)).collect();
        query.insert("orderBy".into(), json!(orders));
    }
    for name in ["startAt", "endAt"] {
        if draw.once_in(5) {
            query.insert(name.into(), cursor(draw, docs, orders));
        }
    }
    if draw.once_in(4) {
        let offset = if draw.once_in(20) { -1 } else { draw.below(4) as i64 };
        query.insert("offset".into(), json!(offset));
    }
    if draw.once_in(3) {
        let limit = if draw.once_in(20) { -1 } else { draw.below(6) as i64 };
        query.insert("limit".into(), json!(limit));
    }
    if draw.once_in(5) {
        let fields: Vec<Value> =
            draw.some(3, |draw| json!({"fieldPath": values::query_path(draw)}));
        query.insert("select".into(), json!({"fields": fields}));
    }
    Value::Object(query)
}

/// A search for nearest vectors.
pub(super) fn nearest(draw: &Draw, docs: &str) -> Value {
    let mut query = Map::new();
    query.insert("from".into(), json!([{"collectionId": draw.pick(&["c", "d", "e"])}]));
    if draw.once_in(3) {
        query.insert("where".into(), field_filter(draw, docs));
    }
    let mut nearest = Map::new();
    let field = if draw.once_in(10) { values::path(draw) } else { "v".to_owned() };
    nearest.insert("vectorField".into(), json!({"fieldPath": field}));
    let vector = if draw.once_in(30) { values::value(draw, docs) } else { values::vector(draw) };
    nearest.insert("queryVector".into(), vector);
    let measure = draw.pick(&["EUCLIDEAN", "COSINE", "DOT_PRODUCT"]);
    if !draw.once_in(30) {
        nearest.insert("distanceMeasure".into(), json!(measure));
    }
    match draw.below(20) {
        0 => {}
        1 => drop(nearest.insert("limit".into(), json!(draw.pick(&[&0, &-1, &1000, &1001])))),
        _ => drop(nearest.insert("limit".into(), json!(1 + draw.below(5)))),
    }
    if draw.once_in(3) {
        let field = if draw.once_in(10) { values::path(draw) } else { "dist".to_owned() };
        nearest.insert("distanceResultField".into(), json!(field));
    }
    if draw.once_in(4) {
        nearest.insert("distanceThreshold".into(), json!(draw.below(5) as f64));
    }
    query.insert("findNearest".into(), Value::Object(nearest));
    if draw.once_in(20) {
        query.insert("limit".into(), json!(1));
    }
    Value::Object(query)
}

/// A filter that may hold others.
fn filter(draw: &Draw, docs: &str, depth: usize) -> Value {
    if depth > 0 && draw.once_in(3) {
        let parts = if draw.once_in(30) { 0 } else { 1 + draw.below(3) };
        let filters: Vec<Value> = (0..parts).map(|_| filter(draw, docs, depth - 1)).collect();
        let op = if draw.once_in(80) { "OPERATOR_UNSPECIFIED" } else { draw.pick(&["AND", "OR"]) };
        return json!({"compositeFilter": {"op": op, "filters": filters}});
    }
    if draw.once_in(6) {
        let op = draw.pick(&["IS_NULL", "IS_NAN", "IS_NOT_NULL", "IS_NOT_NAN"]);
        return json!({"unaryFilter": {"op": op, "field": {"fieldPath": values::query_path(draw)}}});
    }
    if draw.once_in(150) {
        return json!({});
    }
    field_filter(draw, docs)
}

fn field_filter(draw: &Draw, docs: &str) -> Value {
    let op = if draw.once_in(100) { "OPERATOR_UNSPECIFIED" } else { draw.pick(&OPERATORS) };
    let field = values::query_path(draw);
    let is_list = ["IN", "ARRAY_CONTAINS_ANY", "NOT_IN"].contains(&op) && !draw.once_in(30);
    let one = |draw: &Draw| operand(draw, docs, &field);
    let value = match is_list {
        true => {
            let count = match draw.below(25) {
                0 => 0,
                1 => 9 + draw.below(3),
                2 => 29 + draw.below(3),
                _ => 1 + draw.below(3),
            };
            let values: Vec<Value> = (0..count).map(|_| one(draw)).collect();
            json!({"arrayValue": {"values": values}})
        }
        false => one(draw),
    };
    json!({"fieldFilter": {"field": {"fieldPath": field}, "op": op, "value": value}})
}

/// A value for a field: references for the name, and otherwise mostly what documents hold.
fn operand(draw: &Draw, docs: &str, field: &str) -> Value {
    if field == "__name__" && !draw.once_in(15) {
        return json!({"referenceValue": documents::name(draw, docs)});
    }
    match draw.below(3) {
        0 => values::value(draw, docs),
        _ => json!({"integerValue": draw.below(4).to_string()}),
    }
}

fn order(draw: &Draw) -> Value {
    let direction =
        draw.pick(&["ASCENDING", "ASCENDING", "DESCENDING", "DESCENDING", "DIRECTION_UNSPECIFIED"]);
    json!({"field": {"fieldPath": values::query_path(draw)}, "direction": direction})
}

fn cursor(draw: &Draw, docs: &str, orders: usize) -> Value {
    let count = if draw.once_in(10) { orders + 1 } else { 1 + draw.below(orders.max(1)) };
    let count = if draw.once_in(20) { 0 } else { count };
    let values: Vec<Value> = (0..count)
        .map(|_| match draw.below(4) {
            0 => json!({"referenceValue": documents::name(draw, docs)}),
            1 => values::value(draw, docs),
            _ => json!({"integerValue": draw.below(4).to_string()}),
        })
        .collect();
    json!({"values": values, "before": draw.once_in(2)})
}

/// The aggregations of a request.
pub(super) fn aggregations(draw: &Draw) -> Value {
    let count = if draw.once_in(30) { 0 } else { 1 + draw.below(3) };
    let one = |draw: &Draw| {
        let mut aggregation = Map::new();
        if draw.once_in(3) {
            aggregation.insert("alias".into(), json!(draw.pick(&["x", "y", "z", "field_1"])));
        }
        let field = || json!({"field": {"fieldPath": values::query_path(draw)}});
        match draw.below(30) {
            0 => {}
            1..=10 if draw.once_in(3) => {
                let up_to = draw.below(4) as i64 - i64::from(draw.once_in(10));
                aggregation.insert("count".into(), json!({"upTo": up_to.to_string()}));
            }
            1..=10 => drop(aggregation.insert("count".into(), json!({}))),
            11..=20 => drop(aggregation.insert("sum".into(), field())),
            _ => drop(aggregation.insert("avg".into(), field())),
        }
        Value::Object(aggregation)
    };
    (0..count).map(|_| one(draw)).collect()
}
