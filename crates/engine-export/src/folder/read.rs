//! An export that is there: its groups, its output files, and what it should hold.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::name::{output_number, resolve};
use super::{GROUP_SUFFIX, OVERALL_SUFFIX, search};
use crate::documents::{Document, DocumentReader};
use crate::error::{FormatError, ReadError};
use crate::metadata::{GroupMetadata, Overall, OverallGroup};

/// The files of one export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    groups: Vec<Group>,
}

/// Documents that were exported together: all of them, or one collection group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The collection id that the documents share, where the overall metadata says one.
    pub collection: Option<String>,
    /// How many documents there are, where the overall metadata says so.
    pub documents: Option<u64>,
    /// Its output files.
    pub shards: Vec<Shard>,
}

/// One output file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Where it is.
    pub file: PathBuf,
    /// Its length.
    pub bytes: u64,
}

impl Shard {
    /// Opens the file.
    pub fn open(&self) -> Result<DocumentReader<File>, ReadError> {
        let file = File::open(&self.file);
        let file = file.map_err(|source| ReadError::io("open", &self.file, source))?;
        Ok(DocumentReader::new(&self.file, file))
    }
}

impl Export {
    /// Finds the files of an export and, where the emulator made it, checks that they have as many bytes as its metadata
    /// says; none is read yet.
    ///
    /// `path` is an overall metadata file, or a folder: one with such a file in it or below it; otherwise one with the
    /// metadata of groups, as parts of managed exports have it; otherwise one with output files, all of
    /// which are read. Folders with several exports are refused.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let metadata = fs::metadata(path).map_err(|source| ReadError::io("open", path, source))?;
        if metadata.is_dir() {
            return Export::in_folder(path);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(OVERALL_SUFFIX) {
            Export::from_overall(path)
        } else if name.ends_with(GROUP_SUFFIX) {
            Export::from_groups(&[path.to_owned()])
        } else if output_number(&name).is_some() {
            Export::from_outputs(&[path.to_owned()])
        } else {
            Err(ReadError::NotAnExport { folder: path.to_owned() })
        }
    }

    fn in_folder(folder: &Path) -> Result<Self, ReadError> {
        let direct = search::within(folder)?;
        if let Some(file) = search::only(folder, &direct.overall)? {
            return Export::from_overall(&file);
        }
        let found = search::below(folder)?;
        if let Some(file) = search::only(folder, &found.overall)? {
            return Export::from_overall(&file);
        }
        search::check_one_export(folder, &found.groups)?;
        search::check_one_export(folder, &found.outputs)?;
        if !found.groups.is_empty() {
            return Export::from_groups(&found.groups);
        }
        if found.outputs.is_empty() {
            return Err(ReadError::NotAnExport { folder: folder.to_owned() });
        }
        Export::from_outputs(&found.outputs)
    }

    fn from_overall(file: &Path) -> Result<Self, ReadError> {
        let source = File::open(file).map_err(|source| ReadError::io("open", file, source))?;
        let overall = Overall::read(file, source)?;
        let mut groups = Vec::with_capacity(overall.groups.len());
        for OverallGroup { collection, path, documents, bytes } in overall.groups {
            let metadata = named(file, &path)?;
            let shards = match named_shards(&metadata, file, bytes) {
                // Nobody misses the files of no documents.
                Err(ReadError::Missing { .. }) if documents == 0 => Vec::new(),
                shards => shards?,
            };
            groups.push(Group { collection, documents: Some(documents), shards });
        }
        Ok(Export { groups })
    }

    fn from_groups(files: &[PathBuf]) -> Result<Self, ReadError> {
        let mut groups = Vec::with_capacity(files.len());
        for file in files {
            let source = File::open(file).map_err(|source| ReadError::io("open", file, source))?;
            let metadata = GroupMetadata::read(file, source)?;
            let shards = shards(&metadata, file)?;
            groups.push(Group { collection: None, documents: None, shards });
        }
        Ok(Export { groups })
    }

    fn from_outputs(files: &[PathBuf]) -> Result<Self, ReadError> {
        let mut shards = Vec::with_capacity(files.len());
        for file in files {
            let metadata = fs::metadata(file);
            let metadata = metadata.map_err(|source| ReadError::io("open", file, source))?;
            shards.push(Shard { file: file.clone(), bytes: metadata.len() });
        }
        Ok(Export { groups: vec![Group { collection: None, documents: None, shards }] })
    }

    /// The groups, in the order of the metadata. None for an empty database.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// All output files.
    pub fn shards(&self) -> impl Iterator<Item = &Shard> {
        self.groups.iter().flat_map(|group| &group.shards)
    }

    /// How many bytes they have together.
    pub fn bytes(&self) -> u64 {
        self.shards().map(|shard| shard.bytes).sum()
    }

    /// How many documents there should be, where there is overall metadata.
    pub fn documents(&self) -> Option<u64> {
        self.groups.iter().try_fold(0_u64, |sum, group| Some(sum.saturating_add(group.documents?)))
    }

    /// Refuses a number of documents that is not the one the metadata says: for whoever has read all shards.
    pub fn check_documents(&self, found: u64) -> Result<(), ReadError> {
        match self.documents() {
            Some(expected) if expected != found => Err(ReadError::Count { expected, found }),
            _ => Ok(()),
        }
    }

    /// Reads the documents of all shards, one shard after the other. After an error there are no more; the
    /// last item is one if there were not as many as the metadata says.
    pub fn read(&self) -> Documents<'_> {
        let shards = self.shards().collect::<Vec<_>>().into_iter();
        Documents { export: self, shards, reader: None, found: 0, is_done: false }
    }
}

/// The documents of an export, see [`Export::read`].
#[derive(Debug)]
pub struct Documents<'export> {
    export: &'export Export,
    shards: std::vec::IntoIter<&'export Shard>,
    reader: Option<DocumentReader<File>>,
    found: u64,
    is_done: bool,
}

impl Iterator for Documents<'_> {
    type Item = Result<Document, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_done {
            if let Some(next) = self.reader.as_mut().and_then(Iterator::next) {
                self.found += 1;
                self.is_done = next.is_err();
                return Some(next);
            }
            let opened = match self.shards.next() {
                Some(shard) => shard.open().map(|reader| self.reader = Some(reader)),
                None => {
                    self.is_done = true;
                    self.export.check_documents(self.found)
                }
            };
            if let Err(error) = opened {
                self.is_done = true;
                return Some(Err(error));
            }
        }
        None
    }
}

/// The file that a metadata file names.
fn named(metadata: &Path, name: &str) -> Result<PathBuf, ReadError> {
    let folder = metadata.parent().unwrap_or(Path::new(""));
    resolve(folder, name)
        .ok_or_else(|| ReadError::damaged(metadata, 0, FormatError::FileName(name.to_owned())))
}

/// The output files of a group that overall metadata names, with so many bytes.
fn named_shards(metadata: &Path, overall: &Path, bytes: u64) -> Result<Vec<Shard>, ReadError> {
    let source = File::open(metadata).map_err(|source| missing(metadata, overall, source))?;
    let group = GroupMetadata::read(metadata, source)?;
    let shards = shards(&group, metadata)?;
    let found = shards.iter().map(|shard| shard.bytes).sum();
    // Production counts other bytes than those of the files, which it fills up to whole blocks.
    if group.kind.is_empty() && found != bytes {
        let (metadata, expected) = (overall.to_owned(), bytes);
        return Err(ReadError::Incomplete { metadata, expected, found });
    }
    Ok(shards)
}

fn missing(file: &Path, metadata: &Path, source: io::Error) -> ReadError {
    if source.kind() == io::ErrorKind::NotFound {
        ReadError::Missing { file: file.to_owned(), metadata: metadata.to_owned() }
    } else {
        ReadError::io("open", file, source)
    }
}

/// The output files that a group's metadata names.
fn shards(group: &GroupMetadata, metadata: &Path) -> Result<Vec<Shard>, ReadError> {
    let mut shards = Vec::with_capacity(group.outputs.len());
    for output in &group.outputs {
        let file = named(metadata, output)?;
        let found = fs::metadata(&file).map_err(|source| missing(&file, metadata, source))?;
        shards.push(Shard { file, bytes: found.len() });
    }
    Ok(shards)
}
