//! Who may listen, and go on listening: rules are asked when a target comes, when a commit concerns it, and
//! when the rules change.

use std::collections::BTreeSet;
use std::sync::Arc;

use base_status::Status;
use base_value::{DocumentPath, key};
use bytes::Bytes;
use engine_query::Query;
use engine_store::Snapshot;
use engine_watch::{Update, ViewId};

use super::stream::{Halt, ListenStream};
use super::target::TargetShape;
use crate::access::{self, Guard, ReadKind};

/// What a target asks for, as rules decide it.
pub(super) enum Asked<'t> {
    Query(&'t Query),
    Documents(&'t BTreeSet<Bytes>),
}

impl ListenStream {
    /// Whether the client may have the target.
    ///
    /// # Errors
    /// PERMISSION_DENIED.
    pub(super) fn permits(&self, target: &TargetShape) -> Result<(), Status> {
        match self.guard() {
            Some(guard) => decide(&guard, target, &self.database.snapshot()),
            None => Ok(()),
        }
    }

    /// Ends the targets that a commit concerns and whose client may not have them any more.
    pub(super) async fn recheck_after(
        &mut self,
        updates: &[Arc<Update<TargetShape>>],
    ) -> Result<(), Halt> {
        self.recheck(|view| updates.iter().any(|update| update.view == view)).await
    }

    /// Ends the targets whose client may not have them any more, now that there are other rules.
    pub(super) async fn recheck_all(&mut self) -> Result<(), Halt> {
        self.recheck(|_| true).await
    }

    async fn recheck(&mut self, concerns: impl Fn(ViewId) -> bool) -> Result<(), Halt> {
        let Some(guard) = self.guard() else { return Ok(()) };
        let snapshot = self.database.snapshot();
        let mut denied = Vec::new();
        for (_, watched) in self.views.iter().filter(|(view, _)| concerns(**view)) {
            if let Err(cause) = decide(&guard, &watched.shape, &snapshot) {
                denied.extend(watched.ids.iter().map(|id| (*id, cause.clone())));
            }
        }
        for (id, cause) in denied {
            self.end_target(id, Some(cause)).await?;
        }
        Ok(())
    }

    fn guard(&self) -> Option<Guard> {
        access::guard(&self.state, &self.caller, &self.name)
    }
}

fn decide(guard: &Guard, target: &TargetShape, snapshot: &Snapshot) -> Result<(), Status> {
    let decided = match target.asked() {
        Asked::Query(query) => guard.list(query, snapshot, ReadKind::Alone),
        Asked::Documents(keys) => {
            let paths: Vec<DocumentPath> = keys.iter().filter_map(|key| key::parse(key)).collect();
            guard.get_all(&paths.iter().collect::<Vec<_>>(), snapshot, ReadKind::Alone)
        }
    };
    decided.map_err(Status::from)
}
