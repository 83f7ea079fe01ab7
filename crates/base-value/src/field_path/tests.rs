//! The written form of field paths, its refusals, and reading and writing through a path.

use super::*;

fn syntax(text: &str) -> String {
    format!(
        "Invalid property path \"{text}\". Unquoted property paths must match regex \
         ([a-zA-Z_][a-zA-Z_0-9]*), and quoted property paths must match regex (`(?:[^`\\\\]|(?:\\\\.))+`)"
    )
}

fn check_parse(text: &str, segments: &[&str]) {
    let path = FieldPath::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(path.segments(), segments, "{text}");
    assert_eq!(FieldPath::parse(&path.to_string()), Ok(path), "{text} written again");
}

fn check_refusal(text: &str, message: &str) {
    match FieldPath::parse(text) {
        Ok(path) => panic!("{text} was accepted as {path:?}"),
        Err(error) => assert_eq!(error.to_string(), message, "{text}"),
    }
}

#[test]
fn paths_are_read() {
    check_parse("a", &["a"]);
    check_parse("a.b_1.C", &["a", "b_1", "C"]);
    check_parse("_", &["_"]);
    check_parse("____", &["____"]);
    check_parse("`a`.b", &["a", "b"]);
    check_parse("a.`b c`.d", &["a", "b c", "d"]);
    check_parse("`a.b`", &["a.b"]);
    check_parse("`\\``", &["`"]);
    check_parse("`a\\\\b`", &["a\\b"]);
    check_parse("`a\nb`", &["a\nb"]);
    check_parse("`1`.`\u{e9}`", &["1", "\u{e9}"]);
    check_parse("__name__", &["__name__"]);
    check_parse("`__name__`", &["__name__"]);
    check_parse(&"x".repeat(1_499), &[&"x".repeat(1_499)]);
    check_parse(&format!("`{}`", "\\`".repeat(750)), &[&"`".repeat(750)]);
}

#[test]
fn refusals_have_the_texts_clients_know() {
    check_refusal("", "Invalid empty property path string.");
    for text in [
        "a..b", ".a", "a.", "a-b", "1a", "a[0]", "*", "a.*", " a", "a ", "\u{e9}", "``", "a.``",
        "`a", "a`", "`a``", "`a\\`", "`a`b", "`a`.", "`a\\x`", "`a\\.b`", "`a\\\nb`",
    ] {
        check_refusal(text, &syntax(text));
    }
    for text in [
        "x".repeat(1_500),
        format!("`{}`", "x".repeat(1_500)),
        format!("`{}`", "\u{e9}".repeat(750)),
        format!("{0}.{0}", "x".repeat(750)),
    ] {
        check_refusal(&text, "property path is longer than 1500 bytes.");
    }
    check_refusal("__x__", "invalid reserved name in field path `__x__`");
    check_refusal("_____", "invalid reserved name in field path `_____`");
    check_refusal("foo.__x__.bar", "invalid reserved name in field path foo.`__x__`.bar");
    check_refusal("`a b`.`__x__`", "invalid reserved name in field path `a b`.`__x__`");
    check_refusal("__key__", "Invalid property path member name \"__key__\".");
    check_refusal("a.__key__", "Invalid property path member name \"__key__\".");
    check_refusal("a.__name__", "the name __key__ is reserved");
    check_refusal("__name__.a", "the name __key__ is reserved");
}

#[test]
fn only_a_lone_name_is_the_name() {
    assert!(FieldPath::name().is_name());
    assert_eq!(FieldPath::parse("__name__"), Ok(FieldPath::name()));
    assert_eq!(FieldPath::name().to_string(), "__name__");
    assert!(!FieldPath::single("name").is_name());
    assert_eq!(FieldPath::new(vec![]), Err(PathError::Empty));
    assert_eq!(FieldPath::new(vec![String::new()]), Err(PathError::Empty));
}

#[test]
fn prefixes_go_by_segments() {
    let path = |text| FieldPath::parse(text).unwrap();
    for (left, right, is_prefix) in
        [("a", "a", true), ("a", "a.b", true), ("a.b", "a", false), ("a", "ab", false)]
    {
        assert_eq!(path(left).is_prefix_of(&path(right)), is_prefix, "{left} {right}");
    }
}

#[test]
fn get_set_and_remove_go_through_maps() {
    let path = |text| FieldPath::parse(text).unwrap();
    let mut fields = Fields::new();
    path("a.b.c").set(&mut fields, Value::Integer(1));
    path("a.d").set(&mut fields, Value::Integer(2));
    assert_eq!(path("a.b.c").get(&fields), Some(&Value::Integer(1)));
    assert_eq!(path("a.b.c.d").get(&fields), None);
    assert_eq!(path("a.x.c").get(&fields), None);

    path("a.d.e").set(&mut fields, Value::Integer(3));
    assert_eq!(path("a.d.e").get(&fields), Some(&Value::Integer(3)), "a number gives way to a map");

    assert_eq!(path("a.d.x").remove(&mut fields), None);
    assert_eq!(path("x.y").remove(&mut fields), None);
    assert_eq!(path("a.d.e").remove(&mut fields), Some(Value::Integer(3)));
    assert_eq!(path("a.d").get(&fields), Some(&Value::Map(Fields::new())), "empty maps stay");
    assert!(!fields.contains_key("x"), "removing makes no maps");
}
