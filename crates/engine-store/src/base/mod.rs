//! The base: folded records on the disk with what was derived from them, in redb.
//!
//! This is the one place that knows redb. A [`Base`] is one state of a [`BaseFile`]; where it was
//! forked or restored from a state of another file, it holds only what differs and lies over that.

mod backend;
mod cursor;
mod encode;
mod file;
mod fold;
mod layer;
mod sorter;

pub(crate) use cursor::Cursor;
pub(crate) use file::BaseFile;
pub(crate) use fold::Fold;
pub(crate) use layer::Base;
