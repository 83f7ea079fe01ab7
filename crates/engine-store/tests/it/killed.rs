//! A real process, killed at random moments with SIGKILL while it commits: right after it has said something, or
//! whenever a clock says so.
#![cfg(unix)]

use std::path::Path;
use std::time::Duration;

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
/// Or so long, in microseconds, after it has acknowledged the first one.
const LIFE_MICROS_MAX: usize = 30_000;
/// What a child commits that nobody kills.
const CHILD_COMMITS: u64 = 100;

/// Set for the child: the folder and the durability.
const DIR: &str = "FIRELET_TEST_KILLED_DIR";
const PER_COMMIT: &str = "FIRELET_TEST_KILLED_PER_COMMIT";

fn durability(per_commit: bool) -> Durability {
    if per_commit { Durability::PerCommit } else { Durability::WriteBehind }
}

fn open(dir: &Path, durability: Durability) -> Store {
    Store::open(StoreOptions { env: base_env::Env::real(), ..options(dir, durability) }).unwrap()
}

/// What the killed process runs. It says each version that it acknowledged.
#[test]
fn child() {
    let killed = std::env::var_os(DIR);
    // What is killed leaves nothing behind but its parent's folder.
    let own_dir = killed.is_none().then(|| TempDir::new().unwrap());
    let dir = killed.as_ref().map(Path::new).or(own_dir.as_ref().map(TempDir::path)).unwrap();
    let store = open(dir, durability(std::env::var_os(PER_COMMIT).is_some()));
    let mut before = store.snapshot().version();
    // On its own it shows that each commit that it says was made is acknowledged, and the next one.
    while killed.is_some() || before < Version::new(CHILD_COMMITS) {
        let version = commit(&store).unwrap().version;
        assert_eq!(version, before.next());
        acknowledge(&store, version).unwrap();
        println!("acknowledged {}", version.get());
        before = version;
    }
    drop(store);
    let found = open(dir, Durability::WriteBehind).snapshot();
    assert_eq!(found.version(), Version::new(CHILD_COMMITS));
    Model::default().check(&found);
}

/// When a child is killed.
#[derive(Clone, Copy, Debug)]
enum Death {
    /// When it has acknowledged so many more commits.
    Commits(usize),
    /// So long after its first one, in whatever it does then.
    After(Duration),
}

/// Runs a child until it is killed. Answers the newest version that it acknowledged.
async fn live_and_die(dir: &Path, per_commit: bool, death: Death) -> Option<Version> {
    let exe = std::env::current_exe().unwrap();
    let script = format!("exec '{}' killed::child --exact --nocapture", exe.display());
    let mut command = process::shell(&script);
    command.env(DIR, dir).stdout(std::process::Stdio::piped());
    if per_commit {
        command.env(PER_COMMIT, "1");
    }
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut newest = None;
    let mut seen = 0;
    let mut dies_at = None;
    loop {
        let next = lines.next_line();
        let line = match dies_at {
            Some(at) => match tokio::time::timeout_at(at, next).await {
                Ok(line) => line,
                Err(_) => {
                    child.start_kill().unwrap();
                    dies_at = None;
                    continue;
                }
            },
            None => next.await,
        };
        // What was printed before the kill is read after it too.
        let Ok(Some(line)) = line else { break };
        let Some(version) = line.strip_prefix("acknowledged ") else { continue };
        newest = version.parse().ok().map(Version::new).or(newest);
        match death {
            Death::Commits(count) if seen == count => child.start_kill().unwrap(),
            Death::After(life) if seen == 0 => dies_at = Some(tokio::time::Instant::now() + life),
            Death::Commits(_) | Death::After(_) => {}
        }
        seen += 1;
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
        let death = match choices.below(2) {
            0 => Death::Commits(choices.below(COMMITS_MAX)),
            _ => {
                let micros = choices.below(LIFE_MICROS_MAX) as u64;
                Death::After(Duration::from_micros(micros))
            }
        };
        let newest = runtime.block_on(live_and_die(dir.path(), per_commit, death));
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
