//! Rules for source files: they say what they own, stay short, leave nothing open and name no machine.

use crate::{Finding, Tree};

/// Lines of a source file without its tests. Longer is two things in one file.
const LINES_MAX: usize = 800;

/// What a source file may not hold, and what to do instead. Split so that this file passes its own rule.
const BANNED: [(&str, &str, &str); 6] = [
    ("#[ig", "nore", "assert today's behaviour and list it in docs/reference/differences.md"),
    ("to", "do!(", "finish it, or answer UNIMPLEMENTED and list it"),
    ("unimple", "mented!(", "answer UNIMPLEMENTED and list it in docs/reference/differences.md"),
    ("FIX", "ME", "fix it, or file an issue"),
    ("TO", "DO", "write `TODO(#issue)`, or do it"),
    ("/ho", "me/", "name no machine"),
];

/// What a test in JavaScript may not hold.
const BANNED_IN_TESTS: [&str; 8] = [
    "it.skip(",
    "it.only(",
    "it.todo(",
    "test.skip(",
    "test.only(",
    "test.todo(",
    "describe.skip(",
    "describe.only(",
];

/// The files every service crate has, so that who knows one knows all.
const SERVICE_SKELETON: [&str; 6] =
    ["src/lib.rs", "src/config.rs", "src/state.rs", "src/error.rs", "src/api", "src/ops"];

/// Crates that call what has no safe way: Node, and the C library's allocator.
const MAY_BE_UNSAFE: [&str; 2] = ["host-node", "base-env"];

/// Service crates without a product of their own, which the skeleton does not fit.
const NOT_PRODUCTS: [&str; 2] = ["svc-kit", "svc-hub"];

pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for path in tree.ending(".rs") {
        check_rust(path, &tree.text(path)?, &mut findings);
    }
    for path in tree.ending(".toml") {
        check_ascii(path, &tree.text(path)?, &mut findings);
    }
    for suffix in [".js", ".mjs", ".ts", ".py"] {
        for path in tree.ending(suffix).filter(|path| !path.starts_with("npm/binding/")) {
            check_script(path, &tree.text(path)?, &mut findings);
        }
    }
    check_skeletons(tree, &mut findings);
    Ok(findings)
}

fn check_rust(path: &str, text: &str, findings: &mut Vec<Finding>) {
    let is_manifest_script = path.ends_with("/build.rs");
    if !text.starts_with("//!") && !is_manifest_script {
        findings.push(Finding::new(path, "open the file with `//!` saying what it owns"));
    }
    if path.ends_with("src/lib.rs")
        && !MAY_BE_UNSAFE.iter().any(|name| path.contains(name))
        && !text.contains("#![forbid(unsafe_code)]")
    {
        findings.push(Finding::new(path, "add #![forbid(unsafe_code)]"));
    }
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    check_length(path, code, findings);
    check_ascii(path, text, findings);
    check_banned(path, text, findings);
}

fn check_script(path: &str, text: &str, findings: &mut Vec<Finding>) {
    check_length(path, text, findings);
    check_banned(path, text, findings);
    for (number, line) in text.lines().enumerate() {
        if BANNED_IN_TESTS.iter().any(|banned| line.contains(banned)) {
            findings.push(Finding::new(
                format!("{path}:{}", number + 1),
                "a test runs whole: no skipped, single or planned tests",
            ));
        }
    }
}

fn check_length(path: &str, code: &str, findings: &mut Vec<Finding>) {
    let lines = code.lines().count();
    if lines > LINES_MAX && !path.contains("/tests/") && !path.starts_with("__test__/") {
        findings.push(Finding::new(path, format!("{lines} lines: split it (at most {LINES_MAX})")));
    }
}

fn check_ascii(path: &str, text: &str, findings: &mut Vec<Finding>) {
    for (number, line) in text.lines().enumerate() {
        if !line.is_ascii() {
            findings.push(Finding::new(
                format!("{path}:{}", number + 1),
                "ASCII only: write other characters as escapes",
            ));
        }
    }
}

fn check_banned(path: &str, text: &str, findings: &mut Vec<Finding>) {
    for (number, line) in text.lines().enumerate() {
        for (head, tail, advice) in BANNED {
            let banned = format!("{head}{tail}");
            if line.contains(&banned) && !line.contains("TODO(#") {
                findings.push(Finding::new(
                    format!("{path}:{}", number + 1),
                    format!("`{banned}`: {advice}"),
                ));
            }
        }
    }
}

fn check_skeletons(tree: &Tree, findings: &mut Vec<Finding>) {
    for manifest in tree.ending("Cargo.toml") {
        let Some(name) =
            manifest.strip_prefix("crates/").and_then(|p| p.strip_suffix("/Cargo.toml"))
        else {
            continue;
        };
        if !name.starts_with("svc-") || NOT_PRODUCTS.contains(&name) {
            continue;
        }
        for file in SERVICE_SKELETON {
            if !tree.has(&format!("crates/{name}/{file}")) {
                findings.push(Finding::new(
                    format!("crates/{name}"),
                    format!("{file} is missing: every service has the same files"),
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        let mut findings = Vec::new();
        check_rust(path, text, &mut findings);
        findings.into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_good_file_passes() {
        let text = "//! Owns a thing.\n#![forbid(unsafe_code)]\n";
        assert_eq!(messages("crates/x/src/lib.rs", text), Vec::<String>::new());
    }

    #[test]
    fn each_rule_is_found() {
        assert_eq!(messages("crates/x/src/a.rs", "fn a() {}\n").len(), 1);
        assert_eq!(messages("crates/x/src/lib.rs", "//! Owns.\n").len(), 1);
        let long = format!("//! Owns.\n{}", "fn a() {}\n".repeat(LINES_MAX));
        assert_eq!(messages("crates/x/src/a.rs", &long).len(), 1);
        assert_eq!(messages("crates/x/src/a.rs", "//! Owns \u{e9}.\n").len(), 1);
        let open = format!("//! Owns.\nfn a() {{ {}{}) }}\n", "to", "do!(");
        assert_eq!(messages("crates/x/src/a.rs", &open).len(), 1);
    }

    #[test]
    fn tests_do_not_count_as_length() {
        let tests = "fn a() {}\n".repeat(LINES_MAX + 1);
        let text = format!("//! Owns.\n#[cfg(test)]\nmod tests {{\n{tests}}}\n");
        assert_eq!(messages("crates/x/src/a.rs", &text), Vec::<String>::new());
    }
}
