//! Arguments: help, mistakes, and what firelet does not have yet.

use host_suite::Machine;

use crate::support::{Cli, machine, project};

/// Runs in a project with a Firestore and compares exit code and one line of each stream.
async fn check(argv: &[&str], code: i32, stdout: &str, stderr: &str) {
    let folder = project(&[("firebase.json", r#"{"firestore": {}}"#)]);
    let ended = Cli::new(machine(folder.path())).run(argv).await;
    let shown = format!("{argv:?}: {}\n{}", ended.stdout, ended.stderr);
    assert_eq!(ended.code, code, "{shown}");
    for (expected, found) in [(stdout, &ended.stdout), (stderr, &ended.stderr)] {
        if expected.is_empty() {
            assert_eq!(found, "", "{shown}");
        } else {
            assert!(found.lines().any(|line| line.trim() == expected), "{expected:?} in {shown}");
        }
    }
}

#[tokio::test]
async fn help_and_version_are_on_standard_output() {
    let version = format!("firelet {}", env!("CARGO_PKG_VERSION"));
    check(&["--version"], 0, &version, "").await;
    check(&["-V"], 0, &version, "").await;
    for argv in [&[][..], &["--help"], &["help"], &["-h"]] {
        check(argv, 0, "Usage: firelet [OPTIONS] [COMMAND]", "").await;
    }
    let exec = "Usage: firelet emulators:exec [OPTIONS] <script>";
    check(&["emulators:exec", "--help"], 0, exec, "").await;
    check(&["help", "emulators:exec"], 0, exec, "").await;
    let setup = "nothing to download: firelet holds its emulators itself";
    check(&["setup:emulators:firestore"], 0, &format!("\u{2714}  emulators: {setup}"), "").await;
}

#[tokio::test]
async fn mistakes_name_the_nearest_and_exit_with_1() {
    let script_as_port =
        "tip: `--inspect-functions` took the script for its port: give the port with `=`";
    let cases: [(&[&str], &str); 10] = [
        (&["emulators:exec", "--inspect-functions", "echo hi"], script_as_port),
        (
            &["emulators:exec", "--keep-data", "firestore", "x"],
            "tip: write `--keep-data=firestore`",
        ),
        (&["emulators:start", "--keep-data", "firestore"], "tip: write `--keep-data=firestore`"),
        (&["deploy"], "error: unknown command `deploy`, `firelet --help` lists the commands"),
        (
            &["emulators:stat", "--only", "x"],
            "error: unknown command `emulators:stat`, did you mean `emulators:start`?",
        ),
        (&["emulators:start", "--onyl", "x"], "tip: a similar argument exists: '--only'"),
        (
            &["emulators:start", "--firestore-port", "x"],
            "error: invalid value 'x' for '--firestore-port <port>': invalid digit found in string",
        ),
        (
            &["emulators:start", "--log-verbosity", "LOUD"],
            "[possible values: DEBUG, INFO, QUIET, SILENT]",
        ),
        (&["emulators:exec"], "<script>"),
        (
            &["--json"],
            "error: name a command, for example `firelet emulators:start`; `firelet --help` lists them",
        ),
    ];
    for (argv, line) in cases {
        check(argv, 1, "", line).await;
    }
}

#[tokio::test]
async fn a_flag_that_is_near_to_none_gets_no_tip() {
    for flag in ["--onec", "--except", "--export-one", "--auth-pork"] {
        let folder = project(&[("firebase.json", r#"{"firestore": {}}"#)]);
        let ended =
            Cli::new(machine(folder.path())).run(&["emulators:start", flag, "functions"]).await;
        assert_eq!(ended.code, 1);
        let line = format!("error: unexpected argument '{flag}' found\n\nUsage: ");
        assert!(ended.stderr.starts_with(&line), "{}", ended.stderr);
        assert!(!ended.stderr.contains("tip:"), "{}", ended.stderr);
    }
}

#[tokio::test]
async fn help_shows_what_counts_first_and_what_is_not_there() {
    let folder = project(&[]);
    let ended = Cli::new(machine(folder.path())).run(&["emulators:start", "--help"]).await;
    let flags: Vec<&str> = ended
        .stdout
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("--"))
        .filter_map(|line| line.split([' ', '[', '=']).next())
        .collect();
    let of_the_command = [
        "only",
        "host",
        "hub-port",
        "firestore-port",
        "keep-data",
        "data-dir",
        "indexes",
        "limits",
        "cache-mib",
        "log-verbosity",
        "import",
        "export-on-exit",
        "ui",
        "inspect-functions",
    ];
    assert!(flags.starts_with(&of_the_command), "{flags:?}");
    for flag in ["--import ", "--import[", "--export-on-exit", "--ui", "--inspect-functions"] {
        let lines = ended.stdout.lines().filter(|line| line.trim_start().starts_with(flag));
        assert!(lines.clone().all(|line| line.ends_with("(not there yet)")), "{}", ended.stdout);
    }
    for default in ["[default: 8080]", "[default: 4400]", "[default: warn]", "[default: DEBUG]"] {
        assert!(ended.stdout.contains(default), "{default} in {}", ended.stdout);
    }
}

#[tokio::test]
async fn what_would_lose_data_is_refused_by_name() {
    let cases: [(&[&str], &str); 6] = [
        (
            &["emulators:start", "--only", "firestore", "--keep-data=auth"],
            "Error: firelet does not have auth yet, so it cannot keep its data: leave auth out",
        ),
        (
            &["emulators:export", "out"],
            "Error: firelet does not have `emulators:export` yet, nothing was written to `out`",
        ),
        (
            &["emulators:start", "--import", "in"],
            "Error: firelet does not have `--import` yet, start without it; `--keep-data` keeps data between starts",
        ),
        (
            &["emulators:start", "--import=in", "--export-on-exit"],
            "Error: firelet does not have `--import` yet, start without it; `--keep-data` keeps data between starts",
        ),
        (
            &["emulators:exec", "--export-on-exit", "out", "true"],
            "Error: firelet does not have `--export-on-exit` yet, start without it; `--keep-data` keeps data between starts",
        ),
        (
            &["emulators:exec", "true", "--export-on-exit"],
            "Error: firelet does not have `--export-on-exit` yet, start without it; `--keep-data` keeps data between starts",
        ),
    ];
    for (argv, line) in cases {
        check(argv, 1, "", line).await;
    }
    let json = r#""error": "firelet does not have `--import` yet, start without it; `--keep-data` keeps data between starts","#;
    check(&["emulators:start", "--json", "--import", "in"], 1, json, "").await;
}

#[tokio::test]
async fn without_a_project_nothing_starts() {
    let folder = project(&[]);
    let started: Machine = machine(folder.path());
    let ended = Cli::new(started).run(&["emulators:exec", "true"]).await;
    assert_eq!(ended.code, 1);
    let line = "\nError: Not in a Firebase app directory (could not locate firebase.json)\n";
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", line));
}
