//! The cases against firelet and against the official emulator (or its recorded answers), and the totals.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use dev_conformance::case::{self, Topic};
use dev_conformance::firelet::Firelet;
use dev_conformance::oracle::Oracle;
use dev_conformance::recorded::{self, Recordings};
use dev_conformance::report;
use dev_conformance::run::{Outcome, Side, against_recordings, against_server};

const FIRESTORE: &str = "firestore";

fn folder(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(kind).join(FIRESTORE)
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
