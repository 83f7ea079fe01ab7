//! Storage keys: round trip, and their byte order is the order of paths.

use base_value::{ParentPath, key};
use proptest::prelude::*;

use crate::strategies::document_path;

proptest! {
    #[test]
    fn keys_round_trip(path in document_path()) {
        let key = key::document(&path);
        prop_assert_eq!(key::parse(&key), Some(path.clone()));
        prop_assert_eq!(key::group_id(&key), Some(path.collection_id().to_owned()));
        prop_assert!(key::is_direct_child(&key, &path.parent()));
    }

    #[test]
    fn keys_come_apart(path in document_path()) {
        let key = key::document(&path);
        let parts = key::parts(&key).expect("the key of a document");
        prop_assert_eq!([parts.group, parts.collection, parts.id].concat(), key.clone());
        let collection = path.parent();
        prop_assert_eq!([parts.group, parts.collection].concat(), key::collection(&collection).0);
        prop_assert_eq!(parts.is_root, collection.parent().is_root());
        prop_assert_eq!(key::parts(&key[..key.len() - 1]), None);
    }

    #[test]
    fn key_order_is_path_order(left in document_path(), right in document_path()) {
        let (left_key, right_key) = (key::document(&left), key::document(&right));
        prop_assert_eq!(left_key == right_key, left == right);
        prop_assert_eq!(key::path_bytes(&left_key).cmp(&key::path_bytes(&right_key)), left.cmp(&right));
        if left.collection_id() == right.collection_id() {
            prop_assert_eq!(left_key.cmp(&right_key), left.cmp(&right));
        }
    }

    #[test]
    fn ranges_hold_exactly_their_documents(left in document_path(), right in document_path()) {
        let key = key::document(&left);
        let within = |(start, end): key::Bounds| start <= key && key < end;

        let collection = right.parent();
        let direct = collection.contains(&left);
        prop_assert_eq!(key::is_direct_child(&key, &collection), direct);
        prop_assert!(!direct || within(key::collection(&collection)));

        for parent in [ParentPath::root(), collection.parent(), ParentPath::from(right.clone())] {
            for group in [left.collection_id(), right.collection_id(), "a"] {
                let expected = parent.contains(&left) && left.collection_id() == group;
                prop_assert_eq!(within(key::group(group, &parent)), expected);
            }
            let child = key::child_collection(&key, &parent);
            prop_assert_eq!(child.is_some(), parent.contains(&left));
            if let Some(child) = child {
                let child = parent.collection(&child).expect("an id out of a path");
                prop_assert!(key < key::after_child(left.collection_id(), &child));
            }
        }
        let next = key::next_group(right.collection_id());
        prop_assert_eq!(key < next, left.collection_id() <= right.collection_id());
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(prop_oneof![0_u8..4, any::<u8>()], 0..24)) {
        if let Some(path) = key::parse(&bytes) {
            prop_assert_eq!(key::document(&path), bytes);
        }
    }
}
