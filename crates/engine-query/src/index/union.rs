//! The walks of a plan in all places, as one stream.

use super::spec::IndexPlan;
use super::stream::{Item, Meter, Place, Step, Stream};
use crate::view::BaseView;

/// Several streams as one: in order where the plan runs in some order, else one behind the other. A document that
/// several of them meet is met several times.
pub(crate) struct Union<'v> {
    streams: Vec<(Stream<'v>, Head)>,
    is_ordered: bool,
}

/// What is known of a stream's next item.
enum Head {
    Unasked,
    Item(Item),
    End,
}

impl<'v> Union<'v> {
    /// In order only where that is asked for.
    pub(crate) fn new(
        view: &'v dyn BaseView,
        plan: &'v IndexPlan,
        places: &'v [Place],
        is_ordered: bool,
    ) -> Self {
        let mut streams = Vec::new();
        for (at_walk, walk) in plan.walks.iter().enumerate() {
            for (at_place, place) in walk.places(places) {
                let at = (at_walk, at_place);
                let stream = Stream::new(view, walk, place, &plan.directions, at);
                streams.push((stream, Head::Unasked));
            }
        }
        let is_ordered = is_ordered && (plan.covered > 0 || plan.is_complete);
        Union { streams, is_ordered }
    }

    pub(crate) fn next(&mut self, meter: &mut Meter) -> Step<Item> {
        if self.is_ordered { self.next_in_order(meter) } else { self.next_of_first(meter) }
    }

    /// Whether every entry is one document that is met, so that [`Union::pass`] serves.
    pub(crate) fn is_plain(&self) -> bool {
        self.streams.iter().all(|(stream, _)| stream.is_plain())
    }

    /// Same as [`Union::next`], up to `max` times, for who only counts.
    pub(crate) fn pass(&mut self, max: u64, meter: &mut Meter) -> Step<u64> {
        while let Some((stream, _)) = self.streams.last_mut() {
            match stream.pass(max, meter) {
                Step::End => {
                    self.streams.pop();
                }
                step => return step,
            }
        }
        Step::End
    }

    fn next_of_first(&mut self, meter: &mut Meter) -> Step<Item> {
        while let Some((stream, _)) = self.streams.last_mut() {
            match stream.next(meter) {
                Step::End => {
                    self.streams.pop();
                }
                step => return step,
            }
        }
        Step::End
    }

    fn next_in_order(&mut self, meter: &mut Meter) -> Step<Item> {
        for (stream, head) in &mut self.streams {
            if matches!(head, Head::Unasked) {
                *head = match stream.next(meter) {
                    Step::Item(item) => Head::Item(item),
                    Step::Pause => return Step::Pause,
                    Step::End => Head::End,
                };
            }
        }
        // A query has few conjunctions; looking at each costs less than a heap up to some tens of them.
        let mut least: Option<usize> = None;
        for (at, (_, head)) in self.streams.iter().enumerate() {
            let Head::Item(item) = head else { continue };
            let is_less = least.and_then(|least| self.streams.get(least)).is_none_or(
                |known| matches!(&known.1, Head::Item(known) if item.order < known.order),
            );
            if is_less {
                least = Some(at);
            }
        }
        let Some((_, head)) = least.and_then(|least| self.streams.get_mut(least)) else {
            return Step::End;
        };
        match std::mem::replace(head, Head::Unasked) {
            Head::Item(item) => Step::Item(item),
            Head::Unasked | Head::End => Step::End,
        }
    }
}
