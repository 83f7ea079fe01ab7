//! Writes under rules: every write of a commit, in one context that knows the state before all of them and
//! the state after.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use base_env::UnixMicros;
use base_value::{Fields, key};
use bytes::Bytes;
use engine_rules::{
    Document, Documents, DocumentsError, Method, NewResource, Request, Session, Value, View,
};
use engine_store::Record;
use engine_txn::Reads;

use super::denial::{self, Operation};
use super::documents::StoredDocument;
use super::guard::{Guard, key_of, resource};
use crate::error::Error;
use crate::ops::writes::{self, Action, Precondition, Write};

impl Guard {
    /// Decides all writes of a commit. What rules read is read through `reads`, so that the commit is planned
    /// again where it has changed meanwhile.
    ///
    /// # Errors
    /// PERMISSION_DENIED for the first write that is not allowed.
    pub(crate) fn writes(
        &self,
        reads: &mut Reads,
        writes: &[Write],
        request_time: UnixMicros,
    ) -> Result<(), Error> {
        let states = States::new(reads, writes, request_time);
        let documents = Context { reads: RefCell::new(reads), states: &states };
        let session = match writes.len() {
            1 => Session::single(&documents),
            _ => Session::batch(&documents),
        };
        let subjects: Vec<_> =
            (0..writes.len()).filter_map(|place| Subject::new(self, &states, place)).collect();
        let operations: Vec<_> = subjects.iter().map(|subject| subject.operation(self)).collect();
        for operation in &operations {
            let verdict = self.permits(&operation.request, &session);
            denial::log_debug(&self.rules.loaded, &verdict.debug);
            self.tell(&operation.request, &session);
            if !verdict.allowed {
                return Err(denial::denied(&self.rules.loaded, &session, &operations));
            }
        }
        Ok(())
    }
}

/// What one write needs to be asked about.
struct Subject<'w> {
    write: &'w Write,
    path: Vec<&'w str>,
    stored: Option<StoredDocument>,
    after: After<'w>,
    members: Members,
}

impl<'w> Subject<'w> {
    fn new(guard: &'w Guard, states: &'w States<'w>, place: usize) -> Option<Self> {
        let state = states.list.get(place)?;
        let write = state.write;
        Some(Subject {
            write,
            path: guard.path(&write.name.path),
            stored: state.stored.clone().map(|record| StoredDocument::new(record.value)),
            after: After { states, place },
            members: members(write),
        })
    }

    fn operation<'s>(&'s self, guard: &'s Guard) -> Operation<'s> {
        let is_set = matches!(self.write.action, Action::Set(_) | Action::Patch { .. });
        let (method, other) = match (&self.write.action, self.write.precondition) {
            (Action::Verify, _) => (Method::Get, None),
            (Action::Delete, _) => (Method::Delete, None),
            (_, Precondition::Exists(false)) => (Method::Create, None),
            (_, Precondition::Exists(true) | Precondition::UpdateTime(_)) => (Method::Update, None),
            // What is there decides; before it is looked at, the product tries both.
            (_, Precondition::None) => match self.stored {
                None => (Method::Create, Some(Method::Update)),
                Some(_) => (Method::Update, Some(Method::Create)),
            },
        };
        let request = |method| Request {
            new_resource: match &self.write.action {
                Action::Verify => NewResource::Absent,
                _ if is_set => NewResource::Present(&self.after),
                _ => NewResource::Null,
            },
            ..guard.request(method, &self.path, resource(&self.stored), &self.members)
        };
        Operation { request: request(method), other: other.map(request) }
    }
}

/// Members of `request` that the documentation does not name and the product has.
type Members = Vec<(&'static str, Value<'static>)>;

/// Those of a write without a mask and without transforms.
pub(super) fn plain_members() -> Members {
    written_members(Value::Null, Value::Null)
}

fn written_members(transforms: Value<'static>, written: Value<'static>) -> Members {
    vec![
        ("headers", super::guard::map([])),
        ("inTransaction", Value::Bool(true)),
        ("readFields", Value::Null),
        ("transforms", transforms),
        ("writeFields", written),
    ]
}

fn members(write: &Write) -> Members {
    let names = |mut names: Vec<String>| {
        names.sort_unstable();
        names.dedup();
        Value::list(names.into_iter().map(Value::text).collect())
    };
    let transformed = write.transforms.iter().map(|transform| dotted(transform.field.segments()));
    let transformed: Vec<_> = transformed.collect();
    let written = match &write.action {
        Action::Patch { mask, .. } => {
            let mask = mask.iter().map(|path| dotted(path.segments()));
            names(mask.chain(transformed.iter().cloned()).collect())
        }
        _ if transformed.is_empty() => Value::Null,
        _ => names(transformed.clone()),
    };
    let transforms = if transformed.is_empty() { Value::Null } else { names(transformed) };
    written_members(transforms, written)
}

fn dotted(segments: &[String]) -> String {
    let escaped = segments.iter().map(|segment| segment.replace('.', "\\."));
    escaped.collect::<Vec<_>>().join(".")
}

/// The documents of a commit, before it and after each of its writes.
struct States<'w> {
    list: Vec<State<'w>>,
    /// The last write of each document.
    last: HashMap<Bytes, usize>,
    request_time: UnixMicros,
}

struct State<'w> {
    write: &'w Write,
    /// Before the commit.
    stored: Option<Record>,
    /// The write before this one to the same document.
    earlier: Option<usize>,
    /// After the write, once it was asked for; none where it leaves no document.
    after: OnceLock<Option<Fields>>,
}

impl<'w> States<'w> {
    fn new(reads: &mut Reads, writes: &'w [Write], request_time: UnixMicros) -> Self {
        let mut last = HashMap::with_capacity(writes.len());
        let list = writes.iter().enumerate().map(|(place, write)| {
            let key = key::document(&write.name.path);
            let stored = reads.get(&key);
            State { write, stored, earlier: last.insert(key, place), after: OnceLock::new() }
        });
        let list = list.collect();
        States { list, last, request_time }
    }

    /// The fields after a write; none where there is no document then.
    fn after(&self, place: usize) -> Option<&Fields> {
        // Oldest first and not by recursion: a commit may write one document thousands of times.
        let mut open = Vec::new();
        let mut at = Some(place);
        while let Some(place) = at.filter(|place| self.settled(*place).is_none()) {
            open.push(place);
            at = self.list.get(place).and_then(|state| state.earlier);
        }
        for place in open.into_iter().rev() {
            let Some(state) = self.list.get(place) else { continue };
            let base = || match state.earlier {
                Some(earlier) => self.settled(earlier).flatten().cloned(),
                None => state.stored.as_ref().and_then(writes::decoded),
            };
            state.after.get_or_init(|| writes::result(state.write, base, self.request_time));
        }
        self.settled(place).flatten()
    }

    /// The same, if nothing has to be computed for it.
    fn settled(&self, place: usize) -> Option<Option<&Fields>> {
        let state = self.list.get(place)?;
        match &state.write.action {
            // What is written whole needs no copy.
            Action::Set(fields) if state.write.transforms.is_empty() => Some(Some(fields)),
            Action::Delete => Some(None),
            Action::Set(_) | Action::Patch { .. } | Action::Verify => {
                state.after.get().map(Option::as_ref)
            }
        }
    }
}

/// A document as a write leaves it.
struct After<'w> {
    states: &'w States<'w>,
    place: usize,
}

impl Document for After<'_> {
    fn fields(&self) -> &Fields {
        static NONE: Fields = Fields::new();
        self.states.after(self.place).unwrap_or(&NONE)
    }
}

impl fmt::Debug for After<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("After").field("place", &self.place).finish_non_exhaustive()
    }
}

/// What rules of a commit read beside the documents it writes.
struct Context<'c> {
    reads: RefCell<&'c mut Reads>,
    states: &'c States<'c>,
}

impl Documents for Context<'_> {
    fn document(
        &self,
        view: View,
        _database: &str,
        path: &[&str],
    ) -> Result<Option<Arc<dyn Document>>, DocumentsError> {
        let Some(key) = key_of(path) else { return Ok(None) };
        if let (View::After, Some(place)) = (view, self.states.last.get(&key)) {
            let fields = self.states.after(*place).cloned();
            return Ok(fields.map(|fields| Arc::new(fields) as Arc<dyn Document>));
        }
        let record = self.reads.borrow_mut().get(&key);
        Ok(record.map(|record| Arc::new(StoredDocument::new(record.value)) as Arc<dyn Document>))
    }
}
