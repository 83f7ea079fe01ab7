//! Refuses queries as the product does: scope, orders, cursors, and the query as a whole.

use base_value::{CollectionPath, DatabaseName, LimitPolicy};

use crate::error::QueryError;
use crate::limits::{
    COLLECTION_ID_MAX_BYTES, DISJUNCTIONS_MAX, DISJUNCTIONS_UNLIMITED_MAX, FILTERS_STATED_MAX,
    INEQUALITY_FIELDS_MAX, QUERY_PARTS_MAX,
};
use crate::model::{Cursor, Direction, FieldOp, Filter, From, Query, UnaryOp};
use crate::name_key;
use crate::normalize::{Disjuncts, each_leaf, full_order, inequality_fields, leaves_len};
use crate::validate_filter::{check_filter, check_value, plain};
use crate::validate_nearest::check_nearest;

/// Checks a query; answers its filter in disjunctive normal form.
pub(crate) fn check(database: &DatabaseName, query: &Query) -> Result<Disjuncts, QueryError> {
    if let Some(filter) = &query.filter {
        check_filter(filter, database, query.limits)?;
    }
    check_scope(query)?;
    check_negations(query)?;
    check_name_equality(query)?;
    let disjuncts = check_size(query)?;
    check_order(query)?;
    for cursor in [&query.start, &query.end].into_iter().flatten() {
        check_cursor(cursor, query, database)?;
    }
    check_nearest(query)?;
    Ok(disjuncts)
}

/// The collection of that id below the query's parent.
pub(crate) fn collection(query: &Query, id: &str) -> Result<CollectionPath, QueryError> {
    let collection = query.parent.collection(id)?;
    if id.len() > COLLECTION_ID_MAX_BYTES {
        return Err(QueryError::CollectionIdLong);
    }
    Ok(collection)
}

/// Some scopes only serve ascending names, because no index of a field spans them.
fn check_scope(query: &Query) -> Result<(), QueryError> {
    if let From::Collection(id) | From::Group(id) = &query.from {
        collection(query, id)?;
    }
    let mut filtered = None;
    if let Some(filter) = &query.filter {
        each_leaf(filter, &mut |leaf| match leaf {
            Filter::Field { field, .. } | Filter::Unary { field, .. } if !field.is_name() => {
                filtered = filtered.or(Some(field));
            }
            Filter::Field { .. } | Filter::Unary { .. } | Filter::Composite { .. } => {}
        });
    }
    let ordered = query.order.iter().any(|order| !order.field.is_name());
    let descending = query.order.iter().any(|order| order.direction == Direction::Descending);
    if matches!(query.from, From::Group(_) | From::Descendants) && !query.parent.is_root() {
        if filtered.is_some() || ordered {
            return Err(QueryError::GroupBelowDocument);
        }
        if descending {
            return Err(QueryError::GroupBelowDocumentDescending);
        }
    }
    if matches!(query.from, From::Children | From::Descendants) {
        if ordered || descending {
            return Err(QueryError::KindlessOrder);
        }
        if let Some(field) = filtered {
            return Err(QueryError::KindlessFilter(plain(field)));
        }
    }
    Ok(())
}

/// Operators that exclude values go with few others.
fn check_negations(query: &Query) -> Result<(), QueryError> {
    let Some(filter) = &query.filter else { return Ok(()) };
    let (mut negations, mut not_in, mut disjunctive) = (0, false, has_or(filter));
    each_leaf(filter, &mut |leaf| match leaf {
        Filter::Field { op, .. } => {
            negations += usize::from(matches!(op, FieldOp::NotEqual | FieldOp::NotIn));
            not_in |= *op == FieldOp::NotIn;
            disjunctive |= matches!(op, FieldOp::In | FieldOp::ArrayContainsAny);
        }
        Filter::Unary { op, .. } => {
            negations += usize::from(matches!(op, UnaryOp::IsNotNull | UnaryOp::IsNotNan));
        }
        Filter::Composite { .. } => {}
    });
    if negations > 1 {
        return Err(QueryError::ManyNegations);
    }
    if not_in && disjunctive {
        return Err(QueryError::NotInWithDisjunction);
    }
    Ok(())
}

fn has_or(filter: &Filter) -> bool {
    use crate::model::CompositeOp::{And, Or};
    match filter {
        Filter::Composite { op: Or, .. } => true,
        Filter::Composite { op: And, filters } => filters.iter().any(has_or),
        Filter::Field { .. } | Filter::Unary { .. } => false,
    }
}

fn check_name_equality(query: &Query) -> Result<(), QueryError> {
    let Some(filter) = &query.filter else { return Ok(()) };
    let mut name_equality = false;
    each_leaf(filter, &mut |leaf| {
        if let Filter::Field { field, op: FieldOp::Equal | FieldOp::In, .. } = leaf {
            name_equality |= field.is_name();
        }
    });
    let inequalities = inequality_fields(filter);
    let name_inequality = inequalities.iter().any(|field| field.is_name());
    if name_equality && !name_inequality && !inequalities.is_empty() {
        return Err(QueryError::NameEqualityWithInequality);
    }
    Ok(())
}

/// Bounds how much a query may ask at once.
fn check_size(query: &Query) -> Result<Disjuncts, QueryError> {
    if let Some(filter) = &query.filter {
        let fields = inequality_fields(filter);
        if query.limits.is_above(fields.len(), INEQUALITY_FIELDS_MAX) {
            let list: Vec<String> = fields.iter().map(|field| plain(field)).collect();
            return Err(QueryError::InequalityFields {
                count: fields.len(),
                fields: list.join(", "),
            });
        }
    }
    // Counted before the filter is multiplied out, which takes long where there is much of it.
    let (filters, orders) = (query.filter.as_ref().map_or(0, leaves_len), query.order.len());
    let below_document = !query.parent.is_root();
    if filters > FILTERS_STATED_MAX && query.limits == LimitPolicy::Off {
        return Err(QueryError::FiltersUnlimited);
    }
    let parts = filters + orders + usize::from(below_document);
    if query.limits.is_above(parts, QUERY_PARTS_MAX) {
        let ancestor = if below_document { "one" } else { "no" };
        return Err(QueryError::QueryParts { filters, orders, ancestor });
    }
    let disjuncts = Disjuncts::of(query.filter.as_ref(), query.limits)?;
    if disjuncts.len() > DISJUNCTIONS_UNLIMITED_MAX && query.limits == LimitPolicy::Off {
        return Err(QueryError::DisjunctionsUnlimited);
    }
    if query.limits.is_above(disjuncts.len(), DISJUNCTIONS_MAX) {
        return Err(QueryError::Disjunctions(disjuncts.len()));
    }
    let is_membership =
        |leaf: &&Filter| matches!(leaf, Filter::Field { op: FieldOp::ArrayContains, .. });
    if disjuncts.iter().any(|disjunct| disjunct.filter(is_membership).count() > 1) {
        return Err(QueryError::ManyArrayContains);
    }
    Ok(disjuncts)
}

fn check_order(query: &Query) -> Result<(), QueryError> {
    let orders = full_order(query, &[]);
    if let Some((_, before_last)) = orders.split_last()
        && before_last.iter().any(|order| order.field.is_name())
    {
        return Err(QueryError::OrderAfterName);
    }
    for (index, order) in orders.iter().enumerate() {
        if orders.iter().take(index).any(|earlier| earlier.field == order.field) {
            return Err(QueryError::DuplicateOrder(plain(&order.field)));
        }
    }
    Ok(())
}

fn check_cursor(cursor: &Cursor, query: &Query, database: &DatabaseName) -> Result<(), QueryError> {
    if cursor.values.len() > query.order.len() {
        return Err(QueryError::CursorLong);
    }
    for (value, order) in cursor.values.iter().zip(&query.order) {
        if order.field.is_name() {
            name_key::cursor_operand(value, database)?;
        } else {
            check_value(value, query.limits)?;
        }
    }
    Ok(())
}
