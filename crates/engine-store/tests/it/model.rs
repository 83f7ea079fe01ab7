//! Random operations against a naive model, from printed seeds.

use std::collections::BTreeMap;

use bytes::Bytes;
use engine_store::{Change, Commit, KeyRange, Op, Record, Snapshot, Store, UnixMicros, WriteBatch};

use crate::support::{Choices, env};

type Model = BTreeMap<Bytes, Record>;

fn apply(model: &mut Model, batch: &WriteBatch, time: UnixMicros) -> Vec<Change> {
    let mut changes = Vec::new();
    for (key, op) in batch.iter() {
        let before = model.get(key).cloned();
        let after = match (op, &before) {
            (Op::Put(value), Some(record)) if record.value == *value => continue,
            (Op::Put(value), Some(record)) => {
                Some(Record { created: record.created, updated: time, value: value.clone() })
            }
            (Op::Put(value), None) | (Op::Recreate(value), _) => {
                Some(Record { created: time, updated: time, value: value.clone() })
            }
            (Op::Delete, None) => continue,
            (Op::Delete, Some(_)) => None,
        };
        match &after {
            Some(record) => model.insert(key.clone(), record.clone()),
            None => model.remove(key),
        };
        changes.push(Change { key: key.clone(), before, after });
    }
    changes
}

fn restore(model: &mut Model, target: &Model, time: UnixMicros) -> Vec<Change> {
    let keys: std::collections::BTreeSet<Bytes> =
        model.keys().chain(target.keys()).cloned().collect();
    let mut changes = Vec::new();
    for key in keys {
        let before = model.get(&key).cloned();
        let wanted = target.get(&key);
        if before.as_ref().map(|record| &record.value) == wanted.map(|record| &record.value) {
            continue;
        }
        let after = wanted.map(|record| Record { updated: time, ..record.clone() });
        match &after {
            Some(record) => model.insert(key.clone(), record.clone()),
            None => model.remove(&key),
        };
        changes.push(Change { key, before, after });
    }
    changes
}

fn batch(choices: &mut Choices) -> WriteBatch {
    let mut batch = WriteBatch::new();
    for _ in 0..choices.below(5) {
        let key = choices.key();
        match choices.below(5) {
            0 => batch.delete(key),
            1 => batch.set(key, Op::Recreate(choices.value())),
            _ => batch.put(key, choices.value()),
        }
    }
    batch
}

/// Reads everything in every way and compares.
#[track_caller]
fn check(snapshot: &Snapshot, model: &Model, choices: &mut Choices) {
    let owned = |entry: engine_store::Entry<'_>| entry.into_owned();
    let everything: Vec<(Bytes, Record)> =
        model.iter().map(|(key, record)| (key.clone(), record.clone())).collect();
    assert_eq!(snapshot.range(&KeyRange::all()).map(owned).collect::<Vec<_>>(), everything);
    assert_eq!((snapshot.len(), snapshot.is_empty()), (model.len(), model.is_empty()));

    let key = choices.key();
    assert_eq!(snapshot.get(&key).as_ref(), model.get(&key));
    assert_eq!(snapshot.updated(&key), model.get(&key).map(|record| record.updated));
    let sought = everything.iter().find(|(found, _)| *found >= key).cloned();
    assert_eq!(snapshot.seek(&key).map(owned), sought);

    let end = (choices.below(4) > 0).then(|| choices.key());
    let range = KeyRange { start: key, end };
    let mut inside: Vec<(Bytes, Record)> =
        everything.into_iter().filter(|(key, _)| range.contains(key)).collect();
    assert_eq!(snapshot.range(&range).map(owned).collect::<Vec<_>>(), inside, "{range:?}");
    inside.reverse();
    assert_eq!(snapshot.range_rev(&range).map(owned).collect::<Vec<_>>(), inside, "{range:?}");
}

fn run(seed: u64) {
    let mut choices = Choices::from_seed(seed);
    let env = env();
    let store = Store::new(env.clone());
    let mut model = Model::new();
    // Every state so far, with the commits between them: restored, undone to, and read again at random.
    let mut history = vec![(store.snapshot(), model.clone())];
    let mut commits: Vec<Commit> = Vec::new();
    for _ in 0..300 {
        let last = history.last().unwrap().0.clone();
        let commit = match choices.below(20) {
            0 => {
                let (target, values) = &history[choices.below(history.len())];
                let commit = store.restore(target);
                assert_eq!(commit.changes, restore(&mut model, values, commit.time));
                commit
            }
            1 => {
                let cleared = store.clear(usize::MAX);
                assert!(cleared.listed);
                let changes = restore(&mut model, &Model::new(), cleared.commit.time);
                assert_eq!(cleared.commit.changes, changes);
                cleared.commit
            }
            _ => {
                let batch = batch(&mut choices);
                let commit = store.apply(|_| Ok::<_, ()>(()), batch.clone()).unwrap();
                assert_eq!(commit.changes, apply(&mut model, &batch, commit.time));
                commit
            }
        };
        assert!(commit.time > last.time());
        if commit.changes.is_empty() {
            assert_eq!(commit.version, last.version());
        } else {
            assert_eq!(commit.version, last.version().next());
            commits.push(commit);
        }
        env.advance(std::time::Duration::from_micros(choices.below(3) as u64));
        let head = store.snapshot();
        check(&head, &model, &mut choices);
        history.push((head.clone(), model.clone()));

        let (then, values) = &history[choices.below(history.len())];
        check(then, values, &mut choices);
        let later = commits.iter().rev().take_while(|commit| commit.time > then.time());
        let undone = head.undo(later, then.time());
        assert_eq!((undone.version(), undone.time()), (then.version(), then.time()));
        check(&undone, values, &mut choices);
    }
}

#[test]
fn random_operations_agree_with_a_naive_model() {
    for seed in 0..40 {
        run(seed);
    }
}
