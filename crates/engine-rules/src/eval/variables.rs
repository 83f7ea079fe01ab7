//! `request`, `resource`, wildcards, parameters and variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Evaluator, Outcome};
use crate::error::{null_value, undetermined};
use crate::query::Selection;
use crate::request::{Auth, Document, NewResource, Resource, Service};
use crate::tree::Binding;
use crate::value::{DATA, ID, Map, NAME, Path, Shared, Value};

impl<'e> Evaluator<'e> {
    #[inline(never)]
    pub(crate) fn variable(&mut self, binding: Binding) -> Outcome<'e> {
        match binding {
            Binding::Unknown => Err(null_value()),
            Binding::Request => Ok(self.request_value()),
            Binding::Resource => match self.request.resource {
                Resource::Selected(selection) => Ok(selected(selection)),
                Resource::Missing | Resource::Present(_) if self.preliminary => Err(undetermined()),
                Resource::Missing => Ok(Value::Null),
                Resource::Present(document) => Ok(self.resource(document)),
            },
            // Null stands for what a query leaves open.
            Binding::Wildcard(number) => match self.wildcards.get(number as usize) {
                None | Some(Value::Null) => Err(null_value()),
                Some(value) => Ok(value.clone()),
            },
            Binding::Local(number) => {
                let local = self.locals.get(self.frame + number as usize);
                local.cloned().unwrap_or(Ok(Value::Null))
            }
        }
    }

    fn request_path(&mut self) -> Path<'e> {
        let path = self.request.path;
        self.path_value.get_or_insert_with(|| Path::of(path)).clone()
    }

    /// A document as expressions see it. Nothing of it is read here.
    fn resource(&mut self, document: &'e dyn Document) -> Value<'e> {
        match self.request.service {
            Service::Firestore => Value::Map(Map::document(document, self.request_path())),
            Service::Storage => Value::Map(Map::Deferred(document)),
        }
    }

    #[inline(never)]
    fn request_value(&mut self) -> Value<'e> {
        if let Some(value) = &self.request_value {
            return value.clone();
        }
        let request = self.request;
        let mut entries = BTreeMap::new();
        let mut set = |name: &'e str, value| entries.insert(Shared::Borrowed(name), value);
        set("auth", request.auth.map_or(Value::Null, identity));
        set("method", Value::String(Shared::Borrowed(request.method.name())));
        set("time", Value::Timestamp(request.time));
        if !matches!(request.resource, Resource::Selected(selection) if selection.is_group) {
            set("path", Value::Path(self.request_path()));
        }
        match request.new_resource {
            NewResource::Absent => {}
            NewResource::Null => {
                set("resource", Value::Null);
            }
            NewResource::Present(document) => {
                set("resource", self.resource(document));
            }
        }
        for (name, value) in request.members {
            set(name, value.clone());
        }
        let value = Value::Map(Map::Made(Arc::new(entries)));
        self.request_value = Some(value.clone());
        value
    }
}

/// `request.auth` of somebody.
fn identity(auth: Auth<'_>) -> Value<'_> {
    let uid = auth.uid.map_or(Value::Null, |uid| Value::String(Shared::Borrowed(uid)));
    let token = Value::Map(Map::Deferred(auth.token));
    made([("uid", uid), ("token", token)])
}

/// `resource` of a query: what is known of every document it can answer.
fn selected<'e>(selection: &'e Selection<'e>) -> Value<'e> {
    let data = (DATA, Value::Map(selection.data.clone()));
    let Some(name) = &selection.name else { return made([data]) };
    let id = name.last().map_or(Value::Null, Value::String);
    made([data, (ID, id), (NAME, Value::Path(name.clone()))])
}

fn made<'e, const N: usize>(entries: [(&'e str, Value<'e>); N]) -> Value<'e> {
    let entries = entries.map(|(name, value)| (Shared::Borrowed(name), value));
    Value::Map(Map::Made(Arc::new(entries.into())))
}
