//! Deciding reads and writes: grants go down from the root, and what is written has to be valid all the way.

use std::sync::Arc;

use base_value::Value as Claim;

use super::eval::{Here, Scene};
use super::rules::{Node, RealtimeRules};
use super::value::{RealtimeQuery, Tree};

/// How deep data nests; what is deeper is never written.
const DEPTH_MAX: usize = 64;

/// Which rule of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// `.read`
    Read,
    /// `.write`
    Write,
    /// `.validate`
    Validate,
}

/// Who asks, and when.
#[derive(Clone, Copy)]
pub struct RealtimeRequest<'r> {
    /// `auth`: nothing, or a map with `uid` and `token`.
    pub auth: Option<&'r Claim>,
    /// `now`, in milliseconds since 1970.
    pub now: f64,
    /// The data as it is.
    pub data: &'r dyn Tree,
}

/// What a write makes of the data.
#[derive(Clone, Copy)]
pub struct Change<'r> {
    /// The paths that are written: one, or those of an update of several.
    pub paths: &'r [Vec<&'r str>],
    /// The data as it would be afterwards, all paths written.
    pub after: &'r dyn Tree,
}

/// A rule that was evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Where in the data it stands.
    pub path: String,
    /// Which one it is.
    pub kind: RuleKind,
    /// Where in the source it starts.
    pub line: u32,
    /// See `line`.
    pub column: u32,
    /// What it came to: an error counts as false.
    pub outcome: Result<bool, String>,
}

/// Whether a request may go on, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealtimeDecision {
    /// Whether it may.
    pub allowed: bool,
    /// The rules evaluated, in order. Where it may not, the last one decided, or there was none.
    pub tried: Vec<Tried>,
}

impl RealtimeRules {
    /// Decides a read of a path: one `.read` from the root to it has to hold.
    pub fn read(
        &self,
        request: RealtimeRequest<'_>,
        path: &[&str],
        query: &RealtimeQuery,
    ) -> RealtimeDecision {
        let mut decider = Decider::new(request, None, Some(query));
        let allowed = decider.cascade(&self.root, path, RuleKind::Read);
        RealtimeDecision { allowed, tried: decider.tried }
    }

    /// Decides a write: for each path one `.write` from the root to it has to hold, and every `.validate` of what is
    /// there afterwards, from the root to the path and below it.
    pub fn write(&self, request: RealtimeRequest<'_>, change: Change<'_>) -> RealtimeDecision {
        let mut decider = Decider::new(request, Some(change.after), None);
        let mut paths = change.paths.iter();
        let allowed = paths.all(|path| decider.cascade(&self.root, path, RuleKind::Write));
        let mut paths = change.paths.iter();
        let allowed = allowed && paths.all(|path| decider.is_valid(&self.root, path, change.after));
        RealtimeDecision { allowed, tried: decider.tried }
    }
}

struct Decider<'e> {
    scene: Scene<'e>,
    tried: Vec<Tried>,
}

impl<'e> Decider<'e> {
    fn new(
        request: RealtimeRequest<'e>,
        after: Option<&'e dyn Tree>,
        query: Option<&'e RealtimeQuery>,
    ) -> Self {
        let RealtimeRequest { auth, now, data } = request;
        let scene = Scene { before: data, after, auth, now, query, spent: 0 };
        Decider { scene, tried: Vec::new() }
    }

    /// Whether a rule of a place holds; none where there is no such rule.
    fn holds(&mut self, node: &'e Node, kind: RuleKind, here: &Here) -> Option<bool> {
        let rule = node.rule(kind)?;
        let outcome = self.scene.holds(&rule.expr, here);
        let holds = outcome == Ok(true);
        self.tried.push(Tried {
            path: format!("/{}", here.path.join("/")),
            kind,
            line: rule.place.line,
            column: rule.place.column,
            outcome,
        });
        Some(holds)
    }

    /// Whether one rule on the way to a path holds.
    fn cascade(&mut self, root: &'e Node, path: &[&str], kind: RuleKind) -> bool {
        let mut here = Here::default();
        let mut node = root;
        let mut rest = path.iter();
        loop {
            if self.holds(node, kind, &here) == Some(true) {
                return true;
            }
            let Some(name) = rest.next() else { return false };
            let Some(next) = descend(node, name, &mut here) else { return false };
            node = next;
        }
    }

    /// Whether what is at a path afterwards is valid: all rules on the way to it, and all below.
    fn is_valid(&mut self, root: &'e Node, path: &[&str], after: &dyn Tree) -> bool {
        let mut here = Here::default();
        let mut node = root;
        for name in path {
            if !self.is_valid_here(node, &here, after) {
                return false;
            }
            match descend(node, name, &mut here) {
                Some(next) => node = next,
                None => return true,
            }
        }
        let mut open = vec![(node, here)];
        while let Some((node, here)) = open.pop() {
            if !self.is_valid_here(node, &here, after) {
                return false;
            }
            if !node.has_children() || here.path.len() >= DEPTH_MAX {
                continue;
            }
            let names: Vec<&str> = here.path.iter().map(|name| &**name).collect();
            // The first child is looked at first.
            for child in after.children(&names).iter().rev() {
                let mut below = here.clone();
                if let Some(next) = descend(node, child, &mut below) {
                    open.push((next, below));
                }
            }
        }
        true
    }

    fn is_valid_here(&mut self, node: &'e Node, here: &Here, after: &dyn Tree) -> bool {
        if node.validate.is_none() {
            return true;
        }
        let names: Vec<&str> = here.path.iter().map(|name| &**name).collect();
        // Nothing is valid.
        !after.exists(&names) || self.holds(node, RuleKind::Validate, here) != Some(false)
    }
}

/// Goes on to a child.
fn descend<'e>(node: &'e Node, name: &str, here: &mut Here) -> Option<&'e Node> {
    let (next, wildcard) = node.child(name)?;
    let name: Arc<str> = Arc::from(name);
    here.path.push(Arc::clone(&name));
    if let Some(wildcard) = wildcard {
        here.wildcards.push((Arc::clone(wildcard), name));
    }
    Some(next)
}
