//! The sessions of a service, by their ids.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use base_env::Env;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::session::{Sent, Session};
use crate::limits::CHANNELS_MAX;

/// Bytes of an id: nobody guesses another's.
const ID_BYTES: usize = 16;

type Table = Mutex<HashMap<String, Arc<Session>>>;

/// A table of bounded length. Dropping it closes the sessions.
#[derive(Default)]
pub(super) struct Sessions {
    table: Arc<Table>,
}

/// Every session is in use.
#[derive(Debug)]
pub(super) struct Full;

/// The place of a session in its table, for its call, which does not keep the table.
pub(super) struct Place {
    table: Weak<Table>,
}

impl Place {
    /// Forgets a session.
    pub(super) fn remove(&self, session: &Session) {
        if let Some(table) = self.table.upgrade() {
            table.lock().remove(&session.id);
        }
    }
}

impl Sessions {
    /// A new session. Where there is no room, it takes the place of the one whose client was silent for longest.
    ///
    /// # Errors
    ///
    /// All clients are reading.
    pub(super) fn open(
        &self,
        env: &Env,
        method: usize,
        call: mpsc::Sender<Sent>,
    ) -> Result<Arc<Session>, Full> {
        let mut id = [0; ID_BYTES];
        env.random(&mut id);
        let session = Arc::new(Session::new(method, URL_SAFE_NO_PAD.encode(id), call));
        let mut table = self.table.lock();
        if table.len() >= CHANNELS_MAX {
            let idle = table.values().filter_map(|session| Some((session.idle_since()?, session)));
            let (_, longest) = idle.min_by_key(|(since, _)| *since).ok_or(Full)?;
            let longest = Arc::clone(longest);
            table.remove(&longest.id);
            longest.close();
        }
        table.insert(session.id.clone(), Arc::clone(&session));
        Ok(session)
    }

    /// The session of a method with an id.
    pub(super) fn find(&self, method: usize, id: &str) -> Option<Arc<Session>> {
        self.table.lock().get(id).filter(|session| session.method == method).cloned()
    }

    /// Ends a session.
    pub(super) fn close(&self, session: &Session) {
        self.table.lock().remove(&session.id);
        session.close();
    }

    pub(super) fn place(&self) -> Place {
        Place { table: Arc::downgrade(&self.table) }
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        for session in self.table.lock().values() {
            session.close();
        }
    }
}
