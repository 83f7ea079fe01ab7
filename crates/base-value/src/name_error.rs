//! Why names and ids are refused, and the checks of single ids.

use std::fmt;

use thiserror::Error;

use crate::resource_path::numeric_digits;

/// Checks the id of a collection, as a query or a request names it.
pub fn check_collection_id(id: &str) -> Result<(), NameError> {
    check_single(IdKind::Collection, id)
}

/// Checks the id of a document, as a request names it. `__id7__` and other numeric ids are legal.
pub fn check_document_id(id: &str) -> Result<(), NameError> {
    check_single(IdKind::Resource, id)
}

fn check_single(kind: IdKind, id: &str) -> Result<(), NameError> {
    if id.is_empty() {
        return Err(NameError::Empty { kind });
    }
    if id.contains('/') {
        return Err(NameError::ContainsSlash { kind, id: id.to_owned() });
    }
    if id == "." || id == ".." {
        return Err(NameError::Reserved { kind, id: id.to_owned() });
    }
    check_id(kind, id)
}

/// Refuses reserved ids of collections and documents.
pub(crate) fn check_id(kind: IdKind, id: &str) -> Result<(), NameError> {
    if !is_reserved(id) {
        return Ok(());
    }
    let reserved = || Err(NameError::Reserved { kind, id: id.to_owned() });
    match kind {
        IdKind::Project | IdKind::Database => Ok(()),
        IdKind::Collection => reserved(),
        IdKind::Resource => match numeric_digits(id).map(str::parse::<i64>) {
            Some(Ok(_)) => Ok(()),
            Some(Err(_)) => Err(NameError::NumericRange { id: id.to_owned() }),
            None => reserved(),
        },
    }
}

/// Whether a name matches `__.*__` with at least five characters.
pub(crate) fn is_reserved(name: &str) -> bool {
    name.len() >= 5 && name.starts_with("__") && name.ends_with("__")
}

/// What an error text calls the name it refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameSubject {
    /// `Document name`.
    Document,
    /// `Document parent name`: parents in requests, and reference values.
    Parent,
    /// `Resource name`.
    Resource,
    /// `Database name`.
    Database,
}

impl fmt::Display for NameSubject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            NameSubject::Document => "Document name",
            NameSubject::Parent => "Document parent name",
            NameSubject::Resource => "Resource name",
            NameSubject::Database => "Database name",
        })
    }
}

/// What an id is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdKind {
    /// A project.
    Project,
    /// A database.
    Database,
    /// A collection.
    Collection,
    /// A document.
    Resource,
}

impl IdKind {
    /// How an error says that it is missing.
    pub(crate) fn wanted(self) -> &'static str {
        match self {
            IdKind::Project => "a project id",
            IdKind::Database => "a database id",
            IdKind::Collection => "a collection id",
            IdKind::Resource => "a resource id",
        }
    }

    fn capitalized(self) -> &'static str {
        match self {
            IdKind::Project => "Project",
            IdKind::Database => "Database",
            IdKind::Collection => "Collection",
            IdKind::Resource => "Resource",
        }
    }
}

/// Why a resource name or an id in it was refused. Displays the text clients see (INVALID_ARGUMENT).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// Something else stands where `wanted` must.
    #[error("{subject} \"{name}\" lacks {wanted} at index {index}.")]
    Lacks {
        /// What the name was for.
        subject: NameSubject,
        /// The whole name.
        name: String,
        /// What is missing, in quotes if literal.
        wanted: &'static str,
        /// Byte offset in the name.
        index: usize,
    },
    /// An id in a name is `.` or `..`.
    #[error("{subject} \"{name}\" contains {} \"{id}\" at index {index}.", kind.wanted())]
    DotId {
        /// What the name was for.
        subject: NameSubject,
        /// The whole name.
        name: String,
        /// What the id is of.
        kind: IdKind,
        /// The id.
        id: String,
        /// Byte offset in the name.
        index: usize,
    },
    /// The name ends in a slash.
    #[error("{subject} \"{name}\" has invalid trailing \"/\".")]
    TrailingSlash {
        /// What the name was for.
        subject: NameSubject,
        /// The whole name.
        name: String,
    },
    /// The name stops at `documents` where a document is wanted.
    #[error("{subject} \"{name}\" is invalid: {advice}")]
    NotDocument {
        /// What the name was for.
        subject: NameSubject,
        /// The whole name.
        name: String,
        /// What to leave out.
        advice: &'static str,
    },
    /// A database's name goes on after the database id.
    #[error("{subject} \"{name}\" has extra characters at index {index}.")]
    Extra {
        /// What the name was for.
        subject: NameSubject,
        /// The whole name.
        name: String,
        /// Byte offset in the name.
        index: usize,
    },
    /// An id that matches `__.*__`, or a lone `.` or `..`.
    #[error("{} id \"{id}\" is invalid because it is reserved.", kind.capitalized())]
    Reserved {
        /// What the id is of.
        kind: IdKind,
        /// The id.
        id: String,
    },
    /// A numeric id too large for 64 bits.
    #[error("Resource id \"{id}\" is invalid because it is not a 64 bit integer.")]
    NumericRange {
        /// The id.
        id: String,
    },
    /// An id with a slash in it.
    #[error("{} id \"{id}\" is invalid because it contains \"/\".", kind.capitalized())]
    ContainsSlash {
        /// What the id is of.
        kind: IdKind,
        /// The id.
        id: String,
    },
    /// An id that is empty.
    #[error("{} id \"\" is invalid because it is empty.", kind.capitalized())]
    Empty {
        /// What the id is of.
        kind: IdKind,
    },
    /// An id of more than 1500 bytes.
    #[error("The key path element {part} is longer than 1500 bytes.")]
    TooLong {
        /// `name` for a document's id, `kind` for a collection's.
        part: &'static str,
    },
    /// More than 100 collection and document pairs.
    #[error("Key path is too long. Cannot exceed 100 elements.")]
    TooDeep,
    /// A database id of more than 100 bytes.
    #[error("The database is longer than 100 bytes.")]
    DatabaseTooLong,
    /// A database id with a character no database id has; holds the id.
    #[error("Illegal string \"{0}\" in database.")]
    IllegalDatabase(String),
}

impl NameError {
    /// A relative path that ends one segment early.
    pub(crate) fn lacks_slash(path: &str) -> Self {
        NameError::Lacks {
            subject: NameSubject::Document,
            name: path.to_owned(),
            wanted: "\"/\"",
            index: path.len(),
        }
    }
}
