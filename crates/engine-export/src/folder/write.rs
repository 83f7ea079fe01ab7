//! A new export, in a folder of its own, as the official emulator writes it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use base_value::{DatabaseName, DocumentPath, Fields, Timestamp};

use super::name::is_plain;
use super::{OUTPUT_PREFIX, OVERALL_SUFFIX};
use crate::documents::{DocumentWriter, Written};
use crate::error::WriteError;
use crate::limits::SHARD_DOCUMENTS_MAX;
use crate::metadata::{GroupMetadata, Overall, OverallGroup};

/// Where the files of all documents are, below the export's folder.
const GROUP_FOLDER: [&str; 2] = ["all_namespaces", "all_kinds"];

/// Their metadata file.
const GROUP_METADATA: &str = "all_namespaces_all_kinds.export_metadata";

/// Writes an export of one database into a folder that it makes.
///
/// The same documents make the same bytes, but for the times in the group's metadata. Files are on the
/// disk when [`FolderWriter::finish`] is done; what an export leaves that does not get there is the
/// caller's to remove.
#[derive(Debug)]
pub struct FolderWriter {
    folder: PathBuf,
    name: String,
    database: DatabaseName,
    /// The names of the output files, the last of which is open. None for an empty database.
    outputs: Vec<String>,
    output: Option<DocumentWriter<File>>,
    /// What was written to those that are not open any more.
    written: Written,
}

impl FolderWriter {
    /// Makes the folder `name` in `parent`, which must not have one yet.
    pub fn create(parent: &Path, name: &str, database: &DatabaseName) -> Result<Self, WriteError> {
        if !is_plain(name) {
            return Err(WriteError::ExportName(name.to_owned()));
        }
        let folder = parent.join(name);
        fs::create_dir(&folder).map_err(|source| WriteError::io("create", &folder, source))?;
        Ok(FolderWriter {
            folder,
            name: name.to_owned(),
            database: database.clone(),
            outputs: Vec::new(),
            output: None,
            written: Written::default(),
        })
    }

    /// The overall metadata file that [`FolderWriter::finish`] writes last: what importers ask for.
    pub fn overall_file(&self) -> PathBuf {
        self.folder.join(format!("{}{OVERALL_SUFFIX}", self.name))
    }

    /// Appends a document, in the order of [`DocumentWriter::write`]. Where a value was refused, one may go on with the
    /// next document; where the system was, there is nothing to go on with.
    pub fn write(&mut self, path: &DocumentPath, fields: &Fields) -> Result<(), WriteError> {
        let is_full =
            |output: &mut DocumentWriter<File>| output.written().documents >= SHARD_DOCUMENTS_MAX;
        let mut last = None;
        if let Some(full) = self.output.take_if(is_full) {
            last = full.last().cloned();
            self.close(full)?;
        }
        let output = match &mut self.output {
            Some(output) => output,
            empty => {
                let name = format!("{OUTPUT_PREFIX}{}", self.outputs.len());
                let output = create_output(&self.folder, &name, &self.database)?;
                self.outputs.push(name);
                empty.insert(output.behind(last))
            }
        };
        output.write(path, fields)
    }

    /// What was written so far.
    pub fn written(&self) -> Written {
        let open = self.output.as_ref().map(DocumentWriter::written).unwrap_or_default();
        sum(self.written, open)
    }

    /// Writes the metadata, which says that the export was begun and done at those times.
    pub fn finish(mut self, start: Timestamp, end: Timestamp) -> Result<Written, WriteError> {
        let overall_file = self.overall_file();
        let mut overall = Overall::default();
        if let Some(output) = self.output.take() {
            self.close(output)?;
            let group = GroupMetadata {
                operation: self.name,
                start,
                end,
                kind: String::new(),
                outputs: self.outputs,
            };
            let path = group_folder(&self.folder).join(GROUP_METADATA);
            write_file(&path, |file| group.write(file))?;
            let [namespace, kind] = GROUP_FOLDER;
            overall.groups.push(OverallGroup {
                collection: None,
                path: format!("{namespace}/{kind}/{GROUP_METADATA}"),
                documents: self.written.documents,
                bytes: self.written.bytes,
            });
        }
        write_file(&overall_file, |file| overall.write(file))?;
        Ok(self.written)
    }

    /// Brings an output file to the disk.
    fn close(&mut self, output: DocumentWriter<File>) -> Result<(), WriteError> {
        let path = output.file().to_owned();
        let (file, written) = output.finish()?;
        file.sync_all().map_err(|source| WriteError::io("write", &path, source))?;
        self.written = sum(self.written, written);
        Ok(())
    }
}

fn sum(one: Written, other: Written) -> Written {
    Written { documents: one.documents + other.documents, bytes: one.bytes + other.bytes }
}

fn group_folder(folder: &Path) -> PathBuf {
    folder.join(GROUP_FOLDER.iter().collect::<PathBuf>())
}

fn create_output(
    folder: &Path,
    name: &str,
    database: &DatabaseName,
) -> Result<DocumentWriter<File>, WriteError> {
    let folder = group_folder(folder);
    fs::create_dir_all(&folder).map_err(|source| WriteError::io("create", &folder, source))?;
    let path = folder.join(name);
    let file = File::create_new(&path);
    let file = file.map_err(|source| WriteError::io("create", &path, source))?;
    Ok(DocumentWriter::new(path, file, database))
}

fn write_file(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), WriteError> {
    let file = File::create_new(path);
    let mut file = file.map_err(|source| WriteError::io("create", path, source))?;
    write(&mut file)
        .and_then(|()| file.sync_all())
        .map_err(|source| WriteError::io("write", path, source))
}
