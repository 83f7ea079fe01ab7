//! Why an export could not be read or written. The texts are for developers.

use std::io;
use std::path::{Path, PathBuf};

use base_value::NameError;
use thiserror::Error;

use crate::limits::{DEPTH_MAX, RECORD_MAX_BYTES, SEARCH_ENTRIES_MAX};

/// Why a folder or a file could not be read as an export.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The operating system refused something.
    #[error("could not {doing} `{}`: {source}", file.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The file or folder.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file's content is not what the format says.
    #[error(
        "`{}` cannot be read at byte {offset}{}: {reason}",
        file.display(),
        in_document(document.as_deref())
    )]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Where in the file.
        offset: u64,
        /// The document it is in, as far as that is known.
        document: Option<String>,
        /// What is wrong there.
        reason: FormatError,
    },
    /// The metadata names a file that is not there.
    #[error(
        "`{}` is missing, which `{}` names: copy the whole export, or make it again",
        file.display(),
        metadata.display()
    )]
    Missing {
        /// The file that is not there.
        file: PathBuf,
        /// The file that names it.
        metadata: PathBuf,
    },
    /// The output files are shorter or longer than the metadata says.
    #[error(
        "the files that `{}` names have {found} bytes and should have {expected}: copy the whole export, or make it again",
        metadata.display()
    )]
    Incomplete {
        /// The metadata file.
        metadata: PathBuf,
        /// Bytes according to it.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// The output files hold fewer or more documents than the metadata says.
    #[error(
        "the export holds {found} documents and should hold {expected}: copy the whole export, or make it again"
    )]
    Count {
        /// Documents according to the metadata.
        expected: u64,
        /// Documents that were read.
        found: u64,
    },
    /// There is no export.
    #[error(
        "`{}` holds no Firestore export: there is no `.overall_export_metadata` or `.export_metadata` file and no `output-0`",
        folder.display()
    )]
    NotAnExport {
        /// What was looked at.
        folder: PathBuf,
    },
    /// There is more than one export.
    #[error(
        "`{}` holds several exports: name one of them, `{}` or `{}`",
        folder.display(),
        first.display(),
        second.display()
    )]
    Ambiguous {
        /// What was looked at.
        folder: PathBuf,
        /// One of the exports.
        first: PathBuf,
        /// Another one.
        second: PathBuf,
    },
    /// The search for the export's files was given up.
    #[error(
        "`{}` holds more than {SEARCH_ENTRIES_MAX} files: name the export's own folder",
        folder.display()
    )]
    TooMuchToSearch {
        /// What was looked at.
        folder: PathBuf,
    },
}

impl ReadError {
    pub(crate) fn io(doing: &'static str, file: &Path, source: io::Error) -> Self {
        ReadError::Io { doing, file: file.to_owned(), source }
    }

    pub(crate) fn damaged(file: &Path, offset: u64, reason: FormatError) -> Self {
        ReadError::Damaged { file: file.to_owned(), offset, document: None, reason }
    }
}

fn in_document(document: Option<&str>) -> String {
    document.map(|path| format!(", in document `{path}`")).unwrap_or_default()
}

/// What is wrong with bytes of an export.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FormatError {
    /// The bytes of a fragment are not those its checksum was made of.
    #[error("the checksum does not match")]
    Checksum,
    /// The file ends inside of the record that starts there.
    #[error("the file ends inside of this record")]
    Truncated,
    /// A fragment of a kind that the format does not have.
    #[error("no record starts here: its type would be {0}")]
    FragmentType(u8),
    /// A fragment that would reach into the next block, or behind the end of a file that is none.
    #[error("no record starts here: it would be {0} bytes long, more than there are")]
    FragmentLength(u16),
    /// A record that begins before the last one has ended.
    #[error("the record before has no end")]
    Unfinished,
    /// A record whose beginning is not there.
    #[error("this record has no beginning")]
    Headless,
    /// A record that is too long to be held.
    #[error("this record is longer than {RECORD_MAX_BYTES} bytes")]
    RecordTooLong,
    /// A file of metadata that is too long to be one.
    #[error("this is too long for a metadata file")]
    MetadataTooLong,
    /// The file says that it follows another version of the format.
    #[error("the export's format has the version `{0}`, and only `3` is known")]
    Version(String),
    /// A metadata file that lacks a part; holds the part.
    #[error("the metadata has no {0}")]
    Lacks(&'static str),
    /// A file name that leads out of the export's folder, or is none.
    #[error("the metadata names `{0}`, which is no file of the export")]
    FileName(String),
    /// Not a message; holds what stands there instead.
    #[error("not a message of the format: {0}")]
    Malformed(&'static str),
    /// A text that is not UTF-8.
    #[error("a text is not UTF-8")]
    Utf8,
    /// More values inside of one another than are followed.
    #[error("values are nested more than {DEPTH_MAX} levels deep")]
    TooDeep,
    /// A document without a name.
    #[error("the document has no key")]
    NoKey,
    /// A name without a project.
    #[error("the name has no project")]
    NoProject,
    /// A name that is in one of Datastore's namespaces.
    #[error("the name is in the Datastore namespace `{0}`, and Firestore has none")]
    Namespace(String),
    /// A key whose last part has neither a name nor a number.
    #[error("the key is incomplete")]
    IncompleteKey,
    /// A name that no document can have.
    #[error("{0}")]
    Name(Box<NameError>),
    /// Two values of one field; holds the field.
    #[error("field `{0}` has more than one value and is no array")]
    Duplicate(String),
    /// A value of a kind that Firestore does not have; holds the field and the kind's number.
    #[error("field `{field}` has a value of an unknown kind (number {number})")]
    UnknownValue {
        /// The field's name.
        field: String,
        /// The kind's field number in the format's message.
        number: u32,
    },
    /// A vector with something else than doubles in it; holds the field.
    #[error("field `{0}` is a vector with something else than doubles in it")]
    VectorComponent(String),
    /// A point in time outside of the years 1 to 9999; holds the field.
    #[error("field `{0}` holds a time outside of the years 1 to 9999")]
    Timestamp(String),
}

impl From<NameError> for FormatError {
    fn from(error: NameError) -> Self {
        FormatError::Name(Box::new(error))
    }
}

/// Why an export could not be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The operating system refused something.
    #[error("could not {doing} `{}`: {source}", file.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The file or folder.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The export's name is not a plain folder name.
    #[error("`{0}` cannot be the name of an export: use a plain folder name")]
    ExportName(String),
    /// A document that does not come after the one before it.
    #[error(
        "document `{document}` came after `{before}`: documents are written in the order of their collections' ids and then of their paths"
    )]
    Order {
        /// The document.
        document: String,
        /// The one before it.
        before: String,
    },
    /// A value that the format cannot hold.
    #[error("document `{document}` cannot be exported: {reason}")]
    Value {
        /// The document.
        document: String,
        /// What is wrong with it.
        reason: Unwritable,
    },
}

impl WriteError {
    pub(crate) fn io(doing: &'static str, file: &Path, source: io::Error) -> Self {
        WriteError::Io { doing, file: file.to_owned(), source }
    }
}

/// What the format cannot hold. Nothing that was validated before it was stored, except by its mere length.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Unwritable {
    /// An array, or a vector, directly inside of an array; holds the field.
    #[error("the array in field `{0}` holds an array or a vector")]
    ArrayInArray(String),
    /// A vector of no dimension; holds the field.
    #[error("the vector in field `{0}` has no components")]
    VectorEmpty(String),
    /// A reference that names no document.
    #[error("field `{field}`: {reason}")]
    Reference {
        /// The field's name.
        field: String,
        /// What is wrong with the name.
        reason: Box<NameError>,
    },
    /// More values inside of one another than are followed.
    #[error("its values are nested more than {DEPTH_MAX} levels deep")]
    TooDeep,
    /// The document is too long a record, which readers would refuse.
    #[error("it takes more than {RECORD_MAX_BYTES} bytes in this format")]
    TooLong,
}
