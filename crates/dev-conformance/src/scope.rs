//! What a running case knows: its project and what it captured; and the placeholders that name them.

use std::collections::BTreeMap;

use base_env::Env;
use serde_json::Value;

use crate::time;

/// The names that placeholders stand for.
#[derive(Clone, Debug)]
pub struct Scope {
    project: String,
    captures: BTreeMap<String, String>,
}

impl Scope {
    /// A scope for the given project.
    pub fn new(project: impl Into<String>) -> Self {
        Self { project: project.into(), captures: BTreeMap::new() }
    }

    /// A project id that no other case and no other run uses.
    ///
    /// Always 14 characters: error texts hold positions within names.
    pub fn fresh_project() -> String {
        let mut random = [0_u8; 6];
        Env::real().random(&mut random);
        let hex: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("c-{hex}")
    }

    /// The project id.
    pub fn project(&self) -> &str {
        &self.project
    }

    /// `projects/<project>/databases/(default)/documents`.
    pub fn documents(&self) -> String {
        format!("projects/{}/databases/(default)/documents", self.project)
    }

    /// Remembers a text under a name.
    pub fn capture(&mut self, name: &str, text: String) {
        self.captures.insert(name.to_owned(), text);
    }

    /// The text captured under a name.
    pub fn captured(&self, name: &str) -> Option<&str> {
        self.captures.get(name).map(String::as_str)
    }

    /// Replaces the placeholders of a text.
    pub fn resolve(&self, text: &str) -> String {
        self.replace(text, |captured| captured.to_owned())
    }

    /// Replaces the placeholders of a request target; captured texts are percent-encoded.
    pub fn resolve_target(&self, text: &str) -> String {
        self.replace(text, percent_encode)
    }

    /// Replaces the placeholders of every string and member name in a JSON value.
    pub fn resolve_json(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.resolve(text)),
            Value::Array(items) => items.iter().map(|item| self.resolve_json(item)).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(name, member)| (self.resolve(name), self.resolve_json(member)))
                .collect(),
            other => other.clone(),
        }
    }

    fn replace(&self, text: &str, encode: impl Fn(&str) -> String) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            match after
                .split_once('}')
                .and_then(|(key, tail)| Some((self.lookup(key, &encode)?, tail)))
            {
                Some((replacement, tail)) => {
                    out.push_str(&replacement);
                    rest = tail;
                }
                None => {
                    out.push('{');
                    rest = after;
                }
            }
        }
        out.push_str(rest);
        out
    }

    fn lookup(&self, key: &str, encode: impl Fn(&str) -> String) -> Option<String> {
        match key {
            "project" => return Some(self.project.clone()),
            "db" => return Some(format!("projects/{}/databases/(default)", self.project)),
            "docs" => return Some(self.documents()),
            _ => {}
        }
        if let Some(name) = key.strip_prefix('=') {
            return self.captured(name).map(encode);
        }
        if let Some(name) = key.strip_prefix("us:") {
            return time::micros(self.captured(name)?).map(|micros| micros.to_string());
        }
        let (unit, count) = key.strip_prefix("repeat:")?.rsplit_once(':')?;
        Some(unit.repeat(count.parse().ok()?))
    }
}

fn percent_encode(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::Scope;

    #[test]
    fn replaces_placeholders() {
        let mut scope = Scope::new("p");
        scope.capture("t", "a+b=".to_owned());
        scope.capture("u", "1970-01-01T00:00:01Z".to_owned());
        let check =
            |text: &str, expected: &str| assert_eq!(scope.resolve(text), expected, "{text}");
        check("{docs}/a", "projects/p/databases/(default)/documents/a");
        check("x{=t}{us:u}", "xa+b=1000000");
        check("{repeat:ab:3}", "ababab");
        check("{} {unknown} {", "{} {unknown} {");
        assert_eq!(scope.resolve_target("?t={=t}"), "?t=a%2Bb%3D");
    }

    #[test]
    fn projects_have_one_length() {
        for _ in 0..20 {
            assert_eq!(Scope::fresh_project().len(), 14);
        }
    }
}
