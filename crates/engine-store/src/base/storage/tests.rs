//! A file that has no room now and then: what is read of it, and in which order it is written.

use base_env::{Env, UnixMicros};
use parking_lot::Mutex;

use super::*;

/// A file that refuses writes on demand, and notes what it was told.
#[derive(Debug, Default)]
struct Fake {
    bytes: Mutex<Vec<u8>>,
    refuses: AtomicBool,
    told: Mutex<Vec<Told>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Write(u64),
    Len(u64),
    Sync,
}

impl Fake {
    fn check_room(&self) -> io::Result<()> {
        let refuses = self.refuses.load(Ordering::Acquire);
        if refuses { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

impl DiskFile for Fake {
    fn size(&self) -> io::Result<u64> {
        Ok(self.bytes.lock().len() as u64)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap();
        let bytes = self.bytes.lock();
        let found = bytes.get(start..start + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(found);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let refused = self.check_room();
        let start = usize::try_from(offset).unwrap();
        // Part of a refused write arrives.
        let len = if refused.is_err() { bytes.len() / 3 } else { bytes.len() };
        self.bytes.lock()[start..start + len].copy_from_slice(&bytes[..len]);
        self.told.lock().push(Told::Write(offset));
        refused
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        if len > self.size()? {
            self.check_room()?;
        }
        self.bytes.lock().resize(usize::try_from(len).unwrap(), 0);
        self.told.lock().push(Told::Len(len));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.told.lock().push(Told::Sync);
        Ok(())
    }
}

const BLOCK: u64 = BLOCK_LEN as u64;

#[test]
fn what_is_read_is_what_was_written_with_room_or_without() {
    #[track_caller]
    fn check(lasting: Lasting, seed: u64) {
        let env = Env::simulated(seed, UnixMicros(0));
        let below = |bound: u64| {
            let mut bytes = [0; 8];
            env.random(&mut bytes);
            u64::from_le_bytes(bytes) % bound
        };
        let file = Arc::new(Fake::default());
        let storage = Storage::new(Arc::clone(&file) as _, lasting);
        let mut model: Vec<u8> = Vec::new();
        let (mut settled, mut stayed) = (0, 0);
        for step in 0..400_u64 {
            match below(12) {
                0 => file.refuses.store(below(2) == 0, Ordering::Release),
                1 => {
                    let len = (1 + below(20)) * BLOCK;
                    storage.set_len(len).unwrap();
                    let len = usize::try_from(len).unwrap();
                    // What comes after the end is nothing that redb reads before it has written it.
                    model.resize(len, 0);
                    let grown: Vec<u8> = vec![0xee; len];
                    storage.write(0, &grown).unwrap();
                    model.copy_from_slice(&grown);
                }
                2 => storage.sync().unwrap(),
                3 => match storage.settle() {
                    Ok(()) => {
                        settled += 1;
                        assert_eq!(*file.bytes.lock(), model);
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
                        stayed += 1;
                    }
                },
                _ if !model.is_empty() => {
                    let offset = below(model.len() as u64);
                    let len = below(3 * BLOCK).min(model.len() as u64 - offset);
                    let bytes = vec![step.to_le_bytes()[0]; usize::try_from(len).unwrap()];
                    storage.write(offset, &bytes).unwrap();
                    let offset = usize::try_from(offset).unwrap();
                    model[offset..offset + bytes.len()].copy_from_slice(&bytes);
                }
                _ => {}
            }
            assert_eq!(storage.len().unwrap(), model.len() as u64);
            let start = below(model.len() as u64 + 1);
            let len = below(model.len() as u64 + 1 - start);
            let mut found = vec![0; usize::try_from(len).unwrap()];
            storage.read(start, &mut found).unwrap();
            let start = usize::try_from(start).unwrap();
            assert_eq!(found, model[start..start + found.len()]);
        }
        assert!(settled > 0 && stayed > 0);
    }
    for seed in 0..50 {
        check(Lasting::Temporary, seed);
        check(Lasting::Kept, seed);
    }
}

#[test]
fn what_is_held_reaches_the_disk_in_the_order_of_its_syncs() {
    let file = Arc::new(Fake::default());
    let storage = Storage::new(Arc::clone(&file) as _, Lasting::Kept);
    storage.set_len(4 * BLOCK).unwrap();
    file.refuses.store(true, Ordering::Release);
    let page = [7; BLOCK_LEN];
    storage.write(BLOCK, &page).unwrap();
    // The file grows, a commit is written, its header, and another commit.
    storage.set_len(8 * BLOCK).unwrap();
    storage.sync().unwrap();
    storage.write(5 * BLOCK, &page).unwrap();
    storage.write(0, &[1; 320]).unwrap();
    storage.sync().unwrap();
    storage.write(0, &[2; 320]).unwrap();
    storage.sync().unwrap();
    storage.write(2 * BLOCK, &page).unwrap();
    storage.set_len(6 * BLOCK).unwrap();
    file.told.lock().clear();
    assert!(storage.is_full());
    assert!(storage.settle().is_err());
    file.told.lock().clear();
    file.refuses.store(false, Ordering::Release);
    storage.settle().unwrap();
    assert!(!storage.is_full());
    let expected = [
        Told::Len(8 * BLOCK),
        Told::Sync,
        Told::Write(0),
        Told::Write(BLOCK),
        Told::Write(5 * BLOCK),
        Told::Sync,
        Told::Write(0),
        Told::Sync,
        Told::Len(6 * BLOCK),
        Told::Sync,
        Told::Write(2 * BLOCK),
        Told::Sync,
    ];
    assert_eq!(*file.told.lock(), expected);
}

#[test]
fn memory_holds_only_so_much() {
    let file = Arc::new(Fake::default());
    let storage = Storage::new(Arc::clone(&file) as _, Lasting::Temporary);
    storage.set_len(2 * HELD_WRITE_BYTES_MAX as u64).unwrap();
    file.refuses.store(true, Ordering::Release);
    let half = vec![1; HELD_WRITE_BYTES_MAX / 2];
    storage.write(0, &half).unwrap();
    storage.write(half.len() as u64, &half).unwrap();
    let refused = storage.write(2 * half.len() as u64, &half).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
    let mut found = vec![0; half.len()];
    storage.read(half.len() as u64, &mut found).unwrap();
    assert_eq!(found, half);
}
