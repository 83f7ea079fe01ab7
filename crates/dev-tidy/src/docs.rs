//! Rules for the documentation: what a page points to is there.

use crate::{Finding, Tree};

pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for page in tree.ending(".md") {
        let text = tree.text(page)?;
        for (number, line) in text.lines().enumerate() {
            let dead = links(line).into_iter().chain(code_pointers(line));
            for target in dead.filter(|target| !exists(tree, page, target)) {
                findings.push(Finding::new(
                    format!("{page}:{}", number + 1),
                    format!("`{target}` is not there: correct the pointer"),
                ));
            }
        }
    }
    Ok(findings)
}

/// The targets of Markdown links that lie in this repository.
fn links(line: &str) -> Vec<String> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let local = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    local.filter_map(|target| target.split('#').next()).map(str::to_owned).collect()
}

/// The paths of our own sources that a line names in backticks.
fn code_pointers(line: &str) -> Vec<String> {
    let quoted = line.split('`').skip(1).step_by(2);
    let ours = quoted.filter(|text| {
        ["crates/", "docs/", "npm/", "__test__/", "examples/"]
            .iter()
            .any(|root| text.starts_with(root))
    });
    // Patterns and lists of names are descriptions, not pointers.
    let plain = ours.filter(|text| !text.contains(['*', '<', '{', ' ', '\u{2026}']));
    plain.map(|text| format!("/{text}")).collect()
}

fn exists(tree: &Tree, page: &str, target: &str) -> bool {
    if target.is_empty() {
        return true;
    }
    if let Some(path) = target.strip_prefix('/') {
        return tree.has(path);
    }
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = if folder.is_empty() { target.to_owned() } else { format!("{folder}/{target}") };
    tree.has(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_pointers_are_found() {
        assert_eq!(links("see [a](b.md#c) and [d](https://e.f) and [g](#h)"), ["b.md"]);
        assert_eq!(code_pointers("`crates/x` and `crates/*/src` and `y`"), ["/crates/x"]);
    }
}
