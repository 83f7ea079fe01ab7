//! An export as a folder: which files it has and what they are called.

mod name;
mod read;
mod search;
mod write;

pub use name::relative_path;
pub use read::{Documents, Export, Group, Shard};
pub use write::FolderWriter;

/// How the name of the overall metadata file ends.
const OVERALL_SUFFIX: &str = ".overall_export_metadata";

/// How the name of a group's metadata file ends.
const GROUP_SUFFIX: &str = ".export_metadata";

/// How the name of an output file begins; its number follows.
const OUTPUT_PREFIX: &str = "output-";
