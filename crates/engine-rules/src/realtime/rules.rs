//! A file of rules as a tree: what applies at a place, at its children, and at any child.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::check::{Scope, check};
use super::decide::RuleKind;
use super::expression::{Expr, parse};
use super::json::{Json, Member, Place, SourceError, read};
use crate::limits::{DIAGNOSTICS_MAX, SOURCE_MAX_BYTES};

/// Rules that were read and checked.
#[derive(Debug)]
pub struct RealtimeRules {
    pub(super) root: Node,
}

/// What applies at a place.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) read: Option<Rule>,
    pub(super) write: Option<Rule>,
    pub(super) validate: Option<Rule>,
    index_on: Vec<String>,
    children: BTreeMap<String, Node>,
    wildcard: Option<(Arc<str>, Box<Node>)>,
}

/// One rule.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) place: Place,
    pub(super) expr: Expr,
}

impl Node {
    pub(super) fn rule(&self, kind: RuleKind) -> Option<&Rule> {
        match kind {
            RuleKind::Read => self.read.as_ref(),
            RuleKind::Write => self.write.as_ref(),
            RuleKind::Validate => self.validate.as_ref(),
        }
    }

    /// What applies at a child, and the wildcard that stands for its name: a name of its own comes first.
    pub(super) fn child(&self, name: &str) -> Option<(&Node, Option<&Arc<str>>)> {
        match (self.children.get(name), &self.wildcard) {
            (Some(node), _) => Some((node, None)),
            (None, Some((wildcard, node))) => Some((node, Some(wildcard))),
            (None, None) => None,
        }
    }

    /// Whether anything applies below.
    pub(super) fn has_children(&self) -> bool {
        !self.children.is_empty() || self.wildcard.is_some()
    }
}

impl RealtimeRules {
    /// Reads a file.
    ///
    /// # Errors
    /// Everything that is wrong with it; where it is no JSON, the first thing.
    pub fn parse(source: &str) -> Result<Self, Vec<SourceError>> {
        let start = Place { line: 1, column: 1 };
        if source.len() > SOURCE_MAX_BYTES {
            let text = format!("Rules are longer than {SOURCE_MAX_BYTES} bytes.");
            return Err(vec![start.error(text)]);
        }
        let (place, json) = read(source).map_err(|error| vec![error])?;
        let Json::Object(members) = json else { return Err(vec![place.error("Expected '{'.")]) };
        let mut rules = None;
        let mut reader = Reader { errors: Vec::new(), wildcards: Vec::new() };
        let end = Place { column: place.column + 1, ..place };
        for member in members {
            match member.key.as_str() {
                "rules" => rules = Some(reader.node(member.at, member.value)),
                other => {
                    let text = format!("'{other}' does not stand beside 'rules'.");
                    reader.error(member.place, text);
                }
            }
        }
        if rules.is_none() {
            reader.error(end, "Expected 'rules' property.");
        }
        match (rules, reader.errors.is_empty()) {
            (Some(root), true) => Ok(RealtimeRules { root }),
            _ => Err(reader.errors),
        }
    }

    /// What `.indexOn` says at a path: names of children, paths below them, or `.value`.
    pub fn index_on(&self, path: &[&str]) -> &[String] {
        let mut node = &self.root;
        for name in path {
            match node.child(name) {
                Some((child, _)) => node = child,
                None => return &[],
            }
        }
        &node.index_on
    }
}

struct Reader {
    errors: Vec<SourceError>,
    /// Those on the way here.
    wildcards: Vec<Arc<str>>,
}

impl Reader {
    fn error(&mut self, place: Place, text: impl Into<String>) {
        if self.errors.len() < DIAGNOSTICS_MAX {
            self.errors.push(place.error(text));
        }
    }

    fn node(&mut self, place: Place, json: Json) -> Node {
        let mut node = Node::default();
        let Json::Object(members) = json else {
            self.error(place, "Expected '{'.");
            return node;
        };
        for member in members {
            match member.key.as_str() {
                ".read" => node.read = self.rule(RuleKind::Read, member),
                ".write" => node.write = self.rule(RuleKind::Write, member),
                ".validate" => node.validate = self.rule(RuleKind::Validate, member),
                ".indexOn" => node.index_on = self.index(member),
                key if key.starts_with('$') => self.wildcard(&mut node, member),
                key if is_key(key) => {
                    let child = self.node(member.at, member.value);
                    node.children.insert(member.key, child);
                }
                key => {
                    self.error(member.place, format!("'{key}' is no rule and no name of a child."))
                }
            }
        }
        node
    }

    fn wildcard(&mut self, node: &mut Node, member: Member) {
        let name: Arc<str> = Arc::from(member.key.as_str());
        if let Some((known, _)) = &node.wildcard {
            let text = format!("There is a wildcard '{known}' already beside '{name}'.");
            self.error(member.place, text);
            return;
        }
        if self.wildcards.contains(&name) {
            self.error(member.place, format!("'{name}' is the name of a wildcard above already."));
            return;
        }
        self.wildcards.push(Arc::clone(&name));
        let child = self.node(member.at, member.value);
        self.wildcards.pop();
        node.wildcard = Some((name, Box::new(child)));
    }

    fn rule(&mut self, kind: RuleKind, member: Member) -> Option<Rule> {
        let source = match member.value {
            Json::String(source) => source,
            Json::Bool(truth) => truth.to_string(),
            _ => {
                self.error(member.at, "Expected a string or a boolean.");
                return None;
            }
        };
        // Behind the quote. Of a string with escapes this is the place without them.
        let column = member.at.column + 1;
        let place = Place { column, ..member.at };
        let at = |offset: usize| {
            let offset = u32::try_from(offset).unwrap_or(u32::MAX);
            Place { column: column.saturating_add(offset), ..place }
        };
        let scope = Scope { kind, wildcards: &self.wildcards };
        let checked = parse(&source).map_err(|wrong| vec![wrong]).and_then(|expr| {
            let wrong = check(&expr, &scope);
            if wrong.is_empty() { Ok(expr) } else { Err(wrong) }
        });
        match checked {
            Ok(expr) => Some(Rule { place, expr }),
            Err(wrong) => {
                for (offset, text) in wrong {
                    self.error(at(offset), text);
                }
                None
            }
        }
    }

    fn index(&mut self, member: Member) -> Vec<String> {
        let items = match member.value {
            Json::Array(items) => items,
            single => vec![(member.at, single)],
        };
        let mut names = Vec::new();
        for (place, item) in items {
            match item {
                Json::String(name) if !name.is_empty() => names.push(name),
                _ => self.error(place, "'.indexOn' takes a string or a list of strings."),
            }
        }
        names
    }
}

/// Whether data may have that name.
fn is_key(key: &str) -> bool {
    !key.is_empty()
        && !key.contains(['.', '#', '$', '[', ']', '/'])
        && !key.contains(char::is_control)
}
