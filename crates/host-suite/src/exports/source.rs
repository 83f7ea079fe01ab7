//! What there is to import in a folder, found before anything is opened.

use std::fs;
use std::path::{Component, Path, PathBuf};

use engine_export::{Export, ReadError};
use serde_json::{Map, Value};
use svc_kit::Import;

use super::metadata::Metadata;
use super::{METADATA_FILE, target};
use crate::notice::Notice;
use crate::options::{Caller, ImportOptions};
use crate::services::{self, ServiceRow};

/// How the file ends by which a managed Firestore export is known.
const OVERALL_SUFFIX: &str = ".overall_export_metadata";

/// Why nothing can be imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// There is no such folder. The sentence is the official one.
    #[error("Directory \"{}\" does not exist.", .0.display())]
    NoFolder(PathBuf),
    /// The metadata file says nothing that can be used.
    #[error("`{}` cannot be used: {reason}", file.display())]
    Metadata {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The folder is none of an export.
    #[error(
        "`{}` holds no export: name a folder with a `{METADATA_FILE}` or an `.overall_export_metadata` file in it",
        .0.display()
    )]
    NoExport(PathBuf),
    /// A service refused what it was to take.
    #[error("could not import `{}`, so nothing is started and no data was changed: {reason}", dir.display())]
    Failed {
        /// The folder.
        dir: PathBuf,
        /// The service's words: the file, the place in it, and what is wrong there.
        reason: String,
    },
}

/// What is to be imported, for each of the services that run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedImport {
    /// The folder, for messages.
    pub(crate) dir: PathBuf,
    pub(crate) parts: Vec<(&'static str, Import)>,
}

/// Finds it. As with the official command line a folder without an export is no error there but a warning; a
/// program is told by an error.
///
/// # Errors
/// There is no such folder; its metadata cannot be used; for a program, there is no export.
pub(crate) fn find(
    options: &ImportOptions,
    caller: Caller,
    running: &[&'static ServiceRow],
    notices: &mut Vec<Notice>,
) -> Result<Option<PlannedImport>, ImportError> {
    let dir = &options.dir;
    // An export that was stopped in the middle of taking its place is whole again after this.
    let _recovered = target::recover(dir);
    if !dir.is_dir() {
        return Err(ImportError::NoFolder(dir.clone()));
    }
    let unusable = |reason| ImportError::Metadata { file: dir.join(METADATA_FILE), reason };
    let firestore = match Metadata::read(dir).map_err(unusable)? {
        Some(metadata) => {
            notices.extend(left_out(&metadata, running));
            match metadata.part("firestore") {
                Some(part) => Some(parts(dir, part).map_err(unusable)?),
                None => None,
            }
        }
        None => bare(dir, caller, notices)?.map(|path| vec![path]),
    };
    let is_running = running.iter().any(|row| row.name == "firestore");
    let Some(parts) = firestore.filter(|_| is_running) else { return Ok(None) };
    let ImportOptions { collections, databases, .. } = options.clone();
    let import = Import { parts, collections, databases };
    Ok(Some(PlannedImport { dir: dir.clone(), parts: vec![("firestore", import)] }))
}

/// The files that the metadata names for Firestore: the official one, and those of named databases, which firelet
/// alone writes.
fn parts(dir: &Path, part: &Map<String, Value>) -> Result<Vec<PathBuf>, String> {
    let mut files = vec![file(dir, part, "firestore")?];
    let databases = part.get("databases").and_then(Value::as_object);
    for (id, database) in databases.into_iter().flatten() {
        let named = format!("firestore.databases.{id}");
        let part = database.as_object().ok_or_else(|| format!("`{named}` is no object"))?;
        files.push(file(dir, part, &named)?);
    }
    Ok(files)
}

fn file(dir: &Path, part: &Map<String, Value>, named: &str) -> Result<PathBuf, String> {
    let named = format!("{named}.metadata_file");
    let text = part.get("metadata_file").and_then(Value::as_str);
    let text = text.ok_or_else(|| format!("`{named}` is missing"))?;
    let path = PathBuf::from(text.replace('\\', "/"));
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    if !is_inside || text.is_empty() {
        return Err(format!("`{named}` is `{text}`, which is no file of the export"));
    }
    Ok(dir.join(path))
}

/// The Firestore export in a folder without the command line's metadata.
fn bare(
    dir: &Path,
    caller: Caller,
    notices: &mut Vec<Notice>,
) -> Result<Option<PathBuf>, ImportError> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let is_managed = names.iter().any(|name| name.ends_with(OVERALL_SUFFIX));
    let is_database = names.iter().any(|name| name.ends_with(".json"));
    if !is_managed && is_database {
        let text = "the folder to import holds a Realtime Database export, and firelet does not have the Database \
                    Emulator yet: it is left out";
        notices.push(Notice::warning("database", text));
        return Ok(None);
    }
    // Parts of managed exports lie deeper, and have no such file.
    if is_managed || is_export(dir) {
        let text = format!("Detected non-emulator Firestore export at {}", dir.display());
        notices.push(Notice::info("firestore", text));
        return Ok(Some(dir.to_owned()));
    }
    match caller {
        Caller::Program => Err(ImportError::NoExport(dir.to_owned())),
        Caller::CommandLine => {
            let text = "Could not find import/export metadata file, skipping data import!";
            notices.push(Notice::warning("emulators", text));
            Ok(None)
        }
    }
}

/// Whether a folder has the files of a Firestore export, which may be damaged: that is told when they are read.
fn is_export(dir: &Path) -> bool {
    !matches!(Export::open(dir), Err(ReadError::NotAnExport { .. }))
}

/// What an export has for services that do not run, or are not there yet.
fn left_out(metadata: &Metadata, running: &[&'static ServiceRow]) -> Vec<Notice> {
    let rows = metadata.services().filter_map(services::find);
    let missing = rows.filter(|row| !running.iter().any(|running| running.name == row.name));
    missing
        .map(|row| {
            let why = if row.exists() { "does not run" } else { "is not there yet in firelet" };
            let text =
                format!("the export's data for the {} is left out: it {why}", row.description);
            Notice::warning(row.name, text)
        })
        .collect()
}
