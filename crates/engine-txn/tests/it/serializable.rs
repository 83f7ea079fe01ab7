//! Random interleavings: every transaction that commits read exactly the state it was committed on.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use engine_store::{KeyRange, Snapshot, Version};
use engine_txn::{CommitError, Database, Limits, ReadScope, TxnId};

use crate::support::{Choices, READ_WRITE, commit, env, keys, range, read, write};

/// What a read answered: the matching entries.
type Answer = Vec<(Bytes, Bytes)>;

fn answer(scope: &ReadScope, snapshot: &Snapshot) -> Answer {
    match scope {
        ReadScope::Keys(keys) => {
            let found = keys.iter().filter_map(|key| Some((key.clone(), snapshot.get(key)?.value)));
            found.collect()
        }
        ReadScope::Range(range, matches) => snapshot
            .range(range)
            .filter(|entry| matches(entry.key(), entry.record()))
            .map(|entry| (entry.key().clone(), entry.record().value.clone()))
            .collect(),
    }
}

fn scope(choices: &mut Choices) -> ReadScope {
    if choices.below(2) == 0 {
        return keys(&format!("{} {}", choices.below(8), choices.below(8)));
    }
    let start = choices.below(8);
    range(&start.to_string(), &(start + 2).to_string(), &choices.below(3).to_string())
}

fn writes(choices: &mut Choices) -> String {
    let mut text = String::new();
    for _ in 0..=choices.below(2) {
        let (key, value) = (choices.below(8), choices.below(12));
        let op = if value == 11 { format!("{key}- ") } else { format!("{key}={value} ") };
        text.push_str(&op);
    }
    text
}

fn run(seed: u64, limits: Limits) -> (usize, usize) {
    let mut choices = Choices::from_seed(seed);
    let database = Database::new(env(), limits);
    let mut states: BTreeMap<Version, Snapshot> = BTreeMap::new();
    let mut open: Vec<(TxnId, Vec<(ReadScope, Answer)>)> = Vec::new();
    let (mut committed, mut aborted) = (0, 0);
    for _ in 0..400 {
        let head = database.snapshot();
        states.insert(head.version(), head);
        match choices.below(10) {
            0 | 1 => open.push((database.begin(READ_WRITE).unwrap(), Vec::new())),
            2..=5 if !open.is_empty() => {
                let picked = choices.below(open.len());
                let (txn, reads) = &mut open[picked];
                let scope = scope(&mut choices);
                let view = read(&database, *txn, scope.clone()).unwrap();
                reads.push((scope.clone(), answer(&scope, &view.snapshot)));
            }
            6 | 7 if !open.is_empty() => {
                let (txn, reads) = open.swap_remove(choices.below(open.len()));
                let before = database.snapshot();
                match commit(&database, Some(txn), &writes(&mut choices)) {
                    Ok(_) => {
                        committed += 1;
                        for (scope, seen) in &reads {
                            assert_eq!(answer(scope, &before), *seen, "{scope:?}");
                        }
                    }
                    Err(CommitError::Conflict(_)) => aborted += 1,
                    Err(error) => panic!("{error}"),
                }
            }
            8 if choices.below(8) == 0 => drop(database.clear().unwrap()),
            8 if choices.below(8) == 0 => {
                let versions: Vec<Version> = states.keys().copied().collect();
                database.restore(&states[&versions[choices.below(versions.len())]]).unwrap();
            }
            _ => drop(write(&database, &writes(&mut choices))),
        }
    }
    let everything = database.snapshot().range(&KeyRange::all()).count();
    assert_eq!(everything, database.snapshot().len());
    (committed, aborted)
}

#[test]
fn committed_transactions_read_the_state_they_were_committed_on() {
    // One thread plays all clients, so that nobody could end what another waits for.
    let usual = Limits { intent_stall_max: Duration::ZERO, ..Limits::default() };
    let small = Limits { log_commits_max: 3, clear_changes_max: 2, ..usual.clone() };
    for limits in [usual, small] {
        let (mut committed, mut aborted) = (0, 0);
        for seed in 0..60 {
            let (more_committed, more_aborted) = run(seed, limits.clone());
            committed += more_committed;
            aborted += more_aborted;
        }
        // Both happen, or the test shows nothing.
        assert!(committed > 500 && aborted > 500, "{committed} committed, {aborted} aborted");
    }
}
