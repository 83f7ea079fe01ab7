//! Disks that fail, files that are not what they were, folders that are somebody else's.

use std::path::Path;
use std::sync::Arc;

use engine_store::{Durability, KeyRange, Store, StoreError, StoreOptions, Version, WriteBatch};

use crate::crash::{Model, acknowledge, commit, options};
use crate::disk::{Crash, SimulatedDisk};
use crate::heads::Counting;
use crate::support::{Choices, bytes};

/// Bytes of a journal record before its payload.
const HEADER_LEN: usize = 52;

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
    disk.fault(|faults| faults.reads = Some(0));
    let found = snapshot.range(&KeyRange::all()).count();
    assert!(found < snapshot.len());
    assert!(snapshot.check().is_err());
    assert!(commit(&store).is_err(), "nothing is written on a state that cannot be read");
}

#[test]
fn a_read_that_fails_at_any_point_of_a_fold_loses_nothing() {
    let mut failed = 0;
    for reads in 0.. {
        let disk = SimulatedDisk::default();
        // A cache that is smaller than what a fold reads and writes.
        let options = options(Path::new("/data"), Durability::WriteBehind);
        let options = StoreOptions { fold_bytes: 1 << 30, cache_bytes: 20_000, ..options };
        let store = Store::open(StoreOptions { disk: Arc::new(disk.clone()), ..options }).unwrap();
        write(&store, 30);
        store.fold_now().unwrap();
        let version = write(&store, 6);
        disk.fault(|faults| faults.reads = Some(reads));
        let folded = store.fold_now();
        disk.fault(|faults| faults.reads = None);
        // Whether it folds now or cannot read any more: it never forgets what it cannot read.
        if store.fold_now().is_ok() {
            Model::default().check(&store.snapshot());
        }
        let crashed = disk.crash(Crash::Kill, &mut Choices::from_seed(0));
        let found = open(&crashed).unwrap().snapshot();
        assert_eq!(found.version(), version, "{reads} reads were answered, and then {folded:?}");
        Model::default().check(&found);
        if folded.is_ok() {
            break;
        }
        failed += 1;
    }
    assert!(failed > 3, "{failed}");
}

#[test]
fn an_error_names_the_file_that_is_there() {
    let disk = SimulatedDisk::default();
    let options = options(Path::new("/data"), Durability::WriteBehind);
    let options = StoreOptions { fold_bytes: 1 << 30, cache_bytes: 20_000, ..options };
    let store = Store::open(StoreOptions { disk: Arc::new(disk.clone()), ..options }).unwrap();
    write(&store, 36);
    store.fold_now().unwrap();
    // Clears, so that another file takes the name of the base.
    write(&store, 5);
    let mut batch = WriteBatch::new();
    (0..5_000).for_each(|key| batch.put(bytes(&format!("more {key}")), bytes(&"x".repeat(200))));
    store.writer().apply(batch).unwrap();
    store.fold_now().unwrap();
    disk.fault(|faults| faults.reads = Some(0));
    let snapshot = store.snapshot();
    assert!(snapshot.range(&KeyRange::all()).count() < snapshot.len());
    let error = snapshot.check().unwrap_err().to_string();
    assert!(error.contains(" /data/base.redb:"), "{error}");
}

#[test]
fn a_base_whose_name_was_not_synced_is_written_again() {
    #[track_caller]
    fn check(folds_before: bool) {
        let disk = SimulatedDisk::default();
        let store = open(&disk).unwrap();
        if folds_before {
            write(&store, 36);
            store.fold_now().unwrap();
            // Clears, so that another file takes the name.
            write(&store, 5);
        } else {
            write(&store, 10);
        }
        disk.fault(|faults| faults.name_syncs_fail = true);
        assert!(store.fold_now().is_err());
        disk.fault(|faults| faults.name_syncs_fail = false);
        for _ in 0..3 {
            store.fold_now().unwrap();
            Model::default().check(&store.snapshot());
            store.sync().unwrap();
            let version = store.snapshot().version();
            for seed in 0..4 {
                let crashed = disk.crash(Crash::PowerCut, &mut Choices::from_seed(seed));
                let found = open(&crashed).unwrap().snapshot();
                assert_eq!(found.version(), version);
                Model::default().check(&found);
            }
            write(&store, 5);
        }
    }
    check(true);
    check(false);
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
fn zeros_in_the_middle_are_not_taken_for_the_end() {
    /// Zeros some bytes from the end of the n-th record on, and opens.
    #[track_caller]
    fn check(synced: bool, records: usize, zeros: usize, expected: Option<u64>) {
        let disk = SimulatedDisk::default();
        let options = options(Path::new("/data"), Durability::WriteBehind);
        let options = StoreOptions { fold_bytes: 1 << 30, segment_bytes: 16 << 20, ..options };
        let disk_of_store = Arc::new(disk.clone());
        let store = Store::open(StoreOptions { disk: disk_of_store, ..options }).unwrap();
        for number in 0..40 {
            let mut batch = WriteBatch::new();
            batch.put(bytes(&format!("{number}")), bytes(&"x".repeat(100_000)));
            store.writer().apply(batch).unwrap();
            if synced && number == 20 {
                store.sync().unwrap();
            }
        }
        let crashed = disk.crash(Crash::Kill, &mut Choices::from_seed(0));
        drop(store);
        crashed.damage(&segments(&crashed)[0], |bytes| {
            let end = nth_record(bytes, records);
            bytes[end..end + zeros].fill(0);
        });
        match (open(&crashed), expected) {
            (Ok(store), Some(version)) => {
                assert_eq!(store.snapshot().version(), Version::new(version));
            }
            (Err(StoreError::Damaged { .. }), None) => {}
            (other, expected) => panic!("{other:?}, not {expected:?}"),
        }
    }
    // Whatever the zeros are long, and wherever what is read at once ends.
    for zeros in [600, 100_069, 1 << 20, (1 << 20) + 70_005] {
        for records in [0, 9, 19] {
            check(true, records, zeros, None);
        }
        // Nothing says that the disk ever held this.
        check(false, 9, zeros, Some(9));
    }
}

/// Where the n-th record of a segment begins.
fn nth_record(segment: &[u8], records: usize) -> usize {
    let mut at = 32;
    for _ in 0..records {
        let len = u32::from_le_bytes(segment[at + 8..at + 12].try_into().unwrap());
        at += HEADER_LEN + usize::try_from(len).unwrap();
    }
    at
}

/// What of a record did not arrive.
#[derive(Clone, Copy, Debug)]
enum Torn {
    Header,
    End,
}

/// Writes a value and tears its record.
fn write_torn(disk: &SimulatedDisk, value: Vec<u8>, torn: Torn) {
    let store = open(disk).unwrap();
    let mut batch = WriteBatch::new();
    batch.put(bytes("key"), value.into());
    store.writer().apply(batch).unwrap();
    drop(store);
    disk.damage(&segments(disk).pop().unwrap(), |bytes| {
        let at = match torn {
            Torn::Header => nth_record(bytes, 0) + 20,
            Torn::End => bytes.iter().rposition(|byte| *byte != 0).unwrap(),
        };
        bytes[at] = 0;
    });
}

#[test]
fn what_looks_like_a_record_in_a_value_is_not_one() {
    // A whole record of another store, which says that much is on the disk.
    let other = SimulatedDisk::default();
    let options = options(Path::new("/data"), Durability::WriteBehind);
    let env = base_env::Env::simulated(77, crate::support::START);
    let options = StoreOptions { env, fold_bytes: 1 << 30, segment_bytes: 1 << 20, ..options };
    let store = Store::open(StoreOptions { disk: Arc::new(other.clone()), ..options }).unwrap();
    write(&store, 20);
    store.sync().unwrap();
    write(&store, 1);
    let mut record = Vec::new();
    other.damage(&segments(&other)[0], |bytes| {
        record = bytes[nth_record(bytes, 20)..nth_record(bytes, 21)].to_vec();
    });

    for torn in [Torn::Header, Torn::End] {
        let disk = SimulatedDisk::default();
        write_torn(&disk, record.clone(), torn);
        assert_eq!(open(&disk).unwrap().snapshot().version(), Version::ZERO, "{torn:?}");
    }
}

#[test]
fn a_value_full_of_headers_does_not_make_opening_slow() {
    const LEN: usize = 1 << 20;
    let disk = SimulatedDisk::default();
    let mut header = [0; HEADER_LEN];
    header[..4].copy_from_slice(b"FREC");
    // Wherever a length may be: one that leads from here to the end.
    for at in [4, 8, 12] {
        header[at..at + 4].copy_from_slice(&(100_000_u32).to_le_bytes());
    }
    write_torn(&disk, header.repeat(LEN / HEADER_LEN), Torn::Header);
    let (disk, read) = Counting::new(disk);
    let options = options(Path::new("/data"), Durability::WriteBehind);
    let store = Store::open(StoreOptions { disk: Arc::new(disk), ..options }).unwrap();
    assert_eq!(store.snapshot().version(), Version::ZERO);
    let read = read.load(std::sync::atomic::Ordering::Relaxed);
    assert!(read < 5 * LEN as u64, "{read} bytes");
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
fn another_format_is_refused_by_name() {
    #[track_caller]
    fn check(format: u32, says: &str) {
        let disk = SimulatedDisk::default();
        drop(open(&disk).unwrap());
        disk.damage("format", |text| {
            let other = format!("format {format}");
            let other = String::from_utf8(text.clone()).unwrap().replace("format 3", &other);
            *text = other.into_bytes();
        });
        let Err(error) = open(&disk) else { panic!("it was opened") };
        let has = format!("/data has format {format}, and this program reads format 3: {says}");
        assert_eq!(error.to_string(), has);
    }
    check(4, "use a newer version of it");
    let says = "export the data with the older version that wrote it and import it here, or remove the folder";
    check(2, says);
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
fn the_folders_of_a_new_store_outlive_a_power_cut() {
    let disk = SimulatedDisk::default();
    let dir = "/project/service/database";
    let open = |disk: &SimulatedDisk| {
        let options = options(Path::new(dir), Durability::PerCommit);
        Store::open(StoreOptions { disk: Arc::new(disk.clone()), ..options }).unwrap()
    };
    let store = open(&disk);
    let version = write(&store, 3);
    acknowledge(&store, version).unwrap();
    for seed in 0..4 {
        let crashed = disk.crash(Crash::PowerCut, &mut Choices::from_seed(seed));
        assert!(crashed.has_dir(dir), "the folder is gone, with all that is in it");
        let found = open(&crashed).snapshot();
        assert_eq!(found.version(), version);
        Model::default().check(&found);
    }
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
