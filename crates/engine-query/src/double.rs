//! Index plans over a stand-in for the base, against the naive model.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use base_value::{codec, key};
use bytes::Bytes;
use engine_store::{Derive, KeyRange, Record, UnixMicros};

use crate::index::{IndexDefinition, IndexField, IndexMode, IndexScope, Indexer};
use crate::model::Direction;
use crate::view::{BaseView, DerivedEntries, OverlayEntries};
use crate::{Prepared, Query};

use self::naive::Document;
use self::random::{COLLECTIONS, FIELDS, Random};
use self::support::*;

#[path = "../tests/it/naive.rs"]
mod naive;
#[path = "../tests/it/random.rs"]
mod random;
#[expect(dead_code, reason = "it serves other tests, too")]
#[path = "../tests/it/support.rs"]
mod support;

#[derive(Default)]
struct Double {
    base: BTreeMap<Bytes, Record>,
    overlay: BTreeMap<Bytes, Option<Record>>,
    derived: BTreeSet<Bytes>,
    counters: HashMap<Bytes, u64>,
}

fn bounds(range: &KeyRange) -> (Bound<Bytes>, Bound<Bytes>) {
    let end = range.end.clone().filter(|end| *end >= range.start);
    let empty = range.end.is_some() && end.is_none();
    let end = if empty { Some(range.start.clone()) } else { end };
    (Bound::Included(range.start.clone()), end.map_or(Bound::Unbounded, Bound::Excluded))
}

impl BaseView for Double {
    fn has_base(&self) -> bool {
        true
    }

    fn base_get(&self, key: &[u8]) -> Option<Record> {
        self.base.get(key).cloned()
    }

    fn derived(&self, range: &KeyRange, direction: Direction) -> DerivedEntries<'_> {
        let entries = self.derived.range(bounds(range)).cloned();
        match direction {
            Direction::Ascending => Box::new(entries),
            Direction::Descending => Box::new(entries.rev()),
        }
    }

    fn counter(&self, key: &[u8]) -> u64 {
        self.counters.get(key).copied().unwrap_or(0)
    }

    fn overlay(&self, range: &KeyRange) -> OverlayEntries<'_> {
        let entries = self.overlay.range(bounds(range));
        Box::new(entries.map(|(key, record)| (key.clone(), record.clone())))
    }

    fn is_shadowed(&self, key: &[u8]) -> bool {
        self.overlay.contains_key(key)
    }
}

impl Double {
    /// Holds the documents, some of them folded, some not, and some changed or deleted since.
    fn new(random: &mut Random, documents: &[Document], indexer: &Indexer) -> Self {
        let mut double = Double::default();
        let record = |value| Record { created: UnixMicros(1), updated: UnixMicros(1), value };
        let older = random.documents();
        let unfolded = random.pick(&[0, 20, 50, 100]);
        for (path, fields) in documents {
            let (key, record) = (key::document(path), record(codec::encode_fields(fields)));
            if random.chance(unfolded) {
                double.overlay.insert(key.clone(), Some(record));
            } else {
                double.base.insert(key, record);
            }
        }
        if unfolded > 0 {
            for (path, fields) in &older {
                let (key, record) = (key::document(path), record(codec::encode_fields(fields)));
                if double.base.contains_key(&key) {
                    continue;
                }
                double.overlay.entry(key.clone()).or_insert(None);
                double.base.insert(key, record);
            }
        }
        for (key, record) in &double.base {
            let mut entries = Vec::new();
            indexer.entries(key, &record.value, &mut entries);
            for entry in entries {
                assert!(double.derived.insert(entry), "derived twice");
            }
            let mut counters = Vec::new();
            indexer.counters(key, &mut counters);
            for counter in counters {
                *double.counters.entry(counter).or_default() += 1;
            }
        }
        double
    }
}

fn definitions(random: &mut Random) -> Vec<IndexDefinition> {
    use IndexMode::{Ascending, Contains, Descending};
    let define = |random: &mut Random| {
        let mut fields: Vec<IndexField> = Vec::new();
        for _ in 0..2 + random.below(2) {
            let path = path(random.pick(&FIELDS));
            let mode = random.pick(&[Ascending, Ascending, Descending, Contains]);
            let has_contains = fields.iter().any(|field| field.mode == Contains);
            if fields.iter().all(|field| field.path != path) && !(has_contains && mode == Contains)
            {
                fields.push(IndexField { path, mode });
            }
        }
        let scope = random.pick(&[IndexScope::Collection, IndexScope::Group]);
        IndexDefinition { collection_id: random.pick(&COLLECTIONS).to_owned(), scope, fields }
    };
    (0..random.below(12)).map(|_| define(random)).collect()
}

#[derive(Default, Debug)]
struct Met {
    plans: usize,
    found: usize,
    composites: usize,
}

fn check(
    documents: &[Document],
    double: &Double,
    query: &Query,
    prepared: &Prepared,
    met: &mut Met,
) {
    let matching = naive::matching(documents, query);
    let offset = query.offset as usize;
    let limit = query.limit.map_or(usize::MAX, |limit| limit as usize);
    let expected: Vec<&str> =
        matching.iter().skip(offset).take(limit).map(|(path, _)| path.as_str()).collect();
    if limit == 0 {
        return;
    }
    let mut plans = vec![prepared.clone()];
    plans.extend(prepared.alternatives().filter(|plan| !plan.index_plans().is_empty()));
    for plan in &plans {
        let Some(mut run) = plan.run_indexed(double) else { continue };
        let mut paths = Vec::new();
        loop {
            run.advance(true);
            let Some(row) = run.ready.pop_front() else { break };
            paths.push(row.path.as_str().to_owned());
        }
        assert_eq!(paths, expected, "{query:#?}\n{:#?}", plan.index_plans());
        assert_eq!(run.skipped, offset.min(matching.len()), "{query:#?}");
        met.plans += 1;
        met.found += usize::from(!paths.is_empty());
        met.composites += usize::from(format!("{:?}", plan.index_plans()).contains("prefix: [3,"));

        let counted = crate::aggregate::counted(plan, u64::MAX, double);
        assert!(
            counted.is_none_or(|count| count == matching.len() as u64),
            "{counted:?} {query:#?}"
        );
        let mut visited = 0;
        crate::tally::visit_indexed(plan, double, &mut |_| visited += 1);
        assert_eq!(visited, matching.len(), "{query:#?}");
    }
    if let Some(counted) = crate::aggregate::counted(prepared, u64::MAX, double) {
        assert_eq!(counted, matching.len() as u64, "{query:#?}");
    }
}

#[test]
fn index_plans_answer_as_the_naive_model_does() {
    let mut met = Met::default();
    for seed in 0..150 {
        let random = &mut Random::new(1_000_000 + seed);
        let documents = random.documents();
        let indexer = Indexer::new(definitions(random));
        let double = Double::new(random, &documents, &indexer);
        for _ in 0..200 {
            let query = random.query();
            let Ok(prepared) = prepare(query.clone()) else { continue };
            let prepared = prepared.with_indexer(&indexer);
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let mut met = Met::default();
                check(&documents, &double, &query, &prepared, &mut met);
                met
            }));
            match result {
                Ok(one) => {
                    met.plans += one.plans;
                    met.found += one.found;
                    met.composites += one.composites;
                }
                Err(panic) => {
                    println!("failed with seed {seed}");
                    std::panic::resume_unwind(panic);
                }
            }
        }
    }
    println!("{met:?}");
    assert!(met.plans > 5_000 && met.found > 1_000 && met.composites > 100, "{met:?}");
}
