//! A moment of a suite's data, to go back to.

use std::sync::{Arc, Weak};

use parking_lot::{Mutex, MutexGuard};
use svc_kit::{Saved, Service};

/// The data of one project, or of all, in every service of one suite at one moment. Clones are the same
/// moment. It costs memory for what has changed since, until it is dropped or the suite stops.
#[derive(Clone)]
pub struct Snapshot {
    parts: Arc<Mutex<Parts>>,
}

impl Snapshot {
    /// What each service has saved; nothing once the suite has stopped.
    pub(crate) fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock()
    }
}

pub(crate) type Parts = Vec<(Arc<dyn Service>, Saved)>;

/// The snapshots of one suite that somebody may still have.
#[derive(Default)]
pub(crate) struct Snapshots(Mutex<Vec<Weak<Mutex<Parts>>>>);

impl Snapshots {
    /// Takes one.
    pub(crate) fn take(&self, services: &[Arc<dyn Service>], project: Option<&str>) -> Snapshot {
        let parts = services
            .iter()
            .filter_map(|service| Some((Arc::clone(service), service.data()?.save(project))))
            .collect();
        let snapshot = Snapshot { parts: Arc::new(Mutex::new(parts)) };
        let mut taken = self.0.lock();
        taken.retain(|known| known.strong_count() > 0);
        taken.push(Arc::downgrade(&snapshot.parts));
        snapshot
    }

    /// The parts of one, if it was taken here.
    pub(crate) fn parts<'s>(&self, snapshot: &'s Snapshot) -> Option<&'s Mutex<Parts>> {
        let parts = Arc::as_ptr(&snapshot.parts);
        let is_ours = self.0.lock().iter().any(|known| known.as_ptr() == parts);
        is_ours.then_some(&*snapshot.parts)
    }

    /// Empties all of them: kept data can be opened again only when nobody looks at it any more.
    pub(crate) fn end(&self) {
        for known in self.0.lock().drain(..) {
            if let Some(parts) = known.upgrade() {
                drop(std::mem::take(&mut *parts.lock()));
            }
        }
    }
}
