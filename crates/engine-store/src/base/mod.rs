//! The base: folded records on the disk with what was derived from them, in redb.
//!
//! This is the one place that knows redb. A [`Base`] is one state of a [`BaseFile`]: some runs, each written
//! once by a fold and never changed, the newer ones over the older. Where it was forked or restored from a state
//! of another file, it holds only what differs and lies over that.

mod backend;
mod budget;
mod build;
mod cursor;
mod encode;
mod file;
mod fold;
mod layer;
mod recent;
mod rows;
mod run;
mod sorter;
mod storage;

pub(crate) use budget::CacheBudget;
pub(crate) use cursor::Cursor;
pub(crate) use file::BaseFile;
pub(crate) use fold::Fold;
pub(crate) use layer::Base;
pub(crate) use run::Unread;
