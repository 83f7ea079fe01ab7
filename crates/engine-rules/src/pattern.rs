//! The whole path of a match block, and matching a request's path with it.

use std::sync::Arc;

use crate::query::Part;
use crate::tree::MatchSegment;
use crate::value::{Path, Shared, Value};

/// All segments of a match block and those around it.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathPattern {
    pub(crate) segments: Vec<MatchSegment>,
    /// Segments a glob matches at least: one in version 1, none in version 2.
    pub(crate) glob_min: usize,
}

impl PathPattern {
    /// The values of its wildcards, outermost first, where a path matches.
    ///
    /// There is at most one glob, so that the segments before and behind it say what it takes.
    pub(crate) fn matches<'e>(&self, path: &'e [&'e str]) -> Option<Vec<Value<'e>>> {
        let glob =
            self.segments.iter().position(|segment| matches!(segment, MatchSegment::Glob(_)));
        let Some(glob) = glob else {
            if path.len() != self.segments.len() {
                return None;
            }
            let mut captured = Vec::new();
            return take(&self.segments, path, &mut captured).then_some(captured);
        };
        let behind = self.segments.len() - glob - 1;
        let taken = path.len().checked_sub(glob + behind)?;
        if taken < self.glob_min {
            return None;
        }
        let (before_pattern, from_glob) = self.segments.split_at_checked(glob)?;
        let (before, rest) = path.split_at_checked(glob)?;
        let (middle, after) = rest.split_at_checked(taken)?;
        let mut captured = Vec::new();
        let matched = take(before_pattern, before, &mut captured) && {
            captured.push(Value::Path(Path::of(middle)));
            take(from_glob.get(1..)?, after, &mut captured)
        };
        matched.then_some(captured)
    }

    /// The values of its wildcards where it matches every path of a query's domain. One that the query leaves
    /// open is null, or an open path.
    pub(crate) fn covers<'e>(&self, domain: &[Part<'e>]) -> Option<Vec<Value<'e>>> {
        let mut captured = Vec::new();
        let glob =
            self.segments.iter().position(|segment| matches!(segment, MatchSegment::Glob(_)));
        let Some(glob) = glob else {
            let is_covered =
                domain.len() == self.segments.len() && cover(&self.segments, domain, &mut captured);
            return is_covered.then_some(captured);
        };
        let behind = self.segments.len() - glob - 1;
        let taken = domain.len().checked_sub(glob + behind)?;
        let (before_pattern, from_glob) = self.segments.split_at_checked(glob)?;
        let (before, rest) = domain.split_at_checked(glob)?;
        let (middle, after) = rest.split_at_checked(taken)?;
        // Any number may be none.
        let taken_min = middle.iter().filter(|part| **part != Part::Many).count();
        if taken_min < self.glob_min || !cover(before_pattern, before, &mut captured) {
            return None;
        }
        let names = middle.iter().map(|part| match part {
            Part::Name(name) => Some(*name),
            Part::One | Part::Many => None,
        });
        let names: Option<Vec<_>> = names.collect();
        captured.push(Value::Path(names.map_or_else(Path::open, |names| Path::of(&names))));
        cover(from_glob.get(1..)?, after, &mut captured).then_some(captured)
    }

    /// As it would be written in one piece.
    pub(crate) fn text(&self) -> String {
        let segment = |segment: &MatchSegment| match segment {
            MatchSegment::Literal(text) => format!("/{text}"),
            MatchSegment::Single(name) => format!("/{{{name}}}"),
            MatchSegment::Glob(name) => format!("/{{{name}=**}}"),
        };
        self.segments.iter().map(segment).collect()
    }

    /// The names of its wildcards, outermost first.
    pub(crate) fn names(&self) -> impl DoubleEndedIterator<Item = (usize, &Arc<str>)> {
        let names = self.segments.iter().filter_map(|segment| match segment {
            MatchSegment::Literal(_) => None,
            MatchSegment::Single(name) | MatchSegment::Glob(name) => Some(name),
        });
        names.collect::<Vec<_>>().into_iter().enumerate()
    }
}

fn take<'e>(pattern: &[MatchSegment], path: &[&'e str], captured: &mut Vec<Value<'e>>) -> bool {
    pattern.iter().zip(path).all(|(segment, name)| match segment {
        MatchSegment::Literal(text) => **text == **name,
        MatchSegment::Single(_) => {
            captured.push(Value::String(Shared::Borrowed(name)));
            true
        }
        MatchSegment::Glob(_) => false,
    })
}

fn cover<'e>(pattern: &[MatchSegment], domain: &[Part<'e>], captured: &mut Vec<Value<'e>>) -> bool {
    pattern.iter().zip(domain).all(|(segment, part)| match (segment, part) {
        (MatchSegment::Literal(text), Part::Name(name)) => **text == **name,
        (MatchSegment::Single(_), Part::Name(name)) => {
            captured.push(Value::String(Shared::Borrowed(name)));
            true
        }
        (MatchSegment::Single(_), Part::One) => {
            captured.push(Value::Null);
            true
        }
        (MatchSegment::Literal(_), Part::One)
        | (MatchSegment::Literal(_) | MatchSegment::Single(_), Part::Many)
        | (MatchSegment::Glob(_), _) => false,
    })
}
