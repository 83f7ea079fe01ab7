//! Numbers out of index entries, so that sums read no documents.

use base_value::codec::Scalar;
use base_value::{FieldPath, index_key};
use bytes::Bytes;

use super::layout::{MARKED_MAX, is_double};
use super::spec::{IndexPlan, Walk, WalkKind, WalkRange};
use crate::execute::Prepared;
use crate::overlay::Overlay;
use crate::scope::NameBounds;
use crate::view::BaseView;

/// A walk whose entries are the matches, and hold all that is asked of them.
pub(crate) struct NumberWalk<'p> {
    /// Which plan's it is.
    pub(crate) plan: usize,
    walk: &'p Walk,
    range: &'p WalkRange,
    /// Which of the walk's values each wanted field is.
    at: Vec<usize>,
}

/// What is found of each wanted field; `None` for what is no number.
pub(crate) type Found = [Option<Scalar<'static>>];

impl<'p> NumberWalk<'p> {
    /// One of these plans that serves; `None` where documents have to be read.
    pub(crate) fn of(plans: &'p [IndexPlan], fields: &[FieldPath]) -> Option<Self> {
        plans.iter().enumerate().find_map(|(at_plan, plan)| {
            let [walk] = plan.walks.as_slice() else { return None };
            let WalkKind::Range(range) = &walk.kind else { return None };
            // Looking for other entries of each document costs more than a walk of those.
            if !walk.is_settled || !walk.probes.is_empty() {
                return None;
            }
            let place = |field| {
                let at = range.fields.iter().position(|known| known == field)?;
                (range.fixed + at < MARKED_MAX).then_some(at)
            };
            let at = fields.iter().map(place).collect::<Option<Vec<usize>>>()?;
            Some(NumberWalk { plan: at_plan, walk, range, at })
        })
    }

    /// Calls `visit` for every match that the base holds and the overlay does not shadow; answers how many entries
    /// were read.
    pub(crate) fn each(
        &self,
        prepared: &Prepared,
        view: &dyn BaseView,
        overlay: &Overlay,
        visit: &mut dyn FnMut(&Found),
    ) -> u64 {
        let mut read = 0;
        let needs_name = overlay.looked_at > 0 || self.walk.names != NameBounds::default();
        let mut found = vec![None; self.at.len()];
        for (_, place) in self.walk.places(prepared.places()) {
            let prefix = [place.scope.as_slice(), &self.range.prefix].concat();
            let skip = prefix.len();
            let mut entries = view.derived(&self.range.bounds(prefix), self.walk.direction);
            while let Some((entry, mark)) = entries.next_marked() {
                read += 1;
                let Some(values) = self.numbers(&entry, skip, mark, &mut found) else { continue };
                if needs_name {
                    let Some(name) = self.range.name(&entry, values) else { continue };
                    let key: Bytes = [&place.key[..], &name].concat().into();
                    let path = key.get(place.group_length..).unwrap_or_default();
                    let is_newer = overlay.looked_at > 0 && view.is_shadowed(&key);
                    if is_newer || !self.walk.names.contain(path) {
                        continue;
                    }
                }
                visit(&found);
            }
        }
        read
    }

    /// Takes the wanted numbers out of an entry; answers where its values end, or `None` for one that is passed over.
    fn numbers(&self, entry: &[u8], skip: usize, mark: u8, found: &mut Found) -> Option<usize> {
        let mut at = skip;
        let mut flipped_back = Vec::new();
        for (value_at, flipped) in self.range.flipped.iter().enumerate() {
            let mut value = entry.get(at..)?;
            if *flipped {
                let window = value.get(..index_key::INDEX_VALUE_MAX_BYTES).unwrap_or(value);
                flipped_back.clear();
                flipped_back.extend(window.iter().map(|byte| !byte));
                value = &flipped_back;
            }
            let (length, _) = index_key::split(value)?;
            let value = value.get(..length)?;
            if value_at == 0 && self.range.holes.iter().any(|hole| hole == value) {
                return None;
            }
            let is_double = is_double(mark, self.range.fixed + value_at);
            for (wanted, found) in self.at.iter().zip(found.iter_mut()) {
                if *wanted == value_at {
                    *found = index_key::number(value, is_double);
                }
            }
            at += length;
        }
        Some(at)
    }
}
