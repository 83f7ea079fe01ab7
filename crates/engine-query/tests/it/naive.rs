//! Queries done plainly: every document decoded, every rule of the product written out once more, nothing
//! shared with the crate but the model of a query and the order of values.

use std::cmp::Ordering;

use base_value::order::{compare, type_class};
use base_value::{DocumentName, DocumentPath, FieldPath, Fields, Value};
use engine_query::{CompositeOp, Cursor, Direction, FieldOp, Filter, From, Order, Query, UnaryOp};

pub(crate) type Document = (DocumentPath, Fields);

/// The result of a query but for offset and limit.
pub(crate) fn matching<'d>(documents: &'d [Document], query: &Query) -> Vec<&'d Document> {
    let order = full_order(query);
    let mut result: Vec<&Document> = documents
        .iter()
        .filter(|(path, fields)| {
            in_scope(query, path)
                && query.filter.as_ref().is_none_or(|filter| keeps(filter, path, fields))
                && order.iter().all(|order| operand(&order.field, path, fields).is_some())
        })
        .filter(|document| {
            query.start.as_ref().is_none_or(|start| is_behind(document, start, &order))
                && query.end.as_ref().is_none_or(|end| !is_behind(document, end, &order))
        })
        .collect();
    result.sort_by(|left, right| {
        order.iter().fold(Ordering::Equal, |so_far, order| {
            let value = |document: &Document| {
                operand(&order.field, &document.0, &document.1).expect("filtered before")
            };
            so_far.then_with(|| directed(order.direction, compare(&value(left), &value(right))))
        })
    });
    result
}

/// Explicit orders, inequality fields by path, the name; the rest runs as the last explicit order does.
fn full_order(query: &Query) -> Vec<Order> {
    let mut order = query.order.clone();
    let direction = order.last().map_or(Direction::Ascending, |order| order.direction);
    let mut fields = Vec::new();
    if let Some(filter) = &query.filter {
        inequalities(filter, &mut fields);
    }
    fields.retain(|field| !field.is_name());
    fields.sort();
    fields.push(FieldPath::name());
    for field in fields {
        if !order.iter().any(|known| known.field == field) {
            order.push(Order { field, direction });
        }
    }
    order
}

fn inequalities(filter: &Filter, fields: &mut Vec<FieldPath>) {
    match filter {
        Filter::Composite { filters, .. } => {
            filters.iter().for_each(|part| inequalities(part, fields));
        }
        Filter::Field { field, op, .. } => {
            use FieldOp::{ArrayContains, ArrayContainsAny, Equal, In};
            if !matches!(op, Equal | In | ArrayContains | ArrayContainsAny) {
                fields.push(field.clone());
            }
        }
        Filter::Unary { field, op } => {
            if matches!(op, UnaryOp::IsNotNull | UnaryOp::IsNotNan) {
                fields.push(field.clone());
            }
        }
    }
}

fn in_scope(query: &Query, path: &DocumentPath) -> bool {
    let above: Vec<&str> = query.parent.segments().collect();
    let segments: Vec<&str> = path.segments().collect();
    let Some(rest) = segments.strip_prefix(above.as_slice()) else { return false };
    if rest.is_empty() {
        return false;
    }
    let collection = rest[rest.len() - 2];
    match &query.from {
        From::Collection(id) => rest.len() == 2 && collection == id,
        From::Group(id) => collection == id,
        From::Children => rest.len() == 2,
        From::Descendants => true,
    }
}

/// The value a filter or an order sees.
fn operand(field: &FieldPath, path: &DocumentPath, fields: &Fields) -> Option<Value> {
    if field.is_name() {
        return Some(Value::Reference(
            DocumentName { database: super::support::database(), path: path.clone() }.to_string(),
        ));
    }
    field.get(fields).cloned()
}

fn directed(direction: Direction, ordering: Ordering) -> Ordering {
    match direction {
        Direction::Ascending => ordering,
        Direction::Descending => ordering.reverse(),
    }
}

/// Whether a document is behind the position of a cursor.
fn is_behind((path, fields): &Document, cursor: &Cursor, order: &[Order]) -> bool {
    for (order, position) in order.iter().zip(&cursor.values) {
        let value = operand(&order.field, path, fields).expect("filtered before");
        match directed(order.direction, compare(&value, position)) {
            Ordering::Less => return false,
            Ordering::Greater => return true,
            Ordering::Equal => {}
        }
    }
    cursor.before
}

fn keeps(filter: &Filter, path: &DocumentPath, fields: &Fields) -> bool {
    match filter {
        Filter::Composite { op: CompositeOp::And, filters } => {
            filters.iter().all(|part| keeps(part, path, fields))
        }
        Filter::Composite { op: CompositeOp::Or, filters } => {
            filters.iter().any(|part| keeps(part, path, fields))
        }
        Filter::Field { field, op, value } => match operand(field, path, fields) {
            Some(found) => field_keeps(*op, &found, value),
            None => false,
        },
        Filter::Unary { field, op } => match operand(field, path, fields) {
            None => false,
            Some(found) => match op {
                UnaryOp::IsNull => is_null(&found),
                UnaryOp::IsNan => found.is_nan(),
                UnaryOp::IsNotNull => !is_null(&found),
                UnaryOp::IsNotNan => !is_null(&found) && !found.is_nan(),
            },
        },
    }
}

fn is_null(value: &Value) -> bool {
    matches!(value, Value::Null)
}

fn list(value: &Value) -> &[Value] {
    match value {
        Value::Array(values) => values,
        _ => panic!("a list operator without a list was accepted"),
    }
}

fn field_keeps(op: FieldOp, found: &Value, value: &Value) -> bool {
    let equals = |operand: &Value| {
        !is_null(operand) && !operand.is_nan() && compare(found, operand) == Ordering::Equal
    };
    let contains = |operand: &Value| {
        !matches!(operand, Value::Null | Value::Array(_))
            && !operand.is_nan()
            && matches!(found, Value::Array(items)
                if items.iter().any(|item| compare(item, operand) == Ordering::Equal))
    };
    let range = |accepted: &[Ordering]| {
        !is_null(value)
            && !value.is_nan()
            && !found.is_nan()
            && type_class(found) == type_class(value)
            && accepted.contains(&compare(found, value))
    };
    match op {
        FieldOp::Equal => equals(value),
        FieldOp::NotEqual => !is_null(value) && !is_null(found) && !equals(value),
        FieldOp::In => list(value).iter().any(equals),
        FieldOp::NotIn => {
            !list(value).iter().any(is_null) && !is_null(found) && !list(value).iter().any(equals)
        }
        FieldOp::ArrayContains => contains(value),
        FieldOp::ArrayContainsAny => list(value).iter().any(contains),
        FieldOp::LessThan => range(&[Ordering::Less]),
        FieldOp::LessThanOrEqual => range(&[Ordering::Less, Ordering::Equal]),
        FieldOp::GreaterThan => range(&[Ordering::Greater]),
        FieldOp::GreaterThanOrEqual => range(&[Ordering::Greater, Ordering::Equal]),
    }
}
