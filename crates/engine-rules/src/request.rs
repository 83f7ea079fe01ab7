//! One request to be decided, as its service states it.

use std::fmt;

use base_value::{Fields, Timestamp};

use crate::query::Selection;
use crate::value::Value;

/// A product whose rules the language states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// `service cloud.firestore`
    Firestore,
    /// `service firebase.storage`
    Storage,
}

impl Service {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "cloud.firestore" => Some(Service::Firestore),
            "firebase.storage" => Some(Service::Storage),
            _ => None,
        }
    }
}

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads one document or object.
    Get,
    /// Reads a collection, or lists objects.
    List,
    /// Writes what was not there.
    Create,
    /// Writes what was there.
    Update,
    /// Removes.
    Delete,
}

impl Method {
    pub(crate) const ALL: [Method; 5] =
        [Method::Get, Method::List, Method::Create, Method::Update, Method::Delete];

    /// As `request.method` and messages show it.
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "get",
            Method::List => "list",
            Method::Create => "create",
            Method::Update => "update",
            Method::Delete => "delete",
        }
    }

    /// The methods a word of an `allow` statement stands for; `None` for a word that is none.
    pub(crate) fn of_word(word: &str) -> Option<u8> {
        let methods: &[Method] = match word {
            "get" => &[Method::Get],
            "list" => &[Method::List],
            "create" => &[Method::Create],
            "update" => &[Method::Update],
            "delete" => &[Method::Delete],
            "read" => &[Method::Get, Method::List],
            "write" => &[Method::Create, Method::Update, Method::Delete],
            _ => return None,
        };
        Some(methods.iter().fold(0, |bits, method| bits | method.bit()))
    }

    pub(crate) fn bit(self) -> u8 {
        match self {
            Method::Get => 1,
            Method::List => 2,
            Method::Create => 4,
            Method::Update => 8,
            Method::Delete => 16,
        }
    }
}

/// The content of a document or object. Asked for its fields only where an expression reads them, so that a
/// host may decode them then.
pub trait Document: fmt::Debug + Send + Sync {
    /// All fields.
    fn fields(&self) -> &Fields;

    /// One field. A host that keeps documents encoded may decode it alone.
    fn field(&self, name: &str) -> Option<&base_value::Value> {
        self.fields().get(name)
    }
}

impl Document for Fields {
    fn fields(&self) -> &Fields {
        self
    }
}

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub struct Auth<'r> {
    /// `request.auth.uid`; none for a token that names nobody.
    pub uid: Option<&'r str>,
    /// `request.auth.token`: all claims.
    pub token: &'r dyn Document,
}

/// `resource`: what is there before the request.
#[derive(Clone, Copy, Debug)]
pub enum Resource<'r> {
    /// Nothing is there, or there is no one document: null.
    Missing,
    /// This is. Firestore shows it as `data` beside `id` and `__name__`, Storage as the map it is.
    Present(&'r dyn Document),
    /// A query asks, and this is known of all documents it can answer.
    Selected(&'r Selection<'r>),
}

/// `request.resource`: what will be there after the request.
#[derive(Clone, Copy, Debug)]
pub enum NewResource<'r> {
    /// The request writes nothing: the property does not exist.
    Absent,
    /// The request deletes: null.
    Null,
    /// The request writes this.
    Present(&'r dyn Document),
}

/// One request to be decided.
#[derive(Clone, Debug)]
pub struct Request<'r> {
    /// Whose rules decide.
    pub service: Service,
    /// What it does.
    pub method: Method,
    /// The whole path, such as `databases`, `(default)`, `documents`, `users`, `alice`, or `b`, the bucket,
    /// `o` and the parts of an object's name. This is what match blocks are matched with.
    pub path: &'r [&'r str],
    /// Who asks; `None` for nobody.
    pub auth: Option<Auth<'r>>,
    /// `request.time`
    pub time: Timestamp,
    /// `resource`
    pub resource: Resource<'r>,
    /// `request.resource`
    pub new_resource: NewResource<'r>,
    /// Further members of `request`, such as `query`; they replace those of the same name.
    pub members: &'r [(&'r str, Value<'r>)],
}
