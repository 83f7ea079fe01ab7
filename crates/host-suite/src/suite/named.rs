//! Snapshots by name: for as long as the suite runs, and in kept data for the suites after it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::task::spawn_blocking;

use super::control::of;
use super::{Inner, Suite};
use crate::data::{KeptSnapshot, SnapshotFolders, is_name};
use crate::error::SuiteError;
use crate::limits::SNAPSHOTS_NAMED_MAX;
use crate::snapshot::{Parts, Snapshot};

/// The named snapshots of one suite.
#[derive(Default)]
pub(super) struct Named {
    kept: Option<Kept>,
    /// Those of this suite, as they were taken: the quick way back.
    taken: Mutex<BTreeMap<String, Snapshot>>,
    /// Held while one is written to the disk or read from there.
    disk: Mutex<()>,
}

/// Where snapshots are kept, and of which services.
struct Kept {
    folders: SnapshotFolders,
    services: Vec<&'static str>,
}

impl Named {
    /// Those of a suite that keeps the data of these services.
    pub(super) fn kept(folders: SnapshotFolders, services: Vec<&'static str>) -> Named {
        Named { kept: Some(Kept { folders, services }), ..Named::default() }
    }
}

impl Suite {
    /// Same as [`Suite::snapshot`], under a name that [`Suite::restore_named`] takes, in place of an earlier snapshot
    /// of that name. What of it is kept data is on the disk when this returns, which takes as long as there is much;
    /// nobody waits for that meanwhile.
    ///
    /// # Errors
    /// The suite is stopped, or stops meanwhile; the name cannot be one; there are too many; the disk's.
    pub fn snapshot_named(
        &self,
        name: &str,
        project: Option<&str>,
    ) -> Result<Snapshot, SuiteError> {
        if !is_name(name) {
            return Err(SuiteError::SnapshotName(name.to_owned()));
        }
        let named = &self.inner.named_snapshots;
        let _disk = named.disk.lock();
        let names = self.snapshot_names()?;
        if names.len() >= SNAPSHOTS_NAMED_MAX && !names.iter().any(|known| known == name) {
            return Err(SuiteError::TooManySnapshots);
        }
        let taken = self.inner.env.now();
        let snapshot = self.snapshot(project)?;
        if let Some(Kept { folders, services }) = &named.kept {
            let about = KeptSnapshot {
                name: name.to_owned(),
                project: project.map(str::to_owned),
                taken,
                services: services.iter().map(|name| (*name).to_owned()).collect(),
                dir: folders.begin(name)?,
            };
            let written = self.write(&snapshot, &about);
            let written = written.and_then(|()| Ok(folders.finish(&about)?));
            if let Err(error) = written {
                // It would take room for nothing. Where that fails too, the next one of the name does it.
                let _left = fs::remove_dir_all(&about.dir);
                return Err(self.check_running().err().unwrap_or(error));
            }
        }
        named.taken.lock().insert(name.to_owned(), snapshot.clone());
        Ok(snapshot)
    }

    /// Makes the projects of a named snapshot what they were when it was taken, in this suite or in one before it
    /// that kept its data. One of an earlier suite brings back what that one kept.
    ///
    /// # Errors
    /// The suite is stopped; there is no such snapshot; as [`Suite::restore`]; the disk's.
    pub fn restore_named(&self, name: &str) -> Result<(), SuiteError> {
        self.check_running()?;
        let named = &self.inner.named_snapshots;
        let taken = named.taken.lock().get(name).cloned();
        if let Some(snapshot) = taken {
            return self.restore(&snapshot);
        }
        let _disk = named.disk.lock();
        self.check_running()?;
        let found = match &named.kept {
            Some(kept) => kept.folders.find(name)?,
            None => None,
        };
        let Some(found) = found else {
            let (name, known) = (name.to_owned(), self.snapshot_names()?);
            return Err(SuiteError::NoSnapshot { name, known });
        };
        self.find(&found)?.iter().try_for_each(|(service, saved)| {
            let Some(data) = service.data() else { return Ok(()) };
            data.restore(saved).map_err(of(&**service))
        })
    }

    /// The names of the snapshots that [`Suite::restore_named`] takes, in order.
    ///
    /// # Errors
    /// The suite is stopped; the disk's.
    pub fn snapshot_names(&self) -> Result<Vec<String>, SuiteError> {
        self.check_running()?;
        let named = &self.inner.named_snapshots;
        let mut names: BTreeSet<String> = named.taken.lock().keys().cloned().collect();
        if let Some(kept) = &named.kept {
            names.extend(kept.folders.list()?.into_iter().map(|one| one.name));
        }
        Ok(names.into_iter().collect())
    }

    fn write(&self, snapshot: &Snapshot, about: &KeptSnapshot) -> Result<(), SuiteError> {
        for (service, saved) in &*snapshot.parts() {
            let dir = about.dir.join(service.name());
            if let Some(data) = service.data()
                && about.services.iter().any(|name| name == service.name())
            {
                data.write(saved, &dir, &self.inner.stopped).map_err(of(&**service))?;
            }
        }
        Ok(())
    }

    /// What is in a snapshot on the disk, of the services that run.
    fn find(&self, about: &KeptSnapshot) -> Result<Parts, SuiteError> {
        let mut found = Vec::new();
        for service in &self.inner.services {
            if let Some(data) = service.data()
                && about.services.iter().any(|name| name == service.name())
            {
                let dir = about.dir.join(service.name());
                let saved = data.find(about.project.as_deref(), &dir);
                found.push((Arc::clone(service), saved.map_err(of(&**service))?));
            }
        }
        Ok(found)
    }
}

impl Inner {
    /// Waits until no snapshot is written any more, and forgets those there are.
    pub(super) async fn end_named(self: &Arc<Inner>) {
        let inner = Arc::clone(self);
        // What is written looks all the time whether the suite was stopped. A panic has been reported.
        let _ended = spawn_blocking(move || {
            let _disk = inner.named_snapshots.disk.lock();
            inner.named_snapshots.taken.lock().clear();
        })
        .await;
    }
}
