//! A real process, killed at random moments with SIGKILL while it commits.
#![cfg(unix)]

use std::path::Path;

use base_env::process;
use engine_store::{Durability, Store, StoreOptions, Version};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::crash::{Model, acknowledge, commit, options};
use crate::support::Choices;

/// Rounds in each durability mode.
const ROUNDS: usize = 100;
/// A process is killed once it has acknowledged fewer commits than this.
const COMMITS_MAX: usize = 150;

/// Set for the child: the folder and the durability.
const DIR: &str = "FIRELET_TEST_KILLED_DIR";
const PER_COMMIT: &str = "FIRELET_TEST_KILLED_PER_COMMIT";

fn durability(per_commit: bool) -> Durability {
    if per_commit { Durability::PerCommit } else { Durability::WriteBehind }
}

fn open(dir: &Path, durability: Durability) -> Store {
    Store::open(StoreOptions { env: base_env::Env::real(), ..options(dir, durability) }).unwrap()
}

/// Not a test of its own: what the killed process runs. It says each version that it acknowledged.
#[test]
fn child() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let store = open(Path::new(&dir), durability(std::env::var_os(PER_COMMIT).is_some()));
    loop {
        let version = commit(&store).unwrap().version;
        acknowledge(&store, version).unwrap();
        println!("acknowledged {}", version.get());
    }
}

/// Runs a child until it has acknowledged some commits, and kills it in whatever it does then. Answers the
/// newest version that it acknowledged.
async fn live_and_die(dir: &Path, per_commit: bool, choices: &mut Choices) -> Option<Version> {
    let exe = std::env::current_exe().unwrap();
    let script = format!("exec '{}' killed::child --exact --nocapture", exe.display());
    let mut command = process::shell(&script);
    command.env(DIR, dir).stdout(std::process::Stdio::piped());
    if per_commit {
        command.env(PER_COMMIT, "1");
    }
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut left = choices.below(COMMITS_MAX);
    let mut newest = None;
    while let Ok(Some(line)) = lines.next_line().await {
        // What was printed before the kill is read after it too.
        if let Some(version) = line.strip_prefix("acknowledged ") {
            newest = version.parse().ok().map(Version::new).or(newest);
        }
        if left == 0 {
            child.start_kill().unwrap();
        }
        left = left.wrapping_sub(1);
    }
    child.wait().await.unwrap();
    newest
}

fn run(per_commit: bool) {
    let dir = TempDir::new().unwrap();
    let mut choices = Choices::from_seed(u64::from(per_commit));
    let mut model = Model::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut commits = Version::ZERO;
    for round in 0..ROUNDS {
        let newest = runtime.block_on(live_and_die(dir.path(), per_commit, &mut choices));
        let store = open(dir.path(), durability(per_commit));
        let found = store.snapshot();
        let safe = newest.unwrap_or(commits);
        assert!(
            found.version() >= safe,
            "round {round}: {safe:?} safe, {:?} found",
            found.version()
        );
        model.check(&found);
        commits = found.version();
    }
    assert!(
        commits > Version::new(50),
        "the children lived too short to show anything: {commits:?}"
    );
}

#[test]
fn a_killed_process_loses_nothing_with_write_behind() {
    run(false);
}

#[test]
fn a_killed_process_loses_nothing_per_commit() {
    run(true);
}
