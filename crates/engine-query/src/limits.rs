//! Every bound this crate enforces, each with its reason.

/// Disjuncts a query may have in disjunctive normal form: the product's documented limit.
pub const DISJUNCTIONS_MAX: usize = 30;

/// Disjuncts a query may have where the product's limits are off: each has a plan of its own, and every
/// document is matched with all of them.
pub const DISJUNCTIONS_UNLIMITED_MAX: usize = 1_000;

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

/// Size of a filter's value that an index holds, as sizes are counted: the product refuses larger ones.
pub const FILTER_VALUE_MAX_BYTES: usize = 1_500;

/// Longest collection id: the product's limit.
pub const COLLECTION_ID_MAX_BYTES: usize = 1_500;

/// Aggregations of one request: the product's documented limit.
pub const AGGREGATIONS_MAX: usize = 5;

/// Longest alias of an aggregation: the limit of every property name.
pub const ALIAS_MAX_BYTES: usize = 1_500;

/// Entries that one document may have in all indexes: the product's documented limit.
pub const INDEX_ENTRIES_MAX: usize = 40_000;

/// Bytes of a value that an index entry holds: the product's documented limit.
pub const INDEXED_VALUE_MAX_BYTES: usize = 1_500;

/// Largest entry of a composite index, or of one over a collection group: the product's documented limit.
pub const INDEX_ENTRY_MAX_BYTES: usize = 7_680;

/// Largest entry of a single field's index over a collection. The product documents 7,680 bytes; production
/// took 5,529 and refused 5,531.
pub const SINGLE_FIELD_ENTRY_MAX_BYTES: usize = 5_530;

/// Largest name that production's indexes take, as sizes are counted. The product documents 6 KiB;
/// production refused 5,000 bytes below `documents`, which count for 17 more.
pub const INDEXED_NAME_MAX_BYTES: usize = 5_016;

/// All index entries of a document and its own size. The product documents 8 MiB of entries; production
/// took 29,650,337 bytes and refused 29,654,463.
pub const INDEXED_DOCUMENT_MAX_BYTES: usize = 29_652_400;

/// Documents and names up to these sizes cannot come near any limit of entries, so nothing is counted:
/// 8,000 entries of 3,633 bytes.
pub const UNCOUNTED_DOCUMENT_MAX_BYTES: usize = 4_000;
/// See [`UNCOUNTED_DOCUMENT_MAX_BYTES`].
pub const UNCOUNTED_NAMES_MAX_BYTES: usize = 600;

/// Documents one nearest-neighbour search may return: the product's documented limit.
pub const NEAREST_LIMIT_MAX: i32 = 1_000;

/// Index entries that production charges one read for: its price list.
pub(crate) const ENTRIES_PER_READ: u64 = 1_000;

/// Vectors of an index that production charges one read for: its price list.
pub(crate) const VECTORS_PER_READ: u64 = 100;

/// Documents a partition holds at least: splitting finer costs a client more than it gains.
pub const PARTITION_DOCUMENTS_MIN: usize = 2;
