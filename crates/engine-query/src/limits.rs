//! Every bound this crate enforces, each with its reason.

/// Disjuncts a query may have in disjunctive normal form: the product's documented limit.
pub const DISJUNCTIONS_MAX: usize = 30;

/// Disjuncts one conjunction may multiply into before counting stops: twice the limit, as the product's
/// own message changes there, and enough to keep a hostile query from growing exponentially.
pub const DISJUNCTIONS_COUNTED_MAX: usize = 2 * DISJUNCTIONS_MAX;

/// Values of IN and ARRAY_CONTAINS_ANY: the product's documented limit.
pub const IN_VALUES_MAX: usize = 30;

/// Values of NOT_IN: the product's documented limit.
pub const NOT_IN_VALUES_MAX: usize = 10;

/// Distinct fields with an inequality: the product's documented limit.
pub const INEQUALITY_FIELDS_MAX: usize = 10;

/// Filters, sort orders and the parent path together: the product's documented limit.
pub const QUERY_PARTS_MAX: usize = 100;

/// Filters a query may state, the same one counted as often as it is stated. What is compared with
/// `QUERY_PARTS_MAX` is how many there are without repetition; this bounds the work of finding that out.
pub const FILTERS_STATED_MAX: usize = 10_000;

/// Filters that may enclose one another. Far above what counts as one of `QUERY_PARTS_MAX`, and low
/// enough that recursion stays far from the end of any thread's stack.
pub const FILTER_DEPTH_MAX: usize = 100;

/// Bytes of a filter's string or bytes value that an index holds: the product refuses longer ones.
pub const FILTER_VALUE_MAX_BYTES: usize = 1_500;

/// Longest collection id: the product's limit.
pub const COLLECTION_ID_MAX_BYTES: usize = 1_500;

/// Aggregations of one request: the product's documented limit.
pub const AGGREGATIONS_MAX: usize = 5;

/// Longest alias of an aggregation: the limit of every property name.
pub const ALIAS_MAX_BYTES: usize = 1_500;

/// Documents one nearest-neighbour search may return: the product's documented limit.
pub const NEAREST_LIMIT_MAX: i32 = 1_000;

/// Index entries that production charges one read for: its price list.
pub(crate) const ENTRIES_PER_READ: u64 = 1_000;

/// Vectors of an index that production charges one read for: its price list.
pub(crate) const VECTORS_PER_READ: u64 = 100;

/// Documents a partition holds at least: splitting finer costs a client more than it gains.
pub const PARTITION_DOCUMENTS_MIN: usize = 2;
