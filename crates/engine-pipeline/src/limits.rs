//! Every bound this crate enforces, each with its reason.

/// Stages of one request, those of pipelines inside of it included: far more than people write, and few
/// enough that the chain of iterators they become stays far from the end of any thread's stack.
pub const STAGES_MAX: usize = 200;

/// Expressions that may enclose one another, pipelines inside of expressions included. The walk over them is
/// recursive, and a thread's stack holds this many with room to spare.
pub const DEPTH_MAX: usize = 60;

/// Expressions of one request: bounds the work for one row.
pub const NODES_MAX: usize = 50_000;

/// Documents a `documents` stage may name: bounds what is read before the first row.
pub const DOCUMENTS_MAX: usize = 10_000;

/// Bytes that the rows held at one time may take: the product's documented limit of a query.
pub const MEMORY_MAX_BYTES: usize = 128 * 1024 * 1024;

/// Bytes of one computed value. A document holds a sixteenth of it; without a bound a few nested
/// concatenations would fill any memory.
pub const VALUE_MAX_BYTES: usize = 16 * 1024 * 1024;

/// Bytes of a compiled regular expression: what the library takes by default, a tenth of it.
pub const REGEX_MAX_BYTES: usize = 1024 * 1024;

/// Compiled regular expressions that one request keeps, for patterns that are the same in many rows.
pub const REGEXES_KEPT_MAX: usize = 64;

/// Rows between two looks at whether anybody still wants the answer: a look costs little, a row less.
pub const ROWS_PER_CHECK: usize = 256;

/// Conditions of one `where` that indexes are asked for; more are left to the rows.
pub const PUSHED_CONDITIONS_MAX: usize = 30;

/// Decimal places that `round` and `trunc` look at: a double has no more.
pub const PLACES_MAX: i64 = 320;
