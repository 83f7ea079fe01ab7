//! Evaluating a rule: an error anywhere ends it, and the rule does not hold.

use std::sync::Arc;

use base_value::Value as Claim;

use super::check::QUERY;
use super::expression::{Expr, Kind, Op};
use super::method;
use super::value::{RealtimeQuery, Scalar, State, Tree, Value, equal};

/// Expressions that one decision evaluates.
const EXPRESSIONS_MAX: u32 = 100_000;

/// Bytes of a string that an expression makes.
pub(super) const TEXT_MAX: usize = 1024 * 1024;

/// What a rule is evaluated in.
pub(super) struct Scene<'e> {
    pub(super) before: &'e dyn Tree,
    pub(super) after: Option<&'e dyn Tree>,
    pub(super) auth: Option<&'e Claim>,
    /// Milliseconds since 1970.
    pub(super) now: f64,
    pub(super) query: Option<&'e RealtimeQuery>,
    pub(super) spent: u32,
}

/// Where a rule stands: its path, and the wildcards on it.
#[derive(Clone, Debug, Default)]
pub(super) struct Here {
    pub(super) path: Vec<Arc<str>>,
    pub(super) wildcards: Vec<(Arc<str>, Arc<str>)>,
}

pub(super) type Outcome<'e> = Result<Value<'e>, String>;

impl<'e> Scene<'e> {
    /// Whether a rule holds.
    pub(super) fn holds(&mut self, expr: &'e Expr, here: &Here) -> Result<bool, String> {
        let value = self.eval(expr, here)?;
        truth(&value)
    }

    pub(super) fn tree(&self, state: State) -> &'e dyn Tree {
        match (state, self.after) {
            (State::After, Some(after)) => after,
            _ => self.before,
        }
    }

    pub(super) fn eval(&mut self, expr: &'e Expr, here: &Here) -> Outcome<'e> {
        self.spent += 1;
        if self.spent > EXPRESSIONS_MAX {
            return Err(format!("More than {EXPRESSIONS_MAX} expressions were evaluated."));
        }
        match &expr.kind {
            Kind::Null => Ok(Value::Null),
            Kind::Bool(truth) => Ok(Value::bool(*truth)),
            Kind::Number(number) => Ok(Value::number(*number)),
            Kind::Text(text) => Ok(Value::Scalar(Scalar::String(Arc::clone(text)))),
            Kind::Regex(_) => Err("A regular expression has no value.".to_owned()),
            Kind::Name(name) => self.name(name, here),
            Kind::List(items) => {
                let items = items.iter().map(|item| self.eval(item, here));
                Ok(Value::List(items.collect::<Result<_, _>>()?))
            }
            Kind::Not(of) => Ok(Value::bool(!truth(&self.eval(of, here)?)?)),
            Kind::Negate(of) => Ok(Value::number(-number(&self.eval(of, here)?)?)),
            Kind::Binary(op, left, right) => self.binary(*op, left, right, here),
            Kind::Ternary(parts) => {
                let [condition, then, otherwise] = &**parts;
                let chosen = truth(&self.eval(condition, here)?)?;
                self.eval(if chosen { then } else { otherwise }, here)
            }
            Kind::Member(of, name) => {
                let of = self.eval(of, here)?;
                self.member(&of, name)
            }
            Kind::Index(of, index) => {
                let of = self.eval(of, here)?;
                match self.eval(index, here)? {
                    Value::Scalar(Scalar::String(name)) => self.member(&of, &name),
                    other => Err(format!("'[]' takes no {}.", other.kind())),
                }
            }
            Kind::Call(of, name, args) => {
                let of = self.eval(of, here)?;
                method::call(self, &of, name, args, here)
            }
        }
    }

    fn name(&self, name: &str, here: &Here) -> Outcome<'e> {
        Ok(match name {
            "auth" => self.auth.map_or(Value::Null, Value::claim),
            "now" => Value::number(self.now),
            "root" => Value::Place(State::Before, Vec::new()),
            "data" => Value::Place(State::Before, here.path.clone()),
            "newData" if self.after.is_some() => Value::Place(State::After, here.path.clone()),
            "query" => self.query.map_or(Value::Null, Value::Query),
            other => {
                let known = here.wildcards.iter().find(|(wildcard, _)| **wildcard == *other);
                let (_, value) = known.ok_or_else(|| format!("Unknown variable '{other}'."))?;
                Value::Scalar(Scalar::String(Arc::clone(value)))
            }
        })
    }

    fn binary(&mut self, op: Op, left: &'e Expr, right: &'e Expr, here: &Here) -> Outcome<'e> {
        let left = self.eval(left, here)?;
        match op {
            Op::Or if truth(&left)? => return Ok(left),
            Op::And if !truth(&left)? => return Ok(left),
            _ => {}
        }
        let right = self.eval(right, here)?;
        Ok(match op {
            Op::Or | Op::And => Value::bool(truth(&right)?),
            Op::Equal => Value::bool(equal(&left, &right)),
            Op::NotEqual => Value::bool(!equal(&left, &right)),
            Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual => {
                Value::bool(ordered(op, &left, &right)?)
            }
            Op::Add => add(&left, &right)?,
            Op::Subtract => Value::number(number(&left)? - number(&right)?),
            Op::Multiply => Value::number(number(&left)? * number(&right)?),
            Op::Divide => divided(number(&left)?, number(&right)?, |left, right| left / right),
            Op::Remainder => divided(number(&left)?, number(&right)?, |left, right| left % right),
        })
    }

    fn member(&self, of: &Value<'e>, name: &str) -> Outcome<'e> {
        match of {
            Value::Claim(Claim::Map(fields)) => {
                Ok(fields.get(name).map_or(Value::Null, Value::claim))
            }
            Value::Claim(Claim::Array(items)) => {
                let item = name.parse::<usize>().ok().and_then(|index| items.get(index));
                Ok(item.map_or(Value::Null, Value::claim))
            }
            Value::Scalar(Scalar::String(text)) if name == "length" => {
                let length = u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
                Ok(Value::number(f64::from(length)))
            }
            Value::Query(query) if QUERY.contains(&name) => Ok(query_member(query, name)),
            other => Err(format!("No such method/property '{name}' of {}.", other.kind())),
        }
    }
}

fn query_member<'e>(query: &RealtimeQuery, name: &str) -> Value<'e> {
    let limit = |limit: Option<u32>| limit.map_or(Value::Null, |limit| Value::number(limit.into()));
    let is_by_key =
        query.order_by_child.is_none() && !query.order_by_value && !query.order_by_priority;
    match name {
        "orderByChild" => query.order_by_child.as_deref().map_or(Value::Null, Value::text),
        "orderByKey" => Value::bool(is_by_key),
        "orderByValue" => Value::bool(query.order_by_value),
        "orderByPriority" => Value::bool(query.order_by_priority),
        "startAt" => Value::maybe(query.start_at.clone()),
        "endAt" => Value::maybe(query.end_at.clone()),
        "equalTo" => Value::maybe(query.equal_to.clone()),
        "limitToFirst" => limit(query.limit_to_first),
        _ => limit(query.limit_to_last),
    }
}

fn truth(value: &Value<'_>) -> Result<bool, String> {
    match value {
        Value::Scalar(Scalar::Bool(truth)) => Ok(*truth),
        other => Err(format!("A boolean is wanted, and this is {}.", other.kind())),
    }
}

fn number(value: &Value<'_>) -> Result<f64, String> {
    match value {
        Value::Scalar(Scalar::Number(number)) => Ok(*number),
        other => Err(format!("A number is wanted, and this is {}.", other.kind())),
    }
}

/// Dividing by zero has no number for its result.
fn divided<'e>(left: f64, right: f64, divide: impl FnOnce(f64, f64) -> f64) -> Value<'e> {
    Value::number(if right == 0.0 { f64::NAN } else { divide(left, right) })
}

fn ordered(op: Op, left: &Value<'_>, right: &Value<'_>) -> Result<bool, String> {
    let order = match (left, right) {
        (Value::Scalar(Scalar::Number(left)), Value::Scalar(Scalar::Number(right))) => {
            left.partial_cmp(right)
        }
        (Value::Scalar(Scalar::String(left)), Value::Scalar(Scalar::String(right))) => {
            Some(left.encode_utf16().cmp(right.encode_utf16()))
        }
        _ => {
            return Err(format!("{} and {} have no order.", left.kind(), right.kind()));
        }
    };
    Ok(match op {
        Op::Less => order.is_some_and(|order| order.is_lt()),
        Op::LessOrEqual => order.is_some_and(|order| order.is_le()),
        Op::Greater => order.is_some_and(|order| order.is_gt()),
        _ => order.is_some_and(|order| order.is_ge()),
    })
}

fn add<'e>(left: &Value<'_>, right: &Value<'_>) -> Outcome<'e> {
    match (left, right) {
        (Value::Scalar(Scalar::Number(left)), Value::Scalar(Scalar::Number(right))) => {
            Ok(Value::number(left + right))
        }
        (
            Value::Scalar(left @ (Scalar::Number(_) | Scalar::String(_))),
            Value::Scalar(right @ (Scalar::Number(_) | Scalar::String(_))),
        ) => {
            let text = written(left) + &written(right);
            match text.len() > TEXT_MAX {
                true => Err("The string is longer than an expression may make.".to_owned()),
                false => Ok(Value::text(&text)),
            }
        }
        _ => Err(format!("'+' does not take {} and {}.", left.kind(), right.kind())),
    }
}

fn written(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Bool(truth) => truth.to_string(),
        Scalar::String(text) => text.to_string(),
        Scalar::Number(number) if number.is_infinite() => {
            if *number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
        }
        // As JavaScript writes them, but for very large and very small ones.
        Scalar::Number(number) if *number == 0.0 => "0".to_owned(),
        Scalar::Number(number) => number.to_string(),
    }
}
