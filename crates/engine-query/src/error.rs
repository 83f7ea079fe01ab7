//! Why a query is refused: one variant per text of the product.

use base_value::{NameError, PathError, ValueError};
use thiserror::Error;

use crate::limits::{
    AGGREGATIONS_MAX, ALIAS_MAX_BYTES, COLLECTION_ID_MAX_BYTES, DISJUNCTIONS_MAX,
    DISJUNCTIONS_UNLIMITED_MAX, FILTER_DEPTH_MAX, FILTERS_STATED_MAX, INEQUALITY_FIELDS_MAX,
    NEAREST_LIMIT_MAX, QUERY_PARTS_MAX,
};

/// Which canonical code a [`QueryError`] maps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The query could never be served.
    InvalidArgument,
    /// The query could be served with an index that does not exist.
    FailedPrecondition,
}

/// A refused query. `Display` is the exact text clients see.
///
/// The variants of the first group are never returned by this crate: they belong to shapes that the
/// model cannot express and that only a decoder of requests meets.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum QueryError {
    /// A field filter whose operator is unset or unknown.
    #[error("Unknown FieldFilter operator.")]
    UnknownFieldOperator,
    /// A composite filter whose operator is unset or unknown.
    #[error("Unsupported CompositeFilter operator.")]
    UnknownCompositeOperator,
    /// A unary filter whose operator is unset or unknown.
    #[error("Unknown UnaryFilter operator.")]
    UnknownUnaryOperator,
    /// A filter of no type.
    #[error("Unknown Filter type.")]
    UnknownFilter,
    /// A value of no type.
    #[error("Cannot convert firestore.v1.Value with type unset.")]
    UnsetValue,
    /// A request without a query.
    #[error("only structured queries are supported")]
    NoQuery,
    /// An aggregation request without a query.
    #[error("Only structured aggregation queries are supported.")]
    NoAggregationQuery,
    /// An aggregation without an operator.
    #[error("Operator field in Aggregation is not set.")]
    UnknownAggregation,
    /// A limit below zero.
    #[error("limit is negative")]
    NegativeLimit,
    /// An offset below zero.
    #[error("offset is negative")]
    NegativeOffset,
    /// More than one collection selector.
    #[error("StructuredQuery.from cannot have more than one collection selector.")]
    ManySelectors,
    /// A distance measure that is unset or unknown.
    #[error("Unknown Distance Measure.")]
    UnknownDistanceMeasure,

    /// A collection id that is too long.
    #[error("The query kind is longer than {COLLECTION_ID_MAX_BYTES} bytes.")]
    CollectionIdLong,
    /// A field filter in a query over collections of any id.
    #[error("kind is required for filter: {0}")]
    KindlessFilter(String),
    /// An order in a query over collections of any id.
    #[error("kind is required for all orders except __key__ ascending")]
    KindlessOrder,
    /// A collection-group query below a document that needs more than names.
    #[error("collection group queries are only allowed at the root parent")]
    GroupBelowDocument,
    /// A collection-group query below a document in descending order of names.
    #[error(
        "collection group queries are only allowed if they're at the root or they're an ascending primary key scan"
    )]
    GroupBelowDocumentDescending,

    /// A list operator whose value is not an array.
    #[error("'{0}' requires an ArrayValue.")]
    ListRequired(&'static str),
    /// A list operator whose array is empty.
    #[error("'{0}' requires an non-empty ArrayValue.")]
    ListEmpty(&'static str),
    /// A list operator with too many values.
    #[error("'{0}' supports up to {1} comparison values.")]
    ListLong(&'static str, usize),
    /// A composite filter that nothing can satisfy.
    #[error("Composite filter must have at least one sub-filter.")]
    EmptyOr,
    /// Filters that enclose one another too deeply.
    #[error("filters are nested more than {FILTER_DEPTH_MAX} levels deep")]
    FilterDepth,
    /// Too many disjuncts.
    #[error(
        "Too many disjunctions after normalization. Result had {0} disjunctions which is more than the maximum of {DISJUNCTIONS_MAX}"
    )]
    Disjunctions(usize),
    /// Far too many disjuncts.
    #[error("Too many disjunctions after normalization, the maximum is {DISJUNCTIONS_MAX}")]
    DisjunctionsUncounted,
    /// More disjuncts than are planned where the product's limits are off.
    #[error("firelet plans at most {DISJUNCTIONS_UNLIMITED_MAX} disjunctions of a query")]
    DisjunctionsUnlimited,
    /// More filters than are counted where the product's limits are off.
    #[error("firelet counts at most {FILTERS_STATED_MAX} filters of a query")]
    FiltersUnlimited,
    /// More than one filter of the negative kind.
    #[error(
        "Only a single 'NOT_EQUAL', 'NOT_IN', 'IS_NOT_NAN', or 'IS_NOT_NULL' filter allowed per query."
    )]
    ManyNegations,
    /// NOT_IN beside a disjunction.
    #[error("'NOT_IN' cannot be used in the same query with 'IN', 'ARRAY_CONTAINS_ANY' or 'OR'.")]
    NotInWithDisjunction,
    /// Two array membership filters in one disjunct.
    #[error("A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction.")]
    ManyArrayContains,
    /// Too many fields with an inequality.
    #[error(
        "The query contains {count} distinct inequality fields: [{fields}]. A query may not have more than {INEQUALITY_FIELDS_MAX} distinct inequality fields."
    )]
    InequalityFields {
        /// How many.
        count: usize,
        /// Their paths, joined by a comma and a blank.
        fields: String,
    },
    /// Too many filters and orders.
    #[error(
        "The query may not have more than {QUERY_PARTS_MAX} filters + sort orders + ancestor total. Currently there are {filters} filters, {orders} sort orders, and {ancestor} ancestor filter."
    )]
    QueryParts {
        /// Distinct filters over all disjuncts.
        filters: usize,
        /// Explicit orders.
        orders: usize,
        /// `one` below a document, else `no`.
        ancestor: &'static str,
    },
    /// A filter value that no index entry holds in full.
    #[error("value for {0} is too large to be used in a query")]
    FilterValueLong(String),
    /// A filter or cursor value that is no legal value.
    #[error(transparent)]
    Value(#[from] ValueError),

    /// An order after `__name__`.
    #[error("order by clause cannot contain more fields after the key")]
    OrderAfterName,
    /// A field that is ordered twice.
    #[error("order by clause cannot contain duplicate fields {0}")]
    DuplicateOrder(String),
    /// A cursor with more values than explicit orders.
    #[error("Cursor has too many values.")]
    CursorLong,
    /// A cursor position of `__name__` that is no reference.
    #[error("Cursor __key__ value is not a document reference.")]
    CursorNotReference,
    /// A cursor position of `__name__` in another database.
    #[error("the cursor key is in a different partition than the query")]
    CursorDatabase,
    /// An equality on `__name__` beside an inequality on another field.
    #[error(
        "Equality on key is not allowed if there are other inequality fields and key does not appear in inequalities."
    )]
    NameEqualityWithInequality,
    /// A filter of `__name__` whose value is no reference.
    #[error("__key__ filter value must be a Key")]
    NameNotReference,
    /// A filter of `__name__` for another database.
    #[error(
        "The request was for database '{requested}' but was attempting to access database '{other}'"
    )]
    OtherDatabase {
        /// The database of the request.
        requested: String,
        /// The database of the value.
        other: String,
    },
    /// `__name__` where only a stored field can stand.
    #[error("the name __key__ is reserved")]
    NameReserved,
    /// A reference that names no document.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A field path that does not parse.
    #[error(transparent)]
    Path(#[from] PathError),

    /// A query vector that is no vector.
    #[error("Query Value must be of type vector.")]
    NotVector,
    /// A limit of nearest neighbours out of range.
    #[error("FindNearest.limit must be a positive integer of no more than {NEAREST_LIMIT_MAX}")]
    NearestLimit,
    /// A limit beside a nearest-neighbour search.
    #[error("A query limit cannot be used with FindNearest")]
    NearestQueryLimit,
    /// An offset beside a nearest-neighbour search.
    #[error("A query offset cannot be used with FindNearest")]
    NearestQueryOffset,
    /// A cursor beside a nearest-neighbour search.
    #[error("A cursor cannot be used with FindNearest")]
    NearestQueryCursor,
    /// A result field with a reserved name.
    #[error("The distanceResultField.property.name \"{0}\" is reserved.")]
    NearestFieldReserved(String),
    /// A vector without a direction, asked for the angle to it.
    #[error("COSINE distance needs a query vector with a magnitude greater than zero.")]
    NearestZeroMagnitude,

    /// No aggregation at all.
    #[error("Aggregations can not be empty.")]
    NoAggregations,
    /// Too many aggregations.
    #[error(
        "The maximum number of aggregations allowed in an aggregation query is {AGGREGATIONS_MAX}. Received: {0}"
    )]
    ManyAggregations(usize),
    /// Two aggregations of one alias.
    #[error("Aggregation aliases contain duplicate alias: {0}.")]
    DuplicateAlias(String),
    /// An alias that is too long.
    #[error("The property.name is longer than {ALIAS_MAX_BYTES} bytes.")]
    AliasLong,
    /// A sum or an average of the name.
    #[error("Aggregations are not supported for the property: __key__")]
    AggregateName,
    /// A sum or an average over a query that selects only names.
    #[error(
        "Aggregation over non-key properties is not supported for base query that only returns keys."
    )]
    AggregateOverNames,
    /// A sum or an average of a field that the query does not select.
    #[error("The aggregation property {0} is not present in the base query's property mask.")]
    AggregateNotSelected(String),
    /// A sum or an average over a query that selects fields.
    #[error("Cannot apply property masks when aggregation fields are present.")]
    AggregateSelected,
    /// A count capped below zero.
    #[error("The `up_to` value in a COUNT aggregation must be greater than or equal to zero.")]
    NegativeUpTo,
    /// Aggregated fields that no index can hold.
    #[error(
        "This query requires an index with fields [{0}] after __name__ and Firestore does not currently support such an index. Please try the query again with additional ordering on those fields."
    )]
    AggregateAfterName(String),

    /// An `order_by` text that does not parse.
    #[error("Invalid order by clause \"{0}\".")]
    OrderByClause(String),
    /// An order beside `show_missing`.
    #[error("cannot specify an order when show_missing is true")]
    OrderWithMissing,
    /// A page token this server did not give.
    #[error("invalid page token")]
    PageToken,
    /// A partition count below one.
    #[error("partition_count must be greater than zero.")]
    PartitionCount,
    /// A query that cannot be partitioned.
    #[error(
        "Partition queries must be collection group queries ordered by __name__ ascending, without filters, limits, offsets or cursors."
    )]
    PartitionQuery,
}

impl QueryError {
    /// The canonical code this error maps to.
    pub fn kind(&self) -> ErrorKind {
        match self {
            QueryError::GroupBelowDocumentDescending => ErrorKind::FailedPrecondition,
            _ => ErrorKind::InvalidArgument,
        }
    }
}
