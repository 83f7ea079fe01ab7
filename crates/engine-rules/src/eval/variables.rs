//! `request`, `resource`, wildcards, parameters and variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Evaluator, Outcome};
use crate::error::null_value;
use crate::request::{Document, NewResource, Resource, Service};
use crate::tree::Binding;
use crate::value::{Map, Path, Shared, Value};

impl<'e> Evaluator<'e> {
    #[inline(never)]
    pub(super) fn variable(&mut self, binding: Binding) -> Outcome<'e> {
        match binding {
            Binding::Unknown => Err(null_value()),
            Binding::Request => Ok(self.request_value()),
            Binding::Resource => Ok(match self.request.resource {
                Resource::Missing => Value::Null,
                Resource::Present(document) => self.resource(document),
            }),
            Binding::Wildcard(number) => {
                Ok(self.wildcards.get(number as usize).cloned().unwrap_or(Value::Null))
            }
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
            Service::Storage => Value::Map(Map::Stored(document.fields())),
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
        let auth = match &request.auth {
            None => Value::Null,
            Some(auth) => {
                let uid = Value::String(Shared::Borrowed(auth.uid));
                let token = Value::Map(Map::Stored(auth.token));
                let entries = [("uid", uid), ("token", token)];
                Value::Map(Map::Made(Arc::new(
                    entries.map(|(name, value)| (Shared::Borrowed(name), value)).into(),
                )))
            }
        };
        set("auth", auth);
        set("method", Value::String(Shared::Borrowed(request.method.name())));
        set("time", Value::Timestamp(request.time));
        set("path", Value::Path(self.request_path()));
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
