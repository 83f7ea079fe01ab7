//! Which documents a query ranges over, and in which order of names.

use base_value::{DocumentPath, key};
use engine_query::{FieldOp, From, Query, project};
use engine_store::Snapshot;

use crate::support::*;

fn documents() -> Snapshot {
    let one = || fields([("n", int(1))]);
    snapshot([
        ("c/__id-3__", one()),
        ("c/__id20__", one()),
        ("c/__id3__", one()),
        ("c/a", one()),
        ("c/a-", one()),
        ("c/a/c/x", one()),
        ("c/a/d/x", one()),
        ("c/a/d/x/c/y", one()),
        ("c/b", one()),
        ("c/gone/c/z", one()),
        ("d/a", one()),
        ("d/a/c/q", one()),
        ("e/gone/f/z", one()),
    ])
}

#[track_caller]
fn check(query: Query, expected: &str) {
    assert_eq!(run(query, &documents()), expected);
}

#[test]
fn a_collection_is_its_direct_documents() {
    check(query(), "c/__id-3__ c/__id3__ c/__id20__ c/a c/a- c/b");
    check(Query::new(parent("c/a"), From::Collection("c".into())), "c/a/c/x");
    check(Query::new(parent("c/gone"), From::Collection("c".into())), "c/gone/c/z");
    check(Query::new(parent("c/b"), From::Collection("c".into())), "");
    check(Query::new(parent(""), From::Collection("none".into())), "");
}

#[test]
fn names_descend() {
    let by_name = |limit| Query { order: orders(["-__name__"]), limit, ..query() };
    check(by_name(None), "c/b c/a- c/a c/__id20__ c/__id3__ c/__id-3__");
    check(by_name(Some(2)), "c/b c/a-");
    check(
        Query { order: orders(["-__name__"]), ..group("c", "") },
        "d/a/c/q c/gone/c/z c/b c/a- c/a/d/x/c/y c/a/c/x c/a c/__id20__ c/__id3__ c/__id-3__",
    );
}

#[test]
fn a_group_is_every_collection_of_the_id() {
    check(
        group("c", ""),
        "c/__id-3__ c/__id3__ c/__id20__ c/a c/a/c/x c/a/d/x/c/y c/a- c/b c/gone/c/z d/a/c/q",
    );
    check(group("c", "c/a"), "c/a/c/x c/a/d/x/c/y");
    check(group("c", "c/a/d/x"), "c/a/d/x/c/y");
    check(group("d", ""), "c/a/d/x d/a");
}

#[test]
fn kindless_queries_span_ids() {
    check(
        Query::new(parent(""), From::Children),
        "c/__id-3__ c/__id3__ c/__id20__ c/a c/a- c/b d/a",
    );
    check(Query::new(parent("c/a"), From::Children), "c/a/c/x c/a/d/x");
    check(
        Query::new(parent(""), From::Descendants),
        "c/__id-3__ c/__id3__ c/__id20__ c/a c/a/c/x c/a/d/x c/a/d/x/c/y c/a- c/b c/gone/c/z \
         d/a d/a/c/q e/gone/f/z",
    );
    check(Query::new(parent("c/a"), From::Descendants), "c/a/c/x c/a/d/x c/a/d/x/c/y");
    let after = is("__name__", FieldOp::GreaterThan, reference("c/a/d/x"));
    check(
        Query { filter: Some(after), limit: Some(3), ..Query::new(parent(""), From::Descendants) },
        "c/a/d/x/c/y c/a- c/b",
    );
    let named = is("__name__", FieldOp::In, array([reference("d/a"), reference("c/a/c/x")]));
    check(
        Query { filter: Some(named), ..Query::new(parent(""), From::Descendants) },
        "c/a/c/x d/a",
    );
}

#[test]
fn matching_one_document_respects_the_scope() {
    let documents = documents();
    #[track_caller]
    fn check(documents: &Snapshot, query: Query, path: &str, expected: bool) {
        let prepared = prepare(query).unwrap();
        let key = key::document(&DocumentPath::parse(path).unwrap());
        let record = documents.get(&key).unwrap();
        assert_eq!(prepared.matches(&key, &record), expected, "{path}");
        assert!(!expected || prepared.scope().contains(&key), "{path}");
    }
    check(&documents, query(), "c/a", true);
    check(&documents, query(), "c/a/c/x", false);
    check(&documents, query(), "d/a", false);
    check(&documents, group("c", "c/a"), "c/a/c/x", true);
    check(&documents, group("c", "c/a"), "c/a", false);
    check(&documents, group("c", "c/a"), "d/a/c/q", false);
    check(&documents, Query::new(parent(""), From::Children), "d/a", true);
    check(&documents, Query::new(parent(""), From::Children), "c/a/d/x", false);
    check(&documents, Query::new(parent("c/a"), From::Descendants), "c/a/d/x/c/y", true);
    check(&documents, Query::new(parent("c/a"), From::Descendants), "c/a", false);
}

#[test]
fn projection_prunes() {
    let document = fields([
        ("a", map([("c", int(1))])),
        ("b", int(3)),
        ("m", map([("w", map([])), ("x", map([("y", int(1)), ("z", int(2))]))])),
        ("v", vector([1.0])),
    ]);
    let encoded = base_value::codec::encode_fields(&document);
    #[track_caller]
    fn check<const N: usize>(encoded: &[u8], paths: [&str; N], expected: base_value::Fields) {
        let projected = project(encoded, &paths.map(path));
        assert_eq!(base_value::codec::decode_fields(&projected).unwrap(), expected, "{paths:?}");
    }
    check(&encoded, [], fields([]));
    check(&encoded, ["__name__"], fields([]));
    check(&encoded, ["__name__", "b"], fields([("b", int(3))]));
    check(&encoded, ["a.b"], fields([]));
    check(&encoded, ["b.x"], fields([]));
    check(&encoded, ["v.value"], fields([]));
    check(&encoded, ["m.x.y"], fields([("m", map([("x", map([("y", int(1))]))]))]));
    check(&encoded, ["m.x.y", "m.w"], {
        fields([("m", map([("w", map([])), ("x", map([("y", int(1))]))]))])
    });
    check(&encoded, ["a", "a.b"], fields([("a", map([("c", int(1))]))]));
    check(&encoded, ["m.x", "m.x.y"], {
        fields([("m", map([("x", map([("y", int(1)), ("z", int(2))]))]))])
    });

    let some = prepare(Query { select: Some(vec![path("b")]), ..query() }).unwrap();
    let all = prepare(query()).unwrap();
    assert_eq!(all.project(&encoded), encoded);
    assert_eq!(some.project(&encoded), project(&encoded, &[path("b")]));
}

/// Prepared queries are shared by listeners and moved to other threads.
#[test]
fn prepared_queries_cross_threads() {
    fn check<T: Send + Sync + Clone>() {}
    check::<engine_query::Prepared>();
    check::<engine_query::Row>();
}
