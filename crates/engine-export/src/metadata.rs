//! The two kinds of metadata file: the overall one, which names those of each group of collections, and
//! theirs, which name the output files.

use std::io::{self, Read, Write};
use std::path::Path;

use base_value::Timestamp;

use crate::error::{FormatError, ReadError};
use crate::limits::METADATA_MAX_BYTES;
use crate::log::{LogError, LogReader, LogWriter, place_in_file};
use crate::wire::{Fault, Payload, Span, push_bytes, push_number};

/// The only version of the format that is known: the overall file's first record.
const VERSION: &[u8] = b"3";

/// Two numbers in every entry of the overall file. What they say is not known.
const KIND_REF: [(u32, u64); 2] = [(1, 2), (3, 3)];

/// The field of a kind's own name between those two.
const KIND_NAME: u32 = 2;

/// `<name>.overall_export_metadata`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overall {
    /// One entry for each metadata file; none for an empty database.
    pub groups: Vec<OverallGroup>,
}

/// What the overall file says of a group of collections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverallGroup {
    /// The collection id that the documents share; `None` for all documents.
    pub collection: Option<String>,
    /// The group's metadata file, relative to the overall one. On Windows written with backslashes.
    pub path: String,
    /// How many documents there are.
    pub documents: u64,
    /// How many bytes there are: the emulator counts those of the output files, production those of the documents'
    /// records.
    pub bytes: u64,
}

/// `<namespace>_<kind>.export_metadata`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMetadata {
    /// The export's name, or that of the operation that made it.
    pub operation: String,
    /// When it began.
    pub start: Timestamp,
    /// When it was done.
    pub end: Timestamp,
    /// What is exported: empty where the emulator has exported all documents, `__all__` where production has.
    pub kind: String,
    /// The output files, relative to this file.
    pub outputs: Vec<String>,
}

impl Overall {
    /// Reads the whole file from `source`; errors call it `file`.
    pub fn read(file: &Path, source: impl Read) -> Result<Self, ReadError> {
        let damaged = |offset, reason| ReadError::damaged(file, offset, reason);
        let failed = |error| match error {
            LogError::Io(source) => ReadError::io("read", file, source),
            LogError::Format { offset, reason } => damaged(offset, reason),
        };
        let mut log = LogReader::new(source.take(METADATA_MAX_BYTES as u64));
        match log.next().map_err(failed)? {
            Some(record) if record.bytes == VERSION => {}
            Some(record) => {
                let text = String::from_utf8_lossy(record.bytes).chars().take(32).collect();
                return Err(damaged(record.offset, FormatError::Version(text)));
            }
            None => return Err(damaged(0, FormatError::Lacks("version"))),
        }
        let end = log.position();
        let record = log.next().map_err(failed)?;
        let record = record.ok_or_else(|| damaged(end, FormatError::Lacks("list of files")))?;
        let groups = overall_groups(Span::whole(record.bytes));
        let groups = groups
            .map_err(|fault| damaged(place_in_file(record.offset, fault.at), fault.reason))?;
        Ok(Overall { groups })
    }

    /// Writes the whole file.
    pub fn write(&self, sink: impl Write) -> io::Result<()> {
        let mut record = Vec::new();
        for group in &self.groups {
            push_bytes(&mut record, 1, &group.encoded());
        }
        let mut log = LogWriter::new(sink);
        log.append(VERSION)?;
        log.append(&record)?;
        log.finish().map(drop)
    }
}

impl OverallGroup {
    fn encoded(&self) -> Vec<u8> {
        let [(first, two), (last, three)] = KIND_REF;
        let mut kind = Vec::new();
        push_number(&mut kind, first, two);
        if let Some(collection) = &self.collection {
            push_bytes(&mut kind, KIND_NAME, collection.as_bytes());
        }
        push_number(&mut kind, last, three);
        let mut entry = Vec::new();
        push_bytes(&mut entry, 1, &kind);
        push_bytes(&mut entry, 2, self.path.as_bytes());
        push_number(&mut entry, 3, self.documents);
        push_number(&mut entry, 4, self.bytes);
        entry
    }
}

fn overall_groups(message: Span<'_>) -> Result<Vec<OverallGroup>, Fault> {
    let mut groups = Vec::new();
    let mut fields = message.fields();
    while let Some(field) = fields.next()? {
        match (field.number, field.payload) {
            (1, Payload::Delimited(entry)) => groups.push(overall_group(entry)?),
            (1, _) => return Err(field.wrong_type()),
            _ => {}
        }
    }
    Ok(groups)
}

fn overall_group(entry: Span<'_>) -> Result<OverallGroup, Fault> {
    let mut group = OverallGroup::default();
    let mut fields = entry.fields();
    while let Some(field) = fields.next()? {
        match (field.number, field.payload) {
            (1, Payload::Delimited(kind)) => {
                let mut fields = kind.fields();
                while let Some(field) = fields.next()? {
                    if let (KIND_NAME, Payload::Delimited(name)) = (field.number, field.payload) {
                        group.collection = Some(name.text()?.to_owned());
                    }
                }
            }
            (2, Payload::Delimited(path)) => group.path = path.text()?.to_owned(),
            (3, Payload::Varint(documents)) => group.documents = documents,
            (4, Payload::Varint(bytes)) => group.bytes = bytes,
            (1..=4, _) => return Err(field.wrong_type()),
            _ => {}
        }
    }
    if group.path.is_empty() {
        return Err(entry.fault(FormatError::Lacks("path of a metadata file")));
    }
    Ok(group)
}

impl GroupMetadata {
    /// Reads the whole file from `source`; errors call it `file`.
    pub fn read(file: &Path, source: impl Read) -> Result<Self, ReadError> {
        let mut bytes = Vec::new();
        let limited = source.take(METADATA_MAX_BYTES as u64 + 1).read_to_end(&mut bytes);
        limited.map_err(|source| ReadError::io("read", file, source))?;
        if bytes.len() > METADATA_MAX_BYTES {
            return Err(ReadError::damaged(file, 0, FormatError::MetadataTooLong));
        }
        let decoded = group_metadata(Span::whole(&bytes));
        decoded.map_err(|fault| ReadError::damaged(file, fault.at as u64, fault.reason))
    }

    /// Writes the whole file, as the official emulator does.
    pub fn write(&self, mut sink: impl Write) -> io::Result<()> {
        let mut operation = Vec::new();
        push_bytes(&mut operation, 1, self.operation.as_bytes());
        push_number(&mut operation, 2, self.start.to_micros() as u64);
        push_number(&mut operation, 3, self.end.to_micros() as u64);
        let mut items = Vec::new();
        push_bytes(&mut items, 1, self.kind.as_bytes());
        for output in &self.outputs {
            push_bytes(&mut items, 2, output.as_bytes());
        }
        let mut message = Vec::new();
        push_bytes(&mut message, 1, &operation);
        push_bytes(&mut message, 2, &items);
        sink.write_all(&message)?;
        sink.flush()
    }
}

fn group_metadata(message: Span<'_>) -> Result<GroupMetadata, Fault> {
    let (mut operation, mut items) = (None, None);
    let mut fields = message.fields();
    while let Some(field) = fields.next()? {
        match (field.number, field.payload) {
            (1, Payload::Delimited(bytes)) => operation = Some(bytes),
            (2, Payload::Delimited(bytes)) => items = Some(bytes),
            (1 | 2, _) => return Err(field.wrong_type()),
            _ => {}
        }
    }
    let lacks = |part| move || message.fault(FormatError::Lacks(part));
    let operation = operation.ok_or_else(lacks("operation"))?;
    let items = items.ok_or_else(lacks("list of files"))?;
    let epoch = Timestamp::default();
    let mut group = GroupMetadata {
        operation: String::new(),
        start: epoch,
        end: epoch,
        kind: String::new(),
        outputs: Vec::new(),
    };
    let mut fields = operation.fields();
    while let Some(field) = fields.next()? {
        match (field.number, field.payload) {
            (1, Payload::Delimited(name)) => group.operation = name.text()?.to_owned(),
            (2, Payload::Varint(micros)) => group.start = Timestamp::from_micros(micros as i64),
            (3, Payload::Varint(micros)) => group.end = Timestamp::from_micros(micros as i64),
            (1..=3, _) => return Err(field.wrong_type()),
            _ => {}
        }
    }
    let mut fields = items.fields();
    while let Some(field) = fields.next()? {
        match (field.number, field.payload) {
            (1, Payload::Delimited(kind)) => group.kind = kind.text()?.to_owned(),
            (2, Payload::Delimited(output)) => group.outputs.push(output.text()?.to_owned()),
            (1 | 2, _) => return Err(field.wrong_type()),
            _ => {}
        }
    }
    Ok(group)
}

#[cfg(test)]
mod tests;
