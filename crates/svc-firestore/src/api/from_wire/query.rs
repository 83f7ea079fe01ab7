//! Structured queries as they arrive, turned into the engine's model. Validation is the engine's; here
//! only shapes are refused that its model cannot express.

use base_value::{FieldPath, LimitPolicy, ParentPath, Value, codec};
use base_wire::WireValue;
use base_wire::google::firestore::v1 as wire;
use engine_query::{
    AggregateOp, Aggregation, CompositeOp, Cursor, Direction, DistanceMeasure, FieldOp, Filter,
    FindNearest, From, Order, Query, QueryError, UnaryOp,
};
use wire::structured_aggregation_query::aggregation::Operator;
use wire::structured_query::filter::FilterType;
use wire::structured_query::unary_filter::OperandType;
use wire::structured_query::{
    FieldReference, composite_filter, field_filter, find_nearest, unary_filter,
};

use crate::error::Error;
use crate::limits::FILTER_NESTING_MAX;

/// A query over the collections below `parent`.
pub(crate) fn query(parent: ParentPath, query: wire::StructuredQuery) -> Result<Query, Error> {
    let mut selectors = query.from.into_iter();
    let selector = selectors.next().unwrap_or_default();
    if selectors.next().is_some() {
        return Err(QueryError::ManySelectors.into());
    }
    let from = From::selector(&selector.collection_id, selector.all_descendants);
    Ok(Query {
        parent,
        from,
        filter: query.r#where.map(|filter| self::filter(filter, 0)).transpose()?,
        order: query.order_by.into_iter().map(order).collect::<Result<_, _>>()?,
        start: query.start_at.map(cursor).transpose()?,
        end: query.end_at.map(cursor).transpose()?,
        offset: Query::checked_offset(query.offset)?,
        limit: query.limit.map(Query::checked_limit).transpose()?,
        select: query.select.map(|select| fields(select.fields)).transpose()?,
        nearest: query.find_nearest.map(nearest).transpose()?,
        // The service's own, which it puts in when it prepares the query.
        limits: LimitPolicy::default(),
    })
}

/// The aggregations of a request, in order.
pub(crate) fn aggregations(
    aggregations: Vec<wire::structured_aggregation_query::Aggregation>,
) -> Result<Vec<Aggregation>, Error> {
    let decode = |aggregation: wire::structured_aggregation_query::Aggregation| {
        let op = match aggregation.operator {
            None => return Err(QueryError::UnknownAggregation.into()),
            Some(Operator::Count(count)) => AggregateOp::Count { up_to: count.up_to },
            Some(Operator::Sum(sum)) => AggregateOp::Sum(field(sum.field)?),
            Some(Operator::Avg(avg)) => AggregateOp::Avg(field(avg.field)?),
        };
        Ok(Aggregation { alias: aggregation.alias, op })
    };
    aggregations.into_iter().map(decode).collect()
}

fn filter(filter: wire::structured_query::Filter, depth: usize) -> Result<Filter, Error> {
    if depth > FILTER_NESTING_MAX {
        return Err(Error::invalid(format!(
            "filters are nested more than {FILTER_NESTING_MAX} deep"
        )));
    }
    match filter.filter_type {
        None => Err(QueryError::UnknownFilter.into()),
        Some(FilterType::CompositeFilter(composite)) => {
            let op = match composite_filter::Operator::try_from(composite.op) {
                Ok(composite_filter::Operator::And) => CompositeOp::And,
                Ok(composite_filter::Operator::Or) => CompositeOp::Or,
                Ok(composite_filter::Operator::Unspecified) | Err(_) => {
                    return Err(QueryError::UnknownCompositeOperator.into());
                }
            };
            let parts = composite.filters.into_iter().map(|part| self::filter(part, depth + 1));
            Ok(Filter::Composite { op, filters: parts.collect::<Result<_, _>>()? })
        }
        Some(FilterType::FieldFilter(comparison)) => {
            let op = field_op(comparison.op)?;
            let field = field(comparison.field)?;
            let value = value(&comparison.value.unwrap_or_default())?;
            Ok(Filter::Field { field, op, value })
        }
        Some(FilterType::UnaryFilter(unary)) => {
            let op = unary_op(unary.op)?;
            let Some(OperandType::Field(reference)) = unary.operand_type else {
                return Err(QueryError::UnknownFilter.into());
            };
            Ok(Filter::Unary { field: field(Some(reference))?, op })
        }
    }
}

fn field_op(op: i32) -> Result<FieldOp, QueryError> {
    use field_filter::Operator as Wire;
    Ok(match Wire::try_from(op) {
        Ok(Wire::LessThan) => FieldOp::LessThan,
        Ok(Wire::LessThanOrEqual) => FieldOp::LessThanOrEqual,
        Ok(Wire::GreaterThan) => FieldOp::GreaterThan,
        Ok(Wire::GreaterThanOrEqual) => FieldOp::GreaterThanOrEqual,
        Ok(Wire::Equal) => FieldOp::Equal,
        Ok(Wire::NotEqual) => FieldOp::NotEqual,
        Ok(Wire::ArrayContains) => FieldOp::ArrayContains,
        Ok(Wire::In) => FieldOp::In,
        Ok(Wire::ArrayContainsAny) => FieldOp::ArrayContainsAny,
        Ok(Wire::NotIn) => FieldOp::NotIn,
        Ok(Wire::Unspecified) | Err(_) => return Err(QueryError::UnknownFieldOperator),
    })
}

fn unary_op(op: i32) -> Result<UnaryOp, QueryError> {
    use unary_filter::Operator as Wire;
    Ok(match Wire::try_from(op) {
        Ok(Wire::IsNan) => UnaryOp::IsNan,
        Ok(Wire::IsNull) => UnaryOp::IsNull,
        Ok(Wire::IsNotNan) => UnaryOp::IsNotNan,
        Ok(Wire::IsNotNull) => UnaryOp::IsNotNull,
        Ok(Wire::Unspecified) | Err(_) => return Err(QueryError::UnknownUnaryOperator),
    })
}

fn order(order: wire::structured_query::Order) -> Result<Order, Error> {
    let direction = match wire::structured_query::Direction::try_from(order.direction) {
        Ok(wire::structured_query::Direction::Descending) => Direction::Descending,
        Ok(_) | Err(_) => Direction::Ascending,
    };
    Ok(Order { field: field(order.field)?, direction })
}

fn cursor(cursor: wire::Cursor) -> Result<Cursor, Error> {
    let values = cursor.values.iter().map(value).collect::<Result<_, _>>()?;
    Ok(Cursor { values, before: cursor.before })
}

fn nearest(nearest: wire::structured_query::FindNearest) -> Result<FindNearest, Error> {
    let measure = match find_nearest::DistanceMeasure::try_from(nearest.distance_measure) {
        Ok(find_nearest::DistanceMeasure::Euclidean) => DistanceMeasure::Euclidean,
        Ok(find_nearest::DistanceMeasure::Cosine) => DistanceMeasure::Cosine,
        Ok(find_nearest::DistanceMeasure::DotProduct) => DistanceMeasure::DotProduct,
        Ok(find_nearest::DistanceMeasure::Unspecified) | Err(_) => {
            return Err(QueryError::UnknownDistanceMeasure.into());
        }
    };
    let result_field = FindNearest::parse_result_field(&nearest.distance_result_field)?;
    Ok(FindNearest {
        field: field(nearest.vector_field)?,
        query_vector: value(&nearest.query_vector.unwrap_or_default())?,
        measure,
        limit: nearest.limit.unwrap_or_default(),
        distance_result_field: result_field,
        distance_threshold: nearest.distance_threshold,
    })
}

fn fields(references: Vec<FieldReference>) -> Result<Vec<FieldPath>, Error> {
    references.into_iter().map(|reference| field(Some(reference))).collect()
}

fn field(reference: Option<FieldReference>) -> Result<FieldPath, Error> {
    Ok(FieldPath::parse(&reference.unwrap_or_default().field_path)?)
}

fn value(value: &WireValue) -> Result<Value, Error> {
    Ok(codec::decode_value(&value.raw)?)
}
