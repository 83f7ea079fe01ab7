//! Full resource names: databases, documents and parents, parsed with the texts clients see.

use std::fmt;
use std::sync::Arc;

use crate::limits::{DATABASE_ID_MAX_BYTES, PATH_PAIRS_MAX, RESOURCE_ID_MAX_BYTES};
use crate::name_error::{IdKind, NameError, NameSubject, check_id};
use crate::resource_path::{DocumentPath, ParentPath, segments};

/// A database: `projects/{project}/databases/{database}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DatabaseName {
    /// Project id.
    pub project: Arc<str>,
    /// Database id, `(default)` unless named.
    pub database: Arc<str>,
}

impl DatabaseName {
    /// The database of that project and id.
    pub fn new(project: &str, database: &str) -> Self {
        DatabaseName { project: Arc::from(project), database: Arc::from(database) }
    }

    /// The document of that path in this database.
    pub fn document(&self, path: DocumentPath) -> DocumentName {
        DocumentName { database: self.clone(), path }
    }
}

impl fmt::Display for DatabaseName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "projects/{}/databases/{}", self.project, self.database)
    }
}

/// A document: `{database}/documents/{path}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentName {
    /// The database it is in.
    pub database: DatabaseName,
    /// Its path below `documents`.
    pub path: DocumentPath,
}

impl DocumentName {
    /// Parses the name of a document as requests carry it. Lengths are not checked, so a name that is too
    /// long is the name of a document that does not exist; writes check [`DocumentName::check_limits`].
    pub fn parse(name: &str) -> Result<Self, NameError> {
        DocumentName::parse_as(NameSubject::Document, name)
    }

    /// Parses a name that sits in a reference value; differs from [`DocumentName::parse`] in its error texts.
    pub fn parse_reference(name: &str) -> Result<Self, NameError> {
        DocumentName::parse_as(NameSubject::Parent, name)
    }

    /// Parses a document's name; errors call it by `subject`.
    pub fn parse_as(subject: NameSubject, name: &str) -> Result<Self, NameError> {
        let parts = NameParts::scan(subject, name)?;
        Ok(DocumentName {
            database: parts.database_name(),
            path: DocumentPath::trusted(parts.path),
        })
    }

    /// Checks what only writes refuse: the lengths of ids, the number of segments, a database id with
    /// characters no database has.
    pub fn check_limits(&self) -> Result<(), NameError> {
        NameParts {
            project: &self.database.project,
            database: &self.database.database,
            path: self.path.as_str(),
        }
        .check_limits()
    }
}

impl fmt::Display for DocumentName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/documents/{}", self.database, self.path)
    }
}

/// Parses `{database}/documents` or a document's name: what a collection can be in.
pub fn parse_parent(name: &str) -> Result<(DatabaseName, ParentPath), NameError> {
    let mut scanner = Scanner { subject: NameSubject::Parent, name, at: 0 };
    let (project, database) = scanner.database_and_slash()?;
    scanner.word("documents", "\"documents\"")?;
    if scanner.rest().is_empty() {
        return Ok((DatabaseName::new(project, database), ParentPath::root()));
    }
    let path = scanner.document_path()?;
    let path = ParentPath::from(DocumentPath::trusted(path));
    Ok((DatabaseName::new(project, database), path))
}

/// Parses `projects/{project}/databases/{database}`.
pub fn parse_database(name: &str) -> Result<DatabaseName, NameError> {
    let subject = NameSubject::Database;
    let mut scanner = Scanner { subject, name, at: 0 };
    scanner.word("projects", "\"projects\"")?;
    scanner.slash()?;
    let project = scanner.id(IdKind::Project)?;
    scanner.slash()?;
    scanner.word("databases", "\"databases\"")?;
    scanner.slash()?;
    let database = scanner.id(IdKind::Database)?;
    let name = name.to_owned();
    match scanner.rest() {
        "" => Ok(DatabaseName::new(project, database)),
        "/" => Err(NameError::TrailingSlash { subject, name }),
        _ => Err(NameError::Extra { subject, name, index: scanner.at }),
    }
}

/// The parts of a document's name, borrowed.
#[derive(Clone, Copy)]
pub(crate) struct NameParts<'name> {
    project: &'name str,
    database: &'name str,
    path: &'name str,
}

impl<'name> NameParts<'name> {
    /// Takes a document's name apart and checks it as [`DocumentName::parse`] does.
    pub(crate) fn scan(subject: NameSubject, name: &'name str) -> Result<Self, NameError> {
        let mut scanner = Scanner { subject, name, at: 0 };
        let (project, database) = scanner.database_and_slash()?;
        scanner.word("documents", "\"documents\"")?;
        if scanner.rest().is_empty() {
            return Err(NameError::NotDocument {
                subject,
                name: name.to_owned(),
                advice: "Omit \"/documents\" when referencing a database (except as the parent of a document).",
            });
        }
        let path = scanner.document_path()?;
        Ok(NameParts { project, database, path })
    }

    /// See [`DocumentName::check_limits`].
    pub(crate) fn check_limits(&self) -> Result<(), NameError> {
        check_database_id(self.database)?;
        let mut count = 0;
        for segment in segments(self.path) {
            if segment.len() > RESOURCE_ID_MAX_BYTES {
                let part = if count % 2 == 0 { "kind" } else { "name" };
                return Err(NameError::TooLong { part });
            }
            count += 1;
        }
        if count > 2 * PATH_PAIRS_MAX { Err(NameError::TooDeep) } else { Ok(()) }
    }

    fn database_name(&self) -> DatabaseName {
        DatabaseName::new(self.project, self.database)
    }
}

fn check_database_id(id: &str) -> Result<(), NameError> {
    if id == "(default)" {
        return Ok(());
    }
    if id.len() > DATABASE_ID_MAX_BYTES {
        return Err(NameError::DatabaseTooLong);
    }
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if id.bytes().all(is_legal) { Ok(()) } else { Err(NameError::IllegalDatabase(id.to_owned())) }
}

/// Walks a name from its front, checking each part as it comes: the first problem from the left is told.
struct Scanner<'name> {
    subject: NameSubject,
    name: &'name str,
    at: usize,
}

impl<'name> Scanner<'name> {
    fn rest(&self) -> &'name str {
        self.name.get(self.at..).unwrap_or_default()
    }

    fn lacks(&self, wanted: &'static str) -> NameError {
        let (subject, name, index) = (self.subject, self.name.to_owned(), self.at);
        NameError::Lacks { subject, name, wanted, index }
    }

    /// `projects/{project}/databases/{database}/`.
    fn database_and_slash(&mut self) -> Result<(&'name str, &'name str), NameError> {
        self.word("projects", "\"projects\"")?;
        self.slash()?;
        let project = self.id(IdKind::Project)?;
        self.slash()?;
        self.word("databases", "\"databases\"")?;
        self.slash()?;
        let database = self.id(IdKind::Database)?;
        self.slash()?;
        Ok((project, database))
    }

    /// The slash after `documents` and the path of a document to the end of the name.
    fn document_path(&mut self) -> Result<&'name str, NameError> {
        let (subject, name) = (self.subject, self.name);
        if self.rest() == "/" {
            return Err(NameError::NotDocument {
                subject,
                name: name.to_owned(),
                advice: "Omit trailing \"/\".",
            });
        }
        self.slash()?;
        let path = self.rest();
        loop {
            self.id(IdKind::Collection)?;
            self.slash()?;
            self.id(IdKind::Resource)?;
            if self.rest().is_empty() {
                return Ok(path);
            }
            self.slash()?;
        }
    }

    /// A fixed word; `quoted` is how an error shows it.
    fn word(&mut self, word: &str, quoted: &'static str) -> Result<(), NameError> {
        if !self.rest().starts_with(word) {
            return Err(self.lacks(quoted));
        }
        self.at += word.len();
        Ok(())
    }

    /// A slash with something behind it.
    fn slash(&mut self) -> Result<(), NameError> {
        match self.rest().strip_prefix('/') {
            None => Err(self.lacks("\"/\"")),
            Some("") => {
                Err(NameError::TrailingSlash { subject: self.subject, name: self.name.to_owned() })
            }
            Some(_) => {
                self.at += 1;
                Ok(())
            }
        }
    }

    /// An id up to the next slash or the end.
    fn id(&mut self, kind: IdKind) -> Result<&'name str, NameError> {
        let rest = self.rest();
        let id = rest.split_once('/').map_or(rest, |(id, _)| id);
        if id.is_empty() {
            return Err(self.lacks(kind.wanted()));
        }
        if id == "." || id == ".." {
            return Err(NameError::DotId {
                subject: self.subject,
                name: self.name.to_owned(),
                kind,
                id: id.to_owned(),
                index: self.at,
            });
        }
        check_id(kind, id)?;
        self.at += id.len();
        Ok(id)
    }
}

#[cfg(test)]
mod tests;
