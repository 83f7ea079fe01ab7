//! firebase.json, .firebaserc, the project id and the choice of services.

use std::path::Path;

use host_suite::config::{
    Emulators, FirebaseConfig, FirebaseRc, NO_PROJECT, Project, ProjectSources, active_project,
    choose, find_directory, split_only,
};
use serde_json::{Value, json};

use crate::support::project;

fn load(files: &[(&str, &str)]) -> Result<FirebaseConfig, String> {
    let folder = project(files);
    let place = folder.path().display().to_string();
    FirebaseConfig::load(&folder.path().join("firebase.json"))
        .map_err(|error| error.to_string().replace(&place, "."))
}

#[test]
fn sections_may_be_files() {
    fn check(files: &[(&str, &str)], section: &str, expected: Value) {
        assert_eq!(load(files).unwrap().section(section), Some(&expected), "{files:?}");
    }
    check(
        &[("firebase.json", r#"{"firestore": {"rules": "a"}}"#)],
        "firestore",
        json!({"rules": "a"}),
    );
    check(
        &[
            ("firebase.json", "{\"firestore\": \"conf/store.json\" /* kept apart */}"),
            ("conf/store.json", "{\"rules\": \"a\",}"),
        ],
        "firestore",
        json!({"rules": "a"}),
    );
    check(
        &[
            ("firebase.json", r#"{"emulators": "./emulators.json"}"#),
            ("emulators.json", r#"{"emulators": {"firestore": {"port": 1}}}"#),
        ],
        "emulators",
        json!({"firestore": {"port": 1}}),
    );
    check(&[("firebase.json", r#"{"rules": "db.json"}"#)], "database", json!({"rules": "db.json"}));
    check(
        &[("firebase.json", r#"{"rules": "old", "database": {"rules": "new"}}"#)],
        "database",
        json!({"rules": "new"}),
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    fn check(files: &[(&str, &str)], expected: &str) {
        assert_eq!(load(files).unwrap_err(), expected, "{files:?}");
    }
    let only = |text| [("firebase.json", text)];
    check(&[], "Could not load config file ./firebase.json.");
    check(&only("[]"), "`./firebase.json` has a problem: it must hold an object");
    check(
        &only("{\n  \"a\" 1}"),
        "`./firebase.json` is not valid JSON: expected colon after the string or word in object \
         property on line 2, column 7",
    );
    check(&only(r#"{"firestore": "x.json"}"#), "Parse Error: Imported file x.json does not exist");
    check(
        &only(r#"{"firestore": "x.yaml"}"#),
        "Parse Error: x.yaml is not of a supported config file type",
    );
    check(&only(r#"{"firestore": 7}"#), "Parse Error: \"firestore\" must be object or import path");
    check(
        &only(r#"{"firestore": "a/../../x.json"}"#),
        "a/../../x.json is outside of project directory",
    );
    check(
        &[("firebase.json", r#"{"firestore": "x.json"}"#), ("x.json", "{")],
        "`./x.json` is not valid JSON: unterminated object on line 1, column 2",
    );
}

#[test]
fn the_emulators_section_is_checked_whole() {
    fn check(emulators: Value, expected: Result<(&str, &[&str]), &str>) {
        let root = json!({"emulators": emulators}).as_object().unwrap().clone();
        let read = FirebaseConfig::inline(Path::new("."), root).and_then(|c| Emulators::read(&c));
        let found = read.map(|(read, notices)| {
            let texts: Vec<_> = notices.into_iter().map(|notice| notice.text).collect();
            (format!("{:?}", read.addresses), texts)
        });
        match (found, expected) {
            (Ok((addresses, notices)), Ok((expected, expected_notices))) => {
                assert_eq!(addresses, expected, "{emulators}");
                assert_eq!(notices, expected_notices, "{emulators}");
            }
            (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected, "{emulators}"),
            (found, expected) => panic!("{emulators}: {found:?}, not {expected:?}"),
        }
    }
    check(json!({}), Ok(("{}", &[])));
    check(json!({"singleProjectMode": false, "newer": {}}), Ok(("{}", &[])));
    check(
        json!({"firestore": {"port": "8081", "host": "0.0.0.0", "websocketPort": 9}, "auth": true}),
        Ok((r#"{"firestore": Address { host: Some("0.0.0.0"), port: Some(8081) }}"#, &[])),
    );
    check(
        json!({"firesotre": {"port": 1}}),
        Ok(("{}", &["unknown key `emulators.firesotre` is ignored, did you mean `firestore`?"])),
    );
    check(
        json!({"firestore": {"prot": 1, "hots": "x"}, "ui": {"enabeld": false, "newer": 1},
               "auth": {"port": 1, "enabled": true}}),
        Ok((
            r#"{"auth": Address { host: None, port: Some(1) }}"#,
            &[
                "unknown key `emulators.firestore.prot` is ignored, did you mean `port`?",
                "unknown key `emulators.firestore.hots` is ignored, did you mean `host`?",
                "unknown key `emulators.ui.enabeld` is ignored, did you mean `enabled`?",
            ],
        )),
    );
    check(
        json!({"firestore": {"port": "80x"}, "auth": {"port": 65536}, "hub": {"host": 1},
               "ui": {"enabled": "no", "port": [1]}}),
        Err("`firebase.json` has 5 problems: \
             `emulators.hub.host` must be a host name, not `1`; \
             `emulators.ui.port` must be a port from 0 to 65535, not an array; \
             `emulators.auth.port` must be a port from 0 to 65535, not `65536`; \
             `emulators.firestore.port` must be a port from 0 to 65535, not `80x`; \
             `emulators.ui.enabled` must be true or false, not `no`"),
    );
    check(
        json!([]),
        Err("`firebase.json` has a problem: `emulators` must be an object, not an array"),
    );
}

#[test]
fn the_project_directory_is_the_nearest_above() {
    let folder = project(&[("firebase.json", ""), ("a/firebase.json", ""), ("a/b/c/x", "")]);
    for (start, expected) in [("a/b/c", "a"), ("a", "a"), (".", ".")] {
        let found = find_directory(&folder.path().join(start)).unwrap();
        let same =
            found.canonicalize().unwrap() == folder.path().join(expected).canonicalize().unwrap();
        assert!(same, "{start}: {}", found.display());
    }
}

#[test]
fn a_broken_firebaserc_is_told_with_its_place() {
    fn check(text: &str, expected: Result<&str, &str>) {
        let folder = project(&[(".firebaserc", text)]);
        let file = folder.path().join(".firebaserc");
        let found = FirebaseRc::load(folder.path());
        let shown = match &found {
            Ok(aliases) => Ok(aliases.default_alias().unwrap_or("none")),
            Err(error) => Err(error.to_string()),
        };
        let start = format!("JSON error trying to load {}: ", file.display());
        assert_eq!(shown, expected.map_err(|reason| start + reason), "{text}");
    }
    check("{\"projects\": {\"default\": \"demo-a\"}, // c\n}", Ok("default"));
    check("{}", Ok("none"));
    check(
        "{\n  \"projects\" 1}",
        Err("expected colon after the string or word in object property on line 2, column 14"),
    );
    check("[]", Err("it must hold an object"));
    assert_eq!(FirebaseRc::load(project(&[]).path()), Ok(FirebaseRc::default()));
}

/// Option, active project and deprecated key, the aliases, and what comes out.
type ProjectCase<'a> = ([Option<&'a str>; 3], &'a str, Result<&'a str, &'a str>);

#[test]
fn the_project_comes_from_the_first_who_names_one() {
    let one = r#"{"projects": {"staging": "demo-staging"}}"#;
    let two = r#"{"projects": {"staging": "demo-staging", "default": "demo-default"}}"#;
    let none_default = r#"{"projects": {"a": "demo-a", "b": "demo-b"}}"#;
    let cases: &[ProjectCase<'_>] = &[
        ([Some("demo-x"), Some("demo-y"), Some("demo-z")], two, Ok("demo-x")),
        ([None, Some("demo-y"), Some("demo-z")], two, Ok("demo-y")),
        ([None, None, Some("demo-z")], two, Ok("demo-z")),
        ([Some("staging"), None, None], two, Ok("demo-staging (staging)")),
        ([None, Some("default"), None], two, Ok("demo-default (default)")),
        ([None, None, None], two, Ok("demo-default (default)")),
        ([None, None, None], one, Ok("demo-staging (staging)")),
        ([None, None, None], none_default, Ok("demo-no-project (nobody)")),
        ([None, None, None], "{}", Ok("demo-no-project (nobody)")),
        ([Some("123456"), None, None], "{}", Ok("123456")),
        ([Some("example.com:app"), None, None], "{}", Ok("example.com:app")),
        (
            [Some("a_b"), None, None],
            "{}",
            Err(
                "Invalid project id: a_b.\nNote: It consists of small letters, digits and hyphens.",
            ),
        ),
        (
            [Some("Demo"), None, None],
            "{}",
            Err(
                "Invalid project id: Demo.\nNote: Project id must be all lowercase.\nNote: It consists \
                 of small letters, digits and hyphens.",
            ),
        ),
    ];
    for (named, aliases, expected) in cases {
        let folder = project(&[(".firebaserc", aliases)]);
        let aliases = FirebaseRc::load(folder.path()).unwrap();
        let [option, active, deprecated] = *named;
        let found = Project::resolve(ProjectSources {
            option,
            active,
            deprecated,
            aliases: Some(&aliases),
        });
        let shown = found.map_err(|error| error.to_string()).map(|project| {
            assert_eq!(project.named, project.id != NO_PROJECT);
            match project.alias {
                Some(alias) => format!("{} ({alias})", project.id),
                None if project.named => project.id,
                None => format!("{} (nobody)", project.id),
            }
        });
        assert_eq!(shown.as_deref().map_err(String::as_str), *expected, "{named:?}");
    }
}

#[test]
fn the_active_project_is_that_of_the_nearest_folder() {
    let chosen = r#"{"activeProjects": {"/a": "demo-a", "/a/b": "staging"}}"#;
    let folder = project(&[("settings.json", chosen), ("broken.json", "{")]);
    for (file, directory, expected) in [
        ("settings.json", "/a/b/c", Some("staging")),
        ("settings.json", "/a/x", Some("demo-a")),
        ("settings.json", "/b", None),
        ("broken.json", "/a", None),
        ("missing.json", "/a", None),
    ] {
        let found = active_project(&folder.path().join(file), Path::new(directory));
        assert_eq!(found.as_deref(), expected, "{file} {directory}");
    }
}

#[test]
fn only_is_split_as_the_official_command_line_does() {
    for (text, expected) in [
        ("firestore", vec!["firestore"]),
        ("auth,firestore", vec!["auth", "firestore"]),
        (" auth, firestore  hosting\t", vec!["auth", "firestore", "hosting"]),
        ("functions:a,functions:b.c", vec!["functions", "functions"]),
        (",,", vec![]),
    ] {
        assert_eq!(split_only(text), expected, "{text}");
    }
}

const NONE: &str = "No emulators to start: the configuration names none; add `\"emulators\": \
                    { \"firestore\": { \"port\": 8080 } }` to it";
const NO_NAME: &str = "No emulators to start: `only` is given and names none";
const NO_AUTH: &str = "firelet does not have the Authentication Emulator yet, skipping it";

fn check_choice(config: Value, only: Option<&str>, expected: Result<&str, &str>, notices: &[&str]) {
    let root = config.as_object().unwrap().clone();
    let file = FirebaseConfig::inline(Path::new("."), root).unwrap();
    let (emulators, _) = Emulators::read(&file).unwrap();
    let only_names = only.map(split_only);
    let found = choose(&file, &emulators, only_names.as_deref(), &[]);
    let shown = match &found {
        Ok(targets) => Ok(targets.names.join(" ")),
        Err(error) => Err(error.to_string()),
    };
    let expected = expected.map(str::to_owned).map_err(str::to_owned);
    assert_eq!(shown, expected, "{config} {only:?}");
    let texts: Vec<_> = found.iter().flat_map(|targets| &targets.notices).collect();
    let texts: Vec<_> = texts.iter().map(|notice| notice.text.as_str()).collect();
    assert_eq!(texts, notices, "{config} {only:?}");
}

#[test]
fn services_are_those_configured_and_wanted() {
    let check = check_choice;
    check(json!({}), None, Err(NONE), &[]);
    check(json!({"firestore": {}}), None, Ok("hub firestore"), &[]);
    check(json!({"emulators": {"firestore": null}}), None, Ok("hub firestore"), &[]);
    check(
        json!({"emulators": {"firestore": {}, "auth": {}}}),
        None,
        Ok("hub firestore"),
        &[NO_AUTH],
    );
    check(
        json!({"emulators": {"firestore": {}, "auth": {}}}),
        Some("firestore"),
        Ok("hub firestore"),
        &[],
    );
    check(
        json!({"auth": {}, "emulators": {"tasks": {}}}),
        None,
        Err("nothing to start: firelet does not have auth, tasks yet"),
        &[],
    );
    check(json!({"firestore": {}}), Some("auth,firestore"), Ok("hub firestore"), &[NO_AUTH]);
    check(
        json!({"firestore": {}}),
        Some("firestor"),
        Err("firestor is not a valid emulator name, valid options are: [\"apphosting\",\"auth\",\
             \"functions\",\"firestore\",\"database\",\"hosting\",\"pubsub\",\"storage\",\"eventarc\",\
             \"dataconnect\",\"tasks\"], did you mean firestore?"),
        &[],
    );
    check(
        json!({"emulators": {"firestore": {}, "ui": {"enabled": true}, "logging": {}}}),
        None,
        Ok("hub firestore"),
        &[
            "firelet does not have the Emulator UI yet, skipping it",
            "firelet does not have the Logging Emulator yet, skipping it",
        ],
    );
    check(
        json!({"emulators": {"firestore": {}, "ui": {"enabled": false}, "hub": {"port": 1}}}),
        None,
        Ok("hub firestore"),
        &[],
    );
}

#[test]
fn only_may_name_the_hub_and_must_leave_something() {
    let check = check_choice;
    check(json!({"firestore": {}}), Some(""), Err(NO_NAME), &[]);
    check(json!({"firestore": {}}), Some("hub"), Err(NO_NAME), &[]);
    check(json!({"firestore": {}}), Some("firestore,hub"), Ok("hub firestore"), &[]);
    check(
        json!({}),
        Some("firestore"),
        Err("No emulators to start: the configuration does not name firestore; add \
             `\"firestore\": {}` to it"),
        &[],
    );
    check(
        json!({"firestore": {}}),
        Some("storage,auth"),
        Err("nothing to start: firelet does not have storage, auth yet"),
        &[],
    );
}
