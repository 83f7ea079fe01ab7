//! Several threads at once: one state is seen as a whole, and no commit is lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use base_env::{Env, thread};
use bytes::Bytes;
use engine_store::{
    Derive, DerivedEntry, Durability, KeyRange, Place, Snapshot, Store, StoreError, StoreOptions,
    Version, WriteBatch,
};

use crate::derive::Gate;
use crate::disk::{Crash, SimulatedDisk, Stall};
use crate::support::{Choices, bytes, env};

#[test]
fn snapshots_show_whole_commits_with_their_version_and_time() {
    const WRITERS: usize = 3;
    const COMMITS: usize = 400;
    let store = Arc::new(Store::memory(Env::real()));
    let done = Arc::new(AtomicBool::new(false));

    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = Arc::clone(&store);
            let write = move || {
                for commit in 0..COMMITS {
                    let mut batch = WriteBatch::new();
                    let value = bytes(&format!("{writer}.{commit}"));
                    batch.put(bytes("one"), value.clone());
                    batch.put(bytes("two"), value);
                    let commit = store.apply(|_| Ok::<_, StoreError>(()), batch).unwrap();
                    assert_eq!(commit.changes.len(), 2);
                }
            };
            thread::spawn("writer", write).unwrap()
        })
        .collect();
    let reader = {
        let (store, done) = (Arc::clone(&store), Arc::clone(&done));
        let read = move || {
            let mut last = store.snapshot();
            while !done.load(Ordering::Acquire) {
                let next = store.snapshot();
                assert!(next.version() >= last.version() && next.time() >= last.time());
                let (one, two) = (next.get(b"one"), next.get(b"two"));
                assert_eq!(one, two, "both keys come from one commit");
                assert!(one.is_none_or(|record| record.updated <= next.time()));
                last = next;
            }
        };
        thread::spawn("reader", read).unwrap()
    };

    for writer in writers {
        writer.join().unwrap();
    }
    done.store(true, Ordering::Release);
    reader.join().unwrap();
    assert_eq!(store.snapshot().version(), Version::new((WRITERS * COMMITS) as u64));
}

const FOLD_BYTES: usize = 50_000;

fn folding_store(scratch: std::path::PathBuf) -> Store {
    let place = Place::Memory { scratch };
    let options = StoreOptions::memory(Env::real());
    Store::open(StoreOptions { place, fold_bytes: FOLD_BYTES, cache_bytes: 1 << 20, ..options })
        .unwrap()
}

fn put(store: &Store, key: usize, value: &str) -> Result<(), StoreError> {
    let mut batch = WriteBatch::new();
    batch.put(bytes(&format!("{key:04}")), bytes(value));
    store.writer().apply(batch).map(drop)
}

#[test]
fn writers_wait_for_folds_and_readers_see_whole_states_meanwhile() {
    const WRITERS: usize = 2;
    const COMMITS: usize = 1_500;
    let store = Arc::new(folding_store(std::env::temp_dir()));
    let done = Arc::new(AtomicBool::new(false));
    let value = "x".repeat(1_000);
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (store, value) = (Arc::clone(&store), value.clone());
            let write = move || {
                for commit in 0..COMMITS {
                    put(&store, (commit * WRITERS + writer) % 999, &format!("{commit}{value}"))
                        .unwrap();
                    // Each writer may have been let in once before the bound was met.
                    assert!(store.unfolded_bytes() < 2 * FOLD_BYTES + WRITERS * 3_000);
                }
            };
            thread::spawn("writer", write).unwrap()
        })
        .collect();
    let reader = {
        let (store, done) = (Arc::clone(&store), Arc::clone(&done));
        let read = move || {
            let len = |snapshot: &Snapshot| snapshot.range(&KeyRange::all()).count();
            let mut held = Vec::new();
            while !done.load(Ordering::Acquire) {
                let snapshot = store.snapshot();
                assert_eq!(len(&snapshot), snapshot.len());
                held.push(snapshot);
            }
            for snapshot in held.iter().step_by(held.len() / 20 + 1) {
                assert_eq!(len(snapshot), snapshot.len());
            }
        };
        thread::spawn("reader", read).unwrap()
    };
    for writer in writers {
        writer.join().unwrap();
    }
    done.store(true, Ordering::Release);
    reader.join().unwrap();
    let snapshot = store.snapshot();
    assert!(snapshot.has_base());
    assert_eq!(snapshot.version(), Version::new((WRITERS * COMMITS) as u64));
    snapshot.check().unwrap();
    store.check_folds().unwrap();
}

/// Fills a store until a write would wait.
fn fill(store: &Store) {
    let value = "x".repeat(1_000);
    for key in 0.. {
        let Some(mut writer) = store.try_writer() else { return };
        let mut batch = WriteBatch::new();
        batch.put(bytes(&format!("{key:04}")), bytes(&value));
        writer.apply(batch).unwrap();
    }
}

#[test]
fn who_waits_for_room_is_told_and_no_thread_stands_still() {
    let gate = Arc::new(Gate::default());
    let options = StoreOptions::memory(Env::real());
    let derive = Arc::clone(&gate) as _;
    let store = Store::open(StoreOptions { fold_bytes: FOLD_BYTES, derive, ..options }).unwrap();
    let (sender, receiver) = mpsc::channel();
    let wait = || {
        let sender = sender.clone();
        store.when_room(move || sender.send(()).unwrap());
    };
    // At once, while there is room.
    wait();
    receiver.try_recv().unwrap();

    fill(&store);
    wait();
    wait();
    assert!(store.try_writer().is_none());
    receiver.try_recv().unwrap_err();
    gate.open();
    receiver.recv().unwrap();
    receiver.recv().unwrap();
    store.fold_now().unwrap();
    assert!(store.try_writer().is_some());
    wait();
    receiver.try_recv().unwrap();
}

#[test]
fn who_waits_for_room_in_vain_is_told_too() {
    #[track_caller]
    fn check(closes: bool, refused: impl FnOnce(&StoreError) -> bool) {
        let disk = SimulatedDisk::default();
        let gate = Arc::new(Gate::default());
        let options = StoreOptions::memory(Env::real());
        let options = StoreOptions { disk: Arc::new(disk.clone()), cache_bytes: 20_000, ..options };
        let derive = Arc::clone(&gate) as _;
        let store =
            Store::open(StoreOptions { fold_bytes: FOLD_BYTES, derive, ..options }).unwrap();
        fill(&store);
        let (sender, receiver) = mpsc::channel();
        store.when_room(move || sender.send(()).unwrap());
        if closes {
            // The fold goes on when the waiter was told, and close waits for the fold.
            let opener = thread::spawn("opener", move || {
                receiver.recv().unwrap();
                gate.open();
            });
            store.close().unwrap();
            opener.unwrap().join().unwrap();
        } else {
            receiver.try_recv().unwrap_err();
            disk.fault(|faults| faults.full = true);
            gate.open();
            receiver.recv().unwrap();
        }
        assert!(refused(&put(&store, 0, "1").unwrap_err()));
    }
    check(false, |error| matches!(error, StoreError::Full { .. }));
    check(true, |error| matches!(error, StoreError::Closed));
}

/// Derives nothing, and panics for as long as it is told to.
#[derive(Default)]
struct Panicking(AtomicBool);

impl Derive for Panicking {
    fn fingerprint(&self) -> u64 {
        29
    }

    fn entries(&self, _key: &[u8], _value: &[u8], _out: &mut Vec<DerivedEntry>) {
        assert!(!self.0.load(Ordering::Acquire), "expected by the test");
    }

    fn counters(&self, _key: &[u8], _out: &mut Vec<Bytes>) {}
}

#[test]
fn a_fold_that_panics_is_told_and_waited_for_by_nobody() {
    let derive = Arc::new(Panicking(AtomicBool::new(true)));
    let options = StoreOptions::memory(Env::real());
    let derive_of_store = Arc::clone(&derive) as _;
    let options = StoreOptions { fold_bytes: FOLD_BYTES, derive: derive_of_store, ..options };
    let store = Store::open(options).unwrap();
    let value = "x".repeat(1_000);
    let deadline = Env::real().monotonic() + Duration::from_secs(60);
    let mut written = 0;
    let refused = loop {
        assert!(Env::real().monotonic() < deadline, "the fold is still waited for");
        let Some(mut writer) = store.try_writer() else { continue };
        let mut batch = WriteBatch::new();
        batch.put(bytes(&format!("{written:04}")), bytes(&value));
        match writer.apply(batch) {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(refused, StoreError::Panicked { doing: "fold" });
    assert_eq!(store.snapshot().range(&KeyRange::all()).count(), written);
    derive.0.store(false, Ordering::Release);
    store.fold_now().unwrap();
    put(&store, 0, "1").unwrap();
    assert_eq!(store.snapshot().range(&KeyRange::all()).count(), written);
    store.snapshot().check().unwrap();
}

/// Overwrites one key until a write would wait, or is refused; answers how many mebibytes that took.
fn overwrite_until_refused(store: &Store) -> (usize, Option<StoreError>) {
    const MIB: usize = 8;
    for round in 0..100_u8 {
        let Some(mut writer) = store.try_writer() else { return (usize::from(round) * MIB, None) };
        let mut batch = WriteBatch::new();
        batch.put(bytes("a"), Bytes::from(vec![round; MIB << 20]));
        if let Err(error) = writer.apply(batch) {
            return (usize::from(round) * MIB, Some(error));
        }
    }
    panic!("the journal grows without bound");
}

#[test]
fn a_journal_that_no_fold_shortens_is_not_added_to_without_bound() {
    let dir = tempfile::TempDir::new().unwrap();
    let open = |name: &str, derive: Arc<dyn Derive>| {
        let options = StoreOptions::kept(Env::real(), dir.path().join(name));
        Store::open(StoreOptions { derive, ..options }).unwrap()
    };
    // A fold that takes its time.
    let gate = Arc::new(Gate::default());
    let store = open("slow", Arc::clone(&gate) as _);
    let (mib, refused) = overwrite_until_refused(&store);
    assert!((128..280).contains(&mib) && refused.is_none(), "{mib} {refused:?}");
    gate.open();
    store.fold_now().unwrap();
    put(&store, 0, "1").unwrap();
    drop(store);

    // One that fails.
    let store = open("failing", Arc::new(Panicking(AtomicBool::new(true))));
    let (mut mib, mut refused) = overwrite_until_refused(&store);
    while refused.is_none() {
        // The fold that it waits for is under way.
        std::thread::yield_now();
        let more = overwrite_until_refused(&store);
        (mib, refused) = (mib + more.0, more.1);
    }
    assert!((128..280).contains(&mib), "{mib}");
    assert_eq!(refused, Some(StoreError::Panicked { doing: "fold" }));
    store.clear(0).unwrap();
    store.fold_now().unwrap();
    put(&store, 0, "1").unwrap();
}

#[test]
fn a_sync_thread_that_panics_is_waited_for_by_nobody() {
    let dir = tempfile::TempDir::new().unwrap();
    let options = StoreOptions::kept(Env::real(), dir.path());
    let durability = Durability::PerCommit;
    let store = Store::open(StoreOptions { durability, ..options }).unwrap();
    let put = |value: &str| {
        let mut batch = WriteBatch::new();
        batch.put(bytes("a"), bytes(value));
        store.writer().apply(batch).map(|commit| commit.version)
    };
    let version = put("1").unwrap();
    store.when_durable(version, |_| panic!("expected by the test"));
    let deadline = Env::real().monotonic() + Duration::from_secs(60);
    let refused = loop {
        assert!(Env::real().monotonic() < deadline, "writes go on");
        match put(&format!("{deadline:?}")) {
            Ok(_) => std::thread::yield_now(),
            Err(error) => break error,
        }
    };
    assert_eq!(refused, StoreError::Panicked { doing: "sync" });
    let (sender, receiver) = mpsc::channel();
    store.when_durable(Version::new(1_000_000), move |result| sender.send(result).unwrap());
    assert_eq!(receiver.recv_timeout(Duration::from_secs(60)).unwrap(), Err(refused));
}

#[test]
fn a_store_that_cannot_fold_refuses_writes_before_it_eats_all_memory() {
    let dir = tempfile::TempDir::new().unwrap();
    let scratch = dir.path().join("not a folder");
    std::fs::write(&scratch, b"").unwrap();
    let store = folding_store(scratch);
    let value = "x".repeat(1_000);
    let written = (0..1_000).take_while(|key| put(&store, *key, &value).is_ok()).count();
    assert!((70..110).contains(&written), "{written}");
    assert!(matches!(put(&store, 0, "1"), Err(StoreError::Io { .. })));
    assert_eq!(store.snapshot().len(), written, "what was written stays");
    store.clear(0).unwrap();
    put(&store, 0, "1").unwrap();
}

#[test]
fn nobody_waits_for_a_segment_that_is_made_beforehand() {
    const SEGMENT_BYTES: usize = 40_000;
    let disk = SimulatedDisk::default();
    let open = |disk: &SimulatedDisk| {
        let options = StoreOptions::kept(env(), "/data");
        let durability = Durability::PerCommit;
        let segment_bytes = SEGMENT_BYTES as u64;
        let disk = Arc::new(disk.clone());
        Store::open(StoreOptions { durability, segment_bytes, disk, ..options }).unwrap()
    };
    let store = open(&disk);
    let segments = || {
        let names = disk.names();
        names.iter().filter(|name| name.starts_with("journal-")).count()
    };
    let value = "x".repeat(1_000);
    disk.fault(|faults| faults.stall = Stall::Next);
    let written = 12;
    (0..written).for_each(|key| put(&store, key, &value).unwrap());
    let (sender, receiver) = mpsc::channel();
    store.when_durable(store.snapshot().version(), move |result| sender.send(result).unwrap());
    receiver.recv_timeout(Duration::from_secs(60)).unwrap().unwrap();
    let is_stalled = || {
        let mut stall = Stall::No;
        disk.fault(|faults| stall = faults.stall);
        stall == Stall::UnderWay
    };
    while !is_stalled() {
        std::thread::yield_now();
    }
    // Past the end of the segment, and of the one after it.
    (written..100).for_each(|key| put(&store, key, &value).unwrap());
    assert!(is_stalled() && segments() >= 3);
    // What is half made is not taken for a gap.
    let left = disk.crash(Crash::Kill, &mut Choices::from_seed(1));
    assert_eq!(open(&left).snapshot().len(), 100);
    disk.fault(|faults| faults.stall = Stall::No);
    (100..300).for_each(|key| put(&store, key, &value).unwrap());
    store.sync().unwrap();
    let left = disk.crash(Crash::PowerCut, &mut Choices::from_seed(1));
    assert_eq!(open(&left).snapshot().len(), 300);
    store.close().unwrap();
    drop(store);
    assert_eq!(open(&disk).snapshot().len(), 300);
}
