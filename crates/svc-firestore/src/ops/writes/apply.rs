//! Applies the writes of one commit, in order, to the documents they name.
//!
//! Later writes see what earlier ones left. Nothing is stored here: the outcome is a batch for the
//! committer, and what to answer once the batch has its commit time.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use base_env::UnixMicros;
use base_value::{DocumentName, FieldPath, Fields, LimitPolicy, Value, codec, key, validate};
use bytes::Bytes;
use engine_query::Declared;
use engine_store::{Commit, Op, Record, WriteBatch};
use engine_txn::Reads;

use super::model::{Action, Precondition, Write};
use super::{order, transforms};
use crate::error::Error;

/// Which of production's limits hold for the documents of one database.
pub(crate) struct Limits<'a> {
    pub(crate) policy: LimitPolicy,
    pub(crate) declared: &'a Declared,
}

impl Limits<'_> {
    /// Whether production's indexes would take the document, whose size is known.
    fn check_indexes(
        &self,
        fields: &Fields,
        name: &DocumentName,
        size: usize,
    ) -> Result<(), Error> {
        match self.policy {
            LimitPolicy::Production => {
                Ok(self.declared.check_document(&name.path, fields, size)?)
            }
            LimitPolicy::Off => Ok(()),
        }
    }
}

/// What a commit will store and what each of its writes will answer.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) batch: WriteBatch,
    pub(crate) outcomes: Vec<Outcome>,
}

/// The answer to one write, before the commit time is known.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    key: Bytes,
    /// The document as the commit found it, which it still is where the commit turns out not to change it.
    before: Option<Record>,
    deleted: bool,
    pub(crate) transform_results: Vec<Value>,
}

impl Outcome {
    /// The document's update time after `commit`: the commit's own if it changed the document, the
    /// former one if it did not, none if the write deleted it.
    pub(crate) fn update_time(&self, commit: &Commit) -> Option<UnixMicros> {
        if self.deleted {
            return None;
        }
        // A commit lists its changes in key order.
        let found = commit.changes.binary_search_by(|change| change.key.cmp(&self.key));
        let unchanged = self.before.as_ref().map(|record| record.updated);
        if found.is_ok() { Some(commit.time) } else { unchanged.or(Some(commit.time)) }
    }

    /// The document as `commit` has left it.
    pub(crate) fn after(&self, commit: &Commit) -> Option<Record> {
        match commit.changes.binary_search_by(|change| change.key.cmp(&self.key)) {
            Ok(at) => commit.changes.get(at)?.after.clone(),
            Err(_) => self.before.clone(),
        }
    }
}

/// Applies `writes` to the documents that `reads` shows.
///
/// # Errors
/// The first write that cannot be applied, with production's code and text. Nothing is stored then.
pub(crate) fn apply(
    reads: &mut Reads,
    writes: &[Write],
    request_time: UnixMicros,
    limits: &Limits<'_>,
) -> Result<Applied, Error> {
    order::check(writes)?;
    let mut documents: BTreeMap<Bytes, Pending> = BTreeMap::new();
    let mut outcomes = Vec::with_capacity(writes.len());
    for write in writes {
        let key = key::document(&write.name.path);
        let pending = match documents.entry(key.clone()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Pending::load(reads.get(&key))),
        };
        pending.check_precondition(write)?;
        let transform_results = pending.write(write, request_time, limits)?;
        outcomes.push(Outcome {
            key,
            before: pending.stored.clone(),
            deleted: matches!(write.action, Action::Delete),
            transform_results,
        });
    }
    let mut batch = WriteBatch::new();
    for (key, pending) in documents {
        if let Some(op) = pending.into_op() {
            batch.set(key, op);
        }
    }
    Ok(Applied { batch, outcomes })
}

/// One document while the writes of a commit pass over it.
struct Pending {
    stored: Option<Record>,
    now: State,
    /// A write of this commit deleted it, whatever came after.
    was_deleted: bool,
}

enum State {
    /// As stored: not decoded, because nothing needed it.
    Untouched,
    Present(Fields),
    /// Present with these encoded fields, taken over whole from a write.
    Encoded(Bytes),
    Missing,
}

impl Pending {
    fn load(stored: Option<Record>) -> Pending {
        Pending { stored, now: State::Untouched, was_deleted: false }
    }

    fn exists(&self) -> bool {
        match self.now {
            State::Untouched => self.stored.is_some(),
            State::Present(_) | State::Encoded(_) => true,
            State::Missing => false,
        }
    }

    fn check_precondition(&self, write: &Write) -> Result<(), Error> {
        match write.precondition {
            Precondition::None => Ok(()),
            Precondition::Exists(true) if !self.exists() => {
                Err(Error::NoDocumentToUpdate(write.name.clone()))
            }
            Precondition::Exists(false) if self.exists() => {
                Err(Error::DocumentAlreadyExists(write.name.clone()))
            }
            Precondition::Exists(_) => Ok(()),
            Precondition::UpdateTime(required) => {
                // As it was before the commit: of two deletes that demand one version both are met.
                let stored = self.stored.as_ref().map_or(UnixMicros(0), |record| record.updated);
                if stored == required {
                    Ok(())
                } else {
                    Err(Error::StaleUpdateTime { stored, required })
                }
            }
        }
    }

    fn write(
        &mut self,
        write: &Write,
        request_time: UnixMicros,
        limits: &Limits<'_>,
    ) -> Result<Vec<Value>, Error> {
        match &write.action {
            Action::Verify => return Ok(Vec::new()),
            Action::Delete => {
                self.now = State::Missing;
                self.was_deleted = true;
                return Ok(Vec::new());
            }
            Action::Set(fields) if write.transforms.is_empty() => {
                // What it holds was validated when it was decoded, and nothing of the old document matters.
                let size = validate::check_size(fields, &write.name, limits.policy)?;
                limits.check_indexes(fields, &write.name, size)?;
                self.now = State::Encoded(codec::encode_fields(fields));
                return Ok(Vec::new());
            }
            Action::Set(fields) => self.now = State::Present(fields.clone()),
            Action::Patch { mask, fields } => patch(self.fields_mut()?, mask, fields),
        }
        let fields = self.fields_mut()?;
        let results = transforms::apply(fields, &write.transforms, request_time)?;
        let size = validate::check_fields(fields, &write.name, limits.policy)?;
        limits.check_indexes(fields, &write.name, size)?;
        Ok(results)
    }

    /// The document's fields, decoded and ready to change; empty if it does not exist.
    fn fields_mut(&mut self) -> Result<&mut Fields, Error> {
        let decoded = match &self.now {
            State::Present(_) => None,
            State::Encoded(bytes) => Some(codec::decode_fields(bytes)?),
            State::Missing => Some(Fields::new()),
            State::Untouched => Some(match &self.stored {
                Some(record) => codec::decode_fields(&record.value)?,
                None => Fields::new(),
            }),
        };
        if let Some(fields) = decoded {
            self.now = State::Present(fields);
        }
        match &mut self.now {
            State::Present(fields) => Ok(fields),
            State::Untouched | State::Encoded(_) | State::Missing => {
                Err(Error::Bug("a document was decoded and is not there"))
            }
        }
    }

    fn into_op(self) -> Option<Op> {
        let value = match self.now {
            State::Untouched => return None,
            State::Missing => return self.stored.is_some().then_some(Op::Delete),
            State::Present(fields) => codec::encode_fields(&fields),
            State::Encoded(bytes) => bytes,
        };
        // Deleted and written again is a new document, even with the same content.
        Some(if self.was_deleted { Op::Recreate(value) } else { Op::Put(value) })
    }
}

fn patch(target: &mut Fields, mask: &[FieldPath], fields: &Fields) {
    for path in mask {
        match path.get(fields) {
            Some(value) => path.set(target, value.clone()),
            None => {
                path.remove(target);
            }
        }
    }
}
