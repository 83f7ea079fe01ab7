//! Walking the base in key order, over its lower base where it has one.

use std::fmt;
use std::iter::Peekable;

use bytes::Bytes;
use redb::{AccessGuard, StorageError};

use super::file::BaseFile;
use crate::merge::{Direction, Turn, turn};

type Guard = AccessGuard<'static, &'static [u8]>;
pub(super) type Rows = redb::Range<'static, &'static [u8], &'static [u8]>;

/// Copies a row out of the base: its key, and what is there unless it says that nothing is.
pub(super) type Decode<T> = fn(&[u8], &[u8]) -> (Bytes, Option<T>);

/// The entries of a range of one table of the base. The first error ends them, and is noted.
pub(crate) struct Cursor<'a, T> {
    own: Peekable<Own<'a, T>>,
    under: Option<Box<Peekable<Cursor<'a, T>>>>,
    direction: Direction,
}

/// The rows of one base file alone.
struct Own<'a, T> {
    file: &'a BaseFile,
    rows: Option<Rows>,
    decode: Decode<T>,
    direction: Direction,
}

impl<'a, T> Cursor<'a, T> {
    pub(super) fn new(
        file: &'a BaseFile,
        rows: Result<Rows, StorageError>,
        under: Option<Cursor<'a, T>>,
        decode: Decode<T>,
        direction: Direction,
    ) -> Cursor<'a, T> {
        let rows = rows.map_err(|error| file.note(error)).ok();
        let own = Own { file, rows, decode, direction };
        let under = under.map(|under| Box::new(under.peekable()));
        Cursor { own: own.peekable(), under, direction }
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
        Some((self.decode)(key.value(), value.value()))
    }
}

impl<T> Iterator for Cursor<'_, T> {
    type Item = (Bytes, T);

    fn next(&mut self) -> Option<(Bytes, T)> {
        loop {
            if let Some(under) = &mut self.under {
                let own = self.own.peek().map(|(key, _)| key.as_ref());
                let turn = turn(own, under.peek().map(|(key, _)| key.as_ref()), self.direction);
                match turn {
                    Turn::Lower => return under.next(),
                    Turn::Both => drop(under.next()),
                    Turn::Upper | Turn::Neither => {}
                }
            }
            if let (key, Some(value)) = self.own.next()? {
                return Some((key, value));
            }
        }
    }
}

impl<T> fmt::Debug for Cursor<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor").field("direction", &self.direction).finish_non_exhaustive()
    }
}
