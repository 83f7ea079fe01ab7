//! Kinds of paths, their parts, and their order.

use super::*;

#[test]
fn parts_of_paths() {
    let document = DocumentPath::parse("a/b/c/d").unwrap();
    assert_eq!((document.id(), document.collection_id()), ("d", "c"));
    let collection = document.parent();
    assert_eq!((collection.as_str(), collection.id()), ("a/b/c", "c"));
    let parent = collection.parent();
    assert_eq!(parent.as_str(), "a/b");
    let top = parent.to_document().unwrap();
    assert_eq!((top.id(), top.collection_id()), ("b", "a"));
    assert_eq!(top.parent().parent(), ParentPath::root());
    assert_eq!(ParentPath::root().to_document(), None);

    assert_eq!(ParentPath::root().collection("a").unwrap().document("b").unwrap(), top);
    assert_eq!(ParentPath::from(top.clone()).collection("c").unwrap(), collection);
    assert_eq!(top.collection("c").unwrap().document("d").unwrap(), document);
    assert!(top.collection("__x__").is_err());
    assert!(collection.document("x/y").is_err());
    assert_eq!(document.segments().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    assert_eq!(document.as_resource().len(), 4);
}

#[test]
fn kinds_go_by_the_number_of_segments() {
    for (text, count) in [("", 0), ("a", 1), ("a/b", 2), ("a/b/c", 3)] {
        let path = ResourcePath::parse(text).unwrap();
        assert_eq!(path.len(), count);
        assert_eq!(path.is_empty(), count == 0);
        assert_eq!(DocumentPath::parse(text).is_ok(), count > 0 && count % 2 == 0, "{text}");
        assert_eq!(CollectionPath::parse(text).is_ok(), count % 2 == 1, "{text}");
        assert_eq!(ParentPath::parse(text).is_ok(), count % 2 == 0, "{text}");
    }
    for text in ["/", "a/", "/b", "a//c", "a/../c", "__x__/a"] {
        assert!(ResourcePath::parse(text).is_err(), "{text}");
    }
}

#[test]
fn containment() {
    let document = DocumentPath::parse("a/b/c/d").unwrap();
    for (parent, contains) in [("", true), ("a/b", true), ("a/b/c/d", false), ("a/bc", false)] {
        assert_eq!(ParentPath::parse(parent).unwrap().contains(&document), contains, "{parent}");
    }
    for (collection, contains) in [("a/b/c", true), ("a", false), ("a/b/cc", false), ("c", false)] {
        let collection = CollectionPath::parse(collection).unwrap();
        assert_eq!(collection.contains(&document), contains, "{collection}");
    }
}

#[test]
fn paths_in_ascending_order() {
    let ascending = [
        "a/__id-9223372036854775808__",
        "a/__id-1__",
        "a/__id2__",
        "a/__id10__",
        "a/__id9223372036854775807__",
        "a/B",
        "a/__",
        "a/b",
        "a/b/c/d",
        "a/b\u{0}",
        "a/b-",
        "a/ba",
        "a/\u{e9}",
        "a/\u{ffee}",
        "a/\u{1f600}",
        "a-/b",
    ];
    for (left_index, left) in ascending.iter().enumerate() {
        for (right_index, right) in ascending.iter().enumerate() {
            let ordering =
                DocumentPath::parse(left).unwrap().cmp(&DocumentPath::parse(right).unwrap());
            assert_eq!(ordering, left_index.cmp(&right_index), "{left:?} {right:?}");
        }
    }
}
