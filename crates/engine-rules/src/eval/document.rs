//! `get`, `exists` and their kin.

use super::{Evaluator, Outcome};
use crate::error::{Failure, failure, undetermined};
use crate::function::check_args;
use crate::limits::{DOCUMENTS_PER_REQUEST, DOCUMENTS_PER_STORAGE_REQUEST};
use crate::request::{Document, Service};
use crate::session::View;
use crate::value::{Map, Path, Type, Value};

const A_PATH: &[&[Type]] = &[&[Type::Path]];

impl<'e> Evaluator<'e> {
    /// A document as `resource` shows it; null where there is none, but for Storage, where that is an error.
    pub(super) fn get(&mut self, name: &str, view: View, args: &[Value<'e>]) -> Outcome<'e> {
        let path = path_of(name, args)?;
        self.check_loaded()?;
        match self.read(name, view, path)? {
            Some(document) => Ok(Value::Map(Map::document(document, path.clone()))),
            None if self.request.service == Service::Storage => Err(call_error(name, path)),
            None => Ok(Value::Null),
        }
    }

    pub(super) fn exists(&mut self, name: &str, view: View, args: &[Value<'e>]) -> Outcome<'e> {
        let path = path_of(name, args)?;
        self.check_loaded()?;
        Ok(Value::Bool(self.read(name, view, path)?.is_some()))
    }

    /// Refuses where documents are not loaded yet.
    fn check_loaded(&mut self) -> Result<(), Failure> {
        self.left_open |= self.preliminary;
        if self.preliminary { Err(undetermined()) } else { Ok(()) }
    }

    fn read(
        &mut self,
        name: &str,
        view: View,
        path: &Path<'e>,
    ) -> Result<Option<&'e dyn Document>, Failure> {
        let names = path.texts().map_err(|capture| {
            failure(format!("Variable {capture} is not bound in path template."))
        })?;
        let ["databases", database, "documents", below @ ..] = names.as_slice() else {
            return Err(call_error(name, path));
        };
        let is_document = !below.is_empty()
            && below.len() % 2 == 0
            && below.iter().all(|segment| !segment.is_empty() && !segment.contains('/'));
        let (own, each_max) = match self.request.service {
            Service::Firestore => {
                (self.request.path.get(1).copied().unwrap_or_default(), DOCUMENTS_PER_REQUEST)
            }
            Service::Storage => ("(default)", DOCUMENTS_PER_STORAGE_REQUEST),
        };
        if !is_document || *database != own {
            return Err(call_error(name, path));
        }
        let session = self.session;
        session
            .read(&mut self.reads, each_max, view, database, below)
            .map_err(|_| call_error(name, path))
    }
}

fn path_of<'a, 'e>(name: &str, args: &'a [Value<'e>]) -> Result<&'a Path<'e>, Failure> {
    check_args(name, "", A_PATH, args)?;
    match args.first() {
        Some(Value::Path(path)) => Ok(path),
        _ => Err(crate::error::null_value()),
    }
}

/// The product prints the path as a protocol message.
fn call_error(name: &str, path: &Path<'_>) -> Failure {
    let segments: String = path
        .texts()
        .unwrap_or_default()
        .iter()
        .map(|text| format!("  segments {{\n    simple: \"{}\"\n  }}\n", text.escape_default()))
        .collect();
    failure(format!(
        "Service call error. Function: [{name}], Argument: [path_value {{\n{segments}}}\n]."
    ))
}
