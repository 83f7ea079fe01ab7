//! Checks the stages of a request.

use std::collections::{BTreeMap, HashSet};

use base_value::Value;
use engine_query::DistanceMeasure;

use super::accumulate::Accumulator;
use super::{Key, Nearest, Replace, Sample, Stage, Targets};
use crate::error::PipelineError;
use crate::expression::{Expression, Parser, Reference};
use crate::pipeline::Pipeline;
use crate::term::{RawStage, Term};

/// Stages that are there, sources left out.
const KNOWN: [&str; 15] = [
    "where",
    "select",
    "add_fields",
    "remove_fields",
    "let",
    "sort",
    "limit",
    "offset",
    "distinct",
    "aggregate",
    "find_nearest",
    "replace_with",
    "sample",
    "union",
    "unnest",
];

/// Options that say how, and not what: an index that is named is not needed to answer.
const IGNORED_OPTIONS: [&str; 2] = ["force_index", "index_mode"];

impl Stage {
    /// Whether there is a stage of that name that is no source.
    pub(crate) fn is_known(name: &str) -> bool {
        KNOWN.contains(&name)
    }

    /// Reads a stage behind the source.
    pub(crate) fn parse(stage: &RawStage, parser: &mut Parser) -> Result<Self, PipelineError> {
        let name = stage.name.as_str();
        check_options(stage)?;
        let unfit =
            || PipelineError::Invalid(format!("stage '{name}' does not take these arguments"));
        match (name, stage.args.as_slice()) {
            ("where", [condition]) => Ok(Stage::Where(parser.expression(condition)?)),
            ("select", [map]) => Ok(Stage::Select(targets(name, map, parser)?)),
            ("add_fields", [map]) => Ok(Stage::AddFields(targets(name, map, parser)?)),
            ("remove_fields", fields) if !fields.is_empty() => {
                let fields: Result<Vec<Reference>, _> = fields.iter().map(reference).collect();
                Ok(Stage::RemoveFields(fields?))
            }
            ("let", [map]) => {
                let named = named(map, parser)?;
                named.iter().for_each(|(name, _)| parser.bind(name));
                Ok(Stage::Let(named))
            }
            ("sort", keys) if !keys.is_empty() => {
                let keys: Result<Vec<Key>, _> = keys.iter().map(|term| key(term, parser)).collect();
                Ok(Stage::Sort(keys?))
            }
            ("limit", [count]) => Ok(Stage::Limit(counted(name, count)?)),
            ("offset", [count]) => Ok(Stage::Offset(counted(name, count)?)),
            ("distinct", [map]) => Ok(Stage::Distinct(targets(name, map, parser)?)),
            ("aggregate", [accumulators]) => aggregate(accumulators, None, parser),
            ("aggregate", [accumulators, groups]) => aggregate(accumulators, Some(groups), parser),
            ("find_nearest", [vector, target, measure]) => {
                nearest([vector, target, measure], &stage.options, parser)
            }
            ("replace_with", [map, rest @ ..]) if rest.len() < 2 => {
                let mode = rest.first().map_or(Some("full_replace"), text).ok_or_else(unfit)?;
                Ok(Stage::ReplaceWith { map: parser.expression(map)?, mode: replace(mode)? })
            }
            ("sample", [size, mode]) => sample(size, text(mode).ok_or_else(unfit)?),
            ("union", [Term::Pipeline(stages)]) => {
                let other = parser.inside(|parser| Pipeline::nested(stages, parser))?;
                Ok(Stage::Union(Box::new(other)))
            }
            ("unnest", [array, alias]) => Ok(Stage::Unnest {
                array: parser.expression(array)?,
                alias: reference(alias)?,
                index: stage.options.get("index_field").map(reference).transpose()?,
            }),
            ("collection" | "collection_group" | "database" | "documents" | "subcollection", _) => {
                let text = format!("stage '{name}' must be the first stage");
                Err(PipelineError::Invalid(text))
            }
            (known, _) if KNOWN.contains(&known) => Err(unfit()),
            (other, _) => Err(PipelineError::Unimplemented(format!(
                "firelet does not have the pipeline stage '{other}'"
            ))),
        }
    }
}

fn check_options(stage: &RawStage) -> Result<(), PipelineError> {
    let known: &[&str] = match stage.name.as_str() {
        "find_nearest" => &["limit", "distance_field"],
        "unnest" => &["index_field"],
        _ => &[],
    };
    let is_known = |option: &&String| {
        known.contains(&option.as_str()) || IGNORED_OPTIONS.contains(&option.as_str())
    };
    match stage.options.keys().find(|option| !is_known(option)) {
        Some(option) if Stage::is_known(&stage.name) => Err(PipelineError::Unimplemented(format!(
            "firelet does not have the option '{option}' of the pipeline stage '{}'",
            stage.name
        ))),
        _ => Ok(()),
    }
}

/// The entries of a map, whether one of them is computed or none.
fn named(term: &Term, parser: &mut Parser) -> Result<Vec<(String, Expression)>, PipelineError> {
    match term {
        Term::Map(entries) => entries
            .iter()
            .map(|(name, term)| Ok((name.clone(), parser.expression(term)?)))
            .collect(),
        Term::Constant(Value::Map(fields)) => Ok(fields
            .iter()
            .map(|(name, value)| (name.clone(), Expression::Constant(value.clone())))
            .collect()),
        other => Err(no_map(other)),
    }
}

/// The refusal of what is no map, as production words it.
fn no_map(term: &Term) -> PipelineError {
    let found = match term {
        Term::Field(_) => "FIELD_REFERENCE_VALUE",
        Term::Variable(_) => "VARIABLE_REFERENCE_VALUE",
        Term::Function { .. } => "FUNCTION_VALUE",
        Term::Pipeline(_) => "PIPELINE_VALUE",
        Term::Array(_) | Term::Constant(Value::Array(_)) => "ARRAY_VALUE",
        Term::Map(_) | Term::Constant(Value::Map(_) | Value::Vector(_)) => "MAP_VALUE",
        Term::Constant(Value::Null) => "NULL_VALUE",
        Term::Constant(Value::Boolean(_)) => "BOOLEAN_VALUE",
        Term::Constant(Value::Integer(_)) => "INTEGER_VALUE",
        Term::Constant(Value::Double(_)) => "DOUBLE_VALUE",
        Term::Constant(Value::Timestamp(_)) => "TIMESTAMP_VALUE",
        Term::Constant(Value::String(_)) => "STRING_VALUE",
        Term::Constant(Value::Bytes(_)) => "BYTES_VALUE",
        Term::Constant(Value::Reference(_)) => "REFERENCE_VALUE",
        Term::Constant(Value::GeoPoint { .. }) => "GEO_POINT_VALUE",
    };
    PipelineError::Invalid(format!("Expected fields to be MAP_VALUE, but was {found}."))
}

/// Fields and what they are given; at least one.
fn targets(stage: &str, term: &Term, parser: &mut Parser) -> Result<Targets, PipelineError> {
    let targets = targets_of(named(term, parser)?)?;
    if targets.is_empty() {
        let text = format!("stage '{stage}' requires at least one field");
        return Err(PipelineError::Invalid(text));
    }
    Ok(targets)
}

fn targets_of(named: Vec<(String, Expression)>) -> Result<Targets, PipelineError> {
    named.into_iter().map(|(alias, value)| Ok((Reference::alias(&alias)?, value))).collect()
}

fn reference(term: &Term) -> Result<Reference, PipelineError> {
    match term {
        Term::Field(path) | Term::Constant(Value::String(path)) => Reference::parse(path),
        _ => Err(PipelineError::invalid("a field expected")),
    }
}

fn text(term: &Term) -> Option<&str> {
    match term {
        Term::Constant(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn counted(stage: &str, term: &Term) -> Result<u64, PipelineError> {
    match term {
        Term::Constant(Value::Integer(count)) => u64::try_from(*count)
            .map_err(|_| PipelineError::Invalid(format!("{stage} must be non-negative"))),
        _ => Err(PipelineError::Invalid(format!("stage '{stage}' takes one integer"))),
    }
}

fn key(term: &Term, parser: &mut Parser) -> Result<Key, PipelineError> {
    let named = named(term, parser)?;
    let mut descending = false;
    let mut expression = None;
    for (name, value) in named {
        match (name.as_str(), value) {
            ("direction", Expression::Constant(Value::String(direction))) => {
                descending = match direction.as_str() {
                    "ascending" => false,
                    "descending" => true,
                    other => {
                        let text = format!("'ascending' or 'descending' expected, found '{other}'");
                        return Err(PipelineError::Invalid(text));
                    }
                };
            }
            ("expression", value) => expression = Some(value),
            (other, _) => {
                return Err(PipelineError::Invalid(format!("an order has no '{other}'")));
            }
        }
    }
    let expression =
        expression.ok_or_else(|| PipelineError::invalid("an order must have an 'expression'"))?;
    Ok(Key { expression, descending })
}

fn aggregate(
    accumulators: &Term,
    groups: Option<&Term>,
    parser: &mut Parser,
) -> Result<Stage, PipelineError> {
    let entries: BTreeMap<&String, &Term> = match accumulators {
        Term::Map(entries) => entries.iter().collect(),
        Term::Constant(Value::Map(fields)) if fields.is_empty() => BTreeMap::new(),
        other => return Err(no_map(other)),
    };
    if entries.is_empty() {
        return Err(PipelineError::invalid("stage 'aggregate' requires at least one accumulator"));
    }
    let accumulators: Result<Vec<_>, PipelineError> = entries
        .into_iter()
        .map(|(name, term)| Ok((Reference::alias(name)?, Accumulator::parse(term, parser)?)))
        .collect();
    let groups = groups.map_or(Ok(Vec::new()), |groups| named(groups, parser))?;
    let groups = targets_of(groups)?;
    let accumulators = accumulators?;
    let named: HashSet<&Reference> = accumulators.iter().map(|(it, _)| it).collect();
    if groups.iter().any(|(group, _)| named.contains(group)) {
        return Err(PipelineError::invalid("a group and an accumulator have the same name"));
    }
    Ok(Stage::Aggregate { accumulators, groups })
}

fn nearest(
    [vector, target, measure]: [&Term; 3],
    options: &BTreeMap<String, Term>,
    parser: &mut Parser,
) -> Result<Stage, PipelineError> {
    let Term::Constant(Value::Vector(target)) = target else {
        return Err(PipelineError::invalid("stage 'find_nearest' takes a vector"));
    };
    let measure = match text(measure) {
        Some("euclidean") => DistanceMeasure::Euclidean,
        Some("cosine") => DistanceMeasure::Cosine,
        Some("dot_product") => DistanceMeasure::DotProduct,
        _ => {
            let text = "'euclidean', 'cosine' or 'dot_product' expected as a distance measure";
            return Err(PipelineError::invalid(text));
        }
    };
    let limit = options.get("limit").map(|limit| counted("limit", limit)).transpose()?;
    Ok(Stage::FindNearest(Box::new(Nearest {
        vector: parser.expression(vector)?,
        target: target.clone(),
        measure,
        limit: limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX)),
        distance: options.get("distance_field").map(reference).transpose()?,
    })))
}

fn replace(mode: &str) -> Result<Replace, PipelineError> {
    match mode {
        "full_replace" => Ok(Replace::Full),
        "merge_overwrite_existing" => Ok(Replace::Overwrite),
        "merge_keep_existing" => Ok(Replace::Keep),
        other => Err(PipelineError::Invalid(format!("stage 'replace_with' has no mode '{other}'"))),
    }
}

fn sample(size: &Term, mode: &str) -> Result<Stage, PipelineError> {
    match (mode, size) {
        ("documents", size) => {
            let count = counted("sample", size)?;
            Ok(Stage::Sample(Sample::Documents(usize::try_from(count).unwrap_or(usize::MAX))))
        }
        ("percent", Term::Constant(Value::Double(part))) if (0.0..=1.0).contains(part) => {
            Ok(Stage::Sample(Sample::Part(*part)))
        }
        ("percent", Term::Constant(Value::Integer(part @ 0..=1))) => {
            Ok(Stage::Sample(Sample::Part(*part as f64)))
        }
        ("percent", _) => Err(PipelineError::invalid("a sample's part lies between 0 and 1")),
        (other, _) => Err(PipelineError::Invalid(format!("stage 'sample' has no mode '{other}'"))),
    }
}
