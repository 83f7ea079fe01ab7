//! Reads under rules: single documents, several, and what a query may select.

use std::collections::BTreeMap;
use std::sync::Arc;

use base_token::Identity;
use base_value::{DatabaseName, DocumentPath, Timestamp, key};
use bytes::Bytes;
use engine_query::Query;
use engine_rules::{
    Auth, Decision, Document, Documents, DocumentsError, Map, Method, NewResource, Request,
    Resource, Service, Session, Shared, Value, Verdict, View,
};
use engine_store::Snapshot;

use super::denial::{self, Operation};
use super::documents::{StoredDocument, TokenClaims};
use super::query::Asked;
use super::rules::InForce;
use crate::error::Error;
use crate::feed::Feed;
use crate::limits::DENIED_OPERATIONS_MAX;
use crate::state::State;

/// What one request is decided by: rules, who asks, and when.
pub(crate) struct Guard {
    pub(super) rules: Arc<InForce>,
    pub(super) database: DatabaseName,
    pub(super) claims: Option<TokenClaims>,
    pub(super) time: Timestamp,
    pub(super) feed: Arc<Feed>,
}

/// How documents are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadKind {
    /// In a transaction that may write.
    Transaction,
    /// In any other way.
    Alone,
}

/// The guard of a request to `database`; none where the caller may do everything.
pub(crate) fn guard(state: &State, caller: &Identity, database: &DatabaseName) -> Option<Guard> {
    let claims = match caller {
        Identity::Owner => return None,
        Identity::Anonymous => None,
        Identity::User(claims) => Some(claims),
    };
    let rules = state.rules.of(database)?;
    let claims = claims.map(|claims| TokenClaims::new(Arc::clone(claims)));
    Some(Guard::new(rules, database, claims, state))
}

impl Guard {
    pub(super) fn new(
        rules: Arc<InForce>,
        database: &DatabaseName,
        claims: Option<TokenClaims>,
        state: &State,
    ) -> Guard {
        // Server timestamps have whole milliseconds, and rules compare them with this.
        let time = Timestamp::from_micros(state.env.now().0).truncated_to_millis();
        let feed = Arc::clone(&state.feed);
        Guard { rules, database: database.clone(), claims, time, feed }
    }

    /// Decides reading one document, whether it is there or not.
    ///
    /// # Errors
    /// PERMISSION_DENIED.
    pub(crate) fn get(
        &self,
        path: &DocumentPath,
        snapshot: &Snapshot,
        kind: ReadKind,
    ) -> Result<(), Error> {
        self.get_all(&[path], snapshot, kind)
    }

    /// Decides reading several documents: all of them, or none.
    ///
    /// # Errors
    /// PERMISSION_DENIED.
    pub(crate) fn get_all(
        &self,
        paths: &[&DocumentPath],
        snapshot: &Snapshot,
        kind: ReadKind,
    ) -> Result<(), Error> {
        let documents = Stored { snapshot };
        let session = match paths.len() {
            1 => Session::single(&documents),
            _ => Session::batch(&documents),
        };
        let members = self.read_members(kind);
        // One after the other: together they may be more than memory should hold.
        for (place, path) in paths.iter().enumerate() {
            let stored = stored(path, snapshot);
            let path = self.path(path);
            let request = self.request(Method::Get, &path, resource(&stored), &members);
            let verdict = self.permits(&request, &session);
            denial::log_debug(&self.rules.loaded, &verdict.debug);
            self.tell(&request, &session);
            if !verdict.allowed {
                let told = (place + 1).saturating_sub(DENIED_OPERATIONS_MAX);
                let told = paths.iter().skip(told).take(DENIED_OPERATIONS_MAX).copied();
                return Err(self.denied_gets(told, snapshot, &session, &members));
            }
        }
        Ok(())
    }

    /// The error of reading these documents, one of which is denied.
    fn denied_gets<'p>(
        &self,
        paths: impl Iterator<Item = &'p DocumentPath>,
        snapshot: &Snapshot,
        session: &Session<'_>,
        members: &[(&'static str, Value<'static>)],
    ) -> Error {
        let read: Vec<_> = paths.map(|path| (self.path(path), stored(path, snapshot))).collect();
        let operations: Vec<_> = read
            .iter()
            .map(|(path, stored)| self.request(Method::Get, path, resource(stored), members))
            .map(|request| Operation::only(&request))
            .collect();
        denial::denied(&self.rules.loaded, session, &operations)
    }

    /// Decides one operation, and counts what its rules come to.
    pub(super) fn permits(&self, request: &Request<'_>, session: &Session<'_>) -> Verdict {
        let recording = self.rules.recording();
        self.rules.loaded.ruleset.permits(request, session, Some(&recording))
    }

    /// Decides a query by what it says, whatever there is to be found.
    ///
    /// # Errors
    /// PERMISSION_DENIED; a filter that is refused for itself.
    pub(crate) fn list(
        &self,
        query: &Query,
        snapshot: &Snapshot,
        kind: ReadKind,
    ) -> Result<(), Error> {
        self.ask(query, snapshot, kind, |query, session| {
            let recording = self.rules.recording();
            let ruleset = &self.rules.loaded.ruleset;
            let verdict = ruleset.permits_query(query, session, Some(&recording));
            denial::log_debug(&self.rules.loaded, &verdict.debug);
            self.tell_query(query, session);
            match verdict.allowed {
                true => Ok(()),
                false => Err(denial::denied_query(&self.rules.loaded, session, query)),
            }
        })?
    }

    /// The same with everything that was tried.
    ///
    /// # Errors
    /// A filter that is refused for itself.
    pub(super) fn decide_list(
        &self,
        query: &Query,
        snapshot: &Snapshot,
    ) -> Result<Decision, Error> {
        self.ask(query, snapshot, ReadKind::Alone, |query, session| {
            self.rules.loaded.ruleset.decide_query(query, session, None)
        })
    }

    fn ask<T>(
        &self,
        query: &Query,
        snapshot: &Snapshot,
        kind: ReadKind,
        decide: impl FnOnce(&engine_rules::Query<'_>, &Session<'_>) -> T,
    ) -> Result<T, Error> {
        let asked = Asked::new(query)?;
        let documents = Stored { snapshot };
        let session = Session::single(&documents);
        let members = self.list_members(query, kind);
        let domain = asked.domain(&self.database);
        let path = asked.path(&self.database);
        let branches = asked.branches();
        let query = engine_rules::Query {
            domain: &domain,
            path: &path,
            is_group: asked.is_group(),
            branches: &branches,
            auth: self.auth(),
            time: self.time,
            members: &members,
        };
        Ok(decide(&query, &session))
    }

    /// The whole path of a document, as match blocks see it.
    pub(super) fn path<'p>(&'p self, path: &'p DocumentPath) -> Vec<&'p str> {
        let mut whole = Vec::with_capacity(8);
        whole.extend(["databases", &*self.database.database, "documents"]);
        whole.extend(path.segments());
        whole
    }

    pub(super) fn auth(&self) -> Option<Auth<'_>> {
        self.claims.as_ref().map(|claims| Auth { uid: claims.uid(), token: claims })
    }

    pub(super) fn request<'r>(
        &'r self,
        method: Method,
        path: &'r [&'r str],
        resource: Resource<'r>,
        members: &'r [(&'r str, Value<'r>)],
    ) -> Request<'r> {
        Request {
            service: Service::Firestore,
            method,
            path,
            auth: self.auth(),
            time: self.time,
            resource,
            new_resource: NewResource::Absent,
            members,
        }
    }

    /// Members of `request` that the documentation does not name and the product has.
    pub(super) fn read_members(&self, kind: ReadKind) -> Vec<(&'static str, Value<'static>)> {
        vec![
            ("fields", Value::Null),
            ("headers", map([])),
            ("inTransaction", Value::Bool(kind == ReadKind::Transaction)),
        ]
    }

    fn list_members<'q>(&'q self, query: &'q Query, kind: ReadKind) -> Vec<(&'q str, Value<'q>)> {
        let mut members: Vec<(&'q str, Value<'q>)> = self.read_members(kind);
        members.push(("query", super::query::stated(query, &self.database)));
        members
    }
}

/// A map made for rules to read.
pub(super) fn map<'r, const N: usize>(entries: [(&'r str, Value<'r>); N]) -> Value<'r> {
    let entries = entries.map(|(name, value)| (Shared::Borrowed(name), value));
    Value::Map(Map::Made(Arc::new(BTreeMap::from(entries))))
}

/// A document of a state.
pub(super) fn stored(path: &DocumentPath, snapshot: &Snapshot) -> Option<StoredDocument> {
    let record = snapshot.get(&key::document(path))?;
    Some(StoredDocument::new(record.value))
}

pub(super) fn resource(stored: &Option<StoredDocument>) -> Resource<'_> {
    stored.as_ref().map_or(Resource::Missing, |document| Resource::Present(document))
}

/// The documents of a state, for rules that read other documents. A read has no state after it.
struct Stored<'s> {
    snapshot: &'s Snapshot,
}

impl Documents for Stored<'_> {
    fn document(
        &self,
        _view: View,
        _database: &str,
        path: &[&str],
    ) -> Result<Option<Arc<dyn Document>>, DocumentsError> {
        let Some(key) = key_of(path) else { return Ok(None) };
        let record = self.snapshot.get(&key);
        Ok(record.map(|record| Arc::new(StoredDocument::new(record.value)) as Arc<dyn Document>))
    }
}

/// The key of a document; none for names that no document has.
pub(super) fn key_of(path: &[&str]) -> Option<Bytes> {
    let path = DocumentPath::parse(&path.join("/")).ok()?;
    Some(key::document(&path))
}
