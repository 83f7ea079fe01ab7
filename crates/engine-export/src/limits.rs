//! Every bound of this crate, each with its reason.

/// Longest record that is read or written, in bytes. A document of the product's 1 MiB can be longer here,
/// because a field's name is repeated for each element of its array: this holds an array of a million truth
/// values below a name of 50 bytes. It is what one reader holds in memory at most, as bytes.
pub const RECORD_MAX_BYTES: usize = 64 * 1024 * 1024;

/// Arrays and maps that may enclose a value, in either direction: as many as on the wire, where the value itself
/// counts too; five times the product's limit, and far from the end of any thread's stack.
pub const DEPTH_MAX: usize = base_value::limits::DECODE_DEPTH_MAX - 1;

/// Groups that may enclose one another inside of a message; the format has two, and what is skipped may have
/// some more.
pub const GROUP_DEPTH_MAX: usize = 16;

/// Longest metadata file, in bytes: the names of more than a million output files.
pub const METADATA_MAX_BYTES: usize = 16 * 1024 * 1024;

/// Folders that are searched below the one given, when no metadata says where the files are: one more than
/// `<name>/<namespace>/<kind>` has.
pub const SEARCH_DEPTH_MAX: usize = 4;

/// Files and folders that are looked at in that search: a managed export has thousands of files, a disk's root
/// more than anybody wants to wait for.
pub const SEARCH_ENTRIES_MAX: usize = 200_000;

/// Documents in one output file, as the official emulator has it: readers may take the files of an export side by
/// side.
pub const SHARD_DOCUMENTS_MAX: u64 = 5_000;

/// A buffer that one long record has made longer than this is given back after it.
pub(crate) const KEPT_BUFFER_BYTES: usize = 4 * 1024 * 1024;

/// Bytes that are collected for one write to a file.
pub(crate) const WRITE_BUFFER_BYTES: usize = 128 * 1024;
