//! The table of routes, read out of the annotations of the services.

use std::collections::HashSet;

use http::Method;
use prost_reflect::{DescriptorPool, DynamicMessage, FieldDescriptor, MethodDescriptor, Value};

use super::Choose;
use super::template::{Captures, Template};

/// Why no table could be made.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TableError {
    /// The pool lacks the service.
    #[error("the descriptors hold no service `{0}`")]
    UnknownService(String),
    /// The pool lacks the annotation itself.
    #[error("the descriptors hold no `google.api.http`")]
    NoAnnotations,
    /// An annotation that cannot be served.
    #[error("the annotation of `{method}` cannot be served: {reason}")]
    BadRule {
        /// The full name of the method.
        method: String,
        /// What is wrong.
        reason: String,
    },
}

/// A way to reach a method that its annotations do not name: products set some paths of services they share, such
/// as `google.longrunning.Operations`, in their own configuration.
#[derive(Clone, Copy, Debug)]
pub struct ExtraRule {
    /// The method's full name, such as `google.longrunning.Operations.GetOperation`.
    pub method: &'static str,
    /// The HTTP method.
    pub http: &'static str,
    /// The path, as annotations write it.
    pub path: &'static str,
    /// The field that the body is, `*` for the request itself, empty for none.
    pub body: &'static str,
}

/// One RPC that a request may mean.
#[derive(Debug)]
pub struct Candidate<'a> {
    /// The method's name, for example `GetDocument`.
    pub rpc: &'a str,
    /// Field paths of the request and what the path holds for them.
    pub variables: &'a [(String, String)],
}

/// Where a request's body goes.
#[derive(Debug)]
pub(crate) enum BodyRule {
    None,
    /// `*`: it is the request.
    All,
    Field(FieldDescriptor),
}

/// One way to reach one method.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) method: MethodDescriptor,
    pub(crate) body: BodyRule,
    http: Method,
    template: Template,
}

/// A request's method and the values of its path.
pub(crate) struct Found<'a> {
    pub(crate) binding: &'a Binding,
    pub(crate) variables: Captures,
}

#[derive(Debug)]
pub(crate) struct Table {
    bindings: Vec<Binding>,
    verbs: HashSet<String>,
}

impl Table {
    pub(crate) fn new(
        pool: &DescriptorPool,
        services: &[&str],
        extra: &[ExtraRule],
    ) -> Result<Self, TableError> {
        let http =
            pool.get_extension_by_name("google.api.http").ok_or(TableError::NoAnnotations)?;
        let mut bindings = Vec::new();
        for name in services {
            let service = pool
                .get_service_by_name(name)
                .ok_or_else(|| TableError::UnknownService((*name).to_owned()))?;
            for method in service.methods() {
                // One HTTP request cannot carry a stream of requests.
                if method.is_client_streaming() {
                    continue;
                }
                let bad =
                    |reason| TableError::BadRule { method: method.full_name().to_owned(), reason };
                let options = method.options();
                if options.has_extension(&http) {
                    let rule = options.get_extension(&http).into_owned();
                    add_rule(&mut bindings, &method, &rule).map_err(bad)?;
                }
                for rule in extra.iter().filter(|rule| rule.method == method.full_name()) {
                    let http = Method::from_bytes(rule.http.as_bytes());
                    let http = http.map_err(|_| bad(format!("no HTTP method `{}`", rule.http)))?;
                    bindings.push(bound(&method, http, rule.path, rule.body).map_err(bad)?);
                }
            }
        }
        let verbs = bindings.iter().filter_map(|binding| binding.template.verb.clone()).collect();
        Ok(Self { bindings, verbs })
    }

    /// The RPC of a request; `Ok(None)` when there is none.
    ///
    /// # Errors
    ///
    /// The path is not UTF-8.
    pub(crate) fn find(
        &self,
        http: &Method,
        path: &str,
        aliases: &[(&str, &'static str)],
        choose: Choose,
    ) -> Result<Option<Found<'_>>, String> {
        let whole = path.strip_prefix('/').unwrap_or(path);
        let (path, verb) = self.split_verb(whole);
        let segments = segments(path, aliases);
        match verb {
            // What looks like a verb is the end of an id where nothing that could be meant has that verb.
            Some(_) if !self.has_path(&segments, verb) => {
                self.find_verb(http, &self::segments(whole, aliases), None, choose)
            }
            verb => self.find_verb(http, &segments, verb, choose),
        }
    }

    /// Whether any method of HTTP means something on a path.
    fn has_path(&self, segments: &[&str], verb: Option<&str>) -> bool {
        self.bindings.iter().any(|binding| {
            binding.template.verb.as_deref() == verb && binding.template.matches(segments).is_some()
        })
    }

    fn find_verb(
        &self,
        http: &Method,
        segments: &[&str],
        verb: Option<&str>,
        choose: Choose,
    ) -> Result<Option<Found<'_>>, String> {
        let mut found: Vec<Found<'_>> = Vec::new();
        for binding in &self.bindings {
            let known = found.iter().any(|other| other.binding.method == binding.method);
            if known || binding.http != *http || binding.template.verb.as_deref() != verb {
                continue;
            }
            if let Some(variables) = binding.template.matches(segments) {
                found.push(Found { binding, variables: variables? });
            }
        }
        if found.len() < 2 {
            return Ok(found.pop());
        }
        let candidates: Vec<Candidate<'_>> = found
            .iter()
            .map(|found| Candidate {
                rpc: found.binding.method.name(),
                variables: &found.variables,
            })
            .collect();
        let chosen = choose(&candidates);
        drop(candidates);
        Ok(chosen.and_then(|index| found.into_iter().nth(index)))
    }

    /// Takes a custom verb off the path. Ids may hold colons, so only verbs that some method has are taken.
    fn split_verb<'p>(&self, path: &'p str) -> (&'p str, Option<&'p str>) {
        match path.rsplit_once(':') {
            Some((path, verb)) if self.verbs.contains(verb) => (path, Some(verb)),
            _ => (path, None),
        }
    }
}

/// The segments of a path, an alias replaced by what it stands for.
fn segments<'p>(path: &'p str, aliases: &[(&str, &'static str)]) -> Vec<&'p str> {
    let mut segments: Vec<&str> = path.split('/').collect();
    if let Some(first) = segments.first_mut()
        && let Some((_, prefix)) = aliases.iter().find(|(alias, _)| alias == first)
    {
        *first = prefix;
    }
    segments
}

fn add_rule(
    bindings: &mut Vec<Binding>,
    method: &MethodDescriptor,
    rule: &Value,
) -> Result<(), String> {
    let rule = rule.as_message().ok_or("it is no message")?;
    bindings.push(binding(method, rule)?);
    let additional = rule.get_field_by_name("additional_bindings");
    for rule in additional.as_deref().and_then(Value::as_list).unwrap_or_default() {
        add_rule(bindings, method, rule)?;
    }
    Ok(())
}

fn binding(method: &MethodDescriptor, rule: &DynamicMessage) -> Result<Binding, String> {
    let text = |message: &DynamicMessage, field: &str| {
        let value = message.get_field_by_name(field)?;
        value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let verbs = [
        ("get", Method::GET),
        ("put", Method::PUT),
        ("post", Method::POST),
        ("delete", Method::DELETE),
        ("patch", Method::PATCH),
    ];
    let (http, path) = verbs
        .into_iter()
        .find_map(|(field, http)| Some((http, text(rule, field)?)))
        .ok_or("it has no HTTP method we know")?;
    if text(rule, "response_body").is_some() {
        return Err("`response_body` is not served".to_owned());
    }
    bound(method, http, &path, &text(rule, "body").unwrap_or_default())
}

fn bound(
    method: &MethodDescriptor,
    http: Method,
    path: &str,
    body: &str,
) -> Result<Binding, String> {
    let template = Template::parse(path).ok_or_else(|| format!("malformed path `{path}`"))?;
    let body = match body {
        "" => BodyRule::None,
        "*" => BodyRule::All,
        name => {
            let field = method.input().get_field_by_name(name);
            BodyRule::Field(field.ok_or_else(|| format!("no field `{name}` for the body"))?)
        }
    };
    Ok(Binding { method: method.clone(), body, http, template })
}
