//! Which views there are, by where they look.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base_value::key::{self, Parts};
use bytes::Bytes;
use engine_store::{Change, Commit, Version};

use crate::queue::Queue;
use crate::select::{Scope, Select};
use crate::view::{View, ViewId};

type Views<S> = BTreeMap<ViewId, Arc<View<S>>>;

/// Views that a commit may change something for, each with the places of the changes among those of the commit.
pub(crate) type Routed<S> = BTreeMap<ViewId, (Arc<View<S>>, Vec<usize>)>;

/// The views of one database.
pub(crate) struct Registry<S: Select> {
    by_identity: HashMap<Bytes, Arc<View<S>>>,
    by_document: HashMap<Bytes, Views<S>>,
    by_collection: HashMap<Bytes, Views<S>>,
    by_group: HashMap<Bytes, Views<S>>,
    everywhere: Views<S>,
    last_id: u64,
}

impl<S: Select> Registry<S> {
    pub(crate) fn new() -> Registry<S> {
        Registry {
            by_identity: HashMap::new(),
            by_document: HashMap::new(),
            by_collection: HashMap::new(),
            by_group: HashMap::new(),
            everywhere: BTreeMap::new(),
            last_id: 0,
        }
    }

    /// The view of a target, which tells a reader from now on: of every commit after `newest`.
    pub(crate) fn join(
        &mut self,
        shape: &Arc<S>,
        reader: &Arc<Queue<S>>,
        newest: Version,
    ) -> Arc<View<S>> {
        if let Some(view) = self.by_identity.get(shape.identity()) {
            view.join(reader);
            return Arc::clone(view);
        }
        self.last_id += 1;
        let view = Arc::new(View::new(ViewId(self.last_id), Arc::clone(shape), newest));
        view.join(reader);
        self.by_identity.insert(shape.identity().clone(), Arc::clone(&view));
        let add = |views: &mut Views<S>| drop(views.insert(view.id, Arc::clone(&view)));
        match shape.scope() {
            Scope::Documents(keys) => {
                keys.into_iter().for_each(|key| add(self.by_document.entry(key).or_default()));
            }
            Scope::Collection(prefix) => add(self.by_collection.entry(prefix).or_default()),
            Scope::Group(group) => add(self.by_group.entry(group).or_default()),
            Scope::Everywhere => add(&mut self.everywhere),
        }
        view
    }

    /// A view tells a reader no more. Without readers there is no view.
    pub(crate) fn leave(&mut self, view: &View<S>, reader: u64) {
        let is_ours =
            self.by_identity.get(view.shape.identity()).is_some_and(|it| it.id == view.id);
        if !view.leave(reader) || !is_ours {
            return;
        }
        self.by_identity.remove(view.shape.identity());
        match view.shape.scope() {
            Scope::Documents(keys) => {
                keys.iter().for_each(|key| remove(&mut self.by_document, key, view.id));
            }
            Scope::Collection(prefix) => remove(&mut self.by_collection, &prefix, view.id),
            Scope::Group(group) => remove(&mut self.by_group, &group, view.id),
            Scope::Everywhere => drop(self.everywhere.remove(&view.id)),
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Registry { last_id: self.last_id, ..Registry::new() };
    }

    /// Every view.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<View<S>>> {
        self.by_identity.values()
    }

    /// Whether changes can affect any view. This is asked inside the commit mutex.
    pub(crate) fn concerns(&self, changes: &[Change]) -> bool {
        if self.by_identity.is_empty() {
            return false;
        }
        if !self.everywhere.is_empty() {
            return !changes.is_empty();
        }
        // Keys are in order, so that those of a collection mostly stand together.
        let mut looked_at: &[u8] = &[];
        changes.iter().any(|change| {
            if self.by_document.contains_key(&change.key) {
                return true;
            }
            let Some(parts) = key::parts(&change.key) else { return false };
            let prefix = collection(&change.key, &parts);
            if prefix == looked_at {
                return false;
            }
            looked_at = prefix;
            self.by_collection.contains_key(prefix) || self.by_group.contains_key(parts.group)
        })
    }

    /// The views that a commit can affect.
    pub(crate) fn route(&self, commit: &Commit) -> Routed<S> {
        let mut routed = Routed::new();
        for (place, change) in commit.changes.iter().enumerate() {
            let parts = key::parts(&change.key);
            let of_document = self.by_document.get(&change.key);
            let of_collection = parts
                .as_ref()
                .and_then(|parts| self.by_collection.get(collection(&change.key, parts)));
            let of_group = parts.as_ref().and_then(|parts| self.by_group.get(parts.group));
            let views = [of_document, of_collection, of_group, Some(&self.everywhere)];
            let views = views.into_iter().flatten().flatten();
            for (id, view) in views.filter(|(_, view)| view.since < commit.version) {
                let (_, places) =
                    routed.entry(*id).or_insert_with(|| (Arc::clone(view), Vec::new()));
                places.push(place);
            }
        }
        routed
    }
}

/// The part of a document's key before its id.
fn collection<'key>(key: &'key [u8], parts: &Parts<'_>) -> &'key [u8] {
    key.get(..key.len() - parts.id.len()).unwrap_or_default()
}

fn remove<S: Select>(of: &mut HashMap<Bytes, Views<S>>, at: &Bytes, id: ViewId) {
    if let Some(views) = of.get_mut(at) {
        views.remove(&id);
        if views.is_empty() {
            of.remove(at);
        }
    }
}
