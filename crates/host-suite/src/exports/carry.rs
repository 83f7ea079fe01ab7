//! What becomes of a folder of exports that was replaced: the files of its export are removed, and all that others
//! have put there moves to the new one.

use std::fs;
use std::io;
use std::path::Path;

use super::target::is_metadata;

/// How the names of Firestore's parts begin.
const FIRESTORE_PART: &str = "firestore_export";

/// Folders in one another that an export of Firestore may have.
const DEPTH_MAX: usize = 8;

/// Removes the folder `from`. Of what is in it, files of a Firestore export and the metadata file go, and anything
/// else takes its place below `to`.
///
/// # Errors
/// The operating system's; something has a name that is taken in `to`. What is left is in `from` then.
pub(super) fn carry(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let known = name.to_string_lossy();
        if is_metadata(&known) {
            fs::remove_file(entry.path())?;
        } else if entry.file_type()?.is_dir() && is_part(&known) {
            carry_part(&entry.path(), &to.join(&name), DEPTH_MAX)?;
        } else {
            settle(&entry.path(), &to.join(&name))?;
        }
    }
    fs::remove_dir(from)
}

fn is_part(name: &str) -> bool {
    name.strip_prefix(FIRESTORE_PART).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// The same for a folder of a Firestore export.
fn carry_part(from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    let Some(depth) = depth.checked_sub(1) else { return settle(from, to) };
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            carry_part(&entry.path(), &target, depth)?;
        } else if kind.is_file() && is_export_file(&entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path())?;
        } else {
            fs::create_dir_all(to)?;
            settle(&entry.path(), &target)?;
        }
    }
    fs::remove_dir(from)
}

fn is_export_file(name: &str) -> bool {
    let number = name.strip_prefix("output-");
    let is_output = number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    is_output || name.ends_with(".overall_export_metadata") || name.ends_with(".export_metadata")
}

/// Moves what nobody here has written. It never replaces anything.
fn settle(from: &Path, to: &Path) -> io::Result<()> {
    if fs::symlink_metadata(to).is_ok() {
        let text = format!("there is a `{}` already", to.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
    }
    fs::rename(from, to)
}
