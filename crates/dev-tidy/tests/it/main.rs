//! The repository keeps its own rules.

use dev_tidy::{Tree, check};

#[test]
fn the_repository_keeps_its_rules() {
    let tree = Tree::of_this_repository().unwrap();
    assert!(tree.ending(".rs").count() > 50, "the tree was found");
    let findings = check(&tree).unwrap();
    let lines: Vec<_> = findings.iter().map(|f| format!("{}: {}", f.place, f.message)).collect();
    assert!(lines.is_empty(), "{} broken rules:\n{}", lines.len(), lines.join("\n"));
}
