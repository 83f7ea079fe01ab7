//! Stages: each takes rows and gives rows.

mod accumulate;
mod apply;
mod group;
mod nearest;
mod parse;
mod sort;
mod unnest;

#[cfg(test)]
mod tests;

use engine_query::DistanceMeasure;

use crate::error::PipelineError;
use crate::expression::{Expression, Reference};
use crate::pipeline::Pipeline;
use crate::row::Row;
pub(crate) use accumulate::Accumulator;

/// Rows on their way from one stage to the next, computed while they are asked for.
pub(crate) type Rows<'r> = Box<dyn Iterator<Item = Result<Row, PipelineError>> + 'r>;

/// Values for fields.
pub(crate) type Targets = Vec<(Reference, Expression)>;

/// A stage behind the source.
#[derive(Debug)]
pub(crate) enum Stage {
    Where(Expression),
    Select(Targets),
    AddFields(Targets),
    RemoveFields(Vec<Reference>),
    Let(Vec<(String, Expression)>),
    Sort(Vec<Key>),
    Limit(u64),
    Offset(u64),
    Distinct(Targets),
    Aggregate { accumulators: Vec<(Reference, Accumulator)>, groups: Targets },
    FindNearest(Box<Nearest>),
    ReplaceWith { map: Expression, mode: Replace },
    Sample(Sample),
    Union(Box<Pipeline>),
    Unnest { array: Expression, alias: Reference, index: Option<Reference> },
}

/// One key of an order.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) expression: Expression,
    pub(crate) descending: bool,
}

/// What becomes of the fields there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replace {
    /// They go.
    Full,
    /// They stay where the map has no such name.
    Overwrite,
    /// They stay.
    Keep,
}

/// How many rows a sample has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sample {
    Documents(usize),
    /// Each row is in it with this probability.
    Part(f64),
}

/// A nearest-neighbour search.
#[derive(Debug)]
pub(crate) struct Nearest {
    vector: Expression,
    target: Vec<f64>,
    measure: DistanceMeasure,
    limit: Option<usize>,
    distance: Option<Reference>,
}

impl Stage {
    /// Its name.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Stage::Where(_) => "where",
            Stage::Select(_) => "select",
            Stage::AddFields(_) => "add_fields",
            Stage::RemoveFields(_) => "remove_fields",
            Stage::Let(_) => "let",
            Stage::Sort(_) => "sort",
            Stage::Limit(_) => "limit",
            Stage::Offset(_) => "offset",
            Stage::Distinct(_) => "distinct",
            Stage::Aggregate { .. } => "aggregate",
            Stage::FindNearest(_) => "find_nearest",
            Stage::ReplaceWith { .. } => "replace_with",
            Stage::Sample(_) => "sample",
            Stage::Union(_) => "union",
            Stage::Unnest { .. } => "unnest",
        }
    }

    /// Calls `visit` for every expression of the stage.
    pub(crate) fn each_expression<'e>(&'e self, visit: &mut dyn FnMut(&'e Expression)) {
        match self {
            Stage::Where(expression)
            | Stage::ReplaceWith { map: expression, .. }
            | Stage::Unnest { array: expression, .. } => visit(expression),
            Stage::FindNearest(nearest) => visit(&nearest.vector),
            Stage::Select(targets) | Stage::AddFields(targets) | Stage::Distinct(targets) => {
                targets.iter().for_each(|(_, expression)| visit(expression));
            }
            Stage::Let(named) => named.iter().for_each(|(_, expression)| visit(expression)),
            Stage::Sort(keys) => keys.iter().for_each(|key| visit(&key.expression)),
            Stage::Aggregate { accumulators, groups } => {
                accumulators.iter().filter_map(|(_, it)| it.argument()).for_each(&mut *visit);
                groups.iter().for_each(|(_, expression)| visit(expression));
            }
            Stage::RemoveFields(_)
            | Stage::Limit(_)
            | Stage::Offset(_)
            | Stage::Sample(_)
            | Stage::Union(_) => {}
        }
    }
}
