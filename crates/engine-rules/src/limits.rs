//! Every bound this crate enforces, each with its reason.

/// Bytes of a source: production's limit.
pub const SOURCE_MAX_BYTES: usize = 262_144;

/// Diagnostics of one source. A file with more is read from its top anyway.
pub const DIAGNOSTICS_MAX: usize = 100;

/// Levels an expression may nest: production takes 99 and refuses 100.
pub const NESTING_MAX: usize = 99;

/// Levels the parser follows. Above `NESTING_MAX`, since an index adds no level, and low enough that its
/// recursion stays far from the end of any thread's stack.
pub(crate) const PARSE_DEPTH_MAX: usize = 120;

/// Height of an expression's tree: what `NESTING_MAX` leaves open are chains like `a.b.c`, and nobody
/// writes one of 600 links. The checker and the evaluator recurse along it.
pub(crate) const HEIGHT_MAX: usize = 600;

/// Segments of the paths of match blocks inside of one another: a document's name has at most 100 pairs of
/// them, below three of its database. Each block keeps its whole path.
pub(crate) const MATCH_SEGMENTS_MAX: usize = 210;

/// Parameters of a function that are looked at, where it has more than it may.
pub(crate) const PARAMETERS_CHECKED_MAX: usize = 64;

/// Functions on one call stack: production's limit is 20 calls below the first function.
pub const CALL_DEPTH_MAX: usize = 20;

/// Variables of one function: production's limit.
pub const LETS_MAX: usize = 10;

/// Parameters of one function: production's limit.
pub const PARAMETERS_MAX: usize = 7;

/// Expressions evaluated for one request, over all `allow` statements tried: production's limit.
pub const EXPRESSIONS_MAX: u32 = 1_000;

/// Distinct documents one request may read: production's limit.
pub const DOCUMENTS_PER_REQUEST: usize = 10;

/// Distinct documents all operations of one commit, transaction or batch may read: production's limit.
pub const DOCUMENTS_PER_BATCH: usize = 20;

/// Distinct Firestore documents a Storage request may read: production's limit.
pub const DOCUMENTS_PER_STORAGE_REQUEST: usize = 2;

/// Bytes of a string or of bytes an expression may make. Twice what a document holds; without it `x + x` in
/// nested functions doubles without end.
pub const TEXT_MAX_BYTES: usize = 2 * 1_048_576;

/// Values of a list or set an expression may make, for the same reason.
pub const LIST_MAX: usize = 100_000;

/// Memory of one compiled regular expression: one a document's limits allow fits, a hostile one does not.
pub(crate) const REGEX_MAX_BYTES: usize = 4 * 1_048_576;

/// Bytes of a regular expression's own text.
pub(crate) const REGEX_TEXT_MAX_BYTES: usize = 16_384;

/// Times a part of a regular expression may repeat: RE2's limit.
pub(crate) const REGEX_REPEAT_MAX: u32 = 1_000;

/// Characters of a value that an explanation shows.
pub const SHOWN_MAX_CHARS: usize = 200;

/// Steps an explanation records: what can be evaluated at all.
pub(crate) const STEPS_MAX: usize = EXPRESSIONS_MAX as usize;

/// Lines of `debug()` kept of one request.
pub const DEBUG_LINES_MAX: usize = 100;
