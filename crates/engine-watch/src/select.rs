//! What a target selects, as far as views need to know.

use std::cmp::Ordering;

use bytes::Bytes;
use engine_store::{Record, Snapshot};

/// A target: which documents it has, in which order.
pub trait Select: Send + Sync + 'static {
    /// What is made of a document once, for everybody who is told of it.
    type Made: Send + Sync + 'static;

    /// Targets with equal identities select the same and tell the same. They share a view.
    fn identity(&self) -> &Bytes;

    /// Where the documents are that it can ever have.
    fn scope(&self) -> Scope;

    /// Which of the matches it has, where not all of them.
    fn bounds(&self) -> Option<Bounds>;

    /// Whether its documents are told as they are, and not only parts of them: then what is made of them serves every
    /// other target that tells them so.
    fn is_whole(&self) -> bool;

    /// Whether a document of its scope matches.
    fn matches(&self, key: &[u8], record: &Record) -> bool;

    /// The order of two matches. Asked of targets with bounds only.
    fn compare(&self, left: &Row, right: &Row) -> Ordering;

    /// The first [`Bounds::held`] matches, in order. Asked of targets with bounds only. May take its time.
    fn run(&self, snapshot: &Snapshot) -> Vec<Row>;
}

/// Where a target's documents are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The documents with these keys.
    Documents(Vec<Bytes>),
    /// Directly in one collection: the part of their keys before their ids.
    Collection(Bytes),
    /// In the collections of one id: the first segment of their keys.
    Group(Bytes),
    /// Anywhere.
    Everywhere,
}

/// Which of its matches a target has, counted in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// So many are passed over.
    pub offset: usize,
    /// So many it has at most.
    pub limit: usize,
    /// So many are known of, from the first on. More than offset and limit make up, so that another match is at hand
    /// when one leaves.
    pub held: usize,
}

/// A match.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The document's key.
    pub key: Bytes,
    /// The document.
    pub record: Record,
}
