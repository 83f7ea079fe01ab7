//! Documents as the engine sees them: keys and values.

use anyhow::Result;
use base_value::{DocumentPath, key};
use bytes::Bytes;

use crate::dataset::Grown;

/// One put.
#[derive(Clone, Debug)]
pub(super) struct Put {
    pub(super) key: Bytes,
    pub(super) value: Bytes,
}

/// A document of some 200 bytes.
pub(super) fn put(index: u64) -> Result<Put> {
    let document = Grown::document(index);
    let path = DocumentPath::parse(&document.path)?;
    Ok(Put { key: key::document(&path), value: document.fields })
}

/// Hands out puts of which none comes twice.
#[derive(Debug, Default)]
pub(super) struct Supply {
    next: u64,
}

impl Supply {
    pub(super) fn starting_at(next: u64) -> Self {
        Self { next }
    }

    pub(super) fn take(&mut self, count: u64) -> Result<Vec<Put>> {
        let first = self.next;
        self.next += count;
        (first..self.next).map(put).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_some_two_hundred_bytes() {
        let mean = (0..100).map(|index| put(index).unwrap().value.len()).sum::<usize>() / 100;
        assert!((170..=230).contains(&mean), "{mean}");
    }
}
