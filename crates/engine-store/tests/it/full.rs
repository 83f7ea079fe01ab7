//! A disk that gets full: nothing that was acknowledged is lost or out of sight, and all goes on when there is room.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base_env::Env;
use engine_store::{Durability, KeyRange, Place, Store, StoreError, StoreOptions, WriteBatch};

use crate::crash::{Model, commit, options};
use crate::disk::{Crash, SimulatedDisk};
use crate::support::{Choices, bytes, env};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Memory,
    Kept,
}

/// At which point of a fold the disk was full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Met {
    /// Before its end, so it was given up.
    Early,
    /// When all was done and redb wrote it out.
    InCommit,
    Never,
}

fn open(disk: &SimulatedDisk, mode: Mode, env: Env) -> Result<Store, StoreError> {
    let options = options(Path::new("/data"), Durability::WriteBehind);
    let place = match mode {
        Mode::Memory => Place::Memory { scratch: "/scratch".into() },
        Mode::Kept => options.place,
    };
    let segment_bytes = 200_000;
    // A cache that is smaller than what a fold writes.
    let (fold_bytes, cache_bytes) = (1 << 30, 20_000);
    let disk = Arc::new(disk.clone());
    Store::open(StoreOptions {
        env,
        place,
        disk,
        fold_bytes,
        cache_bytes,
        segment_bytes,
        ..options
    })
}

fn write(store: &Store, commits: usize) {
    (0..commits).for_each(|_| drop(commit(store).unwrap()));
}

fn records(store: &Store, count: usize, round: usize) {
    let mut batch = WriteBatch::new();
    for key in 0..count {
        let value = format!("{round} {}", "x".repeat(500));
        batch.put(bytes(&format!("key {key:05}")), bytes(&value));
    }
    store.writer().apply(batch).unwrap();
}

/// Looks at a store, and at what is left of it after a stop of either kind.
#[track_caller]
fn check_all(store: &Store, disk: &SimulatedDisk, mode: Mode, choices: &mut Choices) {
    let found = store.snapshot();
    Model::default().check(&found);
    if mode == Mode::Kept {
        store.sync().unwrap();
        for crash in [Crash::Kill, Crash::PowerCut] {
            let left = open(&disk.crash(crash, choices), mode, env()).unwrap();
            assert_eq!(left.snapshot().version(), found.version(), "{crash:?}");
            Model::default().check(&left.snapshot());
        }
    }
}

/// Folds while there are so many blocks left, and again when there is room.
fn fold_in(mode: Mode, room: usize) -> Met {
    println!("{mode:?}, {room} blocks");
    let disk = SimulatedDisk::default();
    let mut choices = Choices::from_seed(room as u64);
    let store = open(&disk, mode, env()).unwrap();
    // The 37th of these clears, the 74th would.
    write(&store, 40);
    store.fold_now().unwrap();
    let held = store.snapshot();
    write(&store, 25);
    let unfolded = store.unfolded_bytes();
    disk.fault(|faults| faults.room = Some(room));
    let folded = store.fold_now();
    check_all(&store, &disk, mode, &mut choices);
    let met = match &folded {
        Ok(()) => Met::Never,
        Err(StoreError::Full { .. }) if store.unfolded_bytes() == unfolded => Met::Early,
        Err(StoreError::Full { .. }) => Met::InCommit,
        Err(other) => panic!("{other}"),
    };
    assert_eq!(store.check_folds(), folded);
    write(&store, 5);
    check_all(&store, &disk, mode, &mut choices);
    Model::default().check(&held);
    if met != Met::Never {
        // So much that it is full again in the middle of it.
        disk.fault(|faults| faults.room = Some(choices.below(10)));
        let folded = store.fold_now();
        assert!(matches!(folded, Ok(()) | Err(StoreError::Full { .. })), "{folded:?}");
        check_all(&store, &disk, mode, &mut choices);
    }
    // Meanwhile the store is cleared, or not.
    if room.is_multiple_of(3) {
        while !store.snapshot().is_empty() {
            commit(&store).unwrap();
        }
        check_all(&store, &disk, mode, &mut choices);
    }
    disk.fault(|faults| faults.room = None);
    store.fold_now().unwrap();
    assert_eq!(store.unfolded_bytes(), 0);
    store.check_folds().unwrap();
    check_all(&store, &disk, mode, &mut choices);
    write(&store, 50);
    store.fold_now().unwrap();
    check_all(&store, &disk, mode, &mut choices);
    Model::default().check(&held);
    met
}

#[test]
fn a_disk_that_gets_full_at_any_point_of_a_fold_loses_nothing() {
    #[track_caller]
    fn check(mode: Mode) {
        let mut met: Vec<Met> = Vec::new();
        for room in 0.. {
            met.push(fold_in(mode, room));
            if met.ends_with(&[Met::Never; 5]) {
                break;
            }
        }
        println!("{met:?}");
        for point in [Met::Early, Met::InCommit, Met::Never] {
            assert!(met.contains(&point), "{mode:?} {point:?}");
        }
    }
    check(Mode::Memory);
    check(Mode::Kept);
}

#[test]
fn writes_go_on_up_to_the_bound_and_again_when_there_is_room() {
    let disk = SimulatedDisk::default();
    let env = env();
    let options = StoreOptions::memory(env.clone());
    let store = Store::open(StoreOptions {
        place: Place::Memory { scratch: "/scratch".into() },
        disk: Arc::new(disk.clone()),
        fold_bytes: 100_000,
        cache_bytes: 1 << 16,
        ..options
    })
    .unwrap();
    records(&store, 100, 0);
    store.fold_now().unwrap();
    disk.fault(|faults| faults.room = Some(3));
    let mut put = 0;
    let mut write = || {
        put += 1;
        let mut batch = WriteBatch::new();
        batch.put(bytes(&format!("more {put:05}")), bytes(&"x".repeat(1_000)));
        store.writer().apply(batch).map(drop)
    };
    let written = (0..10_000).take_while(|_| write().is_ok()).count();
    assert!((150..300).contains(&written), "{written}");
    let refused = write().unwrap_err();
    assert!(matches!(refused, StoreError::Full { .. }));
    assert_eq!(refused.to_string(), "the disk is full: no room for /scratch");
    let snapshot = store.snapshot();
    assert_eq!(snapshot.range(&KeyRange::all()).count(), 100 + written);
    assert_eq!(snapshot.get(b"key 00007").unwrap().value.len(), 502);
    snapshot.check().unwrap();

    disk.fault(|faults| faults.room = None);
    assert!(write().is_err(), "it is not tried for every write");
    // Real time: it is tried again after some seconds.
    let deadline = env.monotonic() + Duration::from_secs(60);
    while write().is_err() {
        assert!(env.monotonic() < deadline);
        std::thread::yield_now();
    }
    for _ in 0..1_000 {
        write().unwrap();
    }
    assert_eq!(store.snapshot().range(&KeyRange::all()).count(), 1_101 + written);
    store.check_folds().unwrap();

    disk.fault(|faults| faults.room = Some(0));
    while write().is_ok() {}
    store.clear(0).unwrap();
    write().unwrap();
    assert_eq!(store.snapshot().len(), 1);
}

#[test]
fn a_kept_store_on_a_full_disk_is_opened_and_read() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, Mode::Kept, env()).unwrap();
    write(&store, 30);
    store.fold_now().unwrap();
    write(&store, 6);
    let version = store.snapshot().version();
    store.close().unwrap();
    drop(store);
    // What a power cut might bring back takes room here: the files that were removed.
    engine_store::Disk::sync_dir(&disk, Path::new("/data")).unwrap();
    disk.fault(|faults| faults.room = Some(0));
    for _ in 0..2 {
        let store = open(&disk, Mode::Kept, env()).unwrap();
        assert_eq!(store.snapshot().version(), version);
        Model::default().check(&store.snapshot());
        let refused = commit(&store);
        assert!(matches!(refused, Err(StoreError::Full { .. })), "{refused:?}");
        store.sync().unwrap();
        store.close().unwrap();
    }
    let store = open(&disk, Mode::Kept, env()).unwrap();
    disk.fault(|faults| faults.room = None);
    write(&store, 5);
    Model::default().check(&store.snapshot());
    store.fold_now().unwrap();
    drop(store);
    Model::default().check(&open(&disk, Mode::Kept, env()).unwrap().snapshot());
}

#[test]
fn a_kept_store_that_is_closed_on_a_full_disk_is_found_again() {
    let mut failed = 0;
    for room in 0..24 {
        let disk = SimulatedDisk::default();
        let store = open(&disk, Mode::Kept, env()).unwrap();
        write(&store, 40);
        store.fold_now().unwrap();
        write(&store, 25);
        let version = store.snapshot().version();
        disk.fault(|faults| faults.room = Some(room));
        failed += usize::from(store.fold_now().is_err());
        // What there is no room for is in the journal.
        let _ = store.close();
        drop(store);
        let store = open(&disk, Mode::Kept, env()).unwrap();
        assert_eq!(store.snapshot().version(), version);
        Model::default().check(&store.snapshot());
        disk.fault(|faults| faults.room = None);
        store.fold_now().unwrap();
        Model::default().check(&store.snapshot());
        drop(store);
        Model::default().check(&open(&disk, Mode::Kept, env()).unwrap().snapshot());
    }
    assert!((5..24).contains(&failed), "{failed}");
}

#[test]
fn a_cleared_store_gives_its_room_back_when_no_snapshot_shows_it() {
    #[track_caller]
    fn check(mode: Mode) {
        let disk = SimulatedDisk::default();
        disk.fault(|faults| faults.room = Some(1_000_000));
        let left = || {
            let mut left = 0;
            disk.fault(|faults| left = faults.room.unwrap());
            left
        };
        let options = options(Path::new("/data"), Durability::WriteBehind);
        let place = match mode {
            Mode::Memory => Place::Memory { scratch: "/scratch".into() },
            Mode::Kept => options.place,
        };
        let disk_of_store = Arc::new(disk.clone());
        let fold_bytes = 1 << 30;
        let options = StoreOptions { place, disk: disk_of_store, fold_bytes, ..options };
        let store = Store::open(options).unwrap();
        records(&store, 10_000, 0);
        store.fold_now().unwrap();
        let used = 1_000_000 - left();
        assert!(used > 1_000, "{used}");
        let held = store.snapshot();
        store.clear(0).unwrap();
        store.fold_now().unwrap();
        assert_eq!(held.range(&KeyRange::all()).count(), 10_000);
        held.check().unwrap();
        drop(held);
        // What the clear replaced is freed on a thread.
        while 1_000_000 - left() > used / 10 {
            std::thread::yield_now();
        }
        records(&store, 10, 1);
        store.fold_now().unwrap();
        assert_eq!(store.snapshot().range(&KeyRange::all()).count(), 10);
    }
    check(Mode::Memory);
    check(Mode::Kept);
}

#[test]
fn a_folder_for_temporary_files_that_is_missing_is_told_and_not_made() {
    let dir = tempfile::TempDir::new().unwrap();
    let scratch = dir.path().join("missing");
    let options = StoreOptions::memory(Env::real());
    let place = Place::Memory { scratch: scratch.clone() };
    let store = Store::open(StoreOptions { place, ..options }).unwrap();
    records(&store, 10, 0);
    let error = store.fold_now().unwrap_err().to_string();
    let expected = format!(
        "could not make a temporary file in {}: there is no such folder, and TMPDIR must name one",
        scratch.display()
    );
    assert_eq!(error, expected);
    assert!(!scratch.exists());
    assert_eq!(store.snapshot().range(&KeyRange::all()).count(), 10);
}
