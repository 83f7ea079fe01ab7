//! The files of the repository, without what builds and package managers leave there.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Folders that hold nothing of ours.
const LEFT_OUT: [&str; 7] =
    ["target", "node_modules", ".git", ".firelet", ".venv", "__pycache__", "coverage"];

/// The repository's files.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    /// Paths below the root, with forward slashes, sorted.
    files: Vec<String>,
}

impl Tree {
    /// Lists the files below `root`.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn read(root: &Path) -> anyhow::Result<Tree> {
        let mut files = Vec::new();
        list(root, "", &mut files)?;
        files.sort();
        Ok(Tree { root: root.to_owned(), files })
    }

    /// The repository this crate belongs to.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn of_this_repository() -> anyhow::Result<Tree> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = here.parent().and_then(Path::parent).context("crates/ lies below the root")?;
        Tree::read(root)
    }

    /// The paths that end with `suffix`.
    pub fn ending(&self, suffix: &str) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str).filter(move |path| path.ends_with(suffix))
    }

    /// Whether a file or folder of this path is there.
    pub fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// The text of a file.
    ///
    /// # Errors
    /// When it cannot be read or is not UTF-8.
    pub fn text(&self, path: &str) -> anyhow::Result<String> {
        fs::read_to_string(self.root.join(path)).with_context(|| format!("cannot read {path}"))
    }
}

fn list(root: &Path, below: &str, files: &mut Vec<String>) -> anyhow::Result<()> {
    let folder = root.join(below);
    let entries = fs::read_dir(&folder).with_context(|| format!("cannot list {below}"))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() && !LEFT_OUT.contains(&name.as_str()) {
            list(root, &path, files)?;
        } else if kind.is_file() {
            files.push(path);
        }
    }
    Ok(())
}
