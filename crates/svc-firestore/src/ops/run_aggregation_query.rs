//! RunAggregationQuery: counts, sums and averages over what a query selects.

use std::sync::Arc;
use std::time::Duration;

use base_env::UnixMicros;
use base_token::Identity;
use base_value::{DatabaseName, FieldPath, Value};
use engine_query::{AggregateOp, Aggregation, Charge, Explain, Prepared, Query, aggregate_telling};
use engine_store::Snapshot;
use engine_txn::{ReadScope, TxnId};

use super::explain::{Explained, Stats, Stopwatch};
use super::run_query::scope;
use super::view::{self, Consistency};
use crate::access;
use crate::error::Error;
use crate::state::State;

/// What is asked for.
pub(crate) struct Request {
    pub(crate) database: DatabaseName,
    pub(crate) query: Query,
    pub(crate) aggregations: Vec<Aggregation>,
    pub(crate) consistency: Consistency,
    pub(crate) explain: Explain,
}

/// The answer.
pub(crate) struct Aggregated {
    /// Absent where nothing is read.
    pub(crate) result: Option<AggregatedResult>,
    pub(crate) explained: Option<Explained>,
    pub(crate) new_transaction: Option<TxnId>,
}

/// One value per alias.
pub(crate) struct AggregatedResult {
    pub(crate) values: Vec<(String, Value)>,
    pub(crate) read_time: UnixMicros,
}

/// Computes the aggregations.
///
/// # Errors
/// Queries and aggregations that production or the rules refuse, and those of the consistency asked for.
pub(crate) async fn run_aggregation_query(
    state: &State,
    caller: &Identity,
    request: Request,
) -> Result<Aggregated, Error> {
    let guard = access::guard(state, caller, &request.database);
    let explain = request.explain;
    let stopwatch = Stopwatch::new(&state.env, explain);
    let database = state.database(&request.database)?;
    let sums: Vec<FieldPath> = request.aggregations.iter().filter_map(summed).collect();
    let prepared = state.preparer.prepare_sums(&request.database, request.query, &sums)?;
    let prepared = Arc::new(prepared);
    let reads = || match explain {
        Explain::Plan => ReadScope::Keys(Vec::new()),
        Explain::Off | Explain::Analyze => scope(&prepared),
    };
    let view = view::open(state, &database, request.consistency, reads).await?;
    if let Some(guard) = guard {
        guard.list(prepared.query(), &view.snapshot, view.kind)?;
    }
    let (read_time, new_transaction) = (view.read_time(), view.new_transaction);
    let run = move |snapshot: &Snapshot| {
        let found = aggregate_telling(&prepared, &request.aggregations, snapshot, explain)?;
        super::fold_if_many(&database, found.unfolded);
        let explained = explained(&prepared, explain, &found, stopwatch.took());
        Ok((found.values, explained))
    };
    let (values, explained) = super::reading(view.snapshot, run).await?;
    let result = match explain {
        Explain::Plan => None,
        Explain::Off | Explain::Analyze => Some(AggregatedResult { values, read_time }),
    };
    Ok(Aggregated { result, explained, new_transaction })
}

/// What is told of the aggregations.
fn explained(
    prepared: &Prepared,
    explain: Explain,
    found: &engine_query::Aggregated,
    took: Duration,
) -> Option<Explained> {
    let scanned = found.scanned;
    let stats = match explain {
        Explain::Off => return None,
        Explain::Plan => None,
        Explain::Analyze => {
            let charge = Charge::of_aggregation(prepared.query(), found.matched, scanned);
            Some(Stats { results: 1, took, scanned, charge })
        }
    };
    Some(Explained { indexes: found.indexes.clone(), stats })
}

/// The field whose values an aggregation needs.
fn summed(aggregation: &Aggregation) -> Option<FieldPath> {
    match &aggregation.op {
        AggregateOp::Sum(field) | AggregateOp::Avg(field) => Some(field.clone()),
        AggregateOp::Count { .. } => None,
    }
}
