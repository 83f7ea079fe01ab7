//! The evaluator itself: what one request is decided with, and every kind of expression.
//!
//! Frames are kept small, since expressions and functions nest up to the budget.

use crate::coverage::Observer;
use crate::decision::DebugOutput;
use crate::error::{Failure, failure, undetermined, wrong_type};
use crate::explain::Steps;
use crate::limits::EXPRESSIONS_MAX;
use crate::request::Request;
use crate::ruleset::Ruleset;
use crate::session::{Reads, Session};
use crate::tree::{BinaryOp, Expr, ExprKind, PathPart};
use crate::value::{List, Map, Path, Segment, Shared, Value, is_open};

pub(crate) type Outcome<'e> = Result<Value<'e>, Failure>;

/// What one request is decided with.
pub(crate) struct Evaluator<'e> {
    pub(crate) ruleset: &'e Ruleset,
    pub(crate) request: &'e Request<'e>,
    pub(crate) session: &'e Session<'e>,
    pub(crate) observer: Option<&'e dyn Observer>,
    /// The documents this operation has read.
    pub(crate) reads: Reads,
    /// Expressions evaluated so far.
    pub(crate) spent: u32,
    /// The values of the wildcards of the match block tried.
    pub(crate) wildcards: Vec<Value<'e>>,
    /// Parameters and variables of the functions being called. An error is kept until it is looked at.
    pub(super) locals: Vec<Outcome<'e>>,
    /// Where those of the innermost function start.
    pub(super) frame: usize,
    /// The `request` variable, once it was asked for.
    pub(super) request_value: Option<Value<'e>>,
    /// The path of the request, once it was asked for.
    pub(super) path_value: Option<Path<'e>>,
    pub(crate) debug: Vec<DebugOutput>,
    /// Whether what takes a document is left open: as long as none is loaded.
    pub(crate) preliminary: bool,
    /// Whether such a document was asked for.
    pub(crate) left_open: bool,
    /// Recorded where a denial is explained.
    pub(crate) steps: Option<Steps>,
}

impl<'e> Evaluator<'e> {
    pub(crate) fn new(
        ruleset: &'e Ruleset,
        request: &'e Request<'e>,
        session: &'e Session<'e>,
        observer: Option<&'e dyn Observer>,
    ) -> Self {
        Evaluator {
            ruleset,
            request,
            session,
            observer,
            reads: Reads::default(),
            spent: 0,
            wildcards: Vec::new(),
            locals: Vec::new(),
            frame: 0,
            request_value: None,
            path_value: None,
            debug: Vec::new(),
            preliminary: false,
            left_open: false,
            steps: None,
        }
    }

    /// Goes on with what another evaluation of the same operation has left of the documents it may read. Each
    /// has as many expressions as any.
    pub(crate) fn after(mut self, other: Option<Evaluator<'e>>) -> Self {
        if let Some(other) = other {
            self.reads = other.reads;
            self.debug = other.debug;
        }
        self
    }

    /// Whether a condition holds.
    pub(crate) fn condition(&mut self, condition: &'e Expr) -> Result<bool, Failure> {
        truth(self.eval(condition)?).map_err(|failure| located(failure, condition))
    }

    pub(super) fn spend(&mut self, cost: u32) -> Result<(), Failure> {
        self.spent = self.spent.saturating_add(cost);
        if self.spent > EXPRESSIONS_MAX {
            return Err(failure(
                "Unable to evaluate the expression as the maximum of 1000 expressions to evaluate has \
                 been reached.",
            ));
        }
        Ok(())
    }

    pub(crate) fn eval(&mut self, expr: &'e Expr) -> Outcome<'e> {
        if self.observer.is_none() && self.steps.is_none() {
            return self.eval_kind(expr).map_err(|failure| located(failure, expr));
        }
        self.eval_watched(expr)
    }

    #[inline(never)]
    fn eval_watched(&mut self, expr: &'e Expr) -> Outcome<'e> {
        let step = self.steps.as_mut().and_then(|steps| steps.enter(expr.id));
        let outcome = self.eval_kind(expr).map_err(|failure| located(failure, expr));
        if let Some(observer) = self.observer {
            observer.evaluated(expr.id, outcome.as_ref().map_err(|failure| &**failure));
        }
        if let (Some(steps), Some(step)) = (&mut self.steps, step) {
            steps.leave(step, &outcome);
        }
        outcome
    }

    fn eval_kind(&mut self, expr: &'e Expr) -> Outcome<'e> {
        self.spend(1)?;
        match &expr.kind {
            ExprKind::Null => Ok(Value::Null),
            ExprKind::Bool(truth) => Ok(Value::Bool(*truth)),
            ExprKind::Int(number) => Ok(Value::Int(*number)),
            ExprKind::Float(number) => Ok(Value::Float(*number)),
            ExprKind::String(text) => Ok(Value::String(Shared::Borrowed(text))),
            ExprKind::Bytes(bytes) => Ok(Value::Bytes(Shared::Borrowed(bytes))),
            ExprKind::List(items) => self.list(items),
            ExprKind::Map(entries) => self.map(entries),
            ExprKind::Path(parts) => self.path(parts),
            // The checker leaves none; without a cost of its own where one were there.
            ExprKind::Group(inner) => {
                self.spent -= 1;
                self.eval(inner)
            }
            ExprKind::Name { binding, .. } => self.variable(*binding),
            ExprKind::Member { of, name } => self.member(of, name),
            ExprKind::Index { of, index } => self.index(of, index),
            ExprKind::Slice { of, from, to } => self.slice(of, from, to),
            ExprKind::Call(call) => self.call(call, expr),
            ExprKind::Method(call) => self.method(call),
            ExprKind::Not(of) => self.not(of),
            ExprKind::Negate(of) => self.negate(of),
            ExprKind::Binary { op: BinaryOp::And, left, right, .. } => self.and(left, right),
            ExprKind::Binary { op: BinaryOp::Or, left, right, .. } => self.or(left, right),
            ExprKind::Binary { op, left, right, .. } => self.binary(*op, left, right),
            ExprKind::Is { of, of_type } => {
                self.spend(1)?;
                let value = self.eval(of)?;
                Ok(Value::Bool(of_type.holds(&value)))
            }
            ExprKind::Ternary { condition, then, otherwise, .. } => {
                self.ternary(condition, then, otherwise)
            }
        }
    }

    #[inline(never)]
    fn list(&mut self, items: &'e [Expr]) -> Outcome<'e> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            values.push(known(self.eval(item)?)?);
        }
        Ok(Value::List(List::Made(values.into())))
    }

    #[inline(never)]
    fn map(&mut self, entries: &'e [(Expr, Expr)]) -> Outcome<'e> {
        let mut map = std::collections::BTreeMap::new();
        for (key, value) in entries {
            let name = match self.eval(key)? {
                Value::String(name) => name,
                other => return Err(wrong_type(other.type_of().name(), "string")),
            };
            let value = known(self.eval(value)?)?;
            map.insert(name, value);
        }
        Ok(Value::Map(Map::Made(map.into())))
    }

    #[inline(never)]
    fn path(&mut self, parts: &'e [PathPart]) -> Outcome<'e> {
        let mut segments = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                PathPart::Text(text) => {
                    self.spend(1)?;
                    segments.push(Segment::Text(Shared::Borrowed(text)));
                }
                PathPart::Capture(name) => {
                    self.spend(1)?;
                    segments.push(Segment::Capture(Shared::Borrowed(name)));
                }
                PathPart::GlobCapture(name) => {
                    self.spend(1)?;
                    segments.push(Segment::Glob(Shared::Borrowed(name)));
                }
                PathPart::Value(value) => match self.eval(value)? {
                    Value::String(text) => segments.push(Segment::Text(text)),
                    Value::Path(path) => segments.extend_from_slice(path.segments()),
                    other => {
                        let text = crate::function::text_of(&other)?;
                        segments.push(Segment::Text(Shared::Owned(text.into())));
                    }
                },
            }
        }
        Ok(Value::Path(Path::new(segments)))
    }
}

/// A value that may become part of a list or a map, where nothing would look for a constraint.
pub(super) fn known(value: Value<'_>) -> Outcome<'_> {
    match is_open(&value) {
        true => Err(undetermined()),
        false => Ok(value),
    }
}

/// The truth a condition or boolean operand stands for: there is no truthiness.
pub(crate) fn truth(value: Value<'_>) -> Result<bool, Failure> {
    match value {
        Value::Bool(truth) => Ok(truth),
        other => Err(wrong_type(other.type_of().name(), "bool")),
    }
}

/// A failure with the innermost expression it happened in.
pub(super) fn located(mut failure: Failure, expr: &Expr) -> Failure {
    failure.span.get_or_insert(expr.span);
    failure
}
