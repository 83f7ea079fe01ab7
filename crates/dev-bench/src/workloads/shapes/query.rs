//! Queries, put together as the SDKs do it.

use base_value::{Value, codec};
use base_wire::WireValue;
use base_wire::google::firestore::v1 as wire;
use wire::structured_query::composite_filter::Operator as Joined;
use wire::structured_query::field_filter::Operator;
use wire::structured_query::filter::FilterType;
use wire::structured_query::{
    CollectionSelector, CompositeFilter, Direction, FieldFilter, FieldReference, Filter, Order,
    Projection,
};

/// A query that is being put together.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    query: wire::StructuredQuery,
    filters: Vec<Filter>,
}

impl Query {
    /// All documents of a collection at the root.
    pub(crate) fn of(collection: &str) -> Self {
        Self::from(collection, false)
    }

    /// All documents of all collections of this id.
    pub(crate) fn group(collection: &str) -> Self {
        Self::from(collection, true)
    }

    fn from(collection: &str, all_descendants: bool) -> Self {
        let from = CollectionSelector { collection_id: collection.to_owned(), all_descendants };
        let query = wire::StructuredQuery { from: vec![from], ..wire::StructuredQuery::default() };
        Self { query, filters: Vec::new() }
    }

    /// A filter more; all of them must match.
    pub(crate) fn filter(mut self, field: &str, op: Operator, value: &Value) -> Self {
        let filter = FieldFilter {
            field: Some(reference(field)),
            op: op.into(),
            value: Some(encoded(value)),
        };
        self.filters.push(Filter { filter_type: Some(FilterType::FieldFilter(filter)) });
        self
    }

    pub(crate) fn ascending(self, field: &str) -> Self {
        self.order(field, Direction::Ascending)
    }

    pub(crate) fn descending(self, field: &str) -> Self {
        self.order(field, Direction::Descending)
    }

    fn order(mut self, field: &str, direction: Direction) -> Self {
        let field = Some(reference(field));
        self.query.order_by.push(Order { field, direction: direction.into() });
        self
    }

    pub(crate) fn limit(mut self, limit: i32) -> Self {
        self.query.limit = Some(limit);
        self
    }

    pub(crate) fn offset(mut self, offset: i32) -> Self {
        self.query.offset = offset;
        self
    }

    /// Names without fields.
    pub(crate) fn names_only(mut self) -> Self {
        self.query.select = Some(Projection { fields: vec![reference("__name__")] });
        self
    }

    /// Begins behind the document that has these values of the order's fields.
    pub(crate) fn after(mut self, values: Vec<WireValue>) -> Self {
        self.query.start_at = Some(wire::Cursor { values, before: false });
        self
    }

    pub(crate) fn wire(&self) -> wire::StructuredQuery {
        let mut query = self.query.clone();
        let mut filters = self.filters.clone();
        query.r#where = match filters.len() {
            0 | 1 => filters.pop(),
            _ => {
                let all = CompositeFilter { op: Joined::And.into(), filters };
                Some(Filter { filter_type: Some(FilterType::CompositeFilter(all)) })
            }
        };
        query
    }
}

pub(crate) fn encoded(value: &Value) -> WireValue {
    WireValue::from(codec::encode_value(value))
}

fn reference(field: &str) -> FieldReference {
    FieldReference { field_path: field.to_owned() }
}
