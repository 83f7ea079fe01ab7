//! Every block of `sources.txt`: a source, and what is wrong with it, each with line, column and severity.
//!
//! The blocks were recorded from the official emulator. A line `ours` says that the findings are those of this
//! crate: the official emulator's recovery after an error, or its inference of types, goes another way.

use engine_rules::{Diagnostic, Ruleset, Severity, limits};

const BLOCKS: &str = include_str!("sources.txt");

fn written(found: &[Diagnostic]) -> Vec<String> {
    let line = |found: &Diagnostic| {
        let severity = match found.severity {
            Severity::Error => "ERROR",
            Severity::Warning => "WARNING",
        };
        format!("{}:{} {severity} {}", found.position.line, found.position.column, found.text)
    };
    found.iter().map(line).collect()
}

fn diagnostics(source: &str) -> Vec<String> {
    match Ruleset::parse(source) {
        Ok(ruleset) => written(ruleset.warnings()),
        Err(errors) => written(&errors.diagnostics),
    }
}

#[test]
fn every_block_holds() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for block in BLOCKS.trim_end().split("\n---\n") {
        let (source, expected) = block.split_once("\n=>").unwrap();
        let expected: Vec<_> = expected.trim().lines().filter(|line| *line != "ours").collect();
        let found = diagnostics(source);
        count += 1;
        if found != expected {
            wrong.push(format!(
                "{source}\n  expected {}\n  found    {}",
                expected.join("\n           "),
                found.join("\n           ")
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} blocks:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 90, "{count} blocks");
}

fn allow(condition: &str) -> String {
    format!(
        "rules_version='2';\nservice cloud.firestore {{\nmatch /a/{{b}} {{ allow read: if {condition}; }} }}"
    )
}

/// Nesting, and every other bound, at the last value that is taken and the first that is not.
#[test]
fn bounds_are_where_production_has_them() {
    let chain = |count: usize| {
        let mut source = String::from("rules_version='2';\nservice cloud.firestore {\n");
        for number in 1..count {
            source.push_str(&format!("function f{number}() {{ return f{}(); }}\n", number + 1));
        }
        source.push_str(&format!("function f{count}() {{ return true; }}\n"));
        source + "match /a/{b} { allow read: if f1(); } }"
    };
    let lets = |count: usize| {
        let lets: String = (0..count).map(|number| format!("let a{number} = 1; ")).collect();
        let used: Vec<_> = (0..count).map(|number| format!("a{number}")).collect();
        format!(
            "rules_version='2';\nservice cloud.firestore {{ function f() {{ {lets}return {} > 0; }} \
             match /a/{{b}} {{ allow read: if f(); }} }}",
            used.join(" + ")
        )
    };
    let size = |bytes: usize| {
        let source = allow("true");
        let comment = " ".repeat(bytes - source.len());
        source + &comment
    };
    let joined = |part: &str, by: &str, count: usize| vec![part; count].join(by);
    let parens = |count: usize| format!("{}true{}", "(".repeat(count), ")".repeat(count));
    let table: Vec<(String, String)> = vec![
        (allow(&joined("true", " && ", 99)), allow(&joined("true", " && ", 100))),
        (allow(&joined("1 == 1", " && ", 98)), allow(&joined("1 == 1", " && ", 99))),
        (allow(&parens(98)), allow(&parens(99))),
        (allow(&format!("{}true", "!".repeat(98))), allow(&format!("{}true", "!".repeat(99)))),
        (
            allow(&format!("{} == 98", joined("1", " + ", 98))),
            allow(&format!("{} == 99", joined("1", " + ", 99))),
        ),
        (chain(21), chain(22)),
        (lets(10), lets(11)),
        (size(limits::SOURCE_MAX_BYTES), size(limits::SOURCE_MAX_BYTES + 1)),
    ];
    for (taken, refused) in table {
        let head = |source: &str| source.chars().take(160).collect::<String>();
        assert_eq!(diagnostics(&taken), Vec::<String>::new(), "{}", head(&taken));
        let found = diagnostics(&refused);
        assert!(found.iter().any(|line| line.contains(" ERROR ")), "{}", head(&refused));
    }
    let deep = [
        "(".repeat(100_000),
        "!".repeat(100_000),
        "[".repeat(100_000),
        "a[".repeat(100_000),
        "f(".repeat(100_000),
        "true ? ".repeat(30_000),
        joined("true", "&&", 40_000),
        joined("a", ".", 100_000),
        format!("/a{}", "/$(".repeat(50_000)),
        format!("{}1", "- ".repeat(100_000)),
    ];
    for condition in deep {
        let found = diagnostics(&allow(&condition));
        let is_too_complex = found.iter().any(|line| line.contains("too complex"));
        assert!(is_too_complex, "{found:?}");
    }
    let blocks = format!(
        "service cloud.firestore {{ {}allow read; {}",
        "match /a/{b} { ".repeat(10_000),
        "} ".repeat(10_001)
    );
    assert!(diagnostics(&blocks)[0].contains("too complex"));
}

#[test]
fn the_error_reads_as_the_product_writes_it() {
    let error = Ruleset::parse("service cloud.firestore { match /a/{b} { allow read: if ; } }")
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "Error compiling rules:\nL1:57 Missing conditional expression after 'if'."
    );
}
