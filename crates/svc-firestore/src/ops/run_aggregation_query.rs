//! RunAggregationQuery: counts, sums and averages over what a query selects.

use std::sync::Arc;

use base_env::UnixMicros;
use base_token::Identity;
use base_value::{DatabaseName, FieldPath, Value};
use engine_query::{AggregateOp, Aggregation, Query, aggregate_telling};
use engine_txn::TxnId;

use super::run_query::scope;
use super::view::{self, Consistency};
use crate::access::{self, Access};
use crate::error::Error;
use crate::state::State;

/// What is asked for.
pub(crate) struct Request {
    pub(crate) database: DatabaseName,
    pub(crate) query: Query,
    pub(crate) aggregations: Vec<Aggregation>,
    pub(crate) consistency: Consistency,
}

/// The answer: one value per alias.
pub(crate) struct Aggregated {
    pub(crate) values: Vec<(String, Value)>,
    pub(crate) read_time: UnixMicros,
    pub(crate) new_transaction: Option<TxnId>,
}

/// Computes the aggregations.
///
/// # Errors
/// Queries and aggregations that production refuses, and those of the consistency asked for.
pub(crate) async fn run_aggregation_query(
    state: &State,
    caller: &Identity,
    request: Request,
) -> Result<Aggregated, Error> {
    access::check(caller, Access::Read)?;
    let database = state.database(&request.database)?;
    let sums: Vec<FieldPath> = request.aggregations.iter().filter_map(summed).collect();
    let prepared = state.preparer.prepare_sums(&request.database, request.query, &sums)?;
    let prepared = Arc::new(prepared);
    let view = view::open(state, &database, request.consistency, || scope(&prepared)).await?;
    let (read_time, new_transaction) = (view.read_time(), view.new_transaction);
    let run = move || {
        let found = aggregate_telling(&prepared, &request.aggregations, &view.snapshot)?;
        view.check()?;
        super::fold_if_many(&database, found.unfolded);
        Ok::<_, Error>(found.values)
    };
    let values = super::blocking(run).await??;
    Ok(Aggregated { values, read_time, new_transaction })
}

/// The field whose values an aggregation needs.
fn summed(aggregation: &Aggregation) -> Option<FieldPath> {
    match &aggregation.op {
        AggregateOp::Sum(field) | AggregateOp::Avg(field) => Some(field.clone()),
        AggregateOp::Count { .. } => None,
    }
}
