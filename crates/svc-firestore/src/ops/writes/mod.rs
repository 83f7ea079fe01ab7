//! The writes of a commit: what a client may ask for, and how they are applied to documents.
//!
//! Commit, BatchWrite, CreateDocument, UpdateDocument, DeleteDocument and the Write stream all end
//! here, so that preconditions, masks, transforms and limits hold for every one of them.

mod apply;
mod model;
mod order;
mod transforms;

pub(crate) use apply::{Limits, Outcome, apply, decoded, result};
pub(crate) use model::{Action, Precondition, Transform, TransformOp, Write};
