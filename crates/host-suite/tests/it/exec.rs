//! `emulators:exec` with real shell scripts: environment, exit codes, signals.
#![cfg(unix)]

use std::fs;
use std::path::Path;

use host_suite::Machine;
use host_suite::cli::Signal;
use tempfile::TempDir;

use crate::support::{Cli, Spawned, machine, project, until};

const CONFIG: (&str, &str) =
    ("firebase.json", r#"{"emulators": {"firestore": {"port": 0}, "hub": {"port": 0}}}"#);

fn folder() -> TempDir {
    project(&[CONFIG])
}

fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).unwrap_or_default()
}

#[tokio::test]
async fn the_exit_code_is_the_scripts() {
    for (script, code, line) in [
        ("true", 0, "Script exited successfully (code 0)"),
        ("exit 1", 1, "Script exited unsuccessfully (code 1)"),
        ("exit 7", 7, "Script exited unsuccessfully (code 7)"),
        ("exit 255", 255, "Script exited unsuccessfully (code 255)"),
        ("no-such-command-anywhere", 127, "Script exited unsuccessfully (code 127)"),
        ("kill -TERM $$", 1, "Script exited with signal: SIGTERM"),
        ("kill -KILL $$", 1, "Script exited with signal: SIGKILL"),
    ] {
        let folder = folder();
        let ended = Cli::new(machine(folder.path())).run(&["emulators:exec", script]).await;
        assert_eq!(ended.code, code, "{script}: {}", ended.stderr);
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(said.contains(&format!("emulators: {line}\n")), "{script}: {said}");
        assert!(ended.stdout.contains(&format!("i  emulators: Running script: {script}\n")));
        assert!(ended.stdout.contains("i  hub: Stopping emulator hub\n"), "{said}");
        let failure = ended.stderr.contains(&format!("\nError: Script \"{script}\" exited with "));
        assert_eq!(failure, code != 0, "{script}: {said}");
        assert_eq!(fs::read_dir(folder.path().join("tmp")).unwrap().count(), 0);
    }
}

async fn variables(change: fn(&mut Machine), argv: &[&str]) -> Vec<(String, String)> {
    let folder = folder();
    let mut machine = machine(folder.path());
    machine.variables.insert("OWN".into(), "kept".into());
    change(&mut machine);
    let argv = [&["emulators:exec", "env > out"], argv].concat();
    let ended = Cli::new(machine).run(&argv).await;
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let text = read(folder.path(), "out");
    text.lines()
        .filter_map(|line| line.split_once('='))
        .map(|(a, b)| (a.into(), b.into()))
        .collect()
}

#[tokio::test]
async fn the_script_finds_the_suite_in_its_environment() {
    let found = variables(|_| (), &["--project", "demo-e"]).await;
    let value = |name: &str| {
        found.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str()).unwrap_or("")
    };
    assert_eq!(value("OWN"), "kept");
    assert_eq!(value("GCLOUD_PROJECT"), "demo-e");
    assert_eq!(value("IS_FIREBASE_CLI"), "true");
    assert!(value("FIREBASE_CONFIG").starts_with("{\"projectId\":\"demo-e\","));
    for name in ["FIRESTORE_EMULATOR_HOST", "FIREBASE_EMULATOR_HUB"] {
        assert!(value(name).starts_with("127.0.0.1:"), "{name}: {}", value(name));
    }
    assert_eq!(value("FIRESTORE_EMULATOR_HOST"), value("FIREBASE_FIRESTORE_EMULATOR_ADDRESS"));
}

#[tokio::test]
async fn what_the_user_has_set_beats_a_guess_but_not_a_named_project() {
    let set = |machine: &mut Machine| {
        machine.variables.insert("GCLOUD_PROJECT".into(), "mine".into());
        machine.variables.insert("FIREBASE_CONFIG".into(), "{}".into());
    };
    for (argv, project) in [(&[][..], "mine"), (&["-P", "demo-e"], "demo-e")] {
        let found = variables(set, argv).await;
        let has = |name: &str, value: &str| found.contains(&(name.to_owned(), value.to_owned()));
        assert!(has("GCLOUD_PROJECT", project), "{argv:?} {found:?}");
        assert!(has("FIREBASE_CONFIG", "{}"), "{argv:?} {found:?}");
    }
}

/// Starts a script that writes its process id and then goes on with `rest`.
async fn running(folder: &Path, rest: &str, terminal: bool) -> Spawned {
    let cli = Cli::new(machine(folder));
    let cli = if terminal { cli.on_a_terminal() } else { cli };
    let spawned = cli.spawn(&[
        "emulators:exec",
        &format!("{rest}\necho $$ > started; while :; do sleep 0.01; done"),
    ]);
    until(|| "the script".to_owned(), || !read(folder, "started").is_empty()).await;
    spawned
}

#[tokio::test]
async fn one_signal_reaches_the_script_once_and_its_code_counts() {
    for (signal, name, code) in
        [(Signal::Interrupt, "INT", 3), (Signal::Terminate, "TERM", 4), (Signal::Hangup, "HUP", 0)]
    {
        let folder = folder();
        let trap = format!("trap 'echo {name} >> got; exit {code}' {name}");
        let cli = running(folder.path(), &trap, false).await;
        cli.signals.send(signal).await.unwrap();
        // The same Ctrl-C told twice, as a terminal and npm do, is one.
        cli.signals.send(signal).await.unwrap();
        let ended = cli.end().await;
        assert_eq!(ended.code, code, "{name}: {}", ended.stderr);
        assert_eq!(read(folder.path(), "got"), format!("{name}\n"));
        assert!(ended.stdout.contains("for the first time. Starting a clean shutdown.\n"));
    }
}

#[tokio::test]
async fn a_script_that_dies_of_the_signal_is_code_1() {
    let folder = folder();
    let cli = running(folder.path(), "", false).await;
    cli.signals.send(Signal::Terminate).await.unwrap();
    let ended = cli.end().await;
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("Script exited with signal: SIGTERM\n"), "{}", ended.stderr);
}

#[tokio::test]
async fn a_signal_reaches_what_the_script_has_started() {
    let folder = folder();
    let inner = "sh -c 'trap \"echo inner >> got; exit\" TERM; echo up > inner; while :; do sleep 0.01; done' &\n\
                 while [ ! -s inner ]; do sleep 0.01; done\ntrap 'wait; exit 5' TERM";
    let cli = running(folder.path(), inner, false).await;
    cli.signals.send(Signal::Terminate).await.unwrap();
    assert_eq!(cli.end().await.code, 5);
    assert_eq!(read(folder.path(), "got"), "inner\n");
}

#[tokio::test]
async fn a_second_signal_ends_a_script_that_does_not_listen() {
    let folder = folder();
    let cli = running(folder.path(), "trap 'echo got >> got' INT", false).await;
    cli.signals.send(Signal::Interrupt).await.unwrap();
    until(|| "the trap".to_owned(), || read(folder.path(), "got") == "got\n").await;
    // Repeats at once are one signal, so the second one is told until it is understood.
    let signals = cli.signals.clone();
    let repeat = async {
        loop {
            if signals.send(Signal::Interrupt).await.is_err() {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(std::time::Duration::from_millis(150)).await;
        }
    };
    let ended = tokio::select! {
        ended = cli.end() => ended,
        () = repeat => panic!("the signals ended first"),
    };
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("Script exited with signal: SIGKILL\n"), "{}", ended.stderr);
    assert_eq!(fs::read_dir(folder.path().join("tmp")).unwrap().count(), 0);
}

#[tokio::test]
async fn on_a_terminal_ctrl_c_is_left_to_the_terminal() {
    let folder = folder();
    let trap = "trap 'echo INT >> got; exit 3' INT; trap 'echo TERM >> got; exit 4' TERM";
    let cli = running(folder.path(), trap, true).await;
    cli.signals.send(Signal::Interrupt).await.unwrap();
    cli.says("for the first time").await;
    assert_eq!(read(folder.path(), "got"), "");
    cli.signals.send(Signal::Terminate).await.unwrap();
    assert_eq!(cli.end().await.code, 4);
    assert_eq!(read(folder.path(), "got"), "TERM\n");
}

#[tokio::test]
async fn json_is_one_object() {
    for (script, status) in [("true", "success"), ("exit 3", "error")] {
        let folder = folder();
        let ended =
            Cli::new(machine(folder.path())).run(&["emulators:exec", "--json", script]).await;
        let object: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(object["status"], status);
        assert_eq!(ended.stderr, "");
    }
}
