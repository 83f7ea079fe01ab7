//! Pipelines: the protocol's values, among which there are fields, functions and pipelines.

use std::collections::BTreeMap;

use base_value::{Value, codec};
use base_wire::WireValue;
use base_wire::google::firestore::v1 as wire;
use bytes::{Buf, Bytes};
use engine_pipeline::limits::DEPTH_MAX;
use engine_pipeline::{RawStage, Term};
use prost::Message;
use prost::encoding::{DecodeContext, WireType, bytes as bytes_field, decode_key, skip_field};

use crate::error::Error;
use crate::ops::execute_pipeline::{Explain, ExplainFormat, ExplainMode, Options};

// The types of a value that need a look inside; see google/firestore/v1/document.proto.
const MAP: u32 = 6;
const ARRAY: u32 = 9;
const FIELD: u32 = 19;
const FUNCTION: u32 = 20;
const PIPELINE: u32 = 21;
const VARIABLE: u32 = 22;

/// The stages of a request, and how they are to be run.
pub(super) fn structured(
    structured: wire::StructuredPipeline,
) -> Result<(Vec<RawStage>, Options), Error> {
    let stages = pipeline(structured.pipeline.unwrap_or_default(), DEPTH_MAX)?;
    Ok((stages, options(&structured.options)?))
}

fn pipeline(pipeline: wire::Pipeline, depth: usize) -> Result<Vec<RawStage>, Error> {
    let stage = |stage: wire::pipeline::Stage| {
        Ok(RawStage {
            name: stage.name,
            args: terms(&stage.args, depth)?,
            options: named(&stage.options, depth)?,
        })
    };
    pipeline.stages.into_iter().map(stage).collect()
}

fn terms(values: &[WireValue], depth: usize) -> Result<Vec<Term>, Error> {
    values.iter().map(|value| term(&value.raw, depth)).collect()
}

fn named(
    values: &BTreeMap<String, WireValue>,
    depth: usize,
) -> Result<BTreeMap<String, Term>, Error> {
    let named = |(name, value): (&String, &WireValue)| Ok((name.clone(), term(&value.raw, depth)?));
    values.iter().map(named).collect()
}

fn term(raw: &Bytes, depth: usize) -> Result<Term, Error> {
    let depth = depth.checked_sub(1).ok_or_else(|| {
        Error::invalid(format!("expressions may be nested {DEPTH_MAX} levels deep at most"))
    })?;
    let Some((tag, content)) = last_type(raw)? else {
        return Ok(Term::Constant(codec::decode_value(raw)?));
    };
    match tag {
        FIELD => Ok(Term::Field(text(&content)?)),
        VARIABLE => Ok(Term::Variable(text(&content)?)),
        FUNCTION => {
            let function = wire::Function::decode(content).map_err(|_| malformed())?;
            Ok(Term::Function {
                name: function.name,
                args: terms(&function.args, depth)?,
                options: named(&function.options, depth)?,
            })
        }
        PIPELINE => {
            let inner = wire::Pipeline::decode(content).map_err(|_| malformed())?;
            Ok(Term::Pipeline(pipeline(inner, depth)?))
        }
        ARRAY => {
            let array = wire::ArrayValue::decode(content).map_err(|_| malformed())?;
            Ok(array_of(terms(&array.values, depth)?))
        }
        _ => {
            let map = wire::MapValue::decode(content).map_err(|_| malformed())?;
            // A vector is spelled as a map.
            if map.fields.contains_key("__type__")
                && let Ok(vector @ Value::Vector(_)) = codec::decode_value(raw)
            {
                return Ok(Term::Constant(vector));
            }
            Ok(map_of(named(&map.fields, depth)?))
        }
    }
}

/// The type that holds, where it is one that needs a look inside: the last one that is set.
fn last_type(raw: &Bytes) -> Result<Option<(u32, Bytes)>, Error> {
    let mut rest = raw.clone();
    let mut last = None;
    while rest.has_remaining() {
        let (tag, wire_type) = decode_key(&mut rest).map_err(|_| malformed())?;
        let is_inside = matches!(tag, MAP | ARRAY | FIELD | FUNCTION | PIPELINE | VARIABLE);
        if is_inside && wire_type == WireType::LengthDelimited {
            let mut content = Bytes::new();
            bytes_field::merge(wire_type, &mut content, &mut rest, DecodeContext::default())
                .map_err(|_| malformed())?;
            last = Some((tag, content));
        } else {
            skip_field(wire_type, tag, &mut rest, DecodeContext::default())
                .map_err(|_| malformed())?;
            last = None;
        }
    }
    Ok(last)
}

fn malformed() -> Error {
    Error::Decode(codec::DecodeError::Malformed)
}

fn text(content: &Bytes) -> Result<String, Error> {
    String::from_utf8(content.to_vec()).map_err(|_| Error::Decode(codec::DecodeError::Utf8))
}

/// An array of terms, which is a value where all of them are.
fn array_of(terms: Vec<Term>) -> Term {
    if !terms.iter().all(is_constant) {
        return Term::Array(terms);
    }
    Term::Constant(Value::Array(terms.into_iter().filter_map(into_constant).collect()))
}

/// Same for a map.
fn map_of(terms: BTreeMap<String, Term>) -> Term {
    if !terms.values().all(is_constant) {
        return Term::Map(terms);
    }
    let fields = terms.into_iter().filter_map(|(name, term)| Some((name, into_constant(term)?)));
    Term::Constant(Value::Map(fields.collect()))
}

fn is_constant(term: &Term) -> bool {
    matches!(term, Term::Constant(_))
}

fn into_constant(term: Term) -> Option<Value> {
    match term {
        Term::Constant(value) => Some(value),
        _ => None,
    }
}

fn options(options: &BTreeMap<String, WireValue>) -> Result<Options, Error> {
    let mut read = Options::default();
    for (name, value) in options {
        let value = codec::decode_value(&value.raw)?;
        match (name.as_str(), value) {
            // Every index is there, and used where it helps.
            ("index_mode", _) => {}
            ("memory_limit", Value::Integer(limit)) => {
                read.memory_limit = Some(usize::try_from(limit).unwrap_or(0));
            }
            ("explain_options", Value::Map(fields)) => read.explain = explain(&fields)?,
            (other, _) => {
                let text = format!("firelet does not have the pipeline option '{other}'");
                return Err(engine_pipeline::PipelineError::Unimplemented(text).into());
            }
        }
    }
    Ok(read)
}

fn explain(fields: &base_value::Fields) -> Result<Option<Explain>, Error> {
    let word = |name: &str| match fields.get(name) {
        Some(Value::String(word)) => Some(word.as_str()),
        _ => None,
    };
    let format = match word("output_format") {
        None | Some("text") => ExplainFormat::Text,
        Some("json") => ExplainFormat::Json,
        Some(other) => {
            return Err(Error::invalid(format!("unknown explain output_format '{other}'")));
        }
    };
    match word("mode") {
        None | Some("execute") => Ok(None),
        Some("analyze") => Ok(Some(Explain { mode: ExplainMode::Analyze, format })),
        Some("explain") => Ok(Some(Explain { mode: ExplainMode::Explain, format })),
        Some(other) => Err(Error::invalid(format!("unknown explain mode '{other}'"))),
    }
}
