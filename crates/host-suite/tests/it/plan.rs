//! What options and files together make of a suite, for both callers.

use std::sync::{Arc, Mutex};

use host_suite::{Caller, ConfigChoice, Log, Plan, ServiceOptions, StartOptions};
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
        "FIRELET_INVALID_PROJECT: Invalid project id: No.\nNote: Project id must be all lowercase.\n\
         Note: It consists of small letters, digits and hyphens.",
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
fn no_two_services_have_one_port() {
    let check = |firestore: &str, hub: &str, expected: &str| {
        let config = format!(r#"{{"emulators": {{"firestore": {firestore}, "hub": {hub}}}}}"#);
        check(Caller::CommandLine, &[("firebase.json", &config)], |_| (), expected);
    };
    let refused = |host: &str| {
        format!(
            "FIRELET_PORT_IN_USE: Port 9 is not open on {host}, could not start Firestore Emulator. \
             The emulator hub of this suite is to have this port too: give one of them another one"
        )
    };
    check(r#"{"port": 9}"#, r#"{"port": 9}"#, &refused("localhost"));
    check(r#"{"port": 9, "host": "::1"}"#, r#"{"port": 9}"#, &refused("::1"));
    check(
        r#"{"port": 9, "host": "0.0.0.0"}"#,
        r#"{"port": 9, "host": "127.0.0.1"}"#,
        &refused("0.0.0.0"),
    );
    check(
        r#"{"port": 9, "host": "127.0.0.2"}"#,
        r#"{"port": 9, "host": "127.0.0.1"}"#,
        "demo-no-project | hub 127.0.0.1 Fixed(9) | firestore 127.0.0.2 Fixed(9)",
    );
    check(
        r#"{"port": 4400}"#,
        "{}",
        "demo-no-project | hub localhost Search(4401) | firestore localhost Fixed(4400)",
    );
}

#[test]
fn a_broken_firebaserc_matters_where_it_would_name_the_project() {
    let files =
        [("firebase.json", r#"{"firestore": {}}"#), (".firebaserc", "{\"projects\": {}, ]")];
    let broken =
        "JSON error trying to load ./.firebaserc: unexpected token in object on line 1, column 18";
    for caller in [Caller::CommandLine, Caller::Program] {
        check(caller, &files, |_| (), &format!("FIRELET_BAD_CONFIG: {broken}"));
    }
    let folder = project(&files);
    let mut options = StartOptions::new(Caller::Program, machine(folder.path()));
    options.project = Some("demo-x".to_owned());
    let plan = Plan::new(options).unwrap();
    let said: Vec<_> = plan.notices.iter().map(|one| one.text.as_str()).collect();
    let place = folder.path().display().to_string();
    assert_eq!(said, [broken.replace("./", &format!("{place}/"))]);
}

#[test]
fn where_nothing_starts_typing_errors_are_named() {
    check(
        Caller::CommandLine,
        &[("firebase.json", r#"{"emulators": {"firestor": {"port": 1}}}"#)],
        |_| (),
        "FIRELET_NOTHING_TO_START: No emulators to start: `./firebase.json` names none; add \
         `\"emulators\": { \"firestore\": { \"port\": 8080 } }` to it; unknown key \
         `emulators.firestor` is ignored, did you mean `firestore`?",
    );
}

/// What a caller is told, without what is told in every project.
fn said(
    caller: Caller,
    files: &[(&str, &str)],
    change: impl FnOnce(&mut StartOptions),
) -> Vec<String> {
    let folder = project(files);
    let mut options = StartOptions::new(caller, machine(folder.path()));
    change(&mut options);
    let notices = Plan::new(options).unwrap().notices.into_iter();
    let texts = notices.map(|one| one.text);
    texts.filter(|text| !text.starts_with("Detected demo") && !is_of_open_rules(text)).collect()
}

/// Whether a notice says that there are no rules.
fn is_of_open_rules(text: &str) -> bool {
    text.starts_with("Did not find a Cloud Firestore rules file")
        || text.starts_with("The emulator will default to allowing all reads and writes.")
}

const RULES: &str = "rules_version = '2';
service cloud.firestore { match /databases/{d}/documents/{p=**} { allow read; } }";

#[test]
fn every_database_has_its_rules() {
    let config = r#"{"firestore": [{"database": "(default)", "rules": "a.rules"},
        {"database": "two", "rules": "b.rules"}, {"database": "three"}]}"#;
    for caller in [Caller::CommandLine, Caller::Program] {
        let found = said(caller, &[("firebase.json", config), ("a.rules", RULES)], |_| ());
        let [missing] = found.as_slice() else { panic!("one notice, not {found:?}") };
        let text = "b.rules specified in firebase.json does not exist.";
        assert!(missing.ends_with(text), "{missing}");
    }
    let bad = "service cloud.firestore {\nallow read; match /a/{b} { allow read: if duration; } }";
    let files = [("firebase.json", config), ("a.rules", bad), ("b.rules", "service {")];
    let folder = project(&files);
    let error = Plan::new(StartOptions::new(Caller::Program, machine(folder.path())));
    let shown = show(error);
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines[0], "FIRELET_BAD_RULES: the security rules cannot be used:");
    assert!(lines.contains(&"a.rules:2:1 - ERROR Unexpected 'allow'."), "{shown}");
    assert!(lines.iter().any(|line| line.starts_with("b.rules:1:9 - ERROR ")), "{shown}");
}

#[test]
fn a_program_hears_of_what_its_rules_are_warned_of() {
    let named = |rules: &str| {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let writer = heard.clone();
        let log = Log::new(move |label, text| {
            writer.lock().unwrap().push(format!("{label}: {text}"));
        });
        let folder = project(&[("a.rules", RULES)]);
        let mut options = StartOptions::new(Caller::Program, machine(folder.path()));
        options.log = log;
        let rules = Some(rules.to_owned());
        options.services.insert("firestore", ServiceOptions { rules, ..Default::default() });
        let plan = Plan::new(options);
        let refused = plan.is_err().then(|| show(plan));
        heard.lock().unwrap().iter().cloned().chain(refused).collect::<Vec<_>>()
    };
    assert_eq!(named("a.rules"), [""; 0]);
    assert_eq!(named(RULES), [""; 0]);
    assert_eq!(
        named(&RULES.replace("read;", "read: if nobody;")),
        ["firestore: firestore.rules:2:82 - WARNING Invalid variable name: nobody."]
    );
    assert_eq!(
        named("no.rules"),
        [
            "FIRELET_INVALID_OPTION: option `firestore.rules` must be the path of a file that exists, or the \
          source of rules, not `no.rules`"
        ]
    );
}

#[test]
fn the_command_line_warns_where_everything_is_open() {
    let folder = project(&[("firebase.json", r#"{"firestore": {}}"#)]);
    let told = |caller| {
        let options = StartOptions::new(caller, machine(folder.path()));
        let notices = Plan::new(options).unwrap().notices;
        notices.iter().filter(|one| is_of_open_rules(&one.text)).count()
    };
    assert_eq!((told(Caller::CommandLine), told(Caller::Program)), (2, 0));
}

#[test]
fn a_host_that_others_reach_is_a_warning() {
    let files = [("firebase.json", r#"{"firestore": {}}"#)];
    for (host, open) in [
        ("0.0.0.0", true),
        ("::", true),
        ("192.0.2.1", true),
        ("example.test", true),
        ("localhost", false),
        ("127.0.0.2", false),
        ("::1", false),
        ("[::1]", false),
    ] {
        let found =
            said(Caller::CommandLine, &files, |options| options.host = Some(host.to_owned()));
        let text = format!("listening on {host} lets other machines in, and there is no password");
        assert_eq!(found, open.then_some(text).into_iter().collect::<Vec<_>>(), "{host}");
    }
}

#[test]
fn a_script_is_told_of_the_user_interface_only_where_it_asks_for_it() {
    let files = [("firebase.json", r#"{"emulators": {"firestore": {}, "ui": {"enabled": true}}}"#)];
    let missing = "firelet does not have the Emulator UI yet, skipping it";
    for (ui, expected) in [(None, &[missing][..]), (Some(true), &[missing]), (Some(false), &[])] {
        let found = said(Caller::CommandLine, &files, |options| options.ui = ui);
        assert_eq!(found, expected, "{ui:?}");
    }
}

#[test]
fn what_is_configured_and_without_effect_is_said_once() {
    let files = [
        (
            "firebase.json",
            r#"{"firestore": {"rules": "firestore.rules", "edition": "enterprise"},
            "emulators": {"auth": {}, "ui": {}, "singleProjectMod": true}}"#,
        ),
        ("firestore.rules", &RULES.replace("read;", "read: if nobody;")),
    ];
    let folder = project(&files);
    let mut options = StartOptions::new(Caller::CommandLine, machine(folder.path()));
    options.ui = Some(true);
    options.services.insert("auth", port(9099));
    let plan = Plan::new(options).unwrap();
    let said: Vec<_> =
        plan.notices.iter().map(|one| format!("{}: {}", one.label, one.text)).collect();
    let expected = [
        "emulators: Detected demo project ID \"demo-no-project\", emulated services will use a demo \
         configuration and attempts to access non-emulated services for this project will fail.",
        "emulators: unknown key `emulators.singleProjectMod` is ignored, did you mean `singleProjectMode`?",
        "auth: firelet does not have the Authentication Emulator yet, skipping it",
        "ui: firelet does not have the Emulator UI yet, skipping it",
        "firestore: firelet does not have the enterprise edition yet: it runs as standard, with \
         pipelines, and asks for no indexes",
        "firestore: firestore.rules:2:82 - WARNING Invalid variable name: nobody.",
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
