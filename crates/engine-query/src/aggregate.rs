//! Counts, sums and averages over the result of a query.

use std::collections::HashSet;
use std::ops::ControlFlow;

use base_value::{FieldPath, LimitPolicy, Value};
use engine_store::Snapshot;

use crate::error::QueryError;
use crate::execute::Prepared;
use crate::explain::{Explain, Scanned, UsedIndex, Way, Work};
use crate::limits::{AGGREGATIONS_MAX, ALIAS_MAX_BYTES};
use crate::model::{Filter, From, Query};
use crate::normalize::{each_leaf, full_order};
use crate::overlay::Overlay;
use crate::tally::Tally;
use crate::totals::Totals;
use crate::validate_filter::plain;
use crate::view::BaseView;

/// One aggregation of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregation {
    /// The name of its result; empty where the request has none.
    pub alias: String,
    /// What is computed.
    pub op: AggregateOp,
}

/// What an aggregation computes.
#[derive(Clone, Debug, PartialEq)]
pub enum AggregateOp {
    /// How many documents there are.
    Count {
        /// The count is never more than this.
        up_to: Option<i64>,
    },
    /// The sum of a field's numbers.
    Sum(FieldPath),
    /// The average of a field's numbers.
    Avg(FieldPath),
}

/// Computes aggregations over the result of a query, after its cursors, offset and limit. Documents that
/// lack a summed or averaged field count nowhere; those fields extend the order before the name, which
/// decides what a limit leaves. Answers aliases and values in the order of the request.
///
/// # Errors
/// What the product refuses, in its words.
pub fn aggregate(
    prepared: &Prepared,
    aggregations: &[Aggregation],
    snapshot: &Snapshot,
) -> Result<Vec<(String, Value)>, QueryError> {
    let aggregated = aggregate_telling(prepared, aggregations, snapshot, Explain::Off)?;
    Ok(aggregated.values)
}

/// What aggregations came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aggregated {
    /// Aliases and values in the order of the request.
    pub values: Vec<(String, Value)>,
    /// How many documents were matched one by one that a fold would let an index find: where that is more than
    /// some thousand, the store had better fold.
    pub unfolded: usize,
    /// How many documents have matched, those included that the offset has passed over.
    pub matched: u64,
    /// What was read.
    pub scanned: Scanned,
    /// The indexes that were, or would be, read; none where nobody asked for them.
    pub indexes: Vec<UsedIndex>,
}

/// Same as [`aggregate`], and tells what it took. Where the plan alone is wanted there are no values, and nothing
/// is read.
///
/// # Errors
/// What the product refuses, in its words.
pub fn aggregate_telling(
    prepared: &Prepared,
    aggregations: &[Aggregation],
    snapshot: &Snapshot,
    explain: Explain,
) -> Result<Aggregated, QueryError> {
    let aliases = aliases(aggregations, prepared.query().limits)?;
    let fields = aggregated_fields(aggregations);
    check_fields(prepared.query(), aggregations, &fields)?;
    let summing = match fields.is_empty() {
        true => None,
        false => Some(prepared.reordered(&fields)?),
    };
    if explain == Explain::Plan {
        let indexes = match &summing {
            None => prepared.used(counting_way(prepared, snapshot), snapshot),
            Some(summing) => summing.used(Totals::way(summing, &fields, snapshot), snapshot),
        };
        return Ok(Aggregated { indexes, ..Aggregated::default() });
    }
    let (totals, work) = match &summing {
        None => count(prepared, aggregations, snapshot),
        Some(summing) => Totals::of(summing, &fields, snapshot),
    };
    let indexes = match explain {
        Explain::Off | Explain::Plan => Vec::new(),
        Explain::Analyze => summing.as_ref().unwrap_or(prepared).used(work.way, snapshot),
    };
    let Work { unfolded, scanned, .. } = work;
    let matched = totals.matched();
    let values = aggregations.iter().map(|aggregation| totals.value(&aggregation.op));
    let values = aliases.into_iter().zip(values).collect();
    Ok(Aggregated { values, unfolded, matched, scanned, indexes })
}

/// The names of the results; unnamed ones are numbered.
fn aliases(aggregations: &[Aggregation], limits: LimitPolicy) -> Result<Vec<String>, QueryError> {
    if aggregations.is_empty() {
        return Err(QueryError::NoAggregations);
    }
    if limits.is_above(aggregations.len(), AGGREGATIONS_MAX) {
        return Err(QueryError::ManyAggregations(aggregations.len()));
    }
    let mut unnamed = 0;
    let mut known = HashSet::new();
    let mut aliases = Vec::with_capacity(aggregations.len());
    for aggregation in aggregations {
        let alias = if aggregation.alias.is_empty() {
            unnamed += 1;
            format!("field_{unnamed}")
        } else {
            aggregation.alias.clone()
        };
        if limits.is_above(alias.len(), ALIAS_MAX_BYTES) {
            return Err(QueryError::AliasLong);
        }
        if !known.insert(alias.clone()) {
            return Err(QueryError::DuplicateAlias(alias));
        }
        aliases.push(alias);
    }
    Ok(aliases)
}

/// The summed and averaged fields in the order of their paths, each once.
fn aggregated_fields(aggregations: &[Aggregation]) -> Vec<FieldPath> {
    let mut fields: Vec<FieldPath> = aggregations
        .iter()
        .filter_map(|aggregation| match &aggregation.op {
            AggregateOp::Count { .. } => None,
            AggregateOp::Sum(field) | AggregateOp::Avg(field) => Some(field.clone()),
        })
        .collect();
    fields.sort();
    fields.dedup();
    fields
}

fn check_fields(
    query: &Query,
    aggregations: &[Aggregation],
    fields: &[FieldPath],
) -> Result<(), QueryError> {
    for aggregation in aggregations {
        if let AggregateOp::Count { up_to: Some(up_to) } = aggregation.op
            && up_to < 0
        {
            return Err(QueryError::NegativeUpTo);
        }
    }
    if fields.iter().any(FieldPath::is_name) {
        return Err(QueryError::AggregateName);
    }
    if let Some(select) = &query.select
        && !fields.is_empty()
    {
        return Err(projected(select, fields));
    }
    let order = full_order(query, &[]);
    let added: Vec<String> = fields
        .iter()
        .filter(|field| order.iter().all(|order| order.field != **field))
        .map(plain)
        .collect();
    if !added.is_empty() && name_is_fixed(query) {
        return Err(QueryError::AggregateAfterName(added.join(", ")));
    }
    Ok(())
}

/// Why sums and averages do not go with a projection, whatever it names.
fn projected(select: &[FieldPath], fields: &[FieldPath]) -> QueryError {
    if select.iter().all(FieldPath::is_name) {
        return QueryError::AggregateOverNames;
    }
    match fields.iter().find(|field| !select.contains(field)) {
        Some(field) => QueryError::AggregateNotSelected(plain(field)),
        None => QueryError::AggregateSelected,
    }
}

/// Whether the query uses names in a way that lets no field stand before them.
fn name_is_fixed(query: &Query) -> bool {
    let ordered = query.order.iter().any(|order| order.field.is_name());
    let below_document =
        matches!(query.from, From::Group(_) | From::Descendants) && !query.parent.is_root();
    let mut filtered = false;
    if let Some(filter) = &query.filter {
        each_leaf(filter, &mut |leaf| match leaf {
            Filter::Field { field, .. } | Filter::Unary { field, .. } => {
                filtered |= field.is_name();
            }
            Filter::Composite { .. } => {}
        });
    }
    ordered || below_document || filtered
}

/// Counts without sorting, and no further than anybody asks.
fn count(prepared: &Prepared, aggregations: &[Aggregation], snapshot: &Snapshot) -> (Totals, Work) {
    if prepared.query().nearest.is_some() {
        let mut rows = prepared.run(snapshot);
        let count = rows.by_ref().count() as u64;
        return (Totals::counted(count, 0), rows.work());
    }
    let wanted = aggregations.iter().map(|aggregation| match aggregation.op {
        AggregateOp::Count { up_to: Some(up_to) } => u64::try_from(up_to).unwrap_or(0),
        AggregateOp::Count { up_to: None } | AggregateOp::Sum(_) | AggregateOp::Avg(_) => u64::MAX,
    });
    let offset = u64::from(prepared.query().offset);
    let limit = prepared.query().limit.map_or(u64::MAX, u64::from);
    let wanted = wanted.max().unwrap_or(0).min(limit).saturating_add(offset);
    if wanted <= offset {
        let way = counting_way(prepared, snapshot);
        return (Totals::default(), Work { way, ..Work::default() });
    }
    let (met, work) = counted(prepared, wanted, snapshot)
        .unwrap_or_else(|| scan_counting(prepared, wanted, snapshot));
    (Totals::counted(met.saturating_sub(offset), met.min(offset)), work)
}

/// Counts up to `wanted` by looking at what there is.
fn scan_counting(prepared: &Prepared, wanted: u64, snapshot: &Snapshot) -> (u64, Work) {
    if prepared.reads_no_fields() {
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        let mut keys = prepared.keys(snapshot);
        let met = keys.by_ref().take(wanted).count() as u64;
        return (met, Work { scanned: keys.scanned(), ..Work::default() });
    }
    let mut met = 0;
    let looked_at = prepared.matching(snapshot).try_for_each(|_, _| {
        met += 1;
        if met < wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let unfolded = if prepared.is_unfolded(snapshot) { looked_at } else { 0 };
    (met, Work { unfolded, scanned: Scanned::by_name(looked_at), way: Way::Names })
}

/// Which way [`count`] goes, as far as that is known beforehand.
fn counting_way(prepared: &Prepared, view: &dyn BaseView) -> Way {
    match prepared.counter() {
        Some(_) if view.has_base() => Way::Names,
        Some(_) | None => prepared.way(view),
    }
}

/// Counts up to `wanted` by counters or index entries, and tells what that took; `None` where none serve.
pub(crate) fn counted(
    prepared: &Prepared,
    wanted: u64,
    view: &dyn BaseView,
) -> Option<(u64, Work)> {
    if let Some(total) = prepared.counter().filter(|_| view.has_base()) {
        let mut total = view.counter(&total);
        let mut looked_at = 0;
        for (key, record) in view.overlay(&prepared.scope()) {
            looked_at += 1;
            if prepared.is_in_scope(&key) {
                let was_there = view.base_head(&key).is_some();
                total = total.saturating_add(u64::from(record.is_some()));
                total = total.saturating_sub(u64::from(was_there));
            }
        }
        // The counter itself is no entry.
        let scanned = Scanned::names(looked_at);
        return Some((total.min(wanted), Work { unfolded: looked_at, scanned, way: Way::Names }));
    }
    if !prepared.uses_indexes(view) {
        return None;
    }
    let overlay = Overlay::of(prepared, view);
    let tally = |plan| Tally::new(prepared, view, plan, &overlay, wanted);
    let (count, read, way) = Tally::best(prepared.index_plans(view).iter().map(tally).collect())?;
    let mut scanned = Scanned::documents(overlay.documents);
    scanned += read;
    Some((count, Work { unfolded: overlay.looked_at, scanned, way }))
}
