//! Random operations against a naive model, from printed seeds.

use std::collections::BTreeMap;
use std::sync::Arc;

use base_env::Env;
use bytes::Bytes;
use engine_store::{
    Change, Commit, KeyRange, Op, Record, Snapshot, Store, StoreError, StoreOptions, UnixMicros,
    WriteBatch,
};
use tempfile::TempDir;

use crate::derive::{self, ByBytes};
use crate::heads;
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
        let seen = |record: &Record| (record.created, record.value.clone());
        if before.as_ref().map(seen) == wanted.map(seen) {
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
    heads::check(snapshot, &range);
}

/// What happens to a store beside reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It lives in memory and is never folded.
    Unfolded,
    /// It lives in memory and is folded now and then.
    Folded,
    /// It is kept, folded now and then, and opened again now and then.
    Kept,
}

/// A store and everything that is known of it.
struct Run {
    kind: Kind,
    choices: Choices,
    env: Env,
    dir: TempDir,
    store: Option<Store>,
    model: Model,
    /// Every state so far, to be restored, undone to, and read again at random.
    history: Vec<(Snapshot, Model)>,
    /// The commits that can be undone, all of them made to the states since `undoable`.
    commits: Vec<Commit>,
    undoable: usize,
}

impl Run {
    fn new(kind: Kind, seed: u64) -> Run {
        let choices = Choices::from_seed(seed);
        let mut run = Run {
            kind,
            choices,
            env: env(),
            dir: TempDir::new().unwrap(),
            store: None,
            model: Model::new(),
            history: Vec::new(),
            commits: Vec::new(),
            undoable: 0,
        };
        run.open();
        run
    }

    fn open(&mut self) {
        let options = match self.kind {
            Kind::Unfolded | Kind::Folded => StoreOptions::memory(self.env.clone()),
            Kind::Kept => StoreOptions::kept(self.env.clone(), self.dir.path()),
        };
        let derive = Arc::new(ByBytes);
        let segment_bytes = 2_000;
        let options = StoreOptions { derive, segment_bytes, cache_bytes: 1 << 20, ..options };
        let store = Store::open(options).unwrap();
        self.history.push((store.snapshot(), self.model.clone()));
        self.undoable = self.history.len() - 1;
        self.commits.clear();
        self.store = Some(store);
    }

    /// Everything is as it was after the store was closed and opened.
    fn reopen(&mut self) {
        let version = self.history.last().unwrap().0.version();
        let store = self.store.take().unwrap();
        if self.choices.below(2) == 0 {
            store.close().unwrap();
        }
        drop(store);
        // Snapshots keep the folder, which is locked as long as they live.
        self.history.clear();
        self.open();
        assert_eq!(self.history[0].0.version(), version);
    }

    /// Goes on in a fork of a state that may be an old one.
    fn fork(&mut self) {
        let (start, values) = self.history[self.choices.below(self.history.len())].clone();
        let fork = Store::from_snapshot(self.env.clone(), &start);
        assert_eq!(fork.snapshot().version(), start.version());
        self.model = values;
        self.commits.clear();
        self.undoable = self.history.len();
        self.history.push((fork.snapshot(), self.model.clone()));
        self.store = Some(fork);
    }

    fn write(&mut self) {
        let store = self.store.as_ref().unwrap();
        let last = self.history.last().unwrap().0.clone();
        let commit = match self.choices.below(20) {
            0 => {
                let (target, values) = &self.history[self.choices.below(self.history.len())];
                let commit = store.restore(target).unwrap();
                assert_eq!(commit.changes, restore(&mut self.model, values, commit.time));
                commit
            }
            1 => {
                let cleared = store.clear(usize::MAX).unwrap();
                assert!(cleared.listed);
                let changes = restore(&mut self.model, &Model::new(), cleared.commit.time);
                assert_eq!(cleared.commit.changes, changes);
                cleared.commit
            }
            2 => return self.write_unlisted(),
            _ => {
                let batch = batch(&mut self.choices);
                let commit = store.apply(|_| Ok::<_, StoreError>(()), batch.clone()).unwrap();
                assert_eq!(commit.changes, apply(&mut self.model, &batch, commit.time));
                commit
            }
        };
        assert!(commit.time > last.time());
        if commit.changes.is_empty() {
            assert_eq!(commit.version, last.version());
        } else {
            assert_eq!(commit.version, last.version().next());
            self.commits.push(commit);
        }
        self.history.push((store.snapshot(), self.model.clone()));
    }

    /// Restores or clears without a list of changes, where there is more than nothing to list.
    fn write_unlisted(&mut self) {
        let store = self.store.as_ref().unwrap();
        let last = self.history.last().unwrap().0.clone();
        let (target, values) = &self.history[self.choices.below(self.history.len())];
        let (replaced, values) = if self.choices.below(2) == 0 {
            (store.writer().restore(target, 0).unwrap(), values.clone())
        } else {
            (store.clear(0).unwrap(), Model::new())
        };
        let time = replaced.commit.time;
        assert!(time > last.time());
        if replaced.listed {
            assert_eq!(replaced.commit.changes, restore(&mut self.model, &values, time));
            if !replaced.commit.changes.is_empty() {
                self.commits.push(replaced.commit);
            }
        } else {
            assert_eq!(replaced.commit.version, last.version().next());
            assert!(replaced.commit.changes.is_empty());
            let raised =
                values.into_iter().map(|(key, record)| (key, Record { updated: time, ..record }));
            self.model = raised.collect();
            self.commits.clear();
            self.undoable = self.history.len();
        }
        self.history.push((store.snapshot(), self.model.clone()));
    }

    fn step(&mut self) {
        self.write();
        self.env.advance(std::time::Duration::from_micros(self.choices.below(3) as u64));
        if self.kind != Kind::Unfolded && self.choices.below(8) == 0 {
            self.store.as_ref().unwrap().fold_now().unwrap();
        }
        match self.kind {
            Kind::Kept if self.choices.below(30) == 0 => self.reopen(),
            Kind::Folded if self.choices.below(30) == 0 => self.fork(),
            Kind::Unfolded | Kind::Folded | Kind::Kept => {}
        }
        let head = self.store.as_ref().unwrap().snapshot();
        check(&head, &self.model, &mut self.choices);
        derive::check(&head, &self.model);
        head.check().unwrap();

        let (then, values) = &self.history[self.choices.below(self.history.len())];
        check(then, values, &mut self.choices);
        derive::check(then, values);

        let undoable = self.history.len() - self.undoable;
        let (then, values) = &self.history[self.undoable + self.choices.below(undoable)];
        let later = self.commits.iter().rev().take_while(|commit| commit.time > then.time());
        let undone = head.undo(later, then.time());
        assert_eq!((undone.version(), undone.time()), (then.version(), then.time()));
        check(&undone, values, &mut self.choices);
        derive::check(&undone, values);
    }
}

#[test]
fn random_operations_agree_with_a_naive_model() {
    for seed in 0..40 {
        let mut run = Run::new(Kind::Unfolded, seed);
        (0..300).for_each(|_| run.step());
    }
}

#[test]
fn folds_change_nothing_that_can_be_read() {
    for seed in 0..15 {
        let mut run = Run::new(Kind::Folded, seed);
        (0..200).for_each(|_| run.step());
    }
}

#[test]
fn a_kept_store_is_found_again_as_it_was() {
    for seed in 0..10 {
        let mut run = Run::new(Kind::Kept, seed);
        (0..200).for_each(|_| run.step());
    }
}
