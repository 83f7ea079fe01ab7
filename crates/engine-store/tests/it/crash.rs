//! Crashes: what a store finds after its process was killed, or after its machine lost power.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use bytes::Bytes;
use engine_store::{
    Commit, Durability, Record, Snapshot, Store, StoreError, StoreOptions, Version, WriteBatch,
};

use crate::derive::{self, ByBytes};
use crate::disk::{Crash, SimulatedDisk};
use crate::support::{Choices, env};

/// Every so many commits of the tests clear the store instead of writing to it.
const CLEAR_INTERVAL: u64 = 37;

/// What the n-th commit of the tests writes, unless it clears: a few keys of not many, now and then something
/// large, now and then a deletion. Each changes something.
pub(crate) fn batch(number: u64) -> WriteBatch {
    let mut batch = WriteBatch::new();
    let key = |number: u64| Bytes::from(format!("key {}", number * 7 % 40));
    for part in 0..number % 4 {
        let len = if number.is_multiple_of(13) { 3_000 } else { 40 };
        let value = format!("{number}.{part} {}", "x".repeat(len));
        batch.put(key(number + part), Bytes::from(value));
    }
    if number.is_multiple_of(3) {
        batch.delete(key(number + 9));
    }
    batch.put(Bytes::from_static(b"last"), Bytes::from(number.to_string()));
    batch
}

/// What a store holds after as many of these commits.
#[derive(Default)]
pub(crate) struct Model {
    commits: u64,
    values: BTreeMap<Bytes, Bytes>,
}

impl Model {
    pub(crate) fn go_to(&mut self, version: Version) {
        if version.get() < self.commits {
            *self = Model::default();
        }
        while self.commits < version.get() {
            self.commits += 1;
            if self.commits.is_multiple_of(CLEAR_INTERVAL) {
                self.values.clear();
                continue;
            }
            for (key, op) in batch(self.commits).iter() {
                match op {
                    engine_store::Op::Put(value) => {
                        self.values.insert(key.clone(), value.clone());
                    }
                    _ => {
                        self.values.remove(key);
                    }
                }
            }
        }
    }

    /// Whether a store holds what it should at its version, and derived what follows from it.
    #[track_caller]
    pub(crate) fn check(&mut self, snapshot: &Snapshot) {
        self.go_to(snapshot.version());
        let records: BTreeMap<Bytes, Record> = snapshot
            .range(&engine_store::KeyRange::all())
            .map(engine_store::Entry::into_owned)
            .collect();
        let value = |(key, record): (&Bytes, &Record)| (key.clone(), record.value.clone());
        let values: BTreeMap<Bytes, Bytes> = records.iter().map(value).collect();
        assert_eq!(values, self.values);
        assert_eq!(snapshot.len(), values.len());
        derive::check(snapshot, &records);
        snapshot.check().unwrap();
    }
}

pub(crate) fn commit(store: &Store) -> Result<Commit, StoreError> {
    let number = store.snapshot().version().next().get();
    if number.is_multiple_of(CLEAR_INTERVAL) {
        return store.clear(1).map(|cleared| cleared.commit);
    }
    store.writer().apply(batch(number))
}

/// Waits until a commit is acknowledged.
pub(crate) fn acknowledge(store: &Store, version: Version) -> Result<(), StoreError> {
    let (sender, receiver) = mpsc::channel();
    store.when_durable(version, move |result| sender.send(result).unwrap());
    receiver.recv().unwrap()
}

pub(crate) fn options(dir: &Path, durability: Durability) -> StoreOptions {
    StoreOptions {
        durability,
        derive: Arc::new(ByBytes),
        cache_bytes: 1 << 20,
        fold_bytes: 30_000,
        segment_bytes: 20_000,
        ..StoreOptions::kept(env(), dir)
    }
}

fn open(disk: &SimulatedDisk, durability: Durability) -> Result<Store, StoreError> {
    let options = options(Path::new("/data"), durability);
    Store::open(StoreOptions { disk: Arc::new(disk.clone()), ..options })
}

/// Commits, syncs and folds at random, then crashes at a random moment; again and again on what is left.
fn run(seed: u64, durability: Durability, crash: Crash) {
    let mut choices = Choices::from_seed(seed);
    let mut disk = SimulatedDisk::default();
    let mut model = Model::default();
    // What must be there whatever happens, as told by whoever made it safe.
    let safe = Arc::new(AtomicU64::new(0));
    let mut newest = Version::ZERO;
    for _ in 0..8 {
        let store = open(&disk, durability).unwrap();
        let found = store.snapshot();
        let (there, safe_then) = (found.version().get(), safe.load(Ordering::SeqCst));
        assert!(there >= safe_then, "{safe_then} was safe, {there} is there");
        if crash == Crash::Kill {
            assert_eq!(found.version(), newest);
        }
        model.check(&found);
        newest = found.version();
        drop(found);
        for _ in 0..choices.below(120) {
            let version = commit(&store).unwrap().version;
            newest = version;
            match (choices.below(30), durability) {
                (0, _) => {
                    store.sync().unwrap();
                    safe.fetch_max(version.get(), Ordering::SeqCst);
                }
                (1, _) => store.fold_now().unwrap(),
                (2, Durability::PerCommit) => {
                    acknowledge(&store, version).unwrap();
                    safe.fetch_max(version.get(), Ordering::SeqCst);
                }
                (3..10, Durability::PerCommit) => {
                    let safe = Arc::clone(&safe);
                    store.when_durable(version, move |result| {
                        result.unwrap();
                        safe.fetch_max(version.get(), Ordering::SeqCst);
                    });
                }
                _ => {}
            }
        }
        if choices.below(4) == 0 {
            store.close().unwrap();
            safe.fetch_max(newest.get(), Ordering::SeqCst);
        }
        // What becomes safe while the disk is being looked at need not be there.
        let safe_before = safe.load(Ordering::SeqCst);
        let crashed = disk.crash(crash, &mut choices);
        drop(store);
        safe.store(safe_before, Ordering::SeqCst);
        disk = crashed;
    }
}

/// How many seeds a test runs: more where somebody looks for trouble.
fn seeds(usual: u64) -> u64 {
    let wanted = std::env::var("FIRELET_TEST_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    wanted.unwrap_or(usual)
}

#[test]
fn a_killed_process_loses_nothing() {
    for seed in 0..seeds(20) {
        run(seed, Durability::WriteBehind, Crash::Kill);
    }
}

#[test]
fn a_power_cut_loses_nothing_that_was_synced() {
    for seed in 0..seeds(60) {
        run(seed, Durability::WriteBehind, Crash::PowerCut);
    }
}

#[test]
fn a_power_cut_loses_nothing_that_was_acknowledged_per_commit() {
    for seed in 0..seeds(60) {
        run(seed, Durability::PerCommit, Crash::PowerCut);
    }
}
