//! A moment of the databases of one project, or of all: taken, brought back, written down and found again.

use std::any::Any;
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use base_status::Status;
use base_value::DatabaseName;
use engine_store::Snapshot;
use svc_kit::Saved;

use crate::databases::{Databases, is_of, refused, replace, replace_all};
use crate::kept::Kept;

/// What databases held at one moment. One that is not in it was empty.
struct Moment {
    project: Option<Box<str>>,
    snapshots: HashMap<DatabaseName, Taken>,
}

struct Taken {
    snapshot: Snapshot,
    /// Whether the database is one that the next suite finds.
    is_kept: bool,
}

impl Databases {
    /// The databases of one project, or of all, as they are now.
    pub(crate) fn save(&self, project: Option<&str>) -> Saved {
        let take = |(name, database): (DatabaseName, engine_txn::Database)| {
            (name, Taken { snapshot: database.snapshot(), is_kept: database.is_kept() })
        };
        let snapshots = self.of(project).into_iter().map(take).collect();
        Box::new(Moment { project: project.map(Into::into), snapshots })
    }

    /// Makes them what they were then. A database made since is empty afterwards.
    ///
    /// # Errors
    /// The disk's.
    pub(crate) fn restore(&self, saved: &Saved) -> Result<(), Status> {
        let Moment { project, snapshots } = of_ours(saved)?;
        for (name, taken) in snapshots {
            if !taken.snapshot.is_empty() {
                // Nobody may have named it since this suite began.
                self.get(name)?;
            }
        }
        replace_all(&self.of(project.as_deref()), |(name, database)| {
            replace(database, snapshots.get(name).map(|taken| &taken.snapshot))
        })
    }

    /// Writes what is kept of a moment to `dir`: a folder for each project, in it one for each database.
    ///
    /// # Errors
    /// The disk's; `cancelled` is set.
    pub(crate) fn write(
        &self,
        saved: &Saved,
        dir: &Path,
        cancelled: &AtomicBool,
    ) -> Result<(), Status> {
        let folders = Kept::in_folder(dir);
        let options = self.usual();
        for (name, Taken { snapshot, is_kept }) in &of_ours(saved)?.snapshots {
            if *is_kept && !snapshot.is_empty() {
                snapshot.save(&folders.folder(name)?, &options, cancelled).map_err(refused)?;
            }
        }
        Ok(())
    }

    /// The moment that was written to `dir`.
    ///
    /// # Errors
    /// The disk's.
    pub(crate) fn find(&self, project: Option<&str>, dir: &Path) -> Result<Saved, Status> {
        let folders = Kept::in_folder(dir);
        let options = self.usual();
        let mut snapshots = HashMap::new();
        for name in folders.names()? {
            if is_of(&name, project) {
                let snapshot = Snapshot::find(&folders.folder(&name)?, &options);
                let snapshot = snapshot.map_err(refused)?;
                snapshots.insert(name, Taken { snapshot, is_kept: true });
            }
        }
        Ok(Box::new(Moment { project: project.map(Into::into), snapshots }))
    }
}

fn of_ours(saved: &Saved) -> Result<&Moment, Status> {
    let saved: &(dyn Any + Send + Sync) = &**saved;
    saved.downcast_ref().ok_or_else(|| Status::internal("the snapshot was made by another service"))
}
