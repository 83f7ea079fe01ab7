//! Field paths and names: what is written reads back.

use base_value::{DatabaseName, DocumentName, FieldPath, parse_database, parse_parent};
use proptest::prelude::*;

use crate::strategies::document_path;

proptest! {
    #[test]
    fn field_paths_round_trip(segments in prop::collection::vec(prop_oneof!["[a-z_1]{1,4}", "[`\\\\.a\u{e9}]{1,4}", ".{1,8}"], 1..4)) {
        if let Ok(path) = FieldPath::new(segments.clone()) {
            prop_assert_eq!(path.segments(), segments.as_slice());
            prop_assert_eq!(FieldPath::parse(&path.to_string()), Ok(path));
        }
    }

    #[test]
    fn any_text_is_a_path_or_refused(text in "[a`\\\\._ 1]{0,8}") {
        if let Ok(path) = FieldPath::parse(&text) {
            prop_assert_eq!(FieldPath::parse(&path.to_string()), Ok(path));
        }
    }

    #[test]
    fn names_round_trip(project in "[a-z:.]{3,8}", database in "[a-z()-]{3,8}", path in document_path()) {
        let database = DatabaseName::new(&project, &database);
        prop_assert_eq!(parse_database(&database.to_string()), Ok(database.clone()));
        let name = database.document(path);
        prop_assert_eq!(DocumentName::parse(&name.to_string()), Ok(name.clone()));
        let parent = parse_parent(&name.to_string()).expect("a document is a parent");
        prop_assert_eq!(parent.1.to_document(), Some(name.path));
    }

    #[test]
    fn any_text_is_a_name_or_refused(text in "(projects/?)?[/pd.]{0,3}(/databases)?[/pd_]{0,8}(/documents)?[/a._]{0,8}") {
        if let Ok(name) = DocumentName::parse(&text) {
            prop_assert_eq!(name.to_string(), text);
        }
    }
}
