//! What is told of a query that is explained, in the members that production has.

use base_wire::google::firestore::v1 as wire;
use engine_query::{IndexScope, UsedIndex};
use prost_types::value::Kind;
use prost_types::{Duration, Struct, Value};

use crate::ops::explain::{Explained, Stats};

/// The plan, and what executing it took.
pub(super) fn explain_metrics(explained: &Explained) -> wire::ExplainMetrics {
    let indexes_used = explained.indexes.iter().map(used_index).collect();
    wire::ExplainMetrics {
        plan_summary: Some(wire::PlanSummary { indexes_used }),
        execution_stats: explained.stats.as_ref().map(execution_stats),
    }
}

fn used_index(index: &UsedIndex) -> Struct {
    let scope = match index.scope {
        IndexScope::Collection => "Collection",
        IndexScope::Group => "Collection Group",
    };
    object([("query_scope", text(scope)), ("properties", text(index))])
}

fn execution_stats(stats: &Stats) -> wire::ExecutionStats {
    let Stats { results, took, scanned, charge } = stats;
    let minimum = u64::from(charge.is_minimum());
    let billing = object([
        ("documents_billable", text(charge.documents)),
        ("index_entries_billable", text(charge.index_entries)),
        // Production's standard edition has none of these.
        ("small_ops", text(0)),
        ("min_query_cost", text(minimum)),
    ]);
    let debug = object([
        ("index_entries_scanned", text(scanned.index_entries)),
        ("documents_scanned", text(scanned.documents)),
        ("billing_details", Value { kind: Some(Kind::StructValue(billing)) }),
    ]);
    wire::ExecutionStats {
        results_returned: signed(*results),
        execution_duration: Some(Duration {
            seconds: signed(took.as_secs()),
            nanos: i32::try_from(took.subsec_nanos()).unwrap_or(i32::MAX),
        }),
        read_operations: signed(charge.reads),
        debug_stats: Some(debug),
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Struct {
    Struct { fields: members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect() }
}

fn text(text: impl ToString) -> Value {
    Value { kind: Some(Kind::StringValue(text.to_string())) }
}
