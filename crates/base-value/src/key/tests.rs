//! The layout of keys, and the ranges and seeks that rely on it.

use super::*;

fn key(path: &str) -> Bytes {
    document(&DocumentPath::parse(path).unwrap())
}

#[test]
fn layout_is_as_documented() {
    let cases: [(&str, &[u8]); 4] = [
        ("a/b", b"\x02a\0\x01\x02a\0\x01\x02b\0\x01"),
        ("a/b\0c", b"\x02a\0\x01\x02a\0\x01\x02b\0\xFFc\0\x01"),
        ("a/__id1__", b"\x02a\0\x01\x02a\0\x01\x01\x80\0\0\0\0\0\0\x01"),
        (
            "a/__id-1__/b/c",
            b"\x02b\0\x01\x02a\0\x01\x01\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02b\0\x01\x02c\0\x01",
        ),
    ];
    for (path, expected) in cases {
        assert_eq!(key(path), expected, "{path:?}");
        assert_eq!(parse(expected).unwrap().as_str(), path);
    }
}

#[test]
fn other_bytes_are_no_keys() {
    let cases: [&[u8]; 12] = [
        b"",
        b"\x02a\0\x01",
        b"\x02a\0\x01\x02a\0\x01",
        b"\x02b\0\x01\x02a\0\x01\x02b\0\x01",
        b"\x02a\0\x01\x02a\0\x01\x02b\0",
        b"\x02a\0\x01\x02a\0\x01\x02b\0\x02",
        b"\x02a\0\x01\x02a\0\x01\x02\0\x01",
        b"\x02a\0\x01\x02a\0\x01\x02b/c\0\x01",
        b"\x02a\0\x01\x02a\0\x01\x02\xFF\0\x01",
        b"\x02a\0\x01\x02a\0\x01\x01\x80\0\0",
        b"\x02a\0\x01\x02a\0\x01\x01\x80\0\0\0\0\0\0\0",
        b"\x02a\0\x01\x02a\0\x01\x02__id7__\0\x01",
    ];
    for bytes in cases {
        assert_eq!(parse(bytes), None, "{bytes:?}");
    }
}

fn within((start, end): &Bounds, path: &str) -> bool {
    let key = key(path);
    *start <= key && key < *end
}

#[test]
fn ranges_hold_what_they_should() {
    let collection_path = CollectionPath::parse("a/b/c").unwrap();
    let range = collection(&collection_path);
    let keys = CollectionKeys::new(&collection_path);
    assert_eq!(keys.bounds(), range);
    // Path, in the range, directly in the collection.
    for (path, in_range, direct) in [
        ("a/b/c/d", true, true),
        ("a/b/c/__id-5__", true, true),
        ("a/b/c/__id9223372036854775807__", true, true),
        ("a/b/c/\u{10ffff}", true, true),
        ("a/b/c/\0", true, true),
        ("a/b/c/d/c/e", true, false),
        ("a/b/c/d/x/y/c/e", true, false),
        ("a/b/c/d/x/y", false, false),
        ("c/d", false, false),
        ("a/bb/c/d", false, false),
        ("a/b/cc/d", false, false),
        ("a/b/c\0/d", false, false),
    ] {
        assert_eq!(within(&range, path), in_range, "{path:?}");
        assert_eq!(is_direct_child(&key(path), &collection_path), direct, "{path:?}");
        assert_eq!(keys.contains(&key(path)), direct, "{path:?}");
    }
}

#[test]
fn group_ranges_leave_the_parent_out() {
    // Group, parent, path, in the range.
    for (id, parent, path, expected) in [
        ("c", "", "c/d", true),
        ("c", "", "a/b/c/d", true),
        ("c", "", "cc/d", false),
        ("c", "c/d", "c/d", false),
        ("c", "c/d", "c/d/c/e", true),
        ("c", "c/d", "c/d/x/y/c/e", true),
        ("c", "c/d", "c/dd/c/e", false),
        ("x", "c/d", "c/d/x/y", true),
        ("c", "c/__id5__", "c/__id5__/c/__id-9__", true),
        ("c", "c/__id5__", "c/__id6__", false),
        ("c", "c/__id9223372036854775807__", "c/__id9223372036854775807__/c/d", true),
    ] {
        let range = group(id, &ParentPath::parse(parent).unwrap());
        assert_eq!(within(&range, path), expected, "{id} below {parent:?}: {path}");
    }
}

#[test]
fn skipping_from_group_to_group() {
    assert_eq!(group_id(&key("a/b/c/d")).as_deref(), Some("c"));
    assert_eq!(group_id(b"\x05"), None);
    for (id, last_of_it, first_behind) in
        [("c", "c/\u{10ffff}", "c\0/__id-1__"), ("c", "z/z/c/z", "ca/a"), ("", "", "a/a")]
    {
        let seek = next_group(id);
        assert!(last_of_it.is_empty() || key(last_of_it) < seek, "{id:?}");
        assert!(seek <= key(first_behind), "{id:?}");
    }
}

#[test]
fn skipping_from_child_to_child() {
    let parent = ParentPath::parse("a/b").unwrap();
    for (path, child) in [
        ("a/b/c/d", Some("c")),
        ("a/b/x/y/c/d", Some("x")),
        ("a/bb/c/d", None),
        ("a/b", None),
        ("c/d", None),
    ] {
        assert_eq!(child_collection(&key(path), &parent).as_deref(), child, "{path}");
    }
    assert_eq!(child_collection(&key("c/d"), &ParentPath::root()).as_deref(), Some("c"));

    let seek = after_child("c", &parent.collection("c").unwrap());
    assert!(key("a/b/c/\u{10ffff}") < seek);
    assert!(key("a/b/c/z/y/x/c/d") < seek);
    assert!(seek <= key("a/b/c\0/d/c/e"));
    assert!(seek <= key("a/b/x/y/c/d"));
}

#[test]
fn the_path_part_orders_across_groups() {
    let paths = ["a/__id3__", "a/b", "a/b/z/d", "a/c", "b/a", "b/a/a/a"];
    for pair in paths.windows(2) {
        let (left, right) = (key(pair[0]), key(pair[1]));
        assert!(path_bytes(&left).unwrap() < path_bytes(&right).unwrap(), "{pair:?}");
    }
}
