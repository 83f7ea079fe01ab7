//! Checks what a request states, and makes expressions of it.

use std::collections::HashMap;

use base_value::{FieldPath, PathError, Value};

use super::function::{Function, find};
use super::lazy::Lazy;
use super::{Each, EachKind, Expression, Reference, Subquery};
use crate::error::PipelineError;
use crate::limits::{DEPTH_MAX, NODES_MAX, STAGES_MAX};
use crate::pipeline::Pipeline;
use crate::stages::Accumulator;
use crate::term::Term;

/// What is counted, and what names are known, while a request is checked.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    depth: usize,
    nodes: usize,
    stages: usize,
    /// Variables that are known, in the order they were bound in.
    bound: Vec<String>,
    /// How often each of them is.
    known: HashMap<String, usize>,
}

/// Whether there is a function of that name.
pub(crate) fn is_function(name: &str) -> bool {
    matches!(name, "array" | "scalar" | "array_filter" | "array_transform")
        || Lazy::find(name).is_some()
        || find(name).is_some()
}

impl Parser {
    /// Counts a stage.
    pub(crate) fn stage(&mut self) -> Result<(), PipelineError> {
        self.stages += 1;
        if self.stages > STAGES_MAX {
            let text = format!("a pipeline may have {STAGES_MAX} stages at most");
            return Err(PipelineError::Invalid(text));
        }
        Ok(())
    }

    /// Counts an expression, or what stands in the place of one.
    pub(crate) fn node(&mut self) -> Result<(), PipelineError> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            let text = format!("a pipeline may have {NODES_MAX} expressions at most");
            return Err(PipelineError::Invalid(text));
        }
        Ok(())
    }

    /// Makes a variable known from here on.
    pub(crate) fn bind(&mut self, name: &str) {
        self.bound.push(name.to_owned());
        *self.known.entry(name.to_owned()).or_default() += 1;
    }

    /// Makes the variables unknown that were bound behind the first so many.
    fn unbind(&mut self, kept: usize) {
        for name in self.bound.drain(kept.min(self.bound.len())..) {
            if let Some(times) = self.known.get_mut(&name) {
                *times -= 1;
                if *times == 0 {
                    self.known.remove(&name);
                }
            }
        }
    }

    /// Does `work` one level deeper; the variables it binds are unknown afterwards.
    pub(crate) fn inside<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, PipelineError>,
    ) -> Result<T, PipelineError> {
        if self.depth >= DEPTH_MAX {
            let text = format!("expressions may be nested {DEPTH_MAX} levels deep at most");
            return Err(PipelineError::Invalid(text));
        }
        self.depth += 1;
        let bound = self.bound.len();
        let done = work(self);
        self.unbind(bound);
        self.depth -= 1;
        done
    }

    /// The expression of a term.
    ///
    /// # Errors
    /// Functions that are not there, arguments that do not fit, variables nobody has bound.
    pub(crate) fn expression(&mut self, term: &Term) -> Result<Expression, PipelineError> {
        self.node()?;
        self.inside(|parser| match term {
            Term::Constant(value) => Ok(Expression::Constant(value.clone())),
            Term::Field(path) => Ok(Expression::Field(Reference::parse(path)?)),
            Term::Variable(name) => {
                if !parser.known.contains_key(name) {
                    return Err(PipelineError::Invalid(format!("unknown variable '{name}'")));
                }
                Ok(Expression::Variable(name.clone()))
            }
            Term::Array(parts) => Ok(folded(Expression::Array(parser.all(parts)?))),
            Term::Map(entries) => {
                let entries: Result<Vec<_>, PipelineError> = entries
                    .iter()
                    .map(|(name, part)| Ok((name.clone(), parser.expression(part)?)))
                    .collect();
                Ok(Expression::Map(entries?))
            }
            Term::Pipeline(_) => Err(PipelineError::invalid(
                "a pipeline is no value; ask for its rows with 'array' or 'scalar'",
            )),
            Term::Function { name, args, options } => {
                if let Some(option) = options.keys().next() {
                    let text = format!(
                        "firelet does not have the option '{option}' of the pipeline function '{name}'"
                    );
                    return Err(PipelineError::Unimplemented(text));
                }
                parser.function(name, args)
            }
        })
    }

    /// The expressions of terms.
    pub(crate) fn all(&mut self, terms: &[Term]) -> Result<Vec<Expression>, PipelineError> {
        terms.iter().map(|term| self.expression(term)).collect()
    }

    fn function(&mut self, name: &str, args: &[Term]) -> Result<Expression, PipelineError> {
        match (name, args) {
            ("array" | "scalar", [Term::Pipeline(stages)]) => {
                let pipeline = self.inside(|parser| Pipeline::nested(stages, parser))?;
                let is_array = name == "array";
                return Ok(Expression::Subquery(Box::new(Subquery { is_array, pipeline })));
            }
            ("array", _) => return Ok(folded(Expression::Array(self.all(args)?))),
            ("array_filter" | "array_transform", _) => return self.each(name, args),
            ("scalar", _) => return Err(PipelineError::invalid("'scalar' takes one pipeline")),
            _ => {}
        }
        if let Some((lazy, takes)) = Lazy::find(name) {
            check_args(name, takes, args.len())?;
            return Ok(Expression::Lazy(lazy, self.all(args)?));
        }
        let Some(function) = find(name) else {
            if Accumulator::is_known(name) {
                let text = format!("accumulator '{name}' stands in the stage 'aggregate' alone");
                return Err(PipelineError::Invalid(text));
            }
            let text = format!("firelet does not have the pipeline function '{name}'");
            return Err(PipelineError::Unimplemented(text));
        };
        let Function { args: takes, .. } = function;
        check_args(name, *takes, args.len())?;
        Ok(Expression::Call(function, self.all(args)?))
    }

    fn each(&mut self, name: &str, args: &[Term]) -> Result<Expression, PipelineError> {
        let (array, element, index, body) = match (name, args) {
            (_, [array, element, body]) => (array, element, None, body),
            ("array_transform", [array, element, index, body]) => {
                (array, element, Some(index), body)
            }
            _ => {
                return Err(PipelineError::Invalid(format!(
                    "function '{name}' does not take {} arguments",
                    args.len()
                )));
            }
        };
        let kind = if name == "array_filter" { EachKind::Filter } else { EachKind::Transform };
        let array = self.expression(array)?;
        let element = alias(element)?;
        let index = index.map(alias).transpose()?;
        let body = self.inside(|parser| {
            parser.bind(&element);
            if let Some(index) = &index {
                parser.bind(index);
            }
            parser.expression(body)
        })?;
        Ok(Expression::Each(Box::new(Each { kind, array, element, index, body })))
    }
}

fn alias(term: &Term) -> Result<String, PipelineError> {
    match term {
        Term::Constant(Value::String(name)) => Ok(name.clone()),
        _ => Err(PipelineError::invalid("the name of a variable must be a string")),
    }
}

/// Checks how many arguments there are.
fn check_args(name: &str, takes: (usize, usize), given: usize) -> Result<(), PipelineError> {
    if given < takes.0 || given > takes.1 {
        let text = format!("function '{name}' does not take {given} arguments");
        return Err(PipelineError::Invalid(text));
    }
    Ok(())
}

/// An array of constants as a constant.
fn folded(expression: Expression) -> Expression {
    let Expression::Array(parts) = expression else { return expression };
    if !parts.iter().all(|part| matches!(part, Expression::Constant(_))) {
        return Expression::Array(parts);
    }
    let values = parts.into_iter().filter_map(|part| match part {
        Expression::Constant(value) => Some(value),
        _ => None,
    });
    Expression::Constant(Value::Array(values.collect()))
}

impl Reference {
    /// Reads a written path.
    ///
    /// # Errors
    /// Paths that are none.
    pub(crate) fn parse(path: &str) -> Result<Self, PipelineError> {
        match path {
            "__name__" => return Ok(Reference::Name),
            "__create_time__" => return Ok(Reference::Created),
            "__update_time__" => return Ok(Reference::Updated),
            _ => {}
        }
        match FieldPath::parse(path) {
            Ok(path) => Ok(Reference::Path(path)),
            Err(PathError::Reserved(_)) => Ok(Reference::Nothing),
            Err(error) => Err(PipelineError::Invalid(error.to_string())),
        }
    }

    /// Reads the name that a value is given: a path, or where it is none, the one name.
    ///
    /// # Errors
    /// Names that no field can have.
    pub(crate) fn alias(name: &str) -> Result<Self, PipelineError> {
        match FieldPath::parse(name) {
            Err(PathError::Syntax(_)) => Ok(Reference::Path(FieldPath::single(name))),
            _ => match Reference::parse(name)? {
                Reference::Nothing => {
                    Err(PipelineError::Invalid(format!("'{name}' is a reserved name")))
                }
                reference => Ok(reference),
            },
        }
    }
}
