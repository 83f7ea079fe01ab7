//! What a client makes of a listen stream, and what it may rely on while it does.

use std::collections::{BTreeMap, BTreeSet};

use base_env::UnixMicros;
use base_wire::WireDocument;
use base_wire::google::firestore::v1 as wire;
use bytes::Bytes;
use md5::{Digest, Md5};
use wire::listen_response::ResponseType;
use wire::target_change::TargetChangeType;

use crate::server::Failure;
use crate::wire::{micros, name, path};

/// A document that never was, which a client may believe in.
pub(crate) const NEVER: &str = "c/never";

/// Whether a bloom filter says that a name may be in it: as the web SDK looks it up.
fn might_contain(filter: &wire::BloomFilter, name: &str) -> bool {
    let bits = filter.bits.as_ref().expect("bits");
    assert!((0..8).contains(&bits.padding) && filter.hash_count >= 0, "{filter:?}");
    let bit_count = bits.bitmap.len() as u64 * 8 - u64::try_from(bits.padding).expect("positive");
    if bit_count == 0 {
        assert_eq!(filter.hash_count, 0, "no bits, no hashes");
        return false;
    }
    let digest = u128::from_le_bytes(Md5::digest(name).into());
    let (first, second) = (digest as u64, (digest >> 64) as u64);
    let hash_count = u64::try_from(filter.hash_count).expect("positive");
    (0..hash_count).all(|number| {
        let bit = first.wrapping_add(number.wrapping_mul(second)) % bit_count;
        bits.bitmap.get((bit / 8) as usize).is_some_and(|byte| byte & (1 << (bit % 8)) != 0)
    })
}

/// The documents of one target, by path.
pub(crate) type View = BTreeMap<String, Seen>;

/// A document as a stream told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) fields: Bytes,
    pub(crate) updated: UnixMicros,
}

/// One message, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Added(i32),
    Removed(i32, Option<Failure>),
    Reset(i32),
    Current(i32),
    Boundary(UnixMicros),
    Changed {
        path: String,
        seen: Seen,
        inside: Vec<i32>,
        left: Vec<i32>,
    },
    Deleted {
        path: String,
        left: Vec<i32>,
    },
    /// With how many documents the client has forgotten for it.
    Filtered {
        id: i32,
        count: usize,
        has_names: bool,
        forgotten: usize,
    },
}

/// The last boundary: where another stream can take up.
#[derive(Clone, Debug)]
pub(crate) struct Boundary {
    pub(crate) token: Bytes,
    pub(crate) time: UnixMicros,
}

/// An active target.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) view: View,
    /// The view at the last boundary, if there was one since it was added.
    pub(crate) settled: Option<View>,
    /// Whether its first state is complete.
    pub(crate) current: bool,
}

/// A client's side of one stream.
#[derive(Debug, Default)]
pub(crate) struct Watcher {
    pub(crate) targets: BTreeMap<i32, Watched>,
    pub(crate) boundary: Option<Boundary>,
    /// Asked for and not added yet, with what the client knows from before. 0 stands for any id.
    asked: Vec<(i32, View)>,
    /// Targets that may end without a cause.
    leaving: BTreeSet<i32>,
    /// The newest time told.
    newest: UnixMicros,
}

impl Watcher {
    /// Notes that a target is asked for by a client that knows `view`.
    pub(crate) fn ask(&mut self, target: &wire::Target, view: View) {
        self.asked.push((target.target_id, view));
        if target.once {
            self.leaving.insert(target.target_id);
        }
    }

    /// Notes that a target is given up.
    pub(crate) fn give_up(&mut self, id: i32) {
        self.leaving.insert(id);
    }

    /// Whether a target is active or asked for.
    pub(crate) fn knows(&self, id: i32) -> bool {
        self.targets.contains_key(&id) || self.asked.iter().any(|(asked, _)| *asked == id)
    }

    /// Whether every target that was asked for is there, and every one that was given up is gone.
    pub(crate) fn is_settled(&self) -> bool {
        self.asked.is_empty() && self.leaving.is_empty()
    }

    /// Takes a message in.
    ///
    /// # Panics
    /// When it is one that a client may rely on never to get.
    pub(crate) fn take(&mut self, response: wire::ListenResponse) -> Told {
        match response.response_type.expect("a message of some type") {
            ResponseType::TargetChange(change) => self.target_change(change),
            ResponseType::DocumentChange(change) => {
                let document = change.decoded().expect("a document");
                self.changed(document, change.target_ids, change.removed_target_ids)
            }
            ResponseType::DocumentDelete(delete) => {
                let path = path(&delete.document);
                self.newest = self.newest.max(micros(delete.read_time));
                for id in &delete.removed_target_ids {
                    let target = self.active(*id);
                    let had = target.view.remove(&path).is_some();
                    // While it loads, a target of documents is told which of them do not exist.
                    assert!(had || !target.current, "{path} left {id}, which did not have it");
                }
                Told::Deleted { path, left: delete.removed_target_ids }
            }
            ResponseType::Filter(filter) => self.filtered(filter),
            other => panic!("not expected: {other:?}"),
        }
    }

    /// What the web SDK does about a filter.
    fn filtered(&mut self, filter: wire::ExistenceFilter) -> Told {
        let (id, count) = (filter.target_id, usize::try_from(filter.count).expect("a number"));
        let target = self.active(id);
        assert!(!target.current, "a filter comes before CURRENT");
        let mut forgotten = 0;
        let has_names = filter.unchanged_names.is_some();
        if let Some(names) = filter.unchanged_names
            && target.view.len() != count
        {
            let before = target.view.len();
            target.view.retain(|path, _| might_contain(&names, &name(path)));
            if target.view.len() > count {
                // The filter seems to have the name, once in some ten thousand filters. SDKs ask for the target anew
                // then, which leaves out what never was.
                target.view.remove(NEVER);
            }
            forgotten = before - target.view.len();
        }
        assert_eq!(target.view.len(), count, "{id} has as many as it should");
        Told::Filtered { id, count, has_names, forgotten }
    }

    fn target_change(&mut self, change: wire::TargetChange) -> Told {
        let kind = TargetChangeType::try_from(change.target_change_type).expect("a known type");
        if kind == TargetChangeType::NoChange {
            assert!(change.target_ids.is_empty(), "a boundary is for all");
            return self.boundary(change);
        }
        let [id] = change.target_ids[..] else { panic!("one target a change: {change:?}") };
        match kind {
            TargetChangeType::Add => self.added(id),
            TargetChangeType::Remove => self.removed(id, change.cause),
            TargetChangeType::Reset => {
                let target = self.active(id);
                target.view.clear();
                target.current = false;
                Told::Reset(id)
            }
            TargetChangeType::Current => {
                assert!(!change.resume_token.is_empty(), "CURRENT has a token");
                self.newest = self.newest.max(micros(change.read_time));
                let target = self.active(id);
                assert!(!target.current, "CURRENT is said once");
                target.current = true;
                Told::Current(id)
            }
            TargetChangeType::NoChange => panic!("handled above"),
        }
    }

    fn added(&mut self, id: i32) -> Told {
        let asked = self.asked.iter().position(|(asked, _)| [0, id].contains(asked));
        let (_, view) =
            self.asked.remove(asked.unwrap_or_else(|| panic!("{id} was not asked for")));
        let target = Watched { view, settled: None, current: false };
        let before = self.targets.insert(id, target);
        assert!(before.is_none(), "{id} was added twice");
        Told::Added(id)
    }

    fn removed(&mut self, id: i32, cause: Option<base_wire::google::rpc::Status>) -> Told {
        let cause = cause.map(|cause| Failure { code: cause.code, message: cause.message });
        match &cause {
            None => {
                assert!(self.leaving.remove(&id), "{id} was ended without a cause");
                self.active(id);
                self.targets.remove(&id);
            }
            // The one that has the id goes on.
            Some(cause) if cause.code == 6 => self.asked.retain(|(asked, _)| *asked != id),
            Some(_) => {
                self.targets.remove(&id);
                self.asked.retain(|(asked, _)| *asked != id);
            }
        }
        Told::Removed(id, cause)
    }

    fn boundary(&mut self, change: wire::TargetChange) -> Told {
        assert!(!change.resume_token.is_empty(), "a boundary has a token");
        let time = micros(change.read_time);
        assert!(time >= self.newest, "a boundary is not older than what came before");
        self.newest = time;
        for (id, target) in &mut self.targets {
            assert!(target.current, "a boundary while {id} loads");
            target.settled = Some(target.view.clone());
        }
        self.boundary = Some(Boundary { token: change.resume_token, time });
        Told::Boundary(time)
    }

    fn changed(&mut self, document: WireDocument, inside: Vec<i32>, left: Vec<i32>) -> Told {
        let path = path(&document.name);
        let updated = micros(document.update_time);
        assert!(micros(document.create_time) <= updated, "{path} was created before it changed");
        self.newest = self.newest.max(updated);
        let seen = Seen { fields: document.fields, updated };
        assert!(!inside.is_empty() || !left.is_empty(), "{path} concerns nobody");
        for id in &inside {
            let before = self.active(*id).view.insert(path.clone(), seen.clone());
            assert!(
                before.is_none_or(|before| before.updated < updated),
                "{path} is no news to {id}"
            );
        }
        for id in &left {
            let before = self.active(*id).view.remove(&path);
            assert!(before.is_some(), "{path} left {id}, which did not have it");
        }
        Told::Changed { path, seen, inside, left }
    }

    fn active(&mut self, id: i32) -> &mut Watched {
        self.targets.get_mut(&id).unwrap_or_else(|| panic!("{id} is not active"))
    }
}
