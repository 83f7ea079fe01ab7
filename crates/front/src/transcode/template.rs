//! Path templates of `google.api.http`: `/v1/{name=projects/*/databases/*/documents/*/**}:verb`.

use std::borrow::Cow;
use std::ops::Range;

use percent_encoding::percent_decode_str;

#[derive(Debug, PartialEq)]
enum Segment {
    Literal(String),
    /// `*`: one segment.
    One,
    /// `**`: any number of segments, none included. At most one per template.
    Any,
}

#[derive(Debug, PartialEq)]
struct Variable {
    field: String,
    /// Which segments of the template it captures.
    segments: Range<usize>,
}

/// A parsed template.
#[derive(Debug, PartialEq)]
pub(crate) struct Template {
    segments: Vec<Segment>,
    variables: Vec<Variable>,
    pub(crate) verb: Option<String>,
}

/// Field paths and the values captured for them.
pub(crate) type Captures = Vec<(String, String)>;

impl Template {
    /// Parses a template; `None` when it is malformed or has two `**`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('/')?;
        // A colon inside braces would belong to a pattern; Google's templates have none there.
        let (path, verb) = match text.rsplit_once(':') {
            Some((path, verb)) if !verb.contains(['/', '}']) => (path, Some(verb.to_owned())),
            _ => (text, None),
        };
        let mut segments = Vec::new();
        let mut variables = Vec::new();
        let mut rest = path;
        loop {
            if let Some(inner) = rest.strip_prefix('{') {
                let (variable, after) = inner.split_once('}')?;
                let (field, pattern) = variable.split_once('=').unwrap_or((variable, "*"));
                let start = segments.len();
                segments.extend(pattern.split('/').map(Segment::parse));
                variables
                    .push(Variable { field: field.to_owned(), segments: start..segments.len() });
                rest = after;
            } else {
                let end = rest.find('/').unwrap_or(rest.len());
                let (segment, after) = rest.split_at_checked(end)?;
                segments.push(Segment::parse(segment));
                rest = after;
            }
            match rest.strip_prefix('/') {
                Some(after) => rest = after,
                None if rest.is_empty() => break,
                None => return None,
            }
        }
        let open = segments.iter().filter(|segment| **segment == Segment::Any).count();
        (open <= 1).then_some(Self { segments, variables, verb })
    }

    /// Whether a path (its raw segments, the verb taken off) fits, and what the variables hold then.
    ///
    /// A variable of one segment that stands last may be empty: `/v1/a/b/` means an empty id below `b`.
    ///
    /// # Errors
    ///
    /// The captured text is not UTF-8.
    pub(crate) fn matches(&self, path: &[&str]) -> Option<Result<Captures, String>> {
        // How many segments `**` takes.
        let open = self.segments.iter().position(|segment| *segment == Segment::Any);
        let fixed = self.segments.len() - usize::from(open.is_some());
        let taken = path.len().checked_sub(fixed)?;
        if open.is_none() && taken != 0 {
            return None;
        }
        let place = |index: usize| match open {
            Some(open) if index > open => index + taken - 1,
            _ => index,
        };
        for (index, segment) in self.segments.iter().enumerate() {
            let text = path.get(place(index));
            let fits = match segment {
                Segment::Literal(literal) => text == Some(&literal.as_str()),
                Segment::One => {
                    text.is_some_and(|text| !text.is_empty() || self.is_bare_end(index))
                }
                Segment::Any => true,
            };
            if !fits {
                return None;
            }
        }
        let capture = |variable: &Variable| {
            let range = place(variable.segments.start)..place(variable.segments.end);
            let captured = path.get(range).unwrap_or_default();
            Ok((variable.field.clone(), decode(captured)?))
        };
        Some(self.variables.iter().map(capture).collect())
    }

    fn is_bare_end(&self, index: usize) -> bool {
        index + 1 == self.segments.len()
            && self.variables.last().is_some_and(|last| last.segments == (index..index + 1))
    }
}

impl Segment {
    fn parse(text: &str) -> Self {
        match text {
            "*" => Self::One,
            "**" => Self::Any,
            literal => Self::Literal(literal.to_owned()),
        }
    }
}

/// Decodes each segment. Where several were captured an encoded slash stays encoded, so that it splits nothing.
fn decode(segments: &[&str]) -> Result<String, String> {
    let mut out = String::new();
    for (index, segment) in segments.iter().enumerate() {
        if index > 0 {
            out.push('/');
        }
        let text: Cow<'_, str> = percent_decode_str(segment)
            .decode_utf8()
            .map_err(|_| format!("The path segment \"{segment}\" is not UTF-8 when decoded."))?;
        match segments.len() {
            1 => out.push_str(&text),
            _ => out.push_str(&text.replace('/', "%2F")),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expected`: the captures as `field=value`, or nothing when the path does not fit.
    fn check(template: &str, path: &str, expected: Option<&[&str]>) {
        let template = Template::parse(template).expect(template);
        let segments: Vec<&str> = path.split('/').collect();
        let captures = template.matches(&segments).map(|captures| {
            let pairs = captures.unwrap().into_iter();
            pairs.map(|(field, value)| format!("{field}={value}")).collect::<Vec<_>>()
        });
        let expected = expected.map(|list| list.iter().map(|s| (*s).to_owned()).collect());
        assert_eq!(captures, expected, "{path}");
    }

    #[test]
    fn paths_fit_or_not() {
        const NAME: &str = "/v1/{name=projects/*/databases/*/documents/*/**}";
        const UNDER: &str = "/v1/{parent=projects/*/databases/*/documents/**}/{collection_id}";
        check(
            NAME,
            "v1/projects/p/databases/d/documents/c/x",
            Some(&["name=projects/p/databases/d/documents/c/x"]),
        );
        check(
            NAME,
            "v1/projects/p/databases/d/documents/c",
            Some(&["name=projects/p/databases/d/documents/c"]),
        );
        check(NAME, "v1/projects/p/databases/d/documents/", None);
        check(NAME, "v1/projects/p/databases/d/documents", None);
        check(NAME, "v2/projects/p/databases/d/documents/c/x", None);
        check(NAME, "v1/projects//databases/d/documents/c/x", None);
        check(
            NAME,
            "v1/projects/p/databases/d/documents/c//x",
            Some(&["name=projects/p/databases/d/documents/c//x"]),
        );
        check(
            UNDER,
            "v1/projects/p/databases/d/documents/c",
            Some(&["parent=projects/p/databases/d/documents", "collection_id=c"]),
        );
        check(
            UNDER,
            "v1/projects/p/databases/d/documents/c/x/e",
            Some(&["parent=projects/p/databases/d/documents/c/x", "collection_id=e"]),
        );
        check(
            UNDER,
            "v1/projects/p/databases/d/documents/",
            Some(&["parent=projects/p/databases/d/documents", "collection_id="]),
        );
        check("/v1/{a}/x", "v1//x", None);
        check("/v1/a/b", "v1/a/b", Some(&[]));
        check("/v1/a/b", "v1/a/b/", None);
    }

    #[test]
    fn captures_are_decoded() {
        check("/v1/{a}", "v1/x%2Fy%20z", Some(&["a=x/y z"]));
        check("/v1/{a=c/*}", "v1/c/x%2Fy%C3%BC", Some(&["a=c/x%2Fy\u{fc}"]));
        check("/v1/{a.b.c}", "v1/+", Some(&["a.b.c=+"]));
        let template = Template::parse("/v1/{a}").unwrap();
        assert!(template.matches(&["v1", "%ff"]).unwrap().is_err());
    }

    #[test]
    fn verbs() {
        let table =
            [("/v1/{a=x/*}:run", Some("run")), ("/v1/x:run", Some("run")), ("/v1/{a}", None)];
        for (template, verb) in table {
            assert_eq!(Template::parse(template).unwrap().verb.as_deref(), verb, "{template}");
        }
    }

    #[test]
    fn malformed_templates() {
        for template in ["v1/a", "/v1/{a", "/v1/{a}b", "/v1/**/**", "/v1/{a=**}/{b=**}"] {
            assert_eq!(Template::parse(template), None, "{template}");
        }
    }
}
