//! Every bound this crate enforces, each with its reason.

use std::time::Duration;

/// Stages of one request, those of pipelines inside of it included: far more than people write, and few
/// enough that the chain of iterators they become stays far from the end of any thread's stack.
pub const STAGES_MAX: usize = 200;

/// Expressions that may enclose one another, pipelines inside of expressions included. The walk over them is
/// recursive, and a thread's stack holds this many with room to spare.
pub const DEPTH_MAX: usize = 60;

/// Expressions of one request: bounds what is read and kept of it. The work for one row is bounded by time
/// alone, because a function of each element multiplies it.
pub const NODES_MAX: usize = 50_000;

/// How long a pipeline may be at work, as in production. Waiting for its reader does not count.
pub const TIME_MAX: Duration = Duration::from_secs(60);

/// Units of work between two looks at whether to go on: a tenth of a millisecond's worth, of which a look
/// takes a thousandth. A unit is an expression, a row, or [`BYTES_PER_UNIT`].
pub const UNITS_PER_LOOK: usize = 1_024;

/// Bytes whose reading or writing is about as much work as an expression.
pub const BYTES_PER_UNIT: usize = 64;

/// What making a query of a pipeline inside of an expression costs, in units of work.
pub const UNITS_PER_OPENING: usize = 64;

/// Documents a `documents` stage may name: bounds what is read before the first row.
pub const DOCUMENTS_MAX: usize = 10_000;

/// Bytes that the rows and values held at one time may take: the product's documented limit of a query.
pub const MEMORY_MAX_BYTES: usize = 128 * 1024 * 1024;

/// Bytes of one computed value. A document holds a sixteenth of it; without a bound a few nested
/// concatenations would fill any memory.
pub const VALUE_MAX_BYTES: usize = 16 * 1024 * 1024;

/// Arrays and maps of a computed value that may enclose one another: as many as a stored value can have at
/// all. What looks at a value is recursive, and without a bound every stage could add some hundred levels.
pub const VALUE_DEPTH_MAX: usize = base_value::limits::DECODE_DEPTH_MAX;

/// Bytes of one computed row: twice the largest request, so that every stored document can have fields added.
/// Some rows at a time are on their way to the client.
pub const ROW_MAX_BYTES: usize = 32 * 1024 * 1024;

/// Bytes of a compiled regular expression: what the library takes by default, a tenth of it.
pub const REGEX_MAX_BYTES: usize = 1024 * 1024;

/// Bytes of a written regular expression: more would not compile to so few, and its tree takes a hundred
/// times as many.
pub const REGEX_PATTERN_MAX_BYTES: usize = 64 * 1024;

/// Places in a regular expression, times the bytes it looks at: some seconds of the slowest way to match,
/// which cannot be interrupted. A pattern of a hundred places may look at ten times the largest document.
pub const REGEX_STEPS_MAX: u64 = 1 << 30;

/// Compiled regular expressions that one request keeps, for patterns that are the same in many rows. Each may
/// come to have some MiB of states.
pub const REGEXES_KEPT_MAX: usize = 32;

/// Conditions of all `where` behind a source that indexes are asked for; more are left to the rows.
pub const PUSHED_CONDITIONS_MAX: usize = 30;

/// Filters that these conditions become: the product's limit of a query.
pub const PUSHED_FILTERS_MAX: usize = 100;

/// Values of one filter, and keys of an order, that a query can have. Longer ones are not looked at, because a
/// pipeline inside of an expression is opened for every row.
pub const PUSHED_VALUES_MAX: usize = 30;

/// Bytes of a value in a filter, about the product's limit; larger ones are not copied for a refusal.
pub const PUSHED_VALUE_MAX_BYTES: usize = 2_048;

/// Decimal places that `round` and `trunc` look at: a double has no more.
pub const PLACES_MAX: i64 = 320;
