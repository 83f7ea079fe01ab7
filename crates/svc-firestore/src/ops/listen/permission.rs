//! Who may listen, and go on listening: rules are asked when a target comes, when a commit concerns it, and
//! when the rules change.

use base_status::Status;
use base_value::{DocumentPath, key};
use bytes::Bytes;
use engine_query::Query;
use engine_store::{Commit, Snapshot};

use super::TargetEvent;
use super::stream::{Halt, ListenStream};
use super::target::Target;
use crate::access::{self, Guard, ReadKind};

/// What a target asks for, as rules decide it.
pub(super) enum Asked {
    Query(Box<Query>),
    Documents(Vec<Bytes>),
}

impl ListenStream {
    /// Whether the client may have the target.
    ///
    /// # Errors
    /// PERMISSION_DENIED.
    pub(super) fn permits(&self, target: &Target) -> Result<(), Status> {
        match self.guard() {
            Some(guard) => decide(&guard, target, &self.database.snapshot()),
            None => Ok(()),
        }
    }

    /// Ends the targets that a commit concerns and whose client may not have them any more.
    pub(super) async fn recheck_after(&mut self, commit: &Commit) -> Result<(), Halt> {
        self.recheck(|target| target.concerns(commit)).await
    }

    /// Ends the targets whose client may not have them any more, now that there are other rules.
    pub(super) async fn recheck_all(&mut self) -> Result<(), Halt> {
        self.recheck(|_| true).await
    }

    async fn recheck(&mut self, concerns: impl Fn(&Target) -> bool) -> Result<(), Halt> {
        let Some(guard) = self.guard() else { return Ok(()) };
        let snapshot = self.database.snapshot();
        let concerned = self.targets.iter().filter(|(_, target)| concerns(target));
        let denied = concerned.filter_map(|(id, target)| {
            let denied = decide(&guard, target, &snapshot).err()?;
            Some((*id, denied))
        });
        for (id, denied) in denied.collect::<Vec<_>>() {
            self.targets.remove(&id);
            self.tell(TargetEvent::Removed { id, cause: Some(denied) }).await?;
        }
        Ok(())
    }

    fn guard(&self) -> Option<Guard> {
        access::guard(&self.state, &self.caller, &self.name)
    }
}

fn decide(guard: &Guard, target: &Target, snapshot: &Snapshot) -> Result<(), Status> {
    let decided = match target.asked() {
        Asked::Query(query) => guard.list(&query, snapshot, ReadKind::Alone),
        Asked::Documents(keys) => {
            let paths: Vec<DocumentPath> = keys.iter().filter_map(|key| key::parse(key)).collect();
            guard.get_all(&paths.iter().collect::<Vec<_>>(), snapshot, ReadKind::Alone)
        }
    };
    decided.map_err(Status::from)
}
