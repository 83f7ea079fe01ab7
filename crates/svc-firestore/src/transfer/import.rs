//! Reads the output files of exports, some beside one another.

use std::fs::File;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use base_status::Status;
use engine_export::{Document, DocumentReader, Export, ReadError, Shard};
use parking_lot::Mutex;
use svc_kit::{Import, Progress};

use super::intake::Intake;
use super::{bad_export, cancelled};
use crate::limits::IMPORT_READERS_MAX;
use crate::state::State;

/// Documents after which a reader tells how far it is.
const TELL_DOCUMENTS: u64 = 256;

/// Takes documents into the suite's own project, with the database that their names say. Times are those of
/// the import. References stay as they are, also where they name the project of the export.
///
/// # Errors
/// What is wrong with the export; the disk's. Some documents may be there then.
pub(crate) fn import(state: &State, import: &Import, progress: &Progress) -> Result<(), Status> {
    let parts = import.parts.iter().map(|path| Part::open(path.clone(), import));
    let parts = parts.collect::<Result<Vec<_>, _>>().map_err(bad_export)?;
    let shards: Vec<(&Part, &Shard)> =
        parts.iter().flat_map(|part| part.shards.iter().map(move |shard| (part, shard))).collect();
    progress.expect_bytes(shards.iter().map(|(_, shard)| shard.bytes).sum());
    let intake = Intake::new(state, import);
    let work = Work {
        shards: &shards,
        intake: &intake,
        progress,
        next: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
        first_error: Mutex::new(None),
    };
    let available = thread::available_parallelism().map_or(1, NonZero::get);
    let readers = available.min(IMPORT_READERS_MAX).min(shards.len());
    thread::scope(|scope| {
        // This thread reads too, so that there is one where the system gives no more.
        let others = (1..readers).map(|_| {
            let named = thread::Builder::new().name("import".to_owned());
            named.spawn_scoped(scope, || work.run())
        });
        let others: Vec<_> = others.flatten().collect();
        work.run();
        others.into_iter().for_each(|reader| drop(reader.join()));
    });
    if let Some((_, error)) = work.first_error.into_inner() {
        return Err(error);
    }
    for part in &parts {
        part.check_documents().map_err(bad_export)?;
    }
    intake.finish()
}

/// One export, with what of it is read.
struct Part {
    shards: Vec<Shard>,
    /// How many documents they should hold, where the metadata says so.
    expected: Option<u64>,
    found: Mutex<u64>,
}

impl Part {
    fn open(path: PathBuf, import: &Import) -> Result<Part, ReadError> {
        let export = Export::open(&path)?;
        let wanted = |collection: &Option<String>| match (collection, &import.collections) {
            (Some(id), Some(wanted)) => wanted.contains(id),
            (Some(_) | None, _) => true,
        };
        let groups = export.groups().iter().filter(|group| wanted(&group.collection));
        let mut part = Part { shards: Vec::new(), expected: Some(0), found: Mutex::new(0) };
        for group in groups {
            part.shards.extend(group.shards.iter().cloned());
            part.expected = part.expected.zip(group.documents).map(|(sum, one)| sum + one);
        }
        Ok(part)
    }

    fn check_documents(&self) -> Result<(), ReadError> {
        let found = *self.found.lock();
        match self.expected {
            Some(expected) if expected != found => Err(ReadError::Count { expected, found }),
            _ => Ok(()),
        }
    }
}

/// What the readers share.
struct Work<'a> {
    shards: &'a [(&'a Part, &'a Shard)],
    intake: &'a Intake<'a>,
    progress: &'a Progress,
    next: AtomicUsize,
    failed: AtomicBool,
    /// The one of the earliest file among those that were met before all readers ended.
    first_error: Mutex<Option<(usize, Status)>>,
}

impl Work<'_> {
    fn run(&self) {
        let mut batch = self.intake.batch();
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let shard = self.shards.get(at).filter(|_| !self.failed.load(Ordering::Relaxed));
            let done = match shard {
                Some((part, shard)) => self.read(part, shard, &mut batch),
                None => self.intake.commit(&mut batch),
            };
            if let Err(error) = done {
                self.failed.store(true, Ordering::Relaxed);
                let mut first = self.first_error.lock();
                if first.as_ref().is_none_or(|(earlier, _)| at < *earlier) {
                    *first = Some((at, error));
                }
                return;
            }
            if shard.is_none() {
                return;
            }
        }
    }

    fn read(
        &self,
        part: &Part,
        shard: &Shard,
        batch: &mut super::intake::Batch,
    ) -> Result<(), Status> {
        let mut reader = shard.open().map_err(bad_export)?;
        let mut told = Told::default();
        loop {
            let offset = reader.position();
            let Some(document) = reader.next() else { break };
            let document: Document = document.map_err(bad_export)?;
            self.intake.take(document, batch).map_err(|error| error.at(&shard.file, offset))?;
            if reader.documents() - told.documents >= TELL_DOCUMENTS {
                told.tell(self.progress, &reader);
                if self.progress.is_cancelled() || self.failed.load(Ordering::Relaxed) {
                    return Err(cancelled());
                }
            }
        }
        told.tell(self.progress, &reader);
        *part.found.lock() += reader.documents();
        Ok(())
    }
}

/// What was told of one file.
#[derive(Default)]
struct Told {
    documents: u64,
    bytes: u64,
}

impl Told {
    fn tell(&mut self, progress: &Progress, reader: &DocumentReader<File>) {
        progress.add_items(reader.documents() - self.documents);
        progress.add_bytes(reader.position() - self.bytes);
        *self = Told { documents: reader.documents(), bytes: reader.position() };
    }
}
