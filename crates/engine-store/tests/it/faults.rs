//! Disks that fail, files that are not what they were, folders that are somebody else's.

use std::path::Path;
use std::sync::Arc;

use engine_store::{Durability, KeyRange, Store, StoreError, StoreOptions, Version, WriteBatch};

use crate::crash::{Model, acknowledge, commit, options};
use crate::disk::{Crash, SimulatedDisk};
use crate::support::{Choices, bytes};

fn open(disk: &SimulatedDisk) -> Result<Store, StoreError> {
    open_with(disk, Durability::WriteBehind)
}

fn open_with(disk: &SimulatedDisk, durability: Durability) -> Result<Store, StoreError> {
    let options = options(Path::new("/data"), durability);
    // Folds happen when the test says so.
    let options = StoreOptions { fold_bytes: 1 << 30, ..options };
    Store::open(StoreOptions { disk: Arc::new(disk.clone()), ..options })
}

fn write(store: &Store, commits: usize) -> Version {
    (0..commits).for_each(|_| drop(commit(store).unwrap()));
    store.snapshot().version()
}

/// The segments of the journal, oldest first.
fn segments(disk: &SimulatedDisk) -> Vec<String> {
    disk.names().into_iter().filter(|name| name.starts_with("journal-")).collect()
}

#[test]
fn a_full_disk_refuses_commits_and_loses_none() {
    let disk = SimulatedDisk::default();
    let store = open(&disk).unwrap();
    let before = write(&store, 50);
    disk.fault(|faults| faults.full = true);
    for _ in 0..3 {
        assert!(matches!(commit(&store), Err(StoreError::Full { .. })));
        assert!(matches!(store.clear(0), Err(StoreError::Full { .. })));
        assert_eq!(store.snapshot().version(), before, "a refused commit changed nothing");
    }
    let crashed = disk.crash(Crash::Kill, &mut Choices::from_seed(0));
    Model::default().check(&open(&crashed).unwrap().snapshot());

    disk.fault(|faults| faults.full = false);
    let after = write(&store, 50);
    let crashed = disk.crash(Crash::Kill, &mut Choices::from_seed(0));
    let found = open(&crashed).unwrap().snapshot();
    assert_eq!(found.version(), after, "writes went on where they had stopped");
    Model::default().check(&found);
}

#[test]
fn a_full_disk_refuses_a_fold_and_loses_nothing() {
    let disk = SimulatedDisk::default();
    let store = open(&disk).unwrap();
    let version = write(&store, 100);
    disk.fault(|faults| faults.full = true);
    assert!(store.fold_now().is_err());
    assert!(store.check_folds().is_err());
    Model::default().check(&store.snapshot());
    disk.fault(|faults| faults.full = false);
    write(&store, 20);
    store.fold_now().unwrap();
    assert!(store.check_folds().is_ok());
    let found = store.snapshot();
    assert!(found.has_base() && found.version() > version);
    Model::default().check(&found);
    let crashed = disk.crash(Crash::Kill, &mut Choices::from_seed(0));
    Model::default().check(&open(&crashed).unwrap().snapshot());
}

#[test]
fn a_failed_sync_is_told_and_stops_writes() {
    let disk = SimulatedDisk::default();
    let store = open_with(&disk, Durability::PerCommit).unwrap();
    let safe = write(&store, 20);
    acknowledge(&store, safe).unwrap();
    disk.fault(|faults| faults.syncs_fail = true);
    let unsafe_version = write(&store, 1);
    assert!(matches!(acknowledge(&store, unsafe_version), Err(StoreError::Io { .. })));
    assert!(matches!(commit(&store), Err(StoreError::Io { .. })));
    disk.fault(|faults| faults.syncs_fail = false);
    assert!(commit(&store).is_err(), "what the disk holds is not known any more");
    assert!(acknowledge(&store, safe).is_ok(), "what was safe is");
    let crashed = disk.crash(Crash::PowerCut, &mut Choices::from_seed(0));
    let found = open(&crashed).unwrap().snapshot();
    assert!(found.version() >= safe);
    Model::default().check(&found);
}

#[test]
fn a_read_that_fails_is_told_by_check() {
    let disk = SimulatedDisk::default();
    let store = open(&disk).unwrap();
    let mut batch = WriteBatch::new();
    for key in 0..5_000 {
        batch.put(bytes(&format!("key {key}")), bytes(&"x".repeat(200)));
    }
    store.writer().apply(batch).unwrap();
    store.fold_now().unwrap();
    drop(store);
    let store = open(&disk).unwrap();
    let snapshot = store.snapshot();
    disk.fault(|faults| faults.reads_fail = true);
    let found = snapshot.range(&KeyRange::all()).count();
    assert!(found < snapshot.len());
    assert!(snapshot.check().is_err());
    assert!(commit(&store).is_err(), "nothing is written on a state that cannot be read");
}

#[test]
fn damage_is_told_from_a_torn_tail() {
    /// Damages byte `from_end` before the end of the records, and opens.
    #[track_caller]
    fn check(synced: bool, at: impl FnOnce(usize) -> usize, expected: Option<u64>) {
        let disk = SimulatedDisk::default();
        let store = open(&disk).unwrap();
        write(&store, 10);
        if synced {
            store.sync().unwrap();
        }
        write(&store, 1);
        let crashed = disk.crash(Crash::Kill, &mut Choices::from_seed(0));
        let segment = segments(&crashed).pop().unwrap();
        crashed.damage(&segment, |bytes| {
            let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
            bytes[at(end)] ^= 0x40;
        });
        match (open(&crashed), expected) {
            (Ok(store), Some(version)) => {
                let found = store.snapshot();
                assert_eq!(found.version(), Version::new(version));
                Model::default().check(&found);
                // What was cut off does not come back.
                write(&store, 3);
                drop((store, found));
                let found = open(&crashed).unwrap().snapshot();
                assert_eq!(found.version(), Version::new(version + 3));
                Model::default().check(&found);
            }
            (Err(StoreError::Damaged { .. }), None) => {}
            (other, expected) => panic!("{other:?}, not {expected:?}"),
        }
    }
    check(false, |end| end, Some(10));
    check(true, |end| end, Some(10));
    // The first record: with nothing synced after it, a power cut may have taken it.
    check(false, |_| 40, Some(0));
    check(true, |_| 40, None);
    // The segment's own header.
    check(false, |_| 3, Some(0));
    check(true, |_| 3, None);
}

#[test]
fn a_missing_segment_is_damage() {
    let disk = SimulatedDisk::default();
    let store = open(&disk).unwrap();
    // The newest may be one that was made beforehand.
    while segments(&disk).len() < 5 {
        write(&store, 20);
        store.sync().unwrap();
    }
    drop(store);
    for index in 0..3 {
        let crashed = disk.crash(Crash::Kill, &mut Choices::from_seed(0));
        let path = Path::new("/data").join(&segments(&crashed)[index]);
        engine_store::Disk::remove(&crashed, &path).unwrap();
        assert!(matches!(open(&crashed), Err(StoreError::Damaged { .. })), "segment {index}");
    }
}

#[test]
fn a_folder_belongs_to_one_store_at_a_time() {
    let disk = SimulatedDisk::default();
    let store = open(&disk).unwrap();
    write(&store, 3);
    assert!(matches!(open(&disk), Err(StoreError::InUse { .. })));
    store.fold_now().unwrap();
    let snapshot = store.snapshot();
    store.close().unwrap();
    store.close().unwrap();
    assert!(matches!(commit(&store), Err(StoreError::Closed)));
    drop(store);
    assert!(matches!(open(&disk), Err(StoreError::InUse { .. })), "a snapshot still reads it");
    Model::default().check(&snapshot);
    drop(snapshot);
    Model::default().check(&open(&disk).unwrap().snapshot());

    let dir = tempfile::TempDir::new().unwrap();
    let first = Store::open(options(dir.path(), Durability::WriteBehind)).unwrap();
    let second = Store::open(options(dir.path(), Durability::WriteBehind));
    assert!(matches!(second, Err(StoreError::InUse { .. })), "also on the real disk");
    drop(first);
}

#[test]
fn a_newer_format_is_refused_by_name() {
    let disk = SimulatedDisk::default();
    drop(open(&disk).unwrap());
    disk.damage("format", |text| {
        let newer = String::from_utf8(text.clone()).unwrap().replace("format 2", "format 3");
        *text = newer.into_bytes();
    });
    let Err(error) = open(&disk) else { panic!("it was opened") };
    let says = "/data has format 3, and this program reads up to 2: use a newer version of it";
    assert_eq!(error.to_string(), says);
}

#[test]
fn files_of_another_store_are_not_read() {
    let one = SimulatedDisk::default();
    write(&open(&one).unwrap(), 3);
    let two = SimulatedDisk::default();
    drop(open(&two).unwrap());
    let segment = segments(&one).remove(0);
    let mut foreign = Vec::new();
    one.damage(&segment, |content| foreign = content.clone());
    two.damage("format", |text| {
        // Another number than that of the files.
        let last = text.len() - 2;
        text[last] = if text[last] == b'0' { b'1' } else { b'0' };
    });
    let path = Path::new("/data").join(&segment);
    let file = engine_store::Disk::open(&two, &path, true).unwrap();
    file.write_at(0, &foreign).unwrap();
    assert!(matches!(open(&two), Err(StoreError::Damaged { .. })));
}

#[test]
fn a_base_derived_in_another_way_is_derived_anew() {
    let disk = SimulatedDisk::default();
    let store = {
        let options = options(Path::new("/data"), Durability::WriteBehind);
        let derive = Arc::new(engine_store::NoDerive);
        Store::open(StoreOptions { derive, disk: Arc::new(disk.clone()), ..options }).unwrap()
    };
    write(&store, 30);
    store.fold_now().unwrap();
    write(&store, 5);
    assert_eq!(store.snapshot().counter(b"all"), 0);
    drop(store);
    let found = open(&disk).unwrap().snapshot();
    assert!(found.counter(b"all") > 0);
    Model::default().check(&found);
}

#[test]
fn a_missing_folder_is_made_and_a_file_in_its_place_is_refused() {
    let dir = tempfile::TempDir::new().unwrap();
    let deep = dir.path().join("a/b");
    let store = Store::open(options(&deep, Durability::WriteBehind)).unwrap();
    let mut batch = WriteBatch::new();
    batch.put(bytes("a"), bytes("1"));
    store.writer().apply(batch).unwrap();
    drop(store);
    let file = dir.path().join("file");
    std::fs::write(&file, b"").unwrap();
    let refused = Store::open(options(&file, Durability::WriteBehind));
    assert!(matches!(refused, Err(StoreError::Io { .. })));
}
