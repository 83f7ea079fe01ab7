//! Documents that rules read: the host's side, and the cache and budget of a request.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use crate::limits::{DOCUMENTS_PER_BATCH, DOCUMENTS_PER_REQUEST};
use crate::request::Document;

/// Which state of a document is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Before the request.
    Before,
    /// After all writes of the request. What reads has no writes, and gives what is there.
    After,
}

/// Why a document could not be given, for the developer; an expression sees a failed call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DocumentsError(pub String);

/// Where `get`, `exists`, `getAfter`, `existsAfter` and Storage's `firestore.get` and `firestore.exists` find
/// documents. The host gives the state of one consistent read.
pub trait Documents {
    /// The document of a path below `documents`, such as `users`, `alice`; `None` where there is none. The
    /// database is the one the request is for. Asked at most once for a path and view in a session.
    fn document(
        &self,
        view: View,
        database: &str,
        path: &[&str],
    ) -> Result<Option<Arc<dyn Document>>, DocumentsError>;
}

/// What all operations of one request, commit, transaction or batch share: read documents, and the budget of
/// reading them.
pub struct Session<'d> {
    documents: &'d dyn Documents,
    read: OnceCell<Box<Node>>,
    count: Cell<usize>,
    total_max: usize,
    each_max: usize,
}

/// One document that was read. A list that only grows, so that what it holds can be borrowed meanwhile.
struct Node {
    number: usize,
    view: View,
    path: Vec<String>,
    document: Option<Arc<dyn Document>>,
    next: OnceCell<Box<Node>>,
}

/// The documents one operation has read so far, by their numbers in the session.
#[derive(Debug, Default)]
pub(crate) struct Reads(Vec<usize>);

impl<'d> Session<'d> {
    /// For a request of one operation.
    pub fn single(documents: &'d dyn Documents) -> Self {
        Self::limited(documents, DOCUMENTS_PER_REQUEST, DOCUMENTS_PER_REQUEST)
    }

    /// For all operations of a commit, transaction or batch.
    pub fn batch(documents: &'d dyn Documents) -> Self {
        Self::limited(documents, DOCUMENTS_PER_BATCH, DOCUMENTS_PER_REQUEST)
    }

    pub(crate) fn limited(documents: &'d dyn Documents, total_max: usize, each_max: usize) -> Self {
        Session { documents, read: OnceCell::new(), count: Cell::new(0), total_max, each_max }
    }

    /// How many distinct documents were read so far.
    pub fn reads(&self) -> usize {
        self.count.get()
    }

    /// A document, read at most once; the error says that it cannot be read, or that there is no budget left.
    pub(crate) fn read(
        &self,
        reads: &mut Reads,
        each_max: usize,
        view: View,
        database: &str,
        path: &[&str],
    ) -> Result<Option<&dyn Document>, DocumentsError> {
        let mut slot = &self.read;
        while let Some(node) = slot.get() {
            if node.view == view && node.path == path {
                return self.count_read(reads, each_max, node);
            }
            slot = &node.next;
        }
        if self.count.get() >= self.total_max || reads.0.len() >= self.each_max.min(each_max) {
            return Err(DocumentsError("too many documents are read".to_owned()));
        }
        let document = self.documents.document(view, database, path)?;
        let number = self.count.get();
        self.count.set(number + 1);
        let path = path.iter().map(|&segment| segment.to_owned()).collect();
        let node = slot
            .get_or_init(|| Box::new(Node { number, view, path, document, next: OnceCell::new() }));
        self.count_read(reads, each_max, node)
    }

    fn count_read<'s>(
        &self,
        reads: &mut Reads,
        each_max: usize,
        node: &'s Node,
    ) -> Result<Option<&'s dyn Document>, DocumentsError> {
        if !reads.0.contains(&node.number) {
            if reads.0.len() >= self.each_max.min(each_max) {
                return Err(DocumentsError("too many documents are read".to_owned()));
            }
            reads.0.push(node.number);
        }
        Ok(node.document.as_deref())
    }
}
