//! Query strings against `ListBooksRequest` and `GetBookRequest`.

use super::*;
use crate::test_pool::pool;

fn bound(message: &str, query: &str) -> Result<String, String> {
    let descriptor = pool().get_message_by_name(&format!("library.v1.{message}")).unwrap();
    let mut message = DynamicMessage::new(descriptor);
    Query::parse(query)?.bind(&mut message)?;
    Ok(serde_json::to_string(&message).unwrap())
}

fn check(message: &str, query: &str, expected: &str) {
    assert_eq!(bound(message, query).as_deref(), Ok(expected), "{query}");
}

fn check_error(message: &str, query: &str, expected: &str) {
    assert_eq!(bound(message, query).unwrap_err(), expected, "{query}");
}

#[test]
fn parameters_become_fields() {
    const LIST: &str = "ListBooksRequest";
    let table = [
        ("", "{}"),
        ("&&", "{}"),
        ("pageSize=5", r#"{"pageSize":5}"#),
        ("page_size=-5", r#"{"pageSize":-5}"#),
        ("order=DOWN", r#"{"order":"DOWN"}"#),
        ("order=2", r#"{"order":"DOWN"}"#),
        ("orders=UP&orders=2", r#"{"orders":["UP","DOWN"]}"#),
        ("limit=7", r#"{"limit":7}"#),
        ("limit=0", r#"{"limit":0}"#),
        ("deep=true", r#"{"deep":true}"#),
        ("deep=1", r#"{"deep":true}"#),
        ("all=yes", r#"{"all":true}"#),
        ("all=F", "{}"),
        ("order=down", r#"{"order":"DOWN"}"#),
        ("pageSize=1&page_size=2", r#"{"pageSize":2}"#),
        ("all=true", r#"{"all":true}"#),
        ("all=false", "{}"),
        ("weight=1.5", r#"{"weight":1.5}"#),
        ("weight=NaN", r#"{"weight":"NaN"}"#),
        ("parent=a+b%2Bc%26d", r#"{"parent":"a b+c&d"}"#),
        ("mask.fieldPaths=a&mask.field_paths=b.c", r#"{"mask":{"fieldPaths":["a","b.c"]}}"#),
        ("mask.fieldPaths=", r#"{"mask":{"fieldPaths":[""]}}"#),
        ("mask.fieldPaths", r#"{"mask":{"fieldPaths":[""]}}"#),
        ("key=x&alt=json&prettyPrint=false&access_token=t&$alt=x&$foo=1&fields=a", "{}"),
    ];
    for (query, expected) in table {
        check(LIST, query, expected);
    }
    check("All", "fields=a_b.c,dE", r#"{"fields":"aB.c,dE"}"#);
    check("GetBookRequest", "transaction=AAEC", r#"{"transaction":"AAEC"}"#);
    check("GetBookRequest", "transaction=_-8", r#"{"transaction":"/+8="}"#);
    check(
        "GetBookRequest",
        "readTime=2020-01-01T01:00:00.5%2B01:00",
        r#"{"readTime":"2020-01-01T00:00:00.500Z"}"#,
    );
}

#[test]
fn what_does_not_fit_is_told_in_googles_words() {
    const LIST: &str = "ListBooksRequest";
    let unknown = |name: &str| {
        format!(
            "Invalid JSON payload received. Unknown name \"{name}\": Cannot bind query parameter. Field '{name}' could not be found in request message."
        )
    };
    for name in
        ["foo", "mask.foo", "foo.bar", "pageSize.x", "mask.fieldPaths.x", "labels", "labels.a", ""]
    {
        check_error(LIST, &format!("{name}=1"), &unknown(name));
    }
    let table = [
        ("pageSize=x", "Invalid value at 'page_size' (TYPE_INT32), \"x\""),
        ("pageSize=99999999999", "Invalid value at 'page_size' (TYPE_INT32), \"99999999999\""),
        ("all=maybe", "Invalid value at 'all' (TYPE_BOOL), \"maybe\""),
        (
            "order=SIDEWAYS",
            "Invalid value at 'order' (type.googleapis.com/library.v1.Order), \"SIDEWAYS\"",
        ),
        ("mask=a", "Invalid value at 'mask' (type.googleapis.com/library.v1.Mask), \"a\""),
        ("all=", "Invalid value at 'all' (TYPE_BOOL), \"\""),
        ("pageSize=", "Invalid value at 'page_size' (TYPE_INT32), \"\""),
        ("pageSize=1e1", "Invalid value at 'page_size' (TYPE_INT32), \"1e1\""),
        ("weight=1e400", "Invalid value at 'weight' (TYPE_DOUBLE), \"1e400\""),
        ("limit=x", "Invalid value at 'limit.value' (TYPE_INT32), \"x\""),
        ("deep=maybe", "Invalid value at 'deep.value' (TYPE_BOOL), \"maybe\""),
        ("parent=%ff", "The query parameter \"%ff\" is not UTF-8 when decoded."),
    ];
    for (query, expected) in table {
        check_error(LIST, query, expected);
    }
    check_error(
        "GetBookRequest",
        "transaction=not base64!",
        "Invalid value at 'transaction' (TYPE_BYTES), Base64 decoding failed for \"not base64!\"",
    );
    check_error(
        "GetBookRequest",
        "readTime=yesterday",
        "Invalid value at 'read_time' (type.googleapis.com/google.protobuf.Timestamp), Field 'read_time', Illegal timestamp format; timestamps must end with 'Z' or have a valid timezone offset.",
    );
    check_error(
        "GetBookRequest",
        "transaction=AAEC&readTime=2020-01-01T00:00:00Z",
        "Invalid value (oneof), oneof field 'at' is already set. Cannot set 'transaction'",
    );
}
