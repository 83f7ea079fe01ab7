//! Collection ids, pages of documents, and partitions.

use engine_query::{
    ListDocuments, Query, list_collection_ids, list_documents, parse_order_by, partition,
};
use engine_store::Snapshot;

use crate::support::*;

fn documents() -> Snapshot {
    let one = |n| fields([("n", int(n))]);
    snapshot([
        ("users/b", one(2)),
        ("users/a/items/i1", one(1)),
        ("users/a/items/i2/deep/d", one(1)),
        ("users/b/items/i1", one(1)),
        ("users/__id7__/deep/d", one(1)),
        ("users/c", one(1)),
        ("users/c/users/x", one(1)),
        ("zoo/z/users/x", one(1)),
        ("other/o", fields([])),
    ])
}

#[test]
fn collection_ids() {
    #[track_caller]
    fn check(below: &str, expected: &str) {
        let ids = list_collection_ids(&documents(), &parent(below));
        assert_eq!(ids.join(" "), expected, "{below}");
    }
    check("", "other users zoo");
    check("users/a", "items");
    check("users/a/items/i2", "deep");
    check("users/a/items/i1", "");
    check("users/__id7__", "deep");
    check("users/c", "users");
    check("zoo/z", "users");
    check("none/none", "");
    // known-bugs.md B043: a collection whose only document is missing is there.
    let only_below = snapshot([("users/u1/items/i1", fields([]))]);
    assert_eq!(list_collection_ids(&only_below, &parent("")), ["users"]);
}

fn request(below: &str, collection_id: &str) -> ListDocuments {
    ListDocuments {
        parent: parent(below),
        collection_id: collection_id.to_owned(),
        order: Vec::new(),
        show_missing: false,
        page_size: 100,
        page_token: None,
    }
}

/// All pages: documents by a blank, missing ones in brackets, pages by a bar.
fn pages(mut request: ListDocuments, documents: &Snapshot) -> String {
    let mut pages = Vec::new();
    loop {
        let page = list_documents(&database(), &request, documents).unwrap();
        let listed = page.documents.iter().map(|listed| match listed.record {
            Some(_) => listed.path.id().to_owned(),
            None => format!("({})", listed.path.id()),
        });
        pages.push(listed.collect::<Vec<_>>().join(" "));
        request.page_token = page.next_page_token;
        if request.page_token.is_none() {
            return pages.join(" | ");
        }
    }
}

#[test]
fn documents_by_name() {
    #[track_caller]
    fn check(request: ListDocuments, expected: &str) {
        assert_eq!(pages(request, &documents()), expected);
    }
    check(request("", "users"), "b c");
    check(request("users/a", "items"), "i1");
    check(request("users/a", ""), "i1");
    check(request("", ""), "o b c");
    check(request("", "none"), "");
    check(ListDocuments { page_size: 1, ..request("", "users") }, "b | c");
    check(ListDocuments { page_size: 2, ..request("", "users") }, "b c");
    check(ListDocuments { page_size: 2, ..request("", "") }, "o b | c");
}

#[test]
fn missing_documents() {
    #[track_caller]
    fn check(request: ListDocuments, expected: &str) {
        let request = ListDocuments { show_missing: true, ..request };
        assert_eq!(pages(request, &documents()), expected);
    }
    check(request("", "users"), "(__id7__) (a) b c");
    check(request("", "zoo"), "(z)");
    check(request("users/a", "items"), "i1 (i2)");
    check(request("", ""), "o (__id7__) (a) b c (z)");
    check(request("", "none"), "");
    check(ListDocuments { page_size: 1, ..request("", "users") }, "(__id7__) | (a) | b | c");
    check(ListDocuments { page_size: 3, ..request("", "users") }, "(__id7__) (a) b | c");
    check(ListDocuments { page_size: 4, ..request("", "users") }, "(__id7__) (a) b c");
    check(ListDocuments { page_size: 4, ..request("", "") }, "o (__id7__) (a) b | c (z)");
    // known-bugs.md B043.
    let only_below = snapshot([("users/u1/items/i1", fields([]))]);
    let missing = ListDocuments { show_missing: true, ..request("", "users") };
    assert_eq!(pages(missing, &only_below), "(u1)");
    assert_eq!(pages(request("", "users"), &only_below), "");
}

#[test]
fn ordered_documents() {
    let documents = snapshot([
        ("c/a", fields([("n", int(2))])),
        ("c/b", fields([("n", int(1))])),
        ("c/d", fields([("n", int(1))])),
        ("c/e", fields([("n", text("x"))])),
        ("c/f", fields([])),
    ]);
    let check = |order: &str, page_size, expected: &str| {
        let order = parse_order_by(order).unwrap();
        let request = ListDocuments { order, page_size, ..request("", "c") };
        assert_eq!(pages(request, &documents), expected);
    };
    check("n", 100, "b d a e");
    check("n", 1, "b | d | a | e");
    check("n desc", 2, "e a | d b");
    check("n, __name__ desc", 3, "d b a | e");
    check("__name__ desc", 2, "f e | d b | a");
    check("none", 2, "");
}

#[test]
fn order_by_texts() {
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let orders = parse_order_by(text).map(|orders| {
            let orders =
                orders.iter().map(|order| format!("{} {:?}", order.field, order.direction));
            orders.collect::<Vec<_>>().join(", ")
        });
        assert_eq!(orders.unwrap_or_else(|error| error.to_string()), expected, "{text}");
    }
    check("", "");
    check("a", "a Ascending");
    check("a ", "a Ascending");
    check("a desc", "a Descending");
    check("a\tDESC", "a Descending");
    check("a asc, b.c desc", "a Ascending, b.c Descending");
    check("a,__name__ desc", "a Ascending, __name__ Descending");
    check("`a,b c` desc", "`a,b c` Descending");
    check("`a\\`, b` desc,c", "`a\\`, b` Descending, c Ascending");
    check("asc", "asc Ascending");
    check("desc desc", "desc Descending");
    for bad in ["a sideways", "a,", ",a", "a,,b", "a desc x", "a..b", " ", "`a"] {
        check(bad, &format!("Invalid order by clause \"{bad}\"."));
    }
    check("__x__", "invalid reserved name in field path `__x__`");
}

#[test]
fn list_refusals() {
    #[track_caller]
    fn check(request: ListDocuments, expected: &str) {
        let error = list_documents(&database(), &request, &documents()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let by_n = || parse_order_by("n").unwrap();
    check(
        ListDocuments { order: by_n(), show_missing: true, ..request("", "users") },
        "cannot specify an order when show_missing is true",
    );
    check(
        ListDocuments { order: by_n(), ..request("", "") },
        "kind is required for all orders except __key__ ascending",
    );
    check(
        ListDocuments { order: parse_order_by("n, n").unwrap(), ..request("", "users") },
        "order by clause cannot contain duplicate fields n",
    );
    check(request("", "__x__"), "Collection id \"__x__\" is invalid because it is reserved.");
    let encode = |value| Some(base_value::codec::encode_value(&value));
    for token in [
        Some("garbage".into()),
        encode(array([])),
        encode(array([int(1)])),
        encode(array([reference("c")])),
        encode(array([reference("users/a"), reference("users/a")])),
    ] {
        for show_missing in [false, true] {
            let page_token = token.clone();
            check(
                ListDocuments { page_token, show_missing, ..request("", "users") },
                "invalid page token",
            );
        }
    }
}

#[test]
fn partitions() {
    let documents = |count: usize| {
        let paths: Vec<String> = (0..count).map(|n| format!("r/{}/g/{n:04}", n % 3)).collect();
        snapshot(paths.iter().map(|path| (path.as_str(), fields([]))))
    };
    #[track_caller]
    fn check(documents: &Snapshot, count: i64, expected: usize) {
        let prepared = prepare(group("g", "")).unwrap();
        let points = partition(&prepared, count, documents).unwrap();
        assert_eq!(points.len(), expected);
        let names: Vec<_> = prepared.run(documents).map(|row| row.path).collect();
        let mut places: Vec<usize> = points
            .iter()
            .map(|point| names.iter().position(|name| name == point).unwrap())
            .collect();
        places.insert(0, 0);
        places.push(names.len());
        let sizes: Vec<usize> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
        assert!(most - least <= 1, "{sizes:?}");
    }
    check(&documents(0), 10, 0);
    check(&documents(1), 10, 0);
    check(&documents(3), 10, 0);
    check(&documents(5), 10, 1);
    check(&documents(100), 10, 10);
    check(&documents(100), 1, 1);
    check(&documents(100), 1000, 49);
    check(&documents(1000), 7, 7);

    let refused = |query: Query, count| {
        partition(&prepare(query).unwrap(), count, &documents(9)).unwrap_err().to_string()
    };
    let shape = "Partition queries must be collection group queries ordered by __name__ \
                 ascending, without filters, limits, offsets or cursors.";
    assert_eq!(refused(group("g", ""), 0), "partition_count must be greater than zero.");
    assert_eq!(refused(query(), 1), shape);
    assert_eq!(refused(Query { limit: Some(1), ..group("g", "") }, 1), shape);
    assert_eq!(refused(Query { order: orders(["-__name__"]), ..group("g", "") }, 1), shape);
    assert_eq!(refused(Query { order: orders(["n"]), ..group("g", "") }, 1), shape);
}
