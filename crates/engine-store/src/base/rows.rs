//! Reading several runs as one to make another one of them.

use redb::StorageError;

use super::cursor::{Guard, Rows};
use super::run::Run;

/// The rows of one kind of table of several runs, in order; of equal keys the newest one's.
pub(super) struct MergedRows<'a> {
    /// The newest first.
    sources: Vec<Source<'a>>,
}

struct Source<'a> {
    run: &'a Run,
    rows: Rows,
    next: Option<(Guard, Guard)>,
}

impl<'a> MergedRows<'a> {
    /// `rows` of each run, the newest one's first.
    pub(super) fn new(
        runs: &[&'a Run],
        rows: impl Fn(&Run) -> Result<Rows, StorageError>,
    ) -> Result<MergedRows<'a>, StorageError> {
        let mut sources = Vec::with_capacity(runs.len());
        for run in runs {
            let mut rows = rows(run)?;
            let next = rows.next().transpose()?;
            sources.push(Source { run, rows, next });
        }
        Ok(MergedRows { sources })
    }

    /// The next row whose key is less than `end`, or the next one at all. A row at `end` itself is
    /// passed over: something newer is there.
    pub(super) fn next_before(
        &mut self,
        end: Option<&[u8]>,
    ) -> Result<Option<(Guard, Guard, &'a Run)>, StorageError> {
        loop {
            let mut least: Option<(usize, &[u8])> = None;
            for (at, source) in self.sources.iter().enumerate() {
                let Some((key, _)) = &source.next else { continue };
                let key = key.value();
                if least.is_none_or(|(_, known)| key < known) {
                    least = Some((at, key));
                }
            }
            let Some((at, key)) = least else { return Ok(None) };
            let is_replaced = match end {
                Some(end) if key > end => return Ok(None),
                Some(end) => key == end,
                None => false,
            };
            let Some(row) = self.take(at)? else { return Ok(None) };
            // Older runs say nothing of it any more.
            for older in at + 1..self.sources.len() {
                let is_same = |source: &Source<'_>| {
                    source.next.as_ref().is_some_and(|(key, _)| key.value() == row.0.value())
                };
                if self.sources.get(older).is_some_and(is_same) {
                    self.take(older)?;
                }
            }
            if !is_replaced {
                return Ok(Some(row));
            }
        }
    }

    fn take(&mut self, at: usize) -> Result<Option<(Guard, Guard, &'a Run)>, StorageError> {
        let Some(source) = self.sources.get_mut(at) else { return Ok(None) };
        let next = source.rows.next().transpose()?;
        let taken = std::mem::replace(&mut source.next, next);
        Ok(taken.map(|(key, value)| (key, value, source.run)))
    }
}
