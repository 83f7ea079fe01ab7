//! Every bound this crate enforces, each with its reason.

/// Whether the product's own limits hold: sizes, counts, lengths of lists. The bounds that keep a process
/// alive, and those that make a name a name, hold either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LimitPolicy {
    /// As in production.
    #[default]
    Production,
    /// None of them.
    Off,
}

impl LimitPolicy {
    /// Whether something is above a limit that holds.
    pub fn is_above(self, size: usize, limit: usize) -> bool {
        self == LimitPolicy::Production && size > limit
    }
}

/// Largest document, by the size formula of `validate::document_size`: the product's documented limit.
pub const DOCUMENT_SIZE_MAX_BYTES: usize = 1_048_576;

/// Largest payload of one string or bytes value: the product's limit, a document less its own overhead.
pub const VALUE_SIZE_MAX_BYTES: usize = 1_048_487;

/// Containers (maps and arrays) that may enclose a value: the product's limit.
pub const NESTING_MAX: usize = 20;

/// Values that may enclose one another while decoding. Above `NESTING_MAX`, so that validation can name
/// the offending field, and low enough that recursion stays far from the end of any thread's stack.
pub const DECODE_DEPTH_MAX: usize = 100;

/// Longest name of one field: the product's limit.
pub const FIELD_NAME_MAX_BYTES: usize = 1_500;

/// Longest field path, its segments unquoted and joined by dots. The product's limit is called 1500 bytes
/// but its emulator already refuses the 1500th, as if a dot stood at the end.
pub const FIELD_PATH_MAX_BYTES: usize = 1_499;

/// Longest path of a field inside of maps, its segments joined by dots: the product's limit.
pub const NESTED_PATH_MAX_BYTES: usize = 1_500;

/// Longest collection or document id: the product's limit.
pub const RESOURCE_ID_MAX_BYTES: usize = 1_500;

/// Longest database id: the product's limit.
pub const DATABASE_ID_MAX_BYTES: usize = 100;

/// Collection and document pairs in one document name: the product's limit.
pub const PATH_PAIRS_MAX: usize = 100;

/// Largest vector: the product's limit.
pub const VECTOR_DIMENSIONS_MAX: usize = 2_048;

/// Seconds of 0001-01-01T00:00:00Z, the first instant a protobuf timestamp may hold.
pub const TIMESTAMP_SECONDS_MIN: i64 = -62_135_596_800;

/// Seconds of 9999-12-31T23:59:59Z, the last second a protobuf timestamp may hold.
pub const TIMESTAMP_SECONDS_MAX: i64 = 253_402_300_799;

/// Longest index key of one value. Short enough that several fit into a page of a file, so that long texts
/// cost an index little; long enough that values which begin alike so far are rare.
pub const INDEX_VALUE_MAX_BYTES: usize = 256;
