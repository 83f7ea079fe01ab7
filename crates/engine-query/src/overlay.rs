//! What is newer than the base: matched one by one, before any index is asked.

use std::sync::Arc;

use crate::document::Cells;
use crate::execute::Prepared;
use crate::top::Found;
use crate::view::BaseView;

/// What is newer than the base and matches, in order.
#[derive(Clone)]
pub(crate) struct Overlay {
    pub(crate) found: Arc<[Found]>,
    /// How many records were looked at.
    pub(crate) looked_at: usize,
    /// How many of them were documents in scope.
    pub(crate) documents: usize,
}

impl Overlay {
    /// Matches everything in scope that is newer than the base.
    pub(crate) fn of(prepared: &Prepared, view: &dyn BaseView) -> Self {
        let mut cells = Cells::default();
        let mut found = Vec::new();
        let (mut looked_at, mut documents) = (0, 0);
        for (key, record) in view.overlay(&prepared.scope()) {
            looked_at += 1;
            let Some(record) = record else { continue };
            if prepared.is_in_scope(&key) {
                documents += 1;
                let mut document = prepared.document(&key, &record, &mut cells);
                if prepared.accepts(&mut document) {
                    found.push(Found::new(prepared.sort(), &key, &record, &mut document));
                }
            }
        }
        found.sort_unstable_by(|left, right| prepared.sort().compare(left.rank(), right.rank()));
        Overlay { found: found.into(), looked_at, documents }
    }
}
