//! Looking for an export's files where no metadata names them.

use std::fs;
use std::path::{Path, PathBuf};

use super::name::output_number;
use super::{GROUP_SUFFIX, OVERALL_SUFFIX};
use crate::error::ReadError;
use crate::limits::{SEARCH_DEPTH_MAX, SEARCH_ENTRIES_MAX};

/// The files of exports that a folder holds.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Overall metadata.
    pub(super) overall: Vec<PathBuf>,
    /// Metadata of groups.
    pub(super) groups: Vec<PathBuf>,
    /// Output files, those of one folder in the order of their numbers.
    pub(super) outputs: Vec<PathBuf>,
    entries: usize,
}

/// Looks for files directly in a folder.
pub(super) fn within(folder: &Path) -> Result<Found, ReadError> {
    search(folder, 0)
}

/// Looks for files in and below a folder, in the order of their names. Links to folders are not followed.
pub(super) fn below(folder: &Path) -> Result<Found, ReadError> {
    search(folder, SEARCH_DEPTH_MAX)
}

fn search(folder: &Path, depth: usize) -> Result<Found, ReadError> {
    let mut found = Found::default();
    found.list(folder, folder, depth)?;
    Ok(found)
}

impl Found {
    fn list(&mut self, root: &Path, folder: &Path, depth: usize) -> Result<(), ReadError> {
        let failed = |source| ReadError::io("list", folder, source);
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            self.entries += 1;
            if self.entries > SEARCH_ENTRIES_MAX {
                return Err(ReadError::TooMuchToSearch { folder: root.to_owned() });
            }
            let entry = entry.map_err(failed)?;
            let is_folder = entry.file_type().map_err(failed)?.is_dir();
            let number = entry.file_name().to_str().and_then(output_number);
            names.push((number, entry.file_name(), is_folder));
        }
        names.sort();
        for (number, name, is_folder) in names {
            let path = folder.join(&name);
            let name = name.to_string_lossy();
            if is_folder {
                if depth > 0 {
                    self.list(root, &path, depth - 1)?;
                }
            } else if name.ends_with(OVERALL_SUFFIX) {
                self.overall.push(path);
            } else if name.ends_with(GROUP_SUFFIX) {
                self.groups.push(path);
            } else if number.is_some() {
                self.outputs.push(path);
            }
        }
        Ok(())
    }
}

/// The one file that is there, `None` if there is none.
pub(super) fn only(root: &Path, files: &[PathBuf]) -> Result<Option<PathBuf>, ReadError> {
    match files {
        [] => Ok(None),
        [file] => Ok(Some(file.clone())),
        [first, second, ..] => Err(ambiguous(root, first, second)),
    }
}

/// Refuses files that are not of one export: they all lie in `<export>/<namespace>/<kind>`, or higher.
pub(super) fn check_one_export(root: &Path, files: &[PathBuf]) -> Result<(), ReadError> {
    let export = |file: &Path| {
        let below = file.strip_prefix(root).unwrap_or(file).components();
        let levels = below.clone().count().saturating_sub(3);
        below.take(levels).collect::<PathBuf>()
    };
    let Some(first) = files.first() else { return Ok(()) };
    match files.iter().find(|file| export(file) != export(first)) {
        None => Ok(()),
        Some(other) => Err(ambiguous(root, first, other)),
    }
}

fn ambiguous(root: &Path, first: &Path, second: &Path) -> ReadError {
    let (folder, first, second) = (root.to_owned(), first.to_owned(), second.to_owned());
    ReadError::Ambiguous { folder, first, second }
}
