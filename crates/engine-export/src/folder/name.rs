//! File names in metadata, which may come from another system and must not lead out of the export.

use std::path::{Component, Path, PathBuf};

use super::OUTPUT_PREFIX;

/// A relative path that some metadata names, with the separators of this system: exports made on Windows have
/// backslashes. `None` for one that is absolute, empty or leads out of its folder.
pub fn relative_path(text: &str) -> Option<PathBuf> {
    join(text.split(['/', '\\']))
}

/// The file below `folder` that `text` names. Other systems than Windows may have backslashes in names, so
/// that what is there counts.
pub(super) fn resolve(folder: &Path, text: &str) -> Option<PathBuf> {
    let literal = join(text.split('/')).map(|path| folder.join(path));
    literal
        .filter(|path| path.exists())
        .or_else(|| relative_path(text).map(|path| folder.join(path)))
}

fn join<'text>(names: impl Iterator<Item = &'text str>) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for name in names {
        if !is_plain(name) {
            return None;
        }
        path.push(name);
    }
    Some(path)
}

/// Whether a text is the name of one file or folder and nothing else.
pub(super) fn is_plain(name: &str) -> bool {
    let mut components = Path::new(name).components();
    let is_normal = matches!(components.next(), Some(Component::Normal(part)) if part == name);
    is_normal && components.next().is_none() && !name.contains('\0')
}

/// The number of an output file, by its name.
pub(super) fn output_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(OUTPUT_PREFIX)?;
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_both_systems_are_read() {
        let path: PathBuf = ["a", "b c", "d.export_metadata"].iter().collect();
        for text in ["a/b c/d.export_metadata", "a\\b c\\d.export_metadata"] {
            assert_eq!(relative_path(text), Some(path.clone()), "{text}");
        }
    }

    #[test]
    fn paths_that_lead_elsewhere_are_refused() {
        for text in
            ["", "/", "/a", "a//b", "../a", "a/../../b", "a\\..\\b", ".", "./a", "a/", "a\0b"]
        {
            assert_eq!(relative_path(text), None, "{text:?}");
        }
    }

    #[test]
    fn only_numbered_outputs_are_outputs() {
        let table = [
            ("output-0", Some(0)),
            ("output-1023", Some(1023)),
            ("output-", None),
            ("output-1a", None),
            ("output-+1", None),
            ("xoutput-1", None),
        ];
        for (name, number) in table {
            assert_eq!(output_number(name), number, "{name}");
        }
    }
}
