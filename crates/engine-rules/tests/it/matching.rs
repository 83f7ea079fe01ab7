//! Which allow statements a request meets: versions, wildcards, overlaps, order.

use engine_rules::{Method, Outcome, Request, Ruleset, Service};

use crate::data::{Table, request};

/// A ruleset, and for each method and path the answer with what was tried: the line of each allow statement
/// and what it came to.
struct Case {
    source: &'static str,
    asked: &'static [(Method, &'static str, &'static str)],
}

const CASES: &[Case] = &[
    Case {
        source: "service cloud.firestore { match /databases/{database}/documents {
match /one/{id} { allow read; }
match /two/{rest=**} { allow get: if rest == /a; allow get: if rest[1] == 'b'; }
match /three/{id}/{rest=**} { allow read; }
match /four/{id} { allow read; match /five/{other} { allow write: if id == 'x' && other == 'y'; } }
} }",
        asked: &[
            (Method::Get, "one/a", "allow 2:granted"),
            (Method::List, "one/a", "allow 2:granted"),
            (Method::Create, "one/a", "deny"),
            (Method::Get, "one/a/b/c", "deny"),
            (Method::Get, "two/a", "allow 3:granted"),
            (Method::Get, "two/x/b/c", "allow 3:false 3:granted"),
            (Method::Get, "two/x", "deny 3:false 3:failed"),
            (Method::Get, "three/a", "deny"),
            (Method::Get, "three/a/b/c", "allow 4:granted"),
            (Method::Get, "four/x/five/y", "deny"),
            (Method::Update, "four/x/five/y", "allow 5:granted"),
            (Method::Delete, "four/x/five/z", "deny 5:false"),
        ],
    },
    Case {
        source: "rules_version = '2';
service cloud.firestore { match /databases/{database}/documents {
match /one/{rest=**} { allow get: if rest == /a/b/c; allow list: if string(rest) == ''; }
match /{path=**}/songs/{song} { allow read: if song == 's'; }
match /three/{id}/{rest=**} { allow read; }
match /{all=**} { allow delete; }
match /three/{id} { allow read: if false; }
} }",
        asked: &[
            (Method::Get, "one/a/b/c", "allow 3:granted"),
            (Method::List, "one", "allow 3:granted"),
            (Method::Get, "songs/s", "allow 4:granted"),
            (Method::Get, "a/b/songs/s", "allow 4:granted"),
            (Method::Get, "a/b/songs/t", "deny 4:false"),
            (Method::Get, "a/b/songs/s/d/e", "deny"),
            (Method::Get, "three/a", "allow 5:granted"),
            (Method::Delete, "x/y", "allow 6:granted"),
        ],
    },
    Case {
        // The functions of the innermost block win; wildcards of blocks around are seen.
        source: "rules_version = '2';
function f() { return 'global'; }
service cloud.firestore {
function g() { return f(); }
match /databases/{database}/documents {
function f() { return database; }
match /a/{id} { function f() { return id; } allow get: if f() == 'x'; allow list: if g() == 'global'; }
match /b/{id} { allow get: if f() == '(default)'; allow create: if id == 'b' || true; }
match /c/{id} { allow get: if id == 'c'; match /d/{id} { allow get: if id == 'd'; } }
} }",
        asked: &[
            (Method::Get, "a/x", "allow 7:granted"),
            (Method::Get, "a/y", "deny 7:false"),
            (Method::List, "a/y", "allow 7:granted"),
            (Method::Get, "b/y", "allow 8:granted"),
            (Method::Get, "c/x/d/d", "allow 9:granted"),
            (Method::Get, "c/c", "allow 9:granted"),
        ],
    },
    Case {
        // An error is no grant, and the next statement is still tried.
        source: "rules_version = '2';
service cloud.firestore { match /databases/{d}/documents { match /a/{id} {
allow get: if null.x;
allow get: if 1;
allow get: if id;
allow get: if missing == null;
allow get, list: if true;
allow read: if true;
} } }",
        asked: &[
            (Method::Get, "a/x", "allow 3:failed 4:failed 5:failed 6:failed 7:granted"),
            (Method::List, "a/x", "allow 7:granted"),
        ],
    },
    Case {
        // A service without rules here, and an odd path that no document has.
        source: "rules_version = '2';
service firebase.storage { match /b/{bucket}/o { match /{all=**} { allow read; } } }
service cloud.firestore { match /databases/{d}/documents { match /a { allow list; } } }",
        asked: &[(Method::Get, "a/x", "deny"), (Method::List, "a", "allow 3:granted")],
    },
];

#[test]
fn every_request_meets_its_statements() {
    for case in CASES {
        let ruleset = Ruleset::parse(case.source).unwrap();
        for (method, path, expected) in case.asked {
            let mut whole = vec!["databases", "(default)", "documents"];
            whole.extend(path.split('/'));
            assert_eq!(tried(&ruleset, &request(*method, &whole)), *expected, "{method:?} {path}");
        }
    }
}

fn tried(ruleset: &Ruleset, request: &Request<'_>) -> String {
    let decision = ruleset.decide(request, &Table::default());
    let mut text = if decision.allowed { "allow" } else { "deny" }.to_owned();
    for attempt in &decision.attempts {
        let outcome = match attempt.outcome {
            Outcome::Granted => "granted",
            Outcome::False => "false",
            Outcome::Failed { .. } => "failed",
        };
        text.push_str(&format!(" {}:{outcome}", attempt.position.line));
    }
    text
}

#[test]
fn storage_lists_for_version_two_alone() {
    for (version, expected) in [("1", "deny"), ("2", "allow 2:granted")] {
        let source = format!(
            "rules_version = '{version}';\nservice firebase.storage {{ match /b/{{bucket}}/o/{{all=**}} {{ \
             allow read; }} }}"
        );
        let ruleset = Ruleset::parse(&source).unwrap();
        let path = ["b", "bucket", "o", "folder"];
        let list = Request { service: Service::Storage, ..request(Method::List, &path) };
        assert_eq!(tried(&ruleset, &list), expected);
        let get = Request { service: Service::Storage, ..request(Method::Get, &path) };
        assert_eq!(tried(&ruleset, &get), "allow 2:granted");
    }
}
