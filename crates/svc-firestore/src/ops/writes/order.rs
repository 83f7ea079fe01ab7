//! Which writes of one commit may follow each other on one document.
//!
//! Some orders are refused whatever is stored, before anything is read (observed on the official emulator,
//! and where it is known, on production).

use std::collections::HashMap;

use base_env::UnixMicros;
use base_value::DocumentName;

use super::model::{Action, Precondition, Write};
use crate::error::WriteOrder;

/// What the writes before did to a document.
#[derive(Clone, Copy)]
struct Before {
    last: Last,
    /// The version that the first of them has demanded.
    base: Option<UnixMicros>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Verify,
    Delete,
    /// A write that demanded that the document was missing.
    Insert,
    /// A write that demanded that it was there.
    Update,
    /// Any other.
    Upsert,
}

/// Checks the order of a commit's writes.
pub(super) fn check(writes: &[Write]) -> Result<(), WriteOrder> {
    if writes.len() < 2 {
        return Ok(());
    }
    let mut documents: HashMap<&DocumentName, Before> = HashMap::with_capacity(writes.len());
    for write in writes {
        let before = documents.get(&write.name).copied();
        if let Some(before) = before {
            before.check(write)?;
        }
        let base = match (before, write.precondition) {
            (Some(before), _) => before.base,
            (None, Precondition::UpdateTime(time)) => Some(time),
            (None, Precondition::None | Precondition::Exists(_)) => None,
        };
        documents.insert(&write.name, Before { last: Last::of(write), base });
    }
    Ok(())
}

impl Last {
    fn of(write: &Write) -> Last {
        match (&write.action, write.precondition) {
            (Action::Verify, _) => Last::Verify,
            (Action::Delete, _) => Last::Delete,
            (Action::Set(_) | Action::Patch { .. }, Precondition::Exists(false)) => Last::Insert,
            (Action::Set(_) | Action::Patch { .. }, Precondition::None) => Last::Upsert,
            (
                Action::Set(_) | Action::Patch { .. },
                Precondition::Exists(true) | Precondition::UpdateTime(_),
            ) => Last::Update,
        }
    }
}

impl Before {
    fn check(self, write: &Write) -> Result<(), WriteOrder> {
        match (self.last, Last::of(write)) {
            (Last::Verify, Last::Verify) => Err(WriteOrder::VerifyTwice),
            (Last::Verify, _) => Err(WriteOrder::VerifyThenWrite),
            (_, Last::Verify) => Err(WriteOrder::WriteThenVerify),
            (Last::Delete, Last::Update) => Err(WriteOrder::DeleteThenUpdate),
            (Last::Delete, Last::Delete) if write.precondition == Precondition::Exists(true) => {
                Err(WriteOrder::DeleteThenDelete)
            }
            (Last::Insert, Last::Delete) if write.precondition == Precondition::Exists(false) => {
                Err(WriteOrder::InsertThenDelete)
            }
            (Last::Update, Last::Delete) if write.precondition == Precondition::Exists(false) => {
                Err(WriteOrder::UpdateThenDelete)
            }
            (Last::Upsert, Last::Delete) if write.precondition == Precondition::Exists(false) => {
                Err(WriteOrder::UpsertThenDelete)
            }
            (Last::Insert, Last::Insert) => Err(WriteOrder::InsertThenInsert),
            (Last::Update, Last::Insert) => Err(WriteOrder::UpdateThenInsert),
            (Last::Upsert, Last::Insert) => Err(WriteOrder::UpsertThenInsert),
            _ => match write.precondition {
                Precondition::UpdateTime(time) if self.base != Some(time) => {
                    Err(WriteOrder::OtherVersion { first: self.base, then: time })
                }
                Precondition::UpdateTime(_) | Precondition::None | Precondition::Exists(_) => {
                    Ok(())
                }
            },
        }
    }
}
