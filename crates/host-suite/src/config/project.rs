//! Which project the suite stands for.

use std::path::Path;

use serde_json::Value;

use super::{ConfigError, FirebaseRc, jsonc};
use crate::limits::ANCESTORS_MAX;

/// Project ids with this prefix never reach a real project.
pub const DEMO_PREFIX: &str = "demo-";

/// The project when nobody names one.
pub const NO_PROJECT: &str = "demo-no-project";

/// The suite's project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The id.
    pub id: String,
    /// The alias in .firebaserc by which it was found.
    pub alias: Option<String>,
    /// Whether somebody named it; otherwise it is [`NO_PROJECT`].
    pub named: bool,
}

/// Where a project can be named, the first one first.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProjectSources<'a> {
    /// The flag or option.
    pub option: Option<&'a str>,
    /// What `firebase use` chose for this folder.
    pub active: Option<&'a str>,
    /// The deprecated key of firebase.json.
    pub deprecated: Option<&'a str>,
    /// The aliases.
    pub aliases: Option<&'a FirebaseRc>,
}

impl Project {
    /// Finds the project.
    ///
    /// # Errors
    /// The id is not one a project can have.
    pub fn resolve(sources: ProjectSources<'_>) -> Result<Self, ConfigError> {
        let aliases = sources.aliases;
        let named = [sources.option, sources.active, sources.deprecated];
        let name = named
            .into_iter()
            .flatten()
            .find(|name| !name.is_empty())
            .or_else(|| aliases.and_then(FirebaseRc::default_alias));
        let Some(name) = name else {
            return Ok(Self { id: NO_PROJECT.to_owned(), alias: None, named: false });
        };
        let mapped = aliases.and_then(|aliases| aliases.project(name));
        let id = mapped.unwrap_or(name);
        if !is_valid(id) {
            return Err(ConfigError::ProjectId(id.to_owned()));
        }
        Ok(Self { id: id.to_owned(), alias: mapped.map(|_| name.to_owned()), named: true })
    }

    /// Whether it is a demo project.
    #[must_use]
    pub fn is_demo(&self) -> bool {
        self.id.starts_with(DEMO_PREFIX)
    }
}

/// Whether a project can have this id: lower-case letters, digits and dashes, after an optional
/// `domain:` prefix.
fn is_valid(id: &str) -> bool {
    let (prefix, name) = match id.rsplit_once(':') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, id),
    };
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !name.is_empty()
        && name.bytes().all(plain)
        && prefix.is_none_or(|prefix| !prefix.is_empty() && !prefix.contains(':'))
}

/// What `firebase use` chose for the folder or the nearest one above it, from the official command
/// line's own file. A file that is not there or not readable chooses nothing.
#[must_use]
pub fn active_project(settings: &Path, directory: &Path) -> Option<String> {
    let value = jsonc::read(settings).ok()??;
    let chosen = value.get("activeProjects").and_then(Value::as_object)?;
    directory
        .ancestors()
        .take(ANCESTORS_MAX)
        .find_map(|folder| chosen.get(folder.to_str()?)?.as_str())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn project_ids_are_checked_as_the_official_command_line_does() {
        for (id, valid) in [
            ("demo-a", true),
            ("my-project-123", true),
            ("123456", true),
            ("example.com:app", true),
            ("-", true),
            ("", false),
            ("Demo", false),
            ("a_b", false),
            ("a b", false),
            ("a/b", false),
            (":app", false),
            ("a:b:c", false),
            ("example.com:", false),
        ] {
            assert_eq!(is_valid(id), valid, "{id}");
        }
    }
}
