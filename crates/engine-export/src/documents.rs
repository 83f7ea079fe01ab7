//! Documents out of one output file and into one.

use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use base_value::{DatabaseName, DocumentName, DocumentPath, Fields};

use crate::entity::{Databases, Encoder, decode};
use crate::error::{ReadError, WriteError};
use crate::limits::{KEPT_BUFFER_BYTES, WRITE_BUFFER_BYTES};
use crate::log::{LogError, LogReader, LogWriter, place_in_file};

/// One document of an export. The format has no creation and update times.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its name, in the project and database it was exported from.
    pub name: DocumentName,
    /// Its fields, checked for what they are but not against the product's limits.
    pub fields: Fields,
}

/// Reads the documents of an output file, in the order it has them, from any source of bytes.
///
/// Holds one block of 32 KiB and one document at a time. After an error there are no more documents.
#[derive(Debug)]
pub struct DocumentReader<R> {
    file: PathBuf,
    log: LogReader<R>,
    databases: Databases,
    documents: u64,
    is_done: bool,
}

impl<R: Read> DocumentReader<R> {
    /// Reads `source` from its start; errors call it `file`. It needs no buffer of its own.
    pub fn new(file: impl Into<PathBuf>, source: R) -> Self {
        DocumentReader {
            file: file.into(),
            log: LogReader::new(source),
            databases: Databases::default(),
            documents: 0,
            is_done: false,
        }
    }

    /// How many bytes of the file are read.
    pub fn position(&self) -> u64 {
        self.log.position()
    }

    /// How many documents were read.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    fn read(&mut self) -> Result<Option<Document>, ReadError> {
        let record = self.log.next().map_err(|error| match error {
            LogError::Io(source) => ReadError::io("read", &self.file, source),
            LogError::Format { offset, reason } => ReadError::damaged(&self.file, offset, reason),
        })?;
        let Some(record) = record else { return Ok(None) };
        let document =
            decode(record.bytes, &mut self.databases).map_err(|error| ReadError::Damaged {
                file: self.file.clone(),
                offset: place_in_file(record.offset, error.fault.at),
                document: error.document,
                reason: error.fault.reason,
            })?;
        self.documents += 1;
        Ok(Some(document))
    }
}

impl<R: Read> Iterator for DocumentReader<R> {
    type Item = Result<Document, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let next = self.read().transpose();
        self.is_done = !matches!(next, Some(Ok(_)));
        next
    }
}

/// Where a document stands among the others of an export. It is the order in which a store that can answer queries
/// of collection groups holds them, so that nobody has to sort.
fn place(path: &DocumentPath) -> (&str, &DocumentPath) {
    (path.collection_id(), path)
}

/// What was written to an output file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// How many documents.
    pub documents: u64,
    /// How many bytes the file has.
    pub bytes: u64,
}

/// Writes an output file to any sink of bytes; the same bytes for the same documents.
#[derive(Debug)]
pub struct DocumentWriter<W: Write> {
    file: PathBuf,
    log: LogWriter<BufWriter<W>>,
    encoder: Encoder,
    record: Vec<u8>,
    last: Option<DocumentPath>,
    documents: u64,
}

impl<W: Write> DocumentWriter<W> {
    /// Writes to `sink` from its start; errors call it `file`. It is buffered here.
    pub fn new(file: impl Into<PathBuf>, sink: W, database: &DatabaseName) -> Self {
        DocumentWriter {
            file: file.into(),
            log: LogWriter::new(BufWriter::with_capacity(WRITE_BUFFER_BYTES, sink)),
            encoder: Encoder::new(database),
            record: Vec::new(),
            last: None,
            documents: 0,
        }
    }

    /// The documents go on behind that one, which is in another file.
    pub(crate) fn behind(mut self, last: Option<DocumentPath>) -> Self {
        self.last = last;
        self
    }

    /// What errors call the file.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// The document that was written last.
    pub(crate) fn last(&self) -> Option<&DocumentPath> {
        self.last.as_ref()
    }

    /// Appends a document of the database, in the order of their collections' ids, and of their paths within one.
    /// Nothing is written of one that is refused.
    pub fn write(&mut self, path: &DocumentPath, fields: &Fields) -> Result<(), WriteError> {
        if let Some(last) = self.last.as_ref().filter(|last| place(last) >= place(path)) {
            let (document, before) = (path.to_string(), last.to_string());
            return Err(WriteError::Order { document, before });
        }
        self.record.clear();
        self.record.shrink_to(KEPT_BUFFER_BYTES);
        self.encoder
            .encode(path, fields, &mut self.record)
            .map_err(|reason| WriteError::Value { document: path.to_string(), reason })?;
        let written = self.log.append(&self.record);
        written.map_err(|source| WriteError::io("write", &self.file, source))?;
        self.last = Some(path.clone());
        self.documents += 1;
        Ok(())
    }

    /// What was written so far.
    pub fn written(&self) -> Written {
        Written { documents: self.documents, bytes: self.log.position() }
    }

    /// Ends the file and gives the sink back. Without it the file is not whole.
    pub fn finish(self) -> Result<(W, Written), WriteError> {
        let (file, written) = (self.file.clone(), self.written());
        let failed = |source| WriteError::io("write", &file, source);
        let buffer = self.log.finish().map_err(failed)?;
        let sink = buffer.into_inner().map_err(|error| failed(error.into_error()))?;
        Ok((sink, written))
    }
}
