//! `emulators:start`: what it prints, and how signals end it.

use host_suite::cli::Signal;
use serde_json::Value;

use crate::support::{Cli, get, machine, project};

const CONFIG: (&str, &str) = (
    "firebase.json",
    r#"{"emulators": {"firestore": {"port": 0}, "hub": {"port": 0}, "auth": {}}}"#,
);
const READY: &str = "All emulators ready! It is now safe to connect your app.";

#[tokio::test]
async fn the_table_names_addresses_and_one_signal_ends_it() {
    for signal in [Signal::Interrupt, Signal::Terminate, Signal::Hangup, Signal::Quit] {
        let folder = project(&[CONFIG]);
        let cli = Cli::new(machine(folder.path())).spawn(&["emulators:start", "-P", "demo-s"]);
        cli.says("Ctrl-C stops.").await;
        let text = cli.stdout.text();
        assert!(text.contains(READY), "{text}");
        assert!(text.contains("i  emulators: Starting emulators: firestore\n"), "{text}");
        let row = text.lines().find(|line| line.contains(" Firestore ")).unwrap();
        let authority = row.split('\u{2502}').nth(2).unwrap().trim();
        assert!(get(authority, "/").await.is_ok(), "{row}");
        assert!(folder.path().join("tmp/hub-demo-s.json").exists());

        cli.signals.send(signal).await.unwrap();
        let ended = cli.end().await;
        assert_eq!(ended.code, 0, "{signal:?}: {}", ended.stderr);
        assert!(ended.stdout.contains("for the first time. Starting a clean shutdown.\n"));
        assert!(ended.stdout.contains("i  firestore: Stopping Firestore Emulator\n"));
        let told: Vec<_> = ended.stderr.lines().collect();
        assert!(
            matches!(
                told[..],
                [
                    "\u{26a0}  auth: firelet does not have the Authentication Emulator yet, skipping it",
                    no_rules,
                    open
                ] if no_rules.contains("Did not find a Cloud Firestore rules file")
                    && open.contains("default to allowing all reads and writes")
            ),
            "{told:?}"
        );
        assert!(get(authority, "/").await.is_err());
        assert!(!folder.path().join("tmp/hub-demo-s.json").exists());
    }
}

#[tokio::test]
async fn colours_are_for_terminals() {
    let run = |cli: Cli| async {
        let running = cli.spawn(&["emulators:start"]);
        running.says("Ctrl-C stops.").await;
        running.signals.send(Signal::Interrupt).await.unwrap();
        running.end().await
    };
    let folder = project(&[CONFIG]);
    let plain = run(Cli::new(machine(folder.path()))).await;
    assert!(!plain.stdout.contains('\u{1b}') && !plain.stderr.contains('\u{1b}'));
    let coloured = run(Cli::new(machine(folder.path())).on_a_terminal()).await;
    assert!(coloured.stdout.contains("\u{1b}[36;1mi\u{1b}[0m"));
    assert!(coloured.stderr.contains("\u{1b}[33;1m\u{26a0}\u{1b}[0m"));
    let mut without = machine(folder.path());
    without.variables.insert("NO_COLOR".into(), "1".into());
    let plain = run(Cli::new(without).on_a_terminal()).await;
    assert!(!plain.stdout.contains('\u{1b}') && !plain.stderr.contains('\u{1b}'));
}

#[tokio::test]
async fn verbosity_takes_lines_away_but_never_the_one_scripts_wait_for() {
    for (level, bullets, warnings) in [
        ("DEBUG", true, true),
        ("info", true, true),
        ("QUIET", false, true),
        ("SILENT", false, false),
    ] {
        let folder = project(&[CONFIG]);
        let cli = Cli::new(machine(folder.path()));
        let cli = cli.spawn(&["emulators:start", "--log-verbosity", level]);
        cli.says("Ctrl-C stops.").await;
        cli.signals.send(Signal::Interrupt).await.unwrap();
        let ended = cli.end().await;
        assert!(ended.stdout.contains(READY), "{level}");
        assert_eq!(ended.stdout.contains("Starting emulators:"), bullets, "{level}");
        assert_eq!(!ended.stderr.is_empty(), warnings, "{level}");
    }
}

#[tokio::test]
async fn json_is_one_object_and_nothing_else() {
    let folder = project(&[CONFIG]);
    let cli = Cli::new(machine(folder.path())).spawn(&["emulators:start", "--json"]);
    let locator = folder.path().join("tmp/hub-demo-no-project.json");
    crate::support::until(|| "the locator file".to_owned(), || locator.exists()).await;
    cli.signals.send(Signal::Terminate).await.unwrap();
    let ended = cli.end().await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let object: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(object["status"], "success");
    assert_eq!(object["result"]["services"]["firestore"]["host"], "127.0.0.1");

    let ended = Cli::new(machine(folder.path()))
        .run(&["emulators:start", "--json", "--project", "No"])
        .await;
    let object: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((ended.code, &object["status"]), (1, &Value::from("error")));
    assert_eq!(object["code"], "FIRELET_INVALID_PROJECT");
}

#[tokio::test]
async fn one_port_for_two_services_is_explained() {
    let folder = project(&[CONFIG]);
    let argv = ["emulators:start", "--firestore-port", "4411", "--hub-port", "4411"];
    let ended = Cli::new(machine(folder.path())).run(&argv).await;
    assert_eq!(ended.code, 1);
    let expected = "\u{26a0}  firestore: Port 4411 is not open on localhost, could not start \
                    Firestore Emulator. The emulator hub of this suite is to have this port too: \
                    give one of them another one\n\
                    \n\
                    Error: Could not start Firestore Emulator, port taken.\n";
    assert!(ended.stderr.ends_with(expected), "{}", ended.stderr);
}

#[tokio::test]
async fn a_taken_port_is_explained() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let folder = project(&[CONFIG]);
    let argv = ["emulators:start", "--firestore-port", &port, "--host", "127.0.0.1"];
    let ended = Cli::new(machine(folder.path())).run(&argv).await;
    assert_eq!(ended.code, 1);
    let expected = format!(
        "\u{26a0}  firestore: Port {port} is not open on 127.0.0.1, could not start Firestore Emulator. \
         Another program has this port: stop it, or choose another port (0 takes a free one)\n\
         \u{26a0}  firestore: To use another port, set `emulators.firestore.port` in firebase.json or \
         pass `--firestore-port`.\n\
         \n\
         Error: Could not start Firestore Emulator, port taken.\n"
    );
    assert!(ended.stderr.ends_with(&expected), "{}", ended.stderr);
    assert!(!folder.path().join("tmp/hub-demo-no-project.json").exists());
}
