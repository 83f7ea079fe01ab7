//! Segments are taken and made at the same time, and none is ever begun anew. A matter of nanoseconds, so this shows
//! a mistake at once only where taking one takes longer; the tests that kill processes meet it once in thousands.

use std::sync::Arc;

use engine_store::{Durability, Store, StoreError, StoreOptions, WriteBatch};

use crate::disk::SimulatedDisk;
use crate::support::{bytes, env};

/// Room for a few records each, so that one is nearly always due.
const SEGMENT_BYTES: u64 = 2_000;
const COMMITS: usize = 20_000;

#[test]
fn a_segment_that_is_written_to_is_not_made_beforehand_once_more() {
    let disk = SimulatedDisk::default();
    let open = || {
        let disk = Arc::new(disk.clone());
        let durability = Durability::PerCommit;
        let options = StoreOptions::kept(env(), "/data");
        // Folds make segments too.
        let (segment_bytes, fold_bytes) = (SEGMENT_BYTES, 2 * SEGMENT_BYTES as usize);
        Store::open(StoreOptions { durability, segment_bytes, fold_bytes, disk, ..options })
    };
    let store = open().unwrap();
    for number in 0..COMMITS {
        let mut batch = WriteBatch::new();
        batch.put(bytes(&format!("{number:06}")), bytes("value"));
        store.apply(|_| Ok::<_, StoreError>(()), batch).unwrap();
        if number % 50 == 0 {
            store.sync().unwrap();
        }
    }
    store.close().unwrap();
    drop(store);
    assert_eq!(open().unwrap().snapshot().len(), COMMITS);
}
