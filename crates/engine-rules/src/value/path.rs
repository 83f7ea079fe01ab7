//! Paths as values.

use std::fmt;
use std::sync::Arc;

use super::{Map, Shared, Value};
use crate::error::Failure;
use crate::function::text_of;

/// A path: the name of a document, or part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path<'e> {
    segments: Arc<[Segment<'e>]>,
}

/// One segment of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment<'e> {
    /// Text.
    Text(Shared<'e, str>),
    /// `{x}`, to be bound.
    Capture(Shared<'e, str>),
    /// `{x=**}`, to be bound.
    Glob(Shared<'e, str>),
}

impl<'e> Path<'e> {
    /// A path of these segments.
    pub fn new(segments: Vec<Segment<'e>>) -> Self {
        Path { segments: segments.into() }
    }

    /// A path of plain names.
    pub fn of(names: &[&'e str]) -> Self {
        Path { segments: names.iter().map(|name| Segment::Text(Shared::Borrowed(name))).collect() }
    }

    /// The path of a stored reference: without `projects/{project}`.
    pub(crate) fn of_reference(reference: &'e str) -> Self {
        let below = reference.strip_prefix("projects/").and_then(|rest| rest.split_once('/'));
        let path = below.map_or(reference, |(_, path)| path);
        Path {
            segments: path.split('/').map(|name| Segment::Text(Shared::Borrowed(name))).collect(),
        }
    }

    /// What `path('...')` makes of a text. `None` where a segment is empty.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let inner = text.strip_prefix('/').unwrap_or(text);
        if inner.split('/').any(str::is_empty) {
            return None;
        }
        let shared = |text: &str| Shared::Owned(Arc::from(text));
        let segment = |name: &str| {
            let capture = name.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            match capture.map(|capture| (capture.strip_suffix("=**"), capture)) {
                None => Segment::Text(shared(name)),
                Some((Some(glob), _)) => Segment::Glob(shared(glob)),
                Some((None, single)) => Segment::Capture(shared(single)),
            }
        };
        Some(Path { segments: inner.split('/').map(segment).collect() })
    }

    /// A path that a query leaves open.
    pub(crate) fn open() -> Self {
        Path::new(vec![Segment::Glob(Shared::Borrowed(""))])
    }

    /// Whether a query leaves it open. No source can name a capture so.
    pub(crate) fn is_open(&self) -> bool {
        let is_open =
            |segment: &Segment<'_>| matches!(segment, Segment::Glob(name) if name.is_empty());
        self.segments.iter().any(is_open)
    }

    /// Its segments.
    pub fn segments(&self) -> &[Segment<'e>] {
        &self.segments
    }

    pub(crate) fn last(&self) -> Option<Shared<'e, str>> {
        match self.segments.last()? {
            Segment::Text(text) => Some(text.clone()),
            Segment::Capture(_) | Segment::Glob(_) => None,
        }
    }

    /// The texts of its segments, or the name of the first one that is not bound.
    pub(crate) fn texts(&self) -> Result<Vec<&str>, &str> {
        let mut texts = Vec::with_capacity(self.segments.len());
        for segment in &*self.segments {
            match segment {
                Segment::Text(text) => texts.push(&**text),
                Segment::Capture(name) | Segment::Glob(name) => return Err(name),
            }
        }
        Ok(texts)
    }

    /// This path with its captures bound to the values of a map.
    pub(crate) fn bind(&self, values: &Map<'e>) -> Result<Self, BindError<'e>> {
        let mut segments = Vec::with_capacity(self.segments.len());
        let mut known = Vec::new();
        for segment in &*self.segments {
            let (Segment::Capture(name) | Segment::Glob(name)) = segment else {
                segments.push(segment.clone());
                continue;
            };
            known.push(&**name);
            match (values.get(name), segment) {
                // What is not bound is left out, as the product does.
                (None, _) => {}
                (Some(Value::Path(path)), Segment::Glob(_)) => {
                    segments.extend_from_slice(path.segments());
                }
                (Some(other), Segment::Glob(_)) => return Err(BindError::NoPath(other)),
                (Some(Value::String(text)), _) => segments.push(Segment::Text(text)),
                (Some(other), _) => {
                    let text = text_of(&other).map_err(BindError::NoText)?;
                    segments.push(Segment::Text(Shared::Owned(Arc::from(text))));
                }
            }
        }
        let unknown: Vec<_> =
            values.keys().into_iter().filter(|key| !known.contains(&&**key)).collect();
        if !unknown.is_empty() {
            return Err(BindError::Unknown(unknown));
        }
        Ok(Path { segments: segments.into() })
    }
}

/// Why a path could not be bound.
pub(crate) enum BindError<'e> {
    /// These keys name no capture.
    Unknown(Vec<Shared<'e, str>>),
    /// That value is bound to `{x=**}` and is no path.
    NoPath(Value<'e>),
    /// The value of `{x}` has no text.
    NoText(Failure),
}

/// As `string(path)` shows it: captures that are not bound are empty.
impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in &*self.segments {
            match segment {
                Segment::Text(text) => write!(f, "/{}", &**text)?,
                Segment::Capture(_) | Segment::Glob(_) => f.write_str("/")?,
            }
        }
        Ok(())
    }
}
