//! Walking the base in key order: its runs as one, the newer ones over the older.

use std::fmt;
use std::iter::Peekable;

use bytes::Bytes;
use redb::{AccessGuard, StorageError};

use super::file::BaseFile;
use super::run::Run;
use crate::merge::{Direction, Turn, turn};

pub(super) type Guard = AccessGuard<'static, &'static [u8]>;
pub(super) type Rows = redb::Range<'static, &'static [u8], &'static [u8]>;

/// Copies a row out of a run: its key, and what is there unless it says that nothing is.
pub(super) type Decode<'a, T> = fn(&'a Run, &[u8], &[u8]) -> (Bytes, Option<T>);

/// The entries of a range of one kind of table. The first error ends them, and is noted.
pub(crate) struct Cursor<'a, T> {
    own: Option<Ahead<'a, T>>,
    under: Option<Box<Peekable<Cursor<'a, T>>>>,
    direction: Direction,
}

/// The rows of one run, of which the next one may have been looked at.
struct Ahead<'a, T> {
    rows: Own<'a, T>,
    next: Option<(Bytes, Option<T>)>,
}

impl<T> Ahead<'_, T> {
    fn peek(&mut self) -> Option<&(Bytes, Option<T>)> {
        if self.next.is_none() {
            self.next = self.rows.next();
        }
        self.next.as_ref()
    }

    fn next(&mut self) -> Option<(Bytes, Option<T>)> {
        self.next.take().or_else(|| self.rows.next())
    }

    fn pass(&mut self, max: u64) -> u64 {
        let ahead = u64::from(max > 0 && self.next.take().is_some());
        ahead + self.rows.pass(max - ahead)
    }
}

/// The rows of one run alone.
struct Own<'a, T> {
    file: &'a BaseFile,
    run: &'a Run,
    rows: Option<Rows>,
    decode: Decode<'a, T>,
    direction: Direction,
}

impl<'a, T> Cursor<'a, T> {
    pub(super) fn new(
        (file, run): (&'a BaseFile, &'a Run),
        rows: Result<Rows, StorageError>,
        under: Option<Cursor<'a, T>>,
        decode: Decode<'a, T>,
        direction: Direction,
    ) -> Cursor<'a, T> {
        let rows = rows.map_err(|error| file.note(error)).ok();
        let own = Own { file, run, rows, decode, direction };
        let under = under.map(|under| Box::new(under.peekable()));
        Cursor { own: Some(Ahead { rows: own, next: None }), under, direction }
    }

    /// No entries.
    pub(super) fn nothing(direction: Direction) -> Cursor<'a, T> {
        Cursor { own: None, under: None, direction }
    }
}

impl<T> Own<'_, T> {
    /// Goes past up to `max` rows, all of which are there; answers how many there were.
    fn pass(&mut self, max: u64) -> u64 {
        let Some(rows) = self.rows.as_mut() else { return 0 };
        for passed in 0..max {
            let row = match self.direction {
                Direction::Ascending => rows.next(),
                Direction::Descending => rows.next_back(),
            };
            match row {
                Some(Ok(_)) => {}
                Some(Err(error)) => {
                    self.file.note(error);
                    self.rows = None;
                    return passed;
                }
                None => return passed,
            }
        }
        max
    }
}

impl<T> Iterator for Own<'_, T> {
    type Item = (Bytes, Option<T>);

    fn next(&mut self) -> Option<Self::Item> {
        let rows = self.rows.as_mut()?;
        let row = match self.direction {
            Direction::Ascending => rows.next(),
            Direction::Descending => rows.next_back(),
        };
        let (key, value): (Guard, Guard) = match row? {
            Ok(row) => row,
            Err(error) => {
                self.file.note(error);
                self.rows = None;
                return None;
            }
        };
        Some((self.decode)(self.run, key.value(), value.value()))
    }
}

impl<T> Iterator for Cursor<'_, T> {
    type Item = (Bytes, T);

    fn next(&mut self) -> Option<(Bytes, T)> {
        let own_rows = self.own.as_mut()?;
        loop {
            if let Some(under) = &mut self.under {
                let own = own_rows.peek().map(|(key, _)| key.as_ref());
                let turn = turn(own, under.peek().map(|(key, _)| key.as_ref()), self.direction);
                match turn {
                    Turn::Lower => return under.next(),
                    Turn::Both => drop(under.next()),
                    Turn::Upper | Turn::Neither => {}
                }
            }
            if let (key, Some(value)) = own_rows.next()? {
                return Some((key, value));
            }
        }
    }
}

impl<T> Cursor<'_, T> {
    /// Same as [`Iterator::next`] up to `max` times, for who only counts; answers how many there were.
    pub(crate) fn pass(&mut self, max: u64) -> u64 {
        // The lowest run says of nothing that it is absent, so alone it is counted without being copied.
        let Some(own) = self.own.as_mut().filter(|_| self.under.is_none()) else {
            return (0..max).take_while(|_| self.next().is_some()).count() as u64;
        };
        own.pass(max)
    }
}

impl<T> fmt::Debug for Cursor<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor").field("direction", &self.direction).finish_non_exhaustive()
    }
}
