//! Requests, documents and rows that the tests share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use base_value::{Fields, Timestamp, Value as Stored};
use engine_rules::{
    Document, Documents, DocumentsError, Method, NewResource, Observer, Request, Resource, Service,
    Value, View,
};

/// Documents by view and path, and which were asked for.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) documents: BTreeMap<String, Arc<Fields>>,
    pub(crate) after: BTreeMap<String, Arc<Fields>>,
    pub(crate) asked: Mutex<Vec<String>>,
}

impl Table {
    pub(crate) fn with(documents: &[(&str, Fields)]) -> Self {
        let documents = documents
            .iter()
            .map(|(path, fields)| ((*path).to_owned(), Arc::new(fields.clone())))
            .collect();
        Table { documents, ..Table::default() }
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no test panics with it").clone()
    }
}

impl Documents for Table {
    fn document(
        &self,
        view: View,
        _database: &str,
        path: &[&str],
    ) -> Result<Option<Arc<dyn Document>>, DocumentsError> {
        let path = path.join("/");
        self.asked.lock().expect("no test panics with it").push(format!("{view:?} {path}"));
        if path.starts_with("broken/") {
            return Err(DocumentsError("broken".to_owned()));
        }
        let table = if view == View::After { &self.after } else { &self.documents };
        let found = table.get(&path).or_else(|| self.documents.get(&path));
        Ok(found.map(|fields| Arc::clone(fields) as Arc<dyn Document>))
    }
}

/// Fields of a document from pairs.
pub(crate) fn fields<const N: usize>(entries: [(&str, Stored); N]) -> Fields {
    entries.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

pub(crate) fn text(value: &str) -> Stored {
    Stored::String(value.to_owned())
}

/// 2026-11-30T20:00:00Z
pub(crate) const NOW: Timestamp = Timestamp { seconds: 1_796_068_800, nanos: 0 };

/// A request by nobody for a path that has nothing.
pub(crate) fn request<'r>(method: Method, path: &'r [&'r str]) -> Request<'r> {
    Request {
        service: Service::Firestore,
        method,
        path,
        auth: None,
        time: NOW,
        resource: Resource::Missing,
        new_resource: NewResource::Absent,
        members: &[],
    }
}

/// Notes what one expression came to first.
pub(crate) struct Watch {
    pub(crate) id: u32,
    pub(crate) found: Mutex<Option<String>>,
}

impl Observer for Watch {
    fn evaluated(&self, id: u32, outcome: Result<&Value<'_>, &engine_rules::EvalError>) {
        let mut found = self.found.lock().expect("no test panics with it");
        if id == self.id && found.is_none() {
            *found = Some(match outcome {
                Ok(value) => value.to_string(),
                Err(error) => format!("! {}", error.text().replace('\n', "\\n")),
            });
        }
    }
}

/// The rows of a data file: what stands before and behind the arrow.
pub(crate) fn rows(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let rows = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    rows.map(|row| row.split_once("  =>  ").expect("every row has an arrow"))
}
