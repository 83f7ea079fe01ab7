//! The cases against firelet and against the official emulator (or its recorded answers), and the totals.

mod exports;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use dev_conformance::case::{self, Topic};
use dev_conformance::firelet::Firelet;
use dev_conformance::fuzz;
use dev_conformance::oracle::Oracle;
use dev_conformance::recorded::{self, Recordings};
use dev_conformance::report;
use dev_conformance::run::{Outcome, Side, against_recordings, against_server};

const FIRESTORE: &str = "firestore";

fn folder(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(kind).join(FIRESTORE)
}

/// The repository's own folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn updating() -> bool {
    std::env::var_os("UPDATE").is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn firelet_answers_as_the_snapshot_says() -> Result<()> {
    let topics = case::load(&folder("cases"))?;
    let firelet = Firelet::start(FIRESTORE).await?;
    let outcomes = against_server(&topics, firelet.client(), Side::Firelet).await;
    firelet.stop().await?;
    let outcomes = outcomes?;
    let fresh = report::snapshot("Firestore", &topics, &outcomes);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots").join("firestore.md");
    if updating() {
        std::fs::write(path, fresh)?;
        return Ok(());
    }
    let failures = report::failures(&outcomes);
    let same = std::fs::read_to_string(path)? == fresh;
    ensure!(
        same,
        "the totals changed (UPDATE=1 writes them anew); failing on firelet:\n{failures}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_emulator_answers_as_the_cases_say() -> Result<()> {
    let topics = case::load(&folder("cases"))?;
    match Oracle::start().await? {
        Ok(oracle) => {
            say("official emulator: live");
            let outcomes = against_server(&topics, oracle.client(), Side::Oracle).await;
            oracle.stop().await?;
            let outcomes = outcomes?;
            check("the official emulator", &outcomes);
            check_recordings(&topics, &outcomes)?;
        }
        Err(reason) => {
            say(&format!("official emulator: MISSING ({reason}), recorded answers stand in"));
        }
    }
    for topic in &topics {
        let recordings = recorded::load(&folder("recorded"), &topic.name)?;
        check("the recorded official emulator", &against_recordings(topic, &recordings)?);
    }
    Ok(())
}

/// Each row of the page on limits names the case that shows it.
#[test]
fn every_limit_has_its_case() -> Result<()> {
    let page = root().join("docs/reference/limits.md");
    let text = std::fs::read_to_string(page)?;
    let table = text.split("## ").find(|part| part.starts_with("Production's limits"));
    let rows: Vec<_> =
        table.unwrap_or_default().lines().filter(|line| line.starts_with("| ")).collect();
    ensure!(rows.len() > 30, "the table was found");
    let topics = case::load(&folder("cases"))?;
    let known = |name: &str| {
        topics.iter().any(|topic| {
            let mut cases = topic.cases.iter();
            cases.any(|case| format!("{}/{}", topic.name, case.name) == name)
        })
    };
    for row in rows.iter().filter(|row| !row.starts_with("| what")) {
        let named = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        let named = named.trim().trim_matches('`');
        ensure!(known(named) || root().join(named).is_file(), "no case `{named}`: {row}");
    }
    Ok(())
}

/// A short run of the fuzzed client: nothing fails internally, nothing hangs.
#[tokio::test(flavor = "multi_thread")]
async fn random_requests_are_answered() -> Result<()> {
    let firelet = Firelet::start(FIRESTORE).await?;
    let plan = fuzz::Plan {
        seed: 7,
        requests: 2_000,
        workers: 2,
        firelet: firelet.client().authority().to_owned(),
        oracle: None,
    };
    let report = fuzz::run(&plan).await;
    firelet.stop().await?;
    let report = report?;
    ensure!(report.faults().is_empty(), "seed {}: {report}", plan.seed);
    ensure!(report.succeeded() > report.requests() / 3, "too few are valid: {report}");
    Ok(())
}

/// Tells past the test harness, which keeps back what passing tests print.
fn say(line: &str) {
    // A closed standard error is no reason to fail.
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn check(who: &str, outcomes: &[Outcome]) {
    let failures = report::failures(outcomes);
    assert!(failures.is_empty(), "{who} answers otherwise:\n{failures}");
}

/// Compares live answers with the recorded ones, or replaces those.
fn check_recordings(topics: &[Topic], outcomes: &[Outcome]) -> Result<()> {
    for topic in topics {
        let fresh = recordings(outcomes, &topic.name);
        if updating() {
            recorded::save(&folder("recorded"), &topic.name, &fresh)?;
            continue;
        }
        let old = recorded::load(&folder("recorded"), &topic.name)?;
        let stale: Vec<_> = fresh
            .iter()
            .filter(|(name, new)| old.get(*name).is_none_or(|old| !recorded::same(old, new)))
            .map(|(name, _)| name)
            .collect();
        let gone: Vec<_> = old.keys().filter(|name| !fresh.contains_key(*name)).collect();
        ensure!(
            stale.is_empty() && gone.is_empty(),
            "{}: recorded otherwise {stale:?} or without a case {gone:?}, run with UPDATE=1",
            topic.name
        );
    }
    Ok(())
}

fn recordings(outcomes: &[Outcome], topic: &str) -> Recordings {
    let prefix = format!("{topic}/");
    let own = outcomes.iter().filter_map(|outcome| {
        Some((outcome.name.strip_prefix(&prefix)?.to_owned(), outcome.recording.clone()))
    });
    own.collect()
}
