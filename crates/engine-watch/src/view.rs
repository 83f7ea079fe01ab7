//! One target's view, shared by all who watch it.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use engine_store::{Commit, Record, Version};
use parking_lot::Mutex;

use crate::document::{Document, Seen};
use crate::queue::Queue;
use crate::select::{Row, Select};
use crate::window::Window;

/// Tells the views of one hub apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ViewId(pub(crate) u64);

/// What one commit changes for one view.
pub struct Update<S: Select> {
    /// The view.
    pub view: ViewId,
    /// The documents that came, changed or went, each once.
    pub changes: Vec<Seen<S::Made>>,
    pub(crate) size: usize,
}

/// A target that somebody watches. Without bounds it remembers nothing: what a change was and is says all.
pub(crate) struct View<S: Select> {
    pub(crate) id: ViewId,
    pub(crate) shape: Arc<S>,
    /// Of later commits it hears for sure; of earlier ones the hub may have been spared some.
    pub(crate) since: Version,
    /// For a target with bounds, the matches it knows of; `None` until that is asked for.
    window: Mutex<Option<Window>>,
    readers: Mutex<BTreeMap<u64, Arc<Queue<S>>>>,
}

/// What a commit does to a view.
pub(crate) enum Followed<S: Select> {
    Nothing,
    Update(Update<S>),
    /// Its query has to run to know. What it showed before, where that is known.
    Unknown(Option<Vec<Row>>),
}

impl<S: Select> View<S> {
    pub(crate) fn new(id: ViewId, shape: Arc<S>, since: Version) -> View<S> {
        let (window, readers) = (Mutex::new(None), Mutex::new(BTreeMap::new()));
        View { id, shape, since, window, readers }
    }

    pub(crate) fn join(&self, reader: &Arc<Queue<S>>) {
        self.readers.lock().insert(reader.reader, Arc::clone(reader));
    }

    /// Answers whether nobody reads any more.
    pub(crate) fn leave(&self, reader: u64) -> bool {
        let mut readers = self.readers.lock();
        readers.remove(&reader);
        readers.is_empty()
    }

    pub(crate) fn for_each_reader(&self, tell: impl FnMut(&Arc<Queue<S>>)) {
        self.readers.lock().values().for_each(tell);
    }

    /// Takes in what the target has, unless it is known already.
    pub(crate) fn offer(&self, rows: Vec<Row>) {
        let mut window = self.window.lock();
        if let (None, Some(bounds)) = (&*window, self.shape.bounds()) {
            *window = Some(Window::new(bounds, rows));
        }
    }

    /// Forgets what it knew.
    pub(crate) fn forget(&self) {
        *self.window.lock() = None;
    }

    /// Goes on to the state after `commit`, whose changes at `places` are in scope.
    pub(crate) fn follow(&self, commit: &Made<'_, S>, places: &[usize]) -> Followed<S> {
        if self.shape.bounds().is_some() {
            return self.follow_window(commit, places);
        }
        let mut changes = Vec::new();
        for place in places {
            let Some(change) = commit.commit.changes.get(*place) else { continue };
            let matches = |record: &Record| self.shape.matches(&change.key, record);
            let inside = change.after.as_ref().is_some_and(matches);
            if inside || change.before.as_ref().is_some_and(matches) {
                changes.push(Seen { document: commit.document(*place, self), inside });
            }
        }
        self.update(changes)
    }

    fn follow_window(&self, commit: &Made<'_, S>, places: &[usize]) -> Followed<S> {
        // What was or is before or after the window counts as much as what is in it.
        let concerned = places.iter().filter_map(|place| commit.commit.changes.get(*place));
        let concerned = concerned.flat_map(|change| {
            change.before.iter().chain(&change.after).map(|record| (&change.key, record))
        });
        if !concerned.into_iter().any(|(key, record)| self.shape.matches(key, record)) {
            return Followed::Nothing;
        }
        let mut window = self.window.lock();
        let Some(window) = &mut *window else { return Followed::Unknown(None) };
        let before = window.shown().to_vec();
        match window.follow(&*self.shape, commit.commit) {
            true => self.update(self.differences(before, window.shown(), commit)),
            false => Followed::Unknown(Some(before)),
        }
    }

    /// Goes on to the state after `commit`, in which the first matches are `rows`.
    pub(crate) fn follow_to(
        &self,
        commit: &Made<'_, S>,
        before: Vec<Row>,
        rows: Vec<Row>,
    ) -> Followed<S> {
        let Some(bounds) = self.shape.bounds() else { return Followed::Nothing };
        let now = Window::new(bounds, rows);
        let changes = self.differences(before, now.shown(), commit);
        *self.window.lock() = Some(now);
        self.update(changes)
    }

    fn differences(
        &self,
        before: Vec<Row>,
        now: &[Row],
        commit: &Made<'_, S>,
    ) -> Vec<Seen<S::Made>> {
        let mut before: HashMap<Bytes, Record> =
            before.into_iter().map(|row| (row.key, row.record)).collect();
        let mut changes = Vec::new();
        for row in now {
            let had = before.remove(&row.key);
            if had.is_none_or(|had| had.updated != row.record.updated) {
                let document = commit.document_or(self, &row.key, || row.record.clone());
                changes.push(Seen { document, inside: true });
            }
        }
        for (key, record) in before {
            let document = commit.document_or(self, &key, || record);
            changes.push(Seen { document, inside: false });
        }
        changes
    }

    fn update(&self, changes: Vec<Seen<S::Made>>) -> Followed<S> {
        if changes.is_empty() {
            return Followed::Nothing;
        }
        let of_documents: usize = changes.iter().map(|seen| seen.document.size()).sum();
        let size = size_of::<Update<S>>() + of_documents;
        Followed::Update(Update { view: self.id, changes, size })
    }
}

/// A commit with its documents, made when first somebody is told of them.
pub(crate) struct Made<'c, S: Select> {
    pub(crate) commit: &'c Commit,
    documents: Vec<OnceCell<Arc<Document<S::Made>>>>,
}

impl<'c, S: Select> Made<'c, S> {
    pub(crate) fn new(commit: &'c Commit) -> Made<'c, S> {
        Made { commit, documents: commit.changes.iter().map(|_| OnceCell::new()).collect() }
    }

    /// The document of a change.
    fn document(&self, place: usize, view: &View<S>) -> Arc<Document<S::Made>> {
        let make = || {
            let change = self.commit.changes.get(place);
            let key = change.map(|change| change.key.clone()).unwrap_or_default();
            Arc::new(Document::new(key, change.and_then(|change| change.after.clone())))
        };
        match self.documents.get(place).filter(|_| view.shape.is_whole()) {
            Some(shared) => Arc::clone(shared.get_or_init(make)),
            None => make(),
        }
    }

    /// The document of a key after the commit, or what it is where the commit does not change it.
    fn document_or(
        &self,
        view: &View<S>,
        key: &Bytes,
        unchanged: impl FnOnce() -> Record,
    ) -> Arc<Document<S::Made>> {
        match self.commit.changes.binary_search_by(|change| change.key.cmp(key)) {
            Ok(place) => self.document(place, view),
            Err(_) => Arc::new(Document::new(key.clone(), Some(unchanged()))),
        }
    }
}

impl<S: Select> fmt::Debug for Update<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        list.entries(self.changes.iter().map(|seen| (&seen.document.key, seen.inside)));
        list.finish()
    }
}
