//! Keys without values: what is known of them, and how little is read for it.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use engine_store::{
    Disk, DiskFile, Head, KeyRange, Snapshot, Store, StoreError, StoreOptions, WriteBatch,
};

use crate::disk::SimulatedDisk;
use crate::support::{bytes, env};

/// Checks that keys alone say what whole entries say, both ways and one by one.
#[track_caller]
pub(crate) fn check(snapshot: &Snapshot, range: &KeyRange) {
    let entries: Vec<(Bytes, Head)> =
        snapshot.range(range).map(|entry| (entry.key().clone(), entry.record().head())).collect();
    assert_eq!(snapshot.heads(range).collect::<Vec<_>>(), entries);
    let mut reversed: Vec<_> = snapshot.heads_rev(range).collect();
    reversed.reverse();
    assert_eq!(reversed, entries);
    for (key, head) in &entries {
        assert_eq!(snapshot.head(key), Some(*head));
        assert_eq!(snapshot.updated(key), Some(head.updated));
        let base = snapshot.base_get(key).map(|record| record.head());
        assert_eq!(snapshot.base_head(key), base);
    }
    let first = entries.first().map(|(key, _)| key.clone());
    assert_eq!(snapshot.seek_key(&range.start).filter(|key| range.contains(key)), first);
}

fn write(store: &Store, key: usize, len: usize) {
    let mut batch = WriteBatch::new();
    batch.put(bytes(&format!("{key:04}")), Bytes::from(vec![7; len]));
    store.apply(|_| Ok::<(), StoreError>(()), batch).unwrap();
}

#[test]
fn keys_say_what_entries_say_however_long_the_values_are() {
    let store = Store::memory(env());
    // On both sides of the length from which on values are apart, in several runs, over one another.
    for (round, lens) in
        [[0, 2_047, 2_048], [2_049, 30_000, 1], [2_048, 2_049, 100_000]].into_iter().enumerate()
    {
        for (at, len) in lens.into_iter().enumerate() {
            write(&store, at, len);
            write(&store, 10 + round * 3 + at, len);
        }
        if round > 0 {
            let mut batch = WriteBatch::new();
            batch.delete(bytes(&format!("{:04}", 10 + round)));
            store.apply(|_| Ok::<(), StoreError>(()), batch).unwrap();
        }
        check(&store.snapshot(), &KeyRange::all());
        store.fold_now().unwrap();
        check(&store.snapshot(), &KeyRange::all());
        write(&store, 1, 5_000 + round);
        check(&store.snapshot(), &KeyRange::all());
    }
    let fork = Store::from_snapshot(env(), &store.snapshot());
    write(&fork, 2, 3_000);
    fork.fold_now().unwrap();
    check(&fork.snapshot(), &KeyRange::all());
    let lens: Vec<usize> =
        fork.snapshot().range(&KeyRange::all()).map(|it| it.record().value.len()).collect();
    assert_eq!(lens, [2_048, 5_002, 3_000, 0, 2_049, 30_000, 1, 2_048, 2_049, 100_000]);
}

/// Counts what is read of a disk.
#[derive(Clone, Debug)]
pub(crate) struct Counting {
    inner: SimulatedDisk,
    read: Arc<AtomicU64>,
}

impl Counting {
    /// Answers the count too.
    pub(crate) fn new(inner: SimulatedDisk) -> (Counting, Arc<AtomicU64>) {
        let read = Arc::new(AtomicU64::new(0));
        (Counting { inner, read: Arc::clone(&read) }, read)
    }
}

#[derive(Debug)]
struct CountingFile(Arc<dyn DiskFile>, Arc<AtomicU64>);

impl DiskFile for CountingFile {
    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.1.fetch_add(out.len() as u64, Ordering::Relaxed);
        self.0.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_at(offset, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }
}

impl Disk for Counting {
    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.inner.open(path, create)?;
        Ok(Arc::new(CountingFile(file, Arc::clone(&self.read))))
    }

    fn temporary(&self, dir: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.inner.temporary(dir)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.inner.list(dir)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.inner.remove(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn make_dir(&self, dir: &Path) -> io::Result<bool> {
        self.inner.make_dir(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.inner.sync_dir(dir)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Send + Sync>>> {
        self.inner.lock(path)
    }
}

#[test]
fn walking_keys_does_not_read_long_values() {
    const RECORDS: usize = 300;
    const LEN: usize = 30_000;
    let (disk, read) = Counting::new(SimulatedDisk::default());
    let options = StoreOptions::kept(env(), "/data");
    // Next to nothing is kept in memory, so that what is looked at is read.
    let options = StoreOptions { disk: Arc::new(disk), cache_bytes: 64 * 1024, ..options };
    let store = Store::open(options).unwrap();
    for key in 0..RECORDS {
        write(&store, key, LEN);
    }
    store.fold_now().unwrap();
    let snapshot = store.snapshot();
    let reading = |walk: &dyn Fn() -> usize| {
        let before = read.load(Ordering::Relaxed);
        assert_eq!(walk(), RECORDS);
        read.load(Ordering::Relaxed) - before
    };
    let everything = KeyRange::all();
    let whole = reading(&|| snapshot.range(&everything).count());
    let keys = reading(&|| snapshot.heads(&everything).count());
    assert!(whole >= (RECORDS * LEN) as u64, "{whole} bytes for everything");
    assert!(keys <= whole / 100, "{keys} bytes for keys, {whole} for everything");
    let one_by_one = reading(&|| {
        (0..RECORDS).filter(|key| snapshot.head(format!("{key:04}").as_bytes()).is_some()).count()
    });
    assert!(one_by_one <= whole / 4, "{one_by_one} bytes for keys one by one");
    snapshot.check().unwrap();
}
