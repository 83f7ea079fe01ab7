//! Which crate may use which: the table of docs/ARCHITECTURE.md, checked against the manifests.

use crate::{Finding, Tree};

/// What the crates whose name starts with the prefix may depend on, by prefix or whole name.
///
/// The first row that fits a crate counts.
const MAY_USE: [(&str, &[&str]); 13] = [
    ("base-", &["base-"]),
    ("engine-export", &["base-env", "base-status", "base-value"]),
    ("engine-rules", &["base-env", "base-status", "base-value"]),
    ("engine-store", &["base-env", "base-status", "base-value"]),
    ("engine-txn", &["base-env", "base-status", "base-value", "engine-store"]),
    ("engine-watch", &["base-env", "base-status", "base-value", "engine-store", "engine-txn"]),
    ("engine-query", &["base-env", "base-status", "base-value", "engine-store"]),
    ("engine-pipeline", &["base-env", "base-status", "base-value", "engine-query", "engine-store"]),
    ("front", &["base-env", "base-status", "base-token"]),
    ("svc-kit", &["base-", "engine-", "front"]),
    ("svc-", &["base-", "engine-", "front", "svc-kit"]),
    ("host-suite", &["base-", "engine-", "front", "svc-"]),
    ("host-node", &["host-suite", "base-status"]),
];

/// The prefixes of our own crates.
const OURS: [&str; 6] = ["base-", "engine-", "front", "svc-", "host-", "dev-"];

pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let reasons = tree.text("docs/contributing/dependencies.md")?;
    for manifest in tree.ending("Cargo.toml").filter(|path| path.starts_with("crates/")) {
        let name = manifest.trim_start_matches("crates/").trim_end_matches("/Cargo.toml");
        let text = tree.text(manifest)?;
        for (table, dependency) in dependencies(&text) {
            if OURS.iter().any(|prefix| dependency.starts_with(prefix)) {
                // Tests may use what they need, other than a shipped crate's own dependencies.
                if table == "dependencies" && !may_use(name, &dependency) {
                    findings.push(Finding::new(
                        manifest,
                        format!("{name} may not use {dependency}: see docs/ARCHITECTURE.md"),
                    ));
                }
            } else if !reasons.contains(&format!("`{dependency}`")) {
                findings.push(Finding::new(
                    manifest,
                    format!("say why {dependency} is used, in docs/contributing/dependencies.md"),
                ));
            }
        }
    }
    Ok(findings)
}

fn may_use(name: &str, dependency: &str) -> bool {
    if name.starts_with("dev-") {
        return true;
    }
    let row = MAY_USE.iter().find(|(prefix, _)| name.starts_with(prefix));
    row.is_some_and(|(_, allowed)| allowed.iter().any(|prefix| dependency.starts_with(prefix)))
}

/// The dependencies a manifest names, each with the table it stands in.
fn dependencies(manifest: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut table = String::new();
    for line in manifest.lines() {
        if let Some(header) = line.trim().strip_prefix('[') {
            table = header.trim_end_matches(']').to_owned();
            let (parent, name) = table.rsplit_once('.').unwrap_or((&table, ""));
            if parent.ends_with("dependencies") && !name.is_empty() {
                found.push((parent.to_owned(), name.to_owned()));
            }
        } else if table.ends_with("dependencies")
            && let Some((key, _)) = line.split_once('=')
            && let Some(name) = key.trim().split('.').next()
            && !name.is_empty()
            && !name.starts_with('#')
        {
            found.push((table.clone(), name.to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_follow_the_layers() {
        let table = [
            ("base-value", "base-env", true),
            ("base-value", "engine-store", false),
            ("engine-query", "engine-store", true),
            ("engine-query", "base-wire", false),
            ("engine-pipeline", "engine-query", true),
            ("engine-query", "engine-pipeline", false),
            ("engine-pipeline", "base-wire", false),
            ("engine-rules", "engine-store", false),
            ("engine-export", "base-value", true),
            ("engine-export", "engine-store", false),
            ("engine-store", "engine-txn", false),
            ("front", "svc-kit", false),
            ("front", "engine-txn", false),
            ("svc-auth", "svc-kit", true),
            ("svc-auth", "svc-firestore", false),
            ("host-suite", "svc-firestore", true),
            ("host-node", "svc-firestore", false),
            ("dev-bench", "engine-store", true),
            ("base-value", "dev-bench", false),
            ("host-suite", "dev-bench", false),
        ];
        for (name, dependency, allowed) in table {
            assert_eq!(may_use(name, dependency), allowed, "{name} -> {dependency}");
        }
    }

    #[test]
    fn dependencies_of_every_form_are_seen() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\na.workspace = true\nb = \"1\"\n\
                        # c = \"1\"\n[dev-dependencies.d]\npath = \"d\"\n\
                        [target.'cfg(unix)'.dependencies]\ne = { version = \"1\" }\n";
        let names: Vec<_> = dependencies(manifest).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["a", "b", "d", "e"]);
    }
}
