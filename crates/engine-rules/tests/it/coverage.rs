//! What reports of coverage are laid out by, as the official emulator lays them out, and counts of statements.

use engine_rules::{Method, Node, Ruleset, Session};

use crate::data::{Table, request};

fn firestore(body: &str) -> Ruleset {
    let source = format!(
        "rules_version = '2';\nservice cloud.firestore {{ match /databases/{{database}}/documents {{\n{body}\n}} }}"
    );
    Ruleset::parse(&source).expect("the source can be read")
}

/// Each node as what of the source it shows, parts in brackets behind it.
fn shown(ruleset: &Ruleset, node: &Node) -> String {
    let source: Vec<char> = ruleset.source().chars().collect();
    let range = node.start.offset as usize..=node.last.offset as usize;
    let mut text: String = source.get(range).unwrap_or_default().iter().collect();
    if !node.children.is_empty() {
        let children: Vec<_> = node.children.iter().map(|child| shown(ruleset, child)).collect();
        text.push_str(&format!(" [{}]", children.join(" | ")));
    }
    text
}

/// Recorded from the official emulator.
#[test]
fn expressions_are_laid_out_as_the_official_emulator_does() {
    let table = [
        ("true", ""),
        ("id == 'a'", "id == 'a' [id]"),
        ("((id)) == 'zz'", "((id)) == 'zz' [((id]"),
        ("[] == []", "[] == [ [[ | []"),
        ("-1 < 0", "-1 < 0 [-1]"),
        ("b'abc' == b'd'", "b'abc' == b'd'"),
        ("/a/b != path('/a/b')", "/a/b != path('/a/b' [/a/b | path('/a/b']"),
        ("(id).size() == 1", "(id).size() == 1 [(id).size [id]]"),
        (
            "(request.auth).uid == (id)",
            "(request.auth).uid == (id [(request.auth).uid [request.auth [request]] | (id]",
        ),
        ("-(id.size()) > 1", "-(id.size()) > 1 [-(id.size [id.size [id]]]"),
        ("id[0:1] == 'a'", "id[0:1] == 'a' [id[0:1 [id]]"),
        ("[1,2][0] == 1", "[1,2][0] == 1 [[1,2][0 [[1,2]]"),
        ("!{'a': 1 } . a", "!{'a': 1 } . a [{'a': 1 } . a [{'a': 1]]"),
        (
            "id is string && !(id == '')",
            "id is string && !(id == '' [id is string [id] | !(id == '' [(id == '' [id]]]",
        ),
        ("math.abs( ) == 1", "math.abs( ) == 1 [math.abs]"),
        (
            "exists(/u/$(request.auth.uid))",
            "exists(/u/$(request.auth.uid [/u/$(request.auth.uid [request.auth.uid [request.auth [request]]]]",
        ),
        (
            "request.auth != null ? id == 'x' : false",
            "request.auth != null ? id == 'x' : false [request.auth != null [request.auth [request]] | id == 'x' [id]]",
        ),
    ];
    for (condition, expected) in table {
        let ruleset = firestore(&format!("match /a/{{id}} {{ allow read: if {condition}; }}"));
        let statements = ruleset.statements();
        let condition = statements.first().and_then(|statement| statement.condition.as_ref());
        let found = condition.map(|node| shown(&ruleset, node)).unwrap_or_default();
        assert_eq!(found, expected);
    }
}

/// Recorded from the official emulator.
#[test]
fn variables_of_functions_lead_to_what_follows() {
    let ruleset = firestore(
        "match /a/{id} { allow read: if f(1, id); }
         function f(x, y) { let z = x + 1; let w = y.size() > 2; return z > 2 && (w || 'a' in ['a', y]); }",
    );
    let rest = "z > 2 && (w || 'a' in ['a', y";
    let second = format!("let w = y.size() > 2; return {rest}");
    let expected = format!(
        "let z = x + 1; {second} [x + 1 [x] | {second} [y.size() > 2 [y.size [y]] | {rest} [z > 2 [z] | \
         (w || 'a' in ['a', y [w | 'a' in ['a', y [['a', y [y]]]]]]"
    );
    let functions = ruleset.functions();
    let root = functions.first().and_then(|function| function.root.as_ref());
    assert_eq!(root.map(|root| shown(&ruleset, root)), Some(expected));
    assert_eq!(functions.first().map(|function| function.name.as_str()), Some("f"));
}

#[test]
fn statements_are_counted() {
    let ruleset = firestore(
        "match /notes/{id} { allow get: if id.foo(); allow get: if id == 'a'; allow read, delete; }",
    );
    let coverage = ruleset.coverage();
    let table = Table::default();
    for (method, id) in [(Method::Get, "a"), (Method::Get, "b"), (Method::List, "b")] {
        let path = ["databases", "(default)", "documents", "notes", id];
        let session = Session::single(&table);
        ruleset.permits(&request(method, &path), &session, Some(&coverage));
    }
    let found: Vec<_> = ruleset
        .statements()
        .iter()
        .enumerate()
        .map(|(number, statement)| {
            let tries = coverage.tries(number);
            let methods: Vec<_> = statement.methods.iter().map(|method| method.name()).collect();
            (methods.join(" "), tries.granted, tries.refused, tries.failed)
        })
        .collect();
    let expected = [("get", 0, 0, 2), ("get", 1, 1, 0), ("get list delete", 2, 0, 0)];
    assert_eq!(found, expected.map(|(methods, a, b, c)| (methods.to_owned(), a, b, c)));

    // Two of the same ruleset are added up.
    let total = ruleset.coverage();
    total.absorb(&coverage);
    total.absorb(&coverage);
    assert_eq!(total.tries(1).total(), 4);
    let body = ruleset.statements().get(1).and_then(|one| one.condition.clone()).unwrap();
    assert_eq!(total.counts(body.expression).total(), 4);
}
