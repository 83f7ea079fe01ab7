//! What options and files together make of a suite, for both callers.

use host_suite::{Caller, ConfigChoice, Plan, ServiceOptions, StartOptions};
use serde_json::json;

use crate::support::{machine, project};

/// The project, and each service with host and port, in one line; or the error with its code.
fn show(plan: Result<Plan, host_suite::StartError>) -> String {
    match plan {
        Ok(plan) => {
            let services = plan.services.iter();
            let services =
                services.map(|one| format!(" | {} {} {:?}", one.row.name, one.host, one.port));
            format!("{}{}", plan.project.id, services.collect::<String>())
        }
        Err(error) => format!("{}: {error}", error.code()),
    }
}

fn check(
    caller: Caller,
    files: &[(&str, &str)],
    change: impl FnOnce(&mut StartOptions),
    expected: &str,
) {
    let folder = project(files);
    let mut options = StartOptions::new(caller, machine(folder.path()));
    change(&mut options);
    let shown = show(Plan::new(options)).replace(&folder.path().display().to_string(), ".");
    assert_eq!(shown, expected, "{caller:?} {files:?}");
}

fn port(port: u16) -> ServiceOptions {
    ServiceOptions { port: Some(port), ..ServiceOptions::default() }
}

#[test]
fn the_command_line_takes_ports_from_flag_file_and_official_default() {
    let check = |files: &[(&str, &str)], change: fn(&mut StartOptions), expected: &str| {
        check(Caller::CommandLine, files, change, expected);
    };
    let plain = [("firebase.json", r#"{"firestore": {}}"#)];
    let ports = [(
        "firebase.json",
        r#"{"emulators": {"firestore": {"port": 9000, "host": "0.0.0.0"}, "hub": {"port": "4411"}}}"#,
    )];
    check(
        &plain,
        |_| (),
        "demo-no-project | hub localhost Search(4400) | firestore localhost Fixed(8080)",
    );
    check(
        &ports,
        |_| (),
        "demo-no-project | hub localhost Fixed(4411) | firestore 0.0.0.0 Fixed(9000)",
    );
    check(
        &ports,
        |options| {
            options.host = Some("127.0.0.1".to_owned());
            options.services.insert("firestore", port(0));
            options.services.insert("hub", port(1));
        },
        "demo-no-project | hub 127.0.0.1 Fixed(1) | firestore 127.0.0.1 Any",
    );
    check(
        &plain,
        |options| {
            options.machine.variables.insert("WSL_DISTRO_NAME".into(), "Debian".into());
            options.host = Some("localhost".to_owned());
        },
        "demo-no-project | hub 127.0.0.1 Search(4400) | firestore 127.0.0.1 Fixed(8080)",
    );
}

#[test]
fn the_command_line_finds_file_and_project_as_the_official_one() {
    let check = |files: &[(&str, &str)], change: fn(&mut StartOptions), expected: &str| {
        check(Caller::CommandLine, files, change, expected);
    };
    let only = |options: &mut StartOptions| options.only = Some(vec!["firestore".to_owned()]);
    let none = "FIRELET_CONFIG_NOT_FOUND: Not in a Firebase app directory (could not locate firebase.json)";
    check(&[], |_| (), none);
    check(
        &[],
        |options| options.only = Some(vec!["firestore".to_owned(), "hosting".to_owned()]),
        none,
    );
    check(
        &[],
        only,
        "demo-no-project | hub localhost Search(4400) | firestore localhost Fixed(8080)",
    );
    check(
        &[],
        |options| options.config = ConfigChoice::File("x/firebase.json".into()),
        "FIRELET_CONFIG_NOT_FOUND: Could not load config file ./x/firebase.json.",
    );
    check(
        &[
            ("x/firebase.json", r#"{"firestore": {}}"#),
            ("x/.firebaserc", r#"{"projects": {"default": "demo-x"}}"#),
            ("firebase.json", "{"),
        ],
        |options| options.config = ConfigChoice::File("x/firebase.json".into()),
        "demo-x | hub localhost Search(4400) | firestore localhost Fixed(8080)",
    );
    check(
        &[("firebase.json", r#"{"firestore": {"edition": "Deluxe"}}"#)],
        |_| (),
        "FIRELET_BAD_CONFIG: The Firestore emulator edition must be either 'standard' or 'enterprise'.",
    );
    check(
        &[("firebase.json", r#"{"firestore": {"rules": "../up.rules"}}"#)],
        |_| (),
        "FIRELET_BAD_CONFIG: ../up.rules is outside of project directory",
    );
    check(
        &[("firebase.json", r#"{"firestore": {}}"#)],
        |options| options.project = Some("No".to_owned()),
        "FIRELET_INVALID_PROJECT: Invalid project id: No.\nNote: Project id must be all lowercase.",
    );
}

#[test]
fn firebase_use_counts_for_the_command_line_and_not_for_programs() {
    let folder = project(&[("firebase.json", r#"{"firestore": {}}"#)]);
    let chosen = json!({"activeProjects": {folder.path().to_str().unwrap(): "demo-used"}});
    let settings = folder.path().join("home/.config/configstore");
    std::fs::create_dir_all(&settings).unwrap();
    std::fs::write(settings.join("firebase-tools.json"), chosen.to_string()).unwrap();
    for (caller, expected) in
        [(Caller::CommandLine, "demo-used"), (Caller::Program, "demo-no-project")]
    {
        let plan = Plan::new(StartOptions::new(caller, machine(folder.path()))).unwrap();
        assert_eq!(plan.project.id, expected, "{caller:?}");
    }
}

#[test]
fn programs_get_free_ports_and_need_no_file() {
    let check = |files: &[(&str, &str)], change: fn(&mut StartOptions), expected: &str| {
        check(Caller::Program, files, change, expected);
    };
    let any = "demo-no-project | hub localhost Any | firestore localhost Any";
    let fixed =
        [("firebase.json", r#"{"emulators": {"firestore": {"port": 9000, "host": "0.0.0.0"}}}"#)];
    let without = [("firebase.json", r#"{"hosting": {}}"#)];
    check(&[], |_| (), any);
    check(&fixed, |_| (), any);
    check(&without, |_| (), "FIRELET_NOT_YET: nothing to start: firelet does not have hosting yet");
    check(&without, |options| options.config = ConfigChoice::Nothing, any);
    check(
        &without,
        |options| {
            options.services.insert("firestore", port(7));
        },
        "demo-no-project | hub localhost Any | firestore localhost Fixed(7)",
    );
    check(
        &[],
        |options| options.only = Some(vec!["auth".to_owned()]),
        "FIRELET_NOT_YET: nothing to start: firelet does not have auth yet",
    );
    check(
        &[(".firebaserc", r#"{"projects": {"default": "demo-rc"}}"#)],
        |_| (),
        "demo-rc | hub localhost Any | firestore localhost Any",
    );
    let inline = |options: &mut StartOptions| {
        let root = json!({"emulators": {"firestore": {}}}).as_object().unwrap().clone();
        options.config = ConfigChoice::Inline(root);
    };
    check(&without, inline, any);
}

#[test]
fn what_is_configured_and_without_effect_is_said_once() {
    let files = [(
        "firebase.json",
        r#"{"firestore": {"rules": "firestore.rules", "edition": "enterprise"},
            "emulators": {"auth": {}, "ui": {}, "singleProjectMod": true}}"#,
    )];
    let folder = project(&files);
    let mut options = StartOptions::new(Caller::CommandLine, machine(folder.path()));
    options.ui = true;
    options.services.insert("auth", port(9099));
    let plan = Plan::new(options).unwrap();
    let said: Vec<_> =
        plan.notices.iter().map(|one| format!("{}: {}", one.label, one.text)).collect();
    let expected = [
        "emulators: unknown key `emulators.singleProjectMod` is ignored, did you mean `singleProjectMode`?",
        "emulators: Detected demo project ID \"demo-no-project\", emulated services will use a demo \
         configuration and attempts to access non-emulated services for this project will fail.",
        "auth: firelet does not have the Authentication Emulator yet, skipping it",
        "ui: firelet does not have the Emulator UI yet, skipping it",
        "firestore: firelet does not have the enterprise edition yet, it runs as standard",
        "firestore: firelet does not evaluate rules yet: every read and write is allowed, whatever \
         `firestore.rules` says",
    ];
    assert_eq!(said, expected);
}

#[test]
fn index_files_are_read_where_firebase_json_names_them() {
    let check = |files: &[(&str, &str)], expected: &str| {
        check(Caller::Program, files, |_| (), expected);
    };
    let runs = "demo-no-project | hub localhost Any | firestore localhost Any";
    let named = ("firebase.json", r#"{"firestore": {"indexes": "firestore.indexes.json"}}"#);
    check(&[named], runs);
    check(&[named, ("firestore.indexes.json", "// none yet\n")], runs);
    let index = r#"{"indexes": [{"collectionGroup": "c", "queryScope": "COLLECTION", "fields": [
        {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "b", "arrayConfig": "CONTAINS"}]}]}"#;
    check(&[named, ("firestore.indexes.json", index)], runs);
    check(
        &[named, ("firestore.indexes.json", r#"{"indexes": [{"fields": []}, 7]}"#)],
        "FIRELET_BAD_CONFIG: `./firestore.indexes.json` has 2 problems: \
         indexes[0].collectionGroup must be the id of a collection; indexes[1] must be an object",
    );
    let several = r#"{"firestore": [{"database": "a", "indexes": "a.json"},
        {"database": "b", "indexes": "../b.json"}]}"#;
    check(
        &[("firebase.json", several), ("a.json", index)],
        "FIRELET_BAD_CONFIG: ../b.json is outside of project directory",
    );
}
