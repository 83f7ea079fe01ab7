//! Decisions: documents and their budget, the budget of expressions, explanations, debug output, coverage.

use base_value::Value as Stored;
use engine_rules::{
    Auth, Decision, Method, NewResource, Request, Resource, Ruleset, Service, Session, limits,
};

use crate::data::{Table, fields, request, text};

fn firestore(body: &str) -> Ruleset {
    let source = format!(
        "rules_version = '2';\nservice cloud.firestore {{ match /databases/{{database}}/documents {{\n{body}\n}} }}"
    );
    Ruleset::parse(&source).expect("the source can be read")
}

const PATH: [&str; 5] = ["databases", "(default)", "documents", "notes", "a"];

fn get(ruleset: &Ruleset, table: &Table) -> Decision {
    ruleset.decide(&request(Method::Get, &PATH), table)
}

/// A ruleset as applications write them: roles, validation, ownership.
const REAL: &str = "
function signedIn() { return request.auth != null; }
function role(room) { return get(/databases/$(database)/documents/rooms/$(room)).data.roles.get(request.auth.uid, 'none'); }
match /rooms/{room} {
  allow get: if signedIn() && role(room) in ['owner', 'reader'];
  match /messages/{message} {
    function valid() {
      let data = request.resource.data;
      let changed = data.diff(resource == null ? {} : resource.data).affectedKeys();
      return data.keys().hasOnly(['text', 'author', 'at']) && data.text is string
        && data.text.size() > 0 && data.text.size() < 100 && data.at == request.time
        && changed.hasOnly(['text', 'author', 'at']);
    }
    allow create: if signedIn() && role(room) == 'owner' && valid() && request.resource.data.author == request.auth.uid;
    allow update: if signedIn() && resource.data.author == request.auth.uid && valid() && resource.id == message;
    allow delete: if role(room) == 'owner' && existsAfter(/databases/$(database)/documents/rooms/$(room));
  }
}";

#[test]
fn a_real_ruleset_decides() {
    let ruleset = firestore(REAL);
    assert_eq!(ruleset.warnings(), []);
    let roles = fields([("me", text("owner")), ("you", text("reader"))]);
    let table = Table::with(&[("rooms/r", fields([("roles", Stored::Map(roles))]))]);
    let claims = fields([]);
    let now = crate::data::NOW;
    let message = |words: &str| {
        fields([("text", text(words)), ("author", text("me")), ("at", Stored::Timestamp(now))])
    };
    let (good, empty) = (message("hello"), message(""));
    let path = ["databases", "(default)", "documents", "rooms", "r", "messages", "m"];
    let room = ["databases", "(default)", "documents", "rooms", "r"];
    let by = |uid: &'static str| Some(Auth { uid: Some(uid), token: &claims });
    let write = |method, document| Request {
        auth: by("me"),
        new_resource: NewResource::Present(document),
        ..request(method, &path)
    };
    let update = |document| Request {
        resource: Resource::Present(&good),
        ..write(Method::Update, document)
    };
    let delete = |uid| Request {
        auth: by(uid),
        new_resource: NewResource::Null,
        ..request(Method::Delete, &path)
    };
    let table_of = [
        (Request { auth: by("you"), ..request(Method::Get, &room) }, true),
        (Request { auth: by("they"), ..request(Method::Get, &room) }, false),
        (request(Method::Get, &room), false),
        (write(Method::Create, &good), true),
        (write(Method::Create, &empty), false),
        (Request { auth: by("you"), ..write(Method::Create, &good) }, false),
        (update(&good), true),
        (update(&empty), false),
        (delete("me"), true),
        (delete("you"), false),
    ];
    for (number, (request, expected)) in table_of.into_iter().enumerate() {
        let decision = ruleset.decide(&request, &table);
        assert_eq!(decision.allowed, expected, "{number}: {decision:#?}");
    }
}

#[test]
fn documents_are_read_once_and_counted() {
    let calls = |call: &str, numbers: std::ops::Range<usize>| {
        let each = |number: usize| {
            format!(
                "{call}(/databases/$(database)/documents/d/x{number}) == {}",
                call.starts_with('x')
            )
        };
        numbers.map(each).collect::<Vec<_>>().join(" && ")
    };
    let exists = |numbers| calls("exists", numbers);
    let table = [
        (exists(0..10), true, 10),
        (exists(0..11), false, 10),
        (format!("({}) || true", exists(0..11)), true, 10),
        (format!("{} && {}", exists(0..10), exists(0..10)), true, 10),
        (
            format!("{} && get(/databases/$(database)/documents/d/x3) == null", exists(0..10)),
            true,
            10,
        ),
        (format!("true || {}", exists(0..3)), true, 0),
        (
            format!(
                "{} && existsAfter(/databases/$(database)/documents/d/x0) == false",
                exists(0..9)
            ),
            true,
            10,
        ),
        ("exists(/databases/other/documents/d/x) || true".to_owned(), true, 0),
        ("exists(/databases/$(database)/documents/d) || true".to_owned(), true, 0),
        ("exists(/databases/$(database)/documents/d/$('')) || true".to_owned(), true, 0),
    ];
    for (condition, expected, reads) in table {
        let ruleset = firestore(&format!("match /notes/{{id}} {{ allow get: if {condition}; }}"));
        let documents = Table::default();
        assert_eq!(get(&ruleset, &documents).allowed, expected, "{condition}");
        assert_eq!(documents.asked().len(), reads, "{condition}");
    }
    // Over all operations of a batch, twenty; for each, ten.
    let ruleset = firestore(
        "match /notes/{id} { allow get: if exists(/databases/$(database)/documents/d/$(id)) == false; }",
    );
    let documents = Table::default();
    let session = Session::batch(&documents);
    for number in 0..=limits::DOCUMENTS_PER_BATCH {
        let id = format!("n{number}");
        let path = ["databases", "(default)", "documents", "notes", &id];
        let decision = ruleset.decide_in(&request(Method::Get, &path), &session, None);
        assert_eq!(decision.allowed, number < limits::DOCUMENTS_PER_BATCH, "{number}");
    }
    assert_eq!(session.reads(), limits::DOCUMENTS_PER_BATCH);
}

#[test]
fn reads_show_the_state_before_and_after() {
    let mut table = Table::with(&[("d/x", fields([("n", Stored::Integer(1))]))]);
    table.after.insert("d/x".to_owned(), fields([("n", Stored::Integer(2))]).into());
    table.after.insert("d/new".to_owned(), fields([]).into());
    let ruleset = firestore(
        "match /notes/{id} { allow get: if get(/databases/$(database)/documents/d/x).data.n == 1
           && getAfter(/databases/$(database)/documents/d/x).data.n == 2
           && get(/databases/$(database)/documents/d/x).id == 'x'
           && get(/databases/$(database)/documents/d/x).__name__ == /databases/$(database)/documents/d/x
           && !exists(/databases/$(database)/documents/d/new)
           && existsAfter(/databases/$(database)/documents/d/new); }",
    );
    let decision = get(&ruleset, &table);
    assert!(decision.allowed, "{decision:#?}");
    let broken = firestore(
        "match /notes/{id} { allow get: if exists(/databases/$(database)/documents/broken/x); }",
    );
    assert_eq!(
        get(&broken, &table).message(Method::Get),
        "\nService call error. Function: [exists], Argument: [path_value {\n  segments {\n    simple: \
         \"databases\"\n  }\n  segments {\n    simple: \"(default)\"\n  }\n  segments {\n    simple: \
         \"documents\"\n  }\n  segments {\n    simple: \"broken\"\n  }\n  segments {\n    simple: \
         \"x\"\n  }\n}\n]. for 'get' @ L3"
    );
}

#[test]
fn storage_reads_firestore() {
    let source = |condition: &str| {
        format!(
            "rules_version = '2';\nservice firebase.storage {{ match /b/{{bucket}}/o/{{all=**}} {{\nallow get: if \
             {condition};\n}} }}"
        )
    };
    let table =
        Table::with(&[("u/me", fields([("ok", Stored::Boolean(true))])), ("u/b", fields([]))]);
    let cases = [
        ("firestore.get(/databases/(default)/documents/u/me).data.ok", true),
        ("firestore.exists(/databases/(default)/documents/u/none) == false", true),
        ("firestore.get(/databases/(default)/documents/u/none) == null", false),
        ("firestore.exists(/databases/other/documents/u/me)", false),
        (
            "firestore.exists(/databases/(default)/documents/u/me) && firestore.exists(/databases/(default)/documents/u/b)",
            true,
        ),
        (
            "firestore.exists(/databases/(default)/documents/u/me) && firestore.exists(/databases/(default)/documents/u/b) \
          && !firestore.exists(/databases/(default)/documents/u/c)",
            false,
        ),
        ("firestore.getAfter(/databases/(default)/documents/u/me) == null", false),
        ("get(/databases/(default)/documents/u/me) != null", false),
        ("resource.size < 10 && resource.contentType.matches('image/.*') && all == /x/y", true),
    ];
    let object = fields([("size", Stored::Integer(5)), ("contentType", text("image/png"))]);
    let path = ["b", "bucket", "o", "x", "y"];
    for (condition, expected) in cases {
        let ruleset = Ruleset::parse(&source(condition)).unwrap();
        let request = Request {
            service: Service::Storage,
            resource: Resource::Present(&object),
            ..request(Method::Get, &path)
        };
        let decision = ruleset.decide(&request, &table);
        assert_eq!(decision.allowed, expected, "{condition}: {decision:#?}");
    }
}

/// One list literal of literals costs one each; the budget is shared by the statements tried.
#[test]
fn expressions_are_counted_as_production_counts() {
    let list = |count: usize| format!("[{}].size() == {count}", vec!["1"; count].join(","));
    let table = [
        (format!("allow get: if {};", list(996)), true),
        (format!("allow get: if {};", list(997)), false),
        (format!("allow get: if {} && false; allow get: if {};", list(490), list(490)), true),
        (format!("allow get: if {} && false; allow get: if {};", list(500), list(500)), false),
        (format!("allow get: if {} || true;", list(997)), false),
    ];
    for (statements, expected) in table {
        let ruleset = firestore(&format!("match /notes/{{id}} {{ {statements} }}"));
        let decision = get(&ruleset, &Table::default());
        let head: String = statements.chars().take(60).collect();
        assert_eq!(decision.allowed, expected, "{head}");
        if !expected {
            let message = decision.message(Method::Get);
            assert!(message.contains("maximum of 1000 expressions"), "{message}");
        }
    }
}

/// A condition, and what is said to have decided: its text, what it came to, and its operands.
#[test]
fn denials_are_explained() {
    let table = [
        (
            "request.method == 'list'",
            "request.method == 'list' = false (request.method = 'get', 'list' = 'list')",
        ),
        ("true && 1 == 2 && 3 == 4", "1 == 2 = false (1 = 1, 2 = 2)"),
        ("1 == 2 || 3 == 4", "1 == 2 = false (1 = 1, 2 = 2)"),
        ("!(1 == 1)", "1 == 1 = true (1 = 1, 1 = 1)"),
        ("!(false || 2 > 1)", "2 > 1 = true (2 = 2, 1 = 1)"),
        (
            "request.auth.uid == 'me'",
            "request.auth.uid = ! Null value error. (request.auth = null)",
        ),
        ("owner('me')", "who == id = false (who = 'me', id = 'a')"),
        ("true ? 1 > 2 : true", "1 > 2 = false (1 = 1, 2 = 2)"),
        ("id in ['b', 'c']", "id in ['b', 'c'] = false (id = 'a', ['b', 'c'] = ['b', 'c'])"),
        ("id", "id = 'a' ()"),
        ("1 / 0 == 1 && true", "1 / 0 = ! Divide by zero error. (1 = 1, 0 = 0)"),
        (
            "get(/databases/$(database)/documents/no/no).data.x == 1",
            "get(/databases/$(database)/documents/no/no).data = ! Null value error. \
          (get(/databases/$(database)/documents/no/no) = null)",
        ),
    ];
    for (condition, expected) in table {
        let ruleset = firestore(&format!(
            "match /notes/{{id}} {{ function owner(who) {{ return who == id; }}\nallow get: if {condition}; }}"
        ));
        let decision = get(&ruleset, &Table::default());
        let attempt = &decision.attempts[0];
        assert_eq!(attempt.pattern, "/databases/{database}/documents/notes/{id}");
        assert_eq!(attempt.wildcards[1], ("id".to_owned(), "a".to_owned()));
        assert_eq!((attempt.match_position.line, attempt.position.line), (3, 4));
        let deciding = attempt.deciding.as_ref().unwrap();
        let shown = |outcome: &Result<String, String>| match outcome {
            Ok(value) => value.clone(),
            Err(error) => format!("! {error}"),
        };
        let operands: Vec<_> = deciding
            .operands
            .iter()
            .map(|operand| format!("{} = {}", operand.text, shown(&operand.outcome)))
            .collect();
        let found =
            format!("{} = {} ({})", deciding.text, shown(&deciding.outcome), operands.join(", "));
        assert_eq!(found, expected);
    }
    let nothing = get(&firestore("match /other/{id} { allow read; }"), &Table::default());
    assert_eq!(nothing.message(Method::Get), "No matching allow statements");
    assert_eq!(nothing.attempts, []);
}

#[test]
fn debug_output_stands_in_the_decision_once() {
    let ruleset =
        firestore("match /notes/{id} {\nallow get: if debug(id) == 'b' || debug([1, id]) == 1; }");
    let decision = get(&ruleset, &Table::default());
    let lines: Vec<_> = decision
        .debug
        .iter()
        .map(|line| (line.position.line, line.position.column, line.value.as_str()))
        .collect();
    assert_eq!(lines, [(4, 15, "'a'"), (4, 35, "[1, 'a']")]);
}

#[test]
fn coverage_counts_what_expressions_came_to() {
    let ruleset = firestore("match /notes/{id} { allow get: if id == 'a' && id.foo(); }");
    let coverage = ruleset.coverage();
    let table = Table::default();
    for id in ["a", "a", "b"] {
        let path = ["databases", "(default)", "documents", "notes", id];
        let session = Session::single(&table);
        ruleset.decide_in(&request(Method::Get, &path), &session, Some(&coverage));
    }
    let count = |text: &str| {
        let found = ruleset.expressions().find(|expression| {
            let start = expression.start.offset as usize;
            ruleset.source().get(start..expression.end.offset as usize) == Some(text)
        });
        let counts = coverage.counts(found.unwrap().id);
        (counts.truths, counts.falsehoods, counts.others, counts.errors)
    };
    assert_eq!(count("id == 'a'"), (2, 1, 0, 0));
    assert_eq!(count("id.foo()"), (0, 0, 0, 2));
    assert_eq!(count("id == 'a' && id.foo()"), (0, 1, 0, 2));
    assert_eq!(count("'a'"), (0, 0, 3, 0));
}
