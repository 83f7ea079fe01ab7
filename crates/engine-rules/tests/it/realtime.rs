//! The dialect of the Realtime Database: files, types, expressions, and what grants and refuses.

use std::collections::BTreeMap;
use std::sync::Arc;

use base_value::Value as Claim;
use engine_rules::realtime::{Change, RealtimeQuery, RealtimeRequest, RealtimeRules, Scalar, Tree};

/// A state: scalars by path.
#[derive(Clone, Default)]
struct Data(BTreeMap<String, Scalar>);

impl Data {
    fn with(mut self, path: &str, scalar: Scalar) -> Self {
        self.0.insert(path.to_owned(), scalar);
        self
    }
}

impl Tree for Data {
    fn scalar(&self, path: &[&str]) -> Option<Scalar> {
        self.0.get(&path.join("/")).cloned()
    }

    fn children(&self, path: &[&str]) -> Vec<String> {
        let prefix = if path.is_empty() { String::new() } else { path.join("/") + "/" };
        let below = self.0.keys().filter_map(|key| key.strip_prefix(&prefix));
        let mut names: Vec<_> = below.filter_map(|rest| rest.split('/').next()).collect();
        names.dedup();
        names.into_iter().map(str::to_owned).collect()
    }

    fn priority(&self, path: &[&str]) -> Option<Scalar> {
        self.0.get(&(path.join("/") + "#")).cloned()
    }
}

fn text(text: &str) -> Scalar {
    Scalar::String(Arc::from(text))
}

fn number(number: f64) -> Scalar {
    Scalar::Number(number)
}

fn names(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !name.is_empty()).collect()
}

fn claims() -> Claim {
    let map = |entries: Vec<(&str, Claim)>| {
        Claim::Map(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    };
    let token =
        map(vec![("admin", Claim::Boolean(true)), ("email", Claim::String("a@b.c".into()))]);
    map(vec![("uid", Claim::String("me".into())), ("token", token), ("foo", map(vec![]))])
}

fn read(source: &str, data: &Data, path: &str, query: &RealtimeQuery) -> bool {
    let rules =
        RealtimeRules::parse(source).unwrap_or_else(|errors| panic!("{source}: {errors:?}"));
    let claims = claims();
    let request = RealtimeRequest { auth: Some(&claims), now: 1_000.0, data };
    rules.read(request, &names(path), query).allowed
}

fn write(source: &str, before: &Data, paths: &[&str], after: &Data) -> bool {
    let rules =
        RealtimeRules::parse(source).unwrap_or_else(|errors| panic!("{source}: {errors:?}"));
    let claims = claims();
    let request = RealtimeRequest { auth: Some(&claims), now: 1_000.0, data: before };
    let paths: Vec<_> = paths.iter().map(|path| names(path)).collect();
    rules.write(request, Change { paths: &paths, after }).allowed
}

#[test]
fn expressions_have_the_values_of_the_product() {
    let data = Data::default()
        .with("n", number(5.0))
        .with("s", text("hello"))
        .with("b", Scalar::Bool(true))
        .with("m/k", text("v"))
        .with("m/a@b.com", number(1.0))
        .with("s#", number(7.0));
    let table = [
        ("auth != null && auth.uid == 'me'", true),
        ("auth.token.admin == true", true),
        ("auth.token['admin'] === true", true),
        ("auth.foo.baz == null", true),
        ("auth.not.found.length > 1", false),
        ("auth.dreams.length > 1 ? false : true", false),
        ("1 == 'one'", false),
        ("1 != 'one'", true),
        ("1 === 1 && 'a' !== 'b'", true),
        // An error ends the whole rule.
        ("auth.nope.x == 1 || true", false),
        ("true || auth.nope.x == 1", true),
        ("false && auth.nope.x == 1", false),
        ("'one' + 1 == 'one1'", true),
        ("1 + 2 * 3 % 4 - -1 == 4", true),
        ("1/0 + '' == 'NaN'", true),
        ("1/0 > 0 || 1/0 < 0", false),
        ("'b' > 'a' && 2 >= 2", true),
        ("now == 1000", true),
        ("data.child('n').val() == 5", true),
        ("data.child('n').val() + 1 == 6", true),
        ("data.child('n').isNumber() && !data.child('n').isString()", true),
        ("data.child('b').isBoolean() && data.child('b').val()", true),
        ("data.child('none').val() == null && !data.child('none').exists()", true),
        ("data.child('none').val() > 1", false),
        ("data.child('m').val() != null", true),
        ("data.hasChild('m/k') && data.child('m').hasChildren()", true),
        ("data.hasChildren(['n', 's']) && !data.hasChildren(['n', 'zz'])", true),
        ("data.child('n').hasChildren()", false),
        ("data.child('m/a@b.com').val() == 1", true),
        ("data.child('m').parent().child('n').exists()", true),
        ("root.parent().exists()", false),
        ("data.child('s').getPriority() == 7 && data.getPriority() == null", true),
        ("data.child('s').val().length == 5", true),
        ("'hello'.contains('ell') && 'hello'.beginsWith('he') && 'hello'.endsWith('lo')", true),
        ("'hello'['contains']('ell')", true),
        ("'a-b-c'.replace('-', '') == 'abc'", true),
        ("'aB'.toLowerCase() == 'ab' && 'aB'.toUpperCase() == 'AB'", true),
        ("'hello'.matches(/^h[a-z]+o$/)", true),
        ("'HELLO'.matches(/ell/i)", true),
        ("'HELLO'.matches(/ell/)", false),
        ("'a1'.matches(/^[^\\\\d][\\\\d]$/)", true),
        ("'ab'.matches(/^(a|b){2}$/)", true),
        ("4 / 2 == 2", true),
        ("query.orderByKey && query.limitToFirst == null && query.startAt == null", true),
    ];
    for (condition, expected) in table {
        let source = format!("{{\"rules\": {{\".read\": \"{condition}\"}}}}");
        assert_eq!(read(&source, &data, "", &RealtimeQuery::default()), expected, "{condition}");
    }
}

#[test]
fn what_is_plainly_wrong_is_refused_when_it_is_read() {
    for condition in [
        "7",
        "'foo'",
        "auth != null ? 7 : true",
        "skies",
        "$x == 'a'",
        "data != null",
        "true < false",
        "1 < 'a'",
        "newData.exists()",
        "query.foo == 1",
        "data.numChildren() > 1",
        "data.val().toFixed() == 1",
        "data.val()['k'] == 1",
        "data.hasChildren([])",
        "data.hasChildren([1])",
        "data.child(1).exists()",
        "'a'.matches('a')",
        "'a'.matches(/a/g)",
        "'a'.matches(/a/ig)",
        "'a'.matches(/(^a)/)",
        "'a'.matches(/(?:a)/)",
        "'a'.matches(/()/)",
        "'a'.matches(/(a)\\\\1/)",
        "1 + true == 2",
        "!1",
        "1 && true",
        "auth = null",
        "a, b",
        "2 ** 3 == 8",
        "true true",
        "(true",
        "",
    ] {
        let source = format!("{{\"rules\": {{\".read\": \"{condition}\"}}}}");
        assert!(RealtimeRules::parse(&source).is_err(), "{condition}");
    }
    let deep = format!("{{\"rules\": {{\".read\": \"{}true\"}}}}", "(".repeat(100_000));
    assert!(RealtimeRules::parse(&deep).is_err());
    let chain = format!("{{\"rules\": {{\".read\": \"true{}\"}}}}", " || true".repeat(10_000));
    assert!(RealtimeRules::parse(&chain).is_err());
    let nested = "{\"a\":".repeat(100_000);
    assert!(RealtimeRules::parse(&format!("{{\"rules\": {nested}")).is_err());
}

#[test]
fn errors_of_a_file_have_their_places() {
    let table = [
        ("{}", "1:2: Expected 'rules' property."),
        ("{\"rules\": {\n  \"a\": true\n}}", "2:8: Expected '{'."),
        (
            "{\"rules\": {\".read\": \"data.val().toFixed()\"}}",
            "No such method/property 'toFixed'.",
        ),
        ("{\"rules\": {\"$a\": {}, \"$b\": {}}}", "There is a wildcard '$a' already"),
        ("{\"rules\": {\"$a\": {\"$a\": {}}}}", "the name of a wildcard above"),
        ("{\"rules\": {\".reed\": true}}", "1:12: '.reed' is no rule"),
        ("{\"rules\": {}, \"x\": 1}", "'x' does not stand beside 'rules'."),
        ("{\"rules\": {\".read\": 1}}", "Expected a string or a boolean."),
        ("{\"rules\": {\".indexOn\": 1}}", "'.indexOn' takes"),
        ("{\"rules\": {", "Expected"),
        ("[]", "1:1: Expected '{'."),
    ];
    for (source, expected) in table {
        let errors = RealtimeRules::parse(source).expect_err(source);
        let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert!(texts.iter().any(|text| text.contains(expected)), "{source}: {texts:?}");
    }
    let source = "{\n // a comment\n \"rules\": { /* another */ \"a\": { \".indexOn\": [\"x\", \"y/z\"], \
                  \"$b\": { \".indexOn\": \".value\" } } } }";
    let rules = RealtimeRules::parse(source).expect("comments are taken");
    assert_eq!(rules.index_on(&["a"]), ["x", "y/z"]);
    assert_eq!(rules.index_on(&["a", "anything"]), [".value"]);
    assert!(rules.index_on(&["b"]).is_empty());
}

#[test]
fn reads_are_granted_from_above() {
    let source = r#"{"rules": {
        "open": {".read": true, "shut": {".read": false}},
        "users": {"$user": {".read": "auth.uid == $user", "public": {".read": "$user != 'x'"}}, "special": {}},
        "list": {".read": "query.orderByChild == 'n' && query.limitToFirst <= 10"}
    }}"#;
    let data = Data::default().with("users/me/a", number(1.0));
    let plain = RealtimeQuery::default();
    for (path, expected) in [
        ("open", true),
        ("open/shut/deep", true),
        ("", false),
        ("users", false),
        ("users/me", true),
        ("users/me/a", true),
        ("users/you", false),
        ("users/you/public/a", true),
        // A name of its own beats the wildcard.
        ("users/special", false),
        ("list", false),
        ("elsewhere", false),
    ] {
        assert_eq!(read(source, &data, path, &plain), expected, "{path}");
    }
    let ordered = RealtimeQuery {
        order_by_child: Some("n".to_owned()),
        limit_to_first: Some(10),
        ..RealtimeQuery::default()
    };
    assert!(read(source, &data, "list", &ordered));
}

#[test]
fn writes_are_granted_and_valid_all_the_way() {
    let source = r#"{"rules": {
        ".validate": "newData.hasChildren()",
        "items": {"$id": {
            ".write": "!data.exists() || data.child('owner').val() == auth.uid",
            ".validate": "newData.hasChildren(['owner', 'n'])",
            "owner": {".validate": "newData.val() == auth.uid"},
            "n": {".validate": "newData.isNumber() && newData.val() < root.child('max').val()"},
            "$other": {".validate": false}
        }}
    }}"#;
    let before = Data::default().with("max", number(10.0));
    let item = |owner: &str, n: f64| {
        before.clone().with("items/a/owner", text(owner)).with("items/a/n", number(n))
    };
    assert!(write(source, &before, &["items/a"], &item("me", 1.0)));
    assert!(!write(source, &before, &["items/a"], &item("you", 1.0)));
    assert!(!write(source, &before, &["items/a"], &item("me", 11.0)));
    let more = item("me", 1.0).with("items/a/zz", number(1.0));
    assert!(!write(source, &before, &["items/a"], &more));
    // What is deleted is not validated, and what is above it is only where it is left.
    assert!(write(source, &item("me", 1.0), &["items/a"], &before));
    assert!(!write(source, &item("you", 1.0), &["items/a"], &before));
    // A write below is validated above as well.
    assert!(write(source, &item("me", 1.0), &["items/a/n"], &item("me", 2.0)));
    let without = before.clone().with("items/a/owner", text("me"));
    assert!(!write(source, &item("me", 1.0), &["items/a/n"], &without));
    // Of an update of several, one that is refused refuses all.
    let both = item("me", 1.0).with("items/b/owner", text("me")).with("items/b/n", number(1.0));
    assert!(write(source, &before, &["items/a", "items/b"], &both));
    assert!(!write(source, &before, &["items/a", "max"], &both));
    assert!(!write(source, &before, &[""], &item("me", 1.0)));
}

#[test]
fn work_is_bounded() {
    let grown = "'x'".to_owned() + &".replace('x', 'xxxxxxxxxxxxxxxx')".repeat(20) + ".length > 0";
    let source = format!("{{\"rules\": {{\".read\": \"{grown}\"}}}}");
    assert!(!read(&source, &Data::default(), "", &RealtimeQuery::default()));
}
