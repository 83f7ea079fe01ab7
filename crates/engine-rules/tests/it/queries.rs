//! Queries: what their filters prove, which match blocks cover them, and what a denial of one says.
//!
//! What the official emulator says to some three hundred queries is held by the cases of dev-conformance; here
//! is what no request can show, and a table of the kinds.

use base_value::Value as Stored;
use engine_rules::{
    Auth, Branch, Comparison, Decision, FieldConstraint, Method, Part, Query, Ruleset, Session,
    Value,
};

use crate::data::{NOW, Table, fields, text};

/// What a row's filter says of one field.
struct Said {
    field: Vec<String>,
    comparison: Comparison,
    value: Stored,
}

/// Reads `n > 5`, `owner == me`, `tags has me`: numbers are integers or doubles, `null` is null.
fn said(row: &str) -> Said {
    let mut words = row.split(' ');
    let mut word = || words.next().expect("a filter has three words");
    let (field, comparison, value) = (word(), word(), word());
    let comparison = match comparison {
        "==" => Comparison::Equal,
        "!=" => Comparison::NotEqual,
        "<" => Comparison::Less,
        "<=" => Comparison::LessOrEqual,
        ">" => Comparison::Greater,
        ">=" => Comparison::GreaterOrEqual,
        _ => Comparison::Contains,
    };
    let value = match (value.parse(), value.parse()) {
        (Ok(integer), _) => Stored::Integer(integer),
        (_, Ok(double)) => Stored::Double(double),
        _ if value == "null" => Stored::Null,
        _ => text(value),
    };
    Said { field: field.split('.').map(str::to_owned).collect(), comparison, value }
}

/// Decides a query over the collection `docs` by a rule body, with alternatives such as `n > 5 & a == 1`; an
/// alternative that is `@a` names the document `a`.
fn decide(ruleset: &Ruleset, domain: &[Part<'_>], alternatives: &[&str]) -> Decision {
    let read: Vec<(Option<&str>, Vec<Said>)> = alternatives
        .iter()
        .map(|alternative| match alternative.strip_prefix('@') {
            Some(name) => (Some(name), Vec::new()),
            None => {
                let parts = alternative.split(" & ").filter(|part| !part.is_empty());
                (None, parts.map(said).collect())
            }
        })
        .collect();
    let branches: Vec<Branch<'_>> = read
        .iter()
        .map(|(name, fields)| Branch {
            name: name.map(|name| vec!["databases", "(default)", "documents", "docs", name]),
            fields: fields
                .iter()
                .map(|said| FieldConstraint {
                    field: &said.field,
                    comparison: said.comparison,
                    value: &said.value,
                })
                .collect(),
        })
        .collect();
    let claims = fields([]);
    let query = Query {
        domain,
        path: &["databases", "(default)", "documents", "docs"],
        is_group: domain.contains(&Part::Many),
        branches: &branches,
        auth: Some(Auth { uid: Some("me"), token: &claims }),
        time: NOW,
        members: &[("marked", Value::Bool(true))],
    };
    let table = Table::default();
    let session = Session::single(&table);
    let decision = ruleset.decide_query(&query, &session, None);
    let verdict = ruleset.permits_query(&query, &session, None);
    assert_eq!(decision.allowed, verdict.allowed, "{alternatives:?}");
    decision
}

const DOCS: [Part<'static>; 5] = [
    Part::Name("databases"),
    Part::Name("(default)"),
    Part::Name("documents"),
    Part::Name("docs"),
    Part::One,
];

fn ruleset(version: u8, body: &str) -> Ruleset {
    let source = format!(
        "rules_version = '{version}';\nservice cloud.firestore {{ match /databases/{{database}}/documents \
         {{\n{body}\n}} }}"
    );
    Ruleset::parse(&source).expect("the source can be read")
}

#[test]
fn filters_prove_conditions() {
    let table: &[(&str, &[&str], bool)] = &[
        ("D.n > 4", &["n > 4"], true),
        ("D.n > 4", &["n >= 4"], false),
        ("D.n > 4", &["n >= 5"], true),
        ("D.n > 4", &["n == 5"], true),
        ("D.n > 4", &["n > 4.5"], false),
        ("D.n > 4", &["n > 5", "n == 9"], true),
        ("D.n > 4", &["n > 5", "n < 1"], false),
        ("4 < D.n", &["n > 4"], true),
        ("D.n <= 4", &["n < 4"], true),
        ("D.n < 4", &["n <= 4"], false),
        ("D.n != 4", &["n > 4"], true),
        ("D.n != 4", &["n >= 4"], false),
        ("D.n != null", &["n < 4"], true),
        ("D.n != null", &["n != 4"], true),
        ("D.n != 4", &["n != null"], false),
        ("D.n > 4.5", &["n > 5"], true),
        ("D.n == 5", &["n >= 5 & n <= 5"], false),
        ("D.owner == 'me'", &["owner == me & owner == you"], true),
        ("D.m.k == 'v'", &["m.k == v"], true),
        ("request.auth.uid in D.tags", &["tags has me"], true),
        ("request.auth.uid in D.tags", &["tags has you"], false),
        ("D.tags.hasAny(['x', 'me'])", &["tags has me"], true),
        ("D.tags.hasAny(['x'])", &["tags has me"], false),
        ("request.marked", &[""], true),
        // What is open is never false, however it is asked: no grant comes of it.
        ("!(D.n < 5)", &["n >= 5"], false),
        ("!(D.n == 4)", &["n > 5"], false),
        ("!(D.n in [4])", &["n > 5"], false),
        ("!('me' in D.tags)", &["tags has you"], false),
        ("[D.n] != [4]", &["n > 5"], false),
        ("{'a': D.n} != {'a': 4}", &["n > 5"], false),
        ("D != {'n': 4}", &["n > 5"], false),
        ("D.m != {'k': 4}", &["m.k > 5"], false),
        ("!(4 in D.values())", &["n > 5"], false),
        ("!D.diff({'n': 4}).affectedKeys().hasAny(['n'])", &["n > 5"], false),
        ("D.n == 4 ? false : true", &["n > 5"], false),
        ("!(D.n == D.o)", &["n > 5 & o > 5"], false),
        ("!(id == 'a')", &[""], false),
        ("id == 'a'", &["@a"], true),
        ("id == 'a'", &["@a", "@b"], false),
        ("resource.id == 'a' && resource.__name__[3] == 'docs'", &["@a"], true),
        ("true || D.n == 1", &["n > 5"], true),
        ("true", &[], false),
    ];
    for (condition, alternatives, expected) in table {
        let condition = condition.replace('D', "resource.data");
        let ruleset = ruleset(2, &format!("match /docs/{{id}} {{ allow list: if {condition}; }}"));
        let decision = decide(&ruleset, &DOCS, alternatives);
        assert_eq!(decision.allowed, *expected, "{condition} {alternatives:?}: {decision:#?}");
    }
}

#[test]
fn match_blocks_cover_all_paths_or_none() {
    let docs = &DOCS[..];
    let head = &DOCS[..3];
    let group = [head, &[Part::Many, Part::Name("sub"), Part::One]].concat();
    let below =
        [head, &[Part::Name("docs"), Part::Name("a"), Part::Many, Part::Name("sub"), Part::One]]
            .concat();
    let all = [head, &[Part::Many, Part::One, Part::One]].concat();
    let table: &[(u8, &str, &[Part<'_>], bool)] = &[
        (2, "match /docs/{id} { allow list; }", docs, true),
        (2, "match /{c}/{id} { allow list: if c == 'docs'; }", docs, true),
        (2, "match /docs/a { allow list; }", docs, false),
        (2, "match /docs/{id}/{more=**} { allow list; }", docs, true),
        (1, "match /docs/{id}/{more=**} { allow list; }", docs, false),
        (1, "match /docs/{id=**} { allow list; }", docs, true),
        (2, "match /{p=**} { allow list; }", docs, true),
        (2, "match /{p=**}/docs/{id} { allow list: if p != /a; }", docs, true),
        (2, "match /{p=**}/sub/{id} { allow list: if p is path; }", &group, true),
        (2, "match /{p=**}/sub/{id} { allow list: if p != /a; }", &group, false),
        (2, "match /{p=**}/sub/{id} { allow list: if !(p == /a); }", &group, false),
        (2, "match /{p=**}/sub/{id} { allow list: if !(p in [/a]); }", &group, false),
        (2, "match /{p=**}/sub/{id} { allow list; }", &group, true),
        (2, "match /{p=**}/{c}/{id} { allow list: if c == 'sub'; }", &group, true),
        (2, "match /docs/{d}/sub/{id} { allow list; }", &group, false),
        (2, "match /{a}/{b}/{p=**} { allow list; }", &group, false),
        (2, "match /docs/{d}/{p=**}/sub/{id} { allow list: if d == 'a'; }", &below, true),
        (2, "match /docs/b/{p=**} { allow list; }", &below, false),
        (2, "match /{p=**} { allow list; }", &all, true),
        (2, "match /{p=**}/sub/{id} { allow list; }", &all, false),
        (1, "match /{p=**} { allow list; }", &group, true),
    ];
    for (version, body, domain, expected) in table {
        let decision = decide(&ruleset(*version, body), domain, &[""]);
        assert_eq!(decision.allowed, *expected, "{body} {domain:?}: {decision:#?}");
    }
}

#[test]
fn a_denial_tells_every_alternative() {
    let ruleset =
        ruleset(2, "match /docs/{id} { allow list: if resource.data.owner == request.auth.uid; }");
    let table: &[(&[&str], &str)] = &[
        (&["owner == you"], "\nfalse for 'list' @ L3"),
        (
            &["owner == me", ""],
            "\nfalse for 'list' @ L3, Property owner is undefined on object. for 'list' @ L3",
        ),
        (&["owner >= me"], "\nevaluation error at L3:35 for 'list' @ L3"),
    ];
    for (alternatives, expected) in table {
        let decision = decide(&ruleset, &DOCS, alternatives);
        assert_eq!(decision.message(Method::List), *expected, "{alternatives:?}");
    }
}
