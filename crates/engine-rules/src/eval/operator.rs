//! Operators, with the product's rules for errors beside boolean ones.

use std::cmp::Ordering;

use super::{Evaluator, Outcome, truth};
use crate::error::{
    failure, integer_range, no_function, null_value, too_large, undetermined, unsupported,
    wrong_type,
};
use crate::limits::TEXT_MAX_BYTES;
use crate::tree::{BinaryOp, Expr};
use crate::value::{Comparison, Duration, Timestamp, Value, checked_timestamp, equal, is_open};

impl<'e> Evaluator<'e> {
    #[inline(never)]
    pub(super) fn not(&mut self, of: &'e Expr) -> Outcome<'e> {
        match self.eval(of)? {
            Value::Bool(truth) => Ok(Value::Bool(!truth)),
            other => Err(unsupported(&format!("!{}", other.type_of().name()), "!bool")),
        }
    }

    #[inline(never)]
    pub(super) fn negate(&mut self, of: &'e Expr) -> Outcome<'e> {
        match self.eval(of)? {
            Value::Int(number) => number.checked_neg().map(Value::Int).ok_or_else(integer_range),
            Value::Float(number) => Ok(Value::Float(-number)),
            Value::Duration(duration) => {
                Ok(Value::Duration(Duration { seconds: -duration.seconds, nanos: -duration.nanos }))
            }
            other => {
                Err(unsupported(&format!("-{}", other.type_of().name()), "-int, -float, -duration"))
            }
        }
    }

    /// False decides, whatever the other side is; an error on the left is the result where the right does not
    /// decide.
    #[inline(never)]
    pub(super) fn and(&mut self, left: &'e Expr, right: &'e Expr) -> Outcome<'e> {
        let first = self.eval(left).and_then(truth);
        if let Ok(false) = first {
            return Ok(Value::Bool(false));
        }
        self.spend(1)?;
        let second = self.eval(right).and_then(truth);
        match (first, second) {
            (_, Ok(false)) => Ok(Value::Bool(false)),
            (Err(failure), _) | (Ok(_), Err(failure)) => Err(failure),
            (Ok(first), Ok(second)) => Ok(Value::Bool(first && second)),
        }
    }

    /// True decides, in the same way.
    #[inline(never)]
    pub(super) fn or(&mut self, left: &'e Expr, right: &'e Expr) -> Outcome<'e> {
        let first = self.eval(left).and_then(truth);
        if let Ok(true) = first {
            return Ok(Value::Bool(true));
        }
        self.spend(1)?;
        let second = self.eval(right).and_then(truth);
        match (first, second) {
            (_, Ok(true)) => Ok(Value::Bool(true)),
            (Err(failure), _) | (Ok(_), Err(failure)) => Err(failure),
            (Ok(first), Ok(second)) => Ok(Value::Bool(first || second)),
        }
    }

    #[inline(never)]
    pub(super) fn ternary(
        &mut self,
        condition: &'e Expr,
        then: &'e Expr,
        otherwise: &'e Expr,
    ) -> Outcome<'e> {
        self.spend(1)?;
        if truth(self.eval(condition)?)? {
            return self.eval(then);
        }
        self.spend(2)?;
        self.eval(otherwise)
    }

    #[inline(never)]
    pub(super) fn binary(&mut self, op: BinaryOp, left: &'e Expr, right: &'e Expr) -> Outcome<'e> {
        let left = self.eval(left)?;
        let right = self.eval(right)?;
        apply(op, left, right)
    }
}

fn apply<'e>(op: BinaryOp, left: Value<'e>, right: Value<'e>) -> Outcome<'e> {
    if is_open(&left) || is_open(&right) {
        return constrained(op, &left, &right);
    }
    match op {
        BinaryOp::Equal => Ok(Value::Bool(equal(&left, &right))),
        BinaryOp::NotEqual => Ok(Value::Bool(!equal(&left, &right))),
        BinaryOp::In => contains(&left, &right),
        BinaryOp::Less | BinaryOp::LessOrEqual | BinaryOp::Greater | BinaryOp::GreaterOrEqual => {
            compare(op, &left, &right)
        }
        BinaryOp::Add => add(left, right),
        BinaryOp::Subtract => subtract(&left, &right),
        BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => multiply(op, &left, &right),
        // Evaluated lazily, elsewhere.
        BinaryOp::And | BinaryOp::Or => Err(null_value()),
    }
}

/// An operator on what a query constrains: true where that is proven, and never false, since a query leaves
/// open what it does not prove.
fn constrained<'e>(op: BinaryOp, left: &Value<'e>, right: &Value<'e>) -> Outcome<'e> {
    use Comparison::{Contains, Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let (as_written, turned) = match op {
        BinaryOp::Equal => (Equal, Equal),
        BinaryOp::NotEqual => (NotEqual, NotEqual),
        BinaryOp::Less => (Less, Greater),
        BinaryOp::LessOrEqual => (LessOrEqual, GreaterOrEqual),
        BinaryOp::Greater => (Greater, Less),
        BinaryOp::GreaterOrEqual => (GreaterOrEqual, LessOrEqual),
        BinaryOp::In => match (left, right) {
            // Whether a map has a key is known also where what it holds is not.
            (_, Value::Map(_)) => return contains(left, right),
            (Value::Constraint(_), _) => return Err(undetermined()),
            _ => (Contains, Contains),
        },
        BinaryOp::Add => return not_supported(op, left, right, ADDED),
        BinaryOp::Subtract => return not_supported(op, left, right, SUBTRACTED),
        BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => {
            return not_supported(op, left, right, MULTIPLIED);
        }
        BinaryOp::And | BinaryOp::Or => return Err(null_value()),
    };
    let proven = match (left, right) {
        (Value::Constraint(_), Value::Constraint(_)) => {
            return Err(wrong_type("constraint", KNOWN));
        }
        (Value::Constraint(left), right) => !is_open(right) && left.proves(as_written, right),
        (left, Value::Constraint(right)) => !is_open(left) && right.proves(turned, left),
        _ => false,
    };
    if proven { Ok(Value::Bool(true)) } else { Err(undetermined()) }
}

/// What may be compared with a constraint.
const KNOWN: &str =
    "bool,duration,float,int,latlng,map,null,string,bytes,timestamp,path,list,vector,set";

fn not_supported<'e>(
    op: BinaryOp,
    left: &Value<'_>,
    right: &Value<'_>,
    pairs: &str,
) -> Outcome<'e> {
    let symbol = op.symbol();
    let received = format!("{} {symbol} {}", left.type_of().name(), right.type_of().name());
    Err(unsupported(&received, &pairs.replace('?', symbol)))
}

const COMPARED: &str = "string ? string, bytes ? bytes, int ? int, float ? float, duration ? duration, \
                        timestamp ? timestamp, constraint ? any, any ? constraint";

const ADDED: &str = "int ? int, float ? float, string ? string, duration ? duration, duration ? \
                     timestamp, timestamp ? duration";

const SUBTRACTED: &str = "int ? int, float ? float, duration ? duration, timestamp ? duration, \
                          timestamp ? timestamp";

const MULTIPLIED: &str = "int ? int, float ? float";

fn compare<'e>(op: BinaryOp, left: &Value<'e>, right: &Value<'e>) -> Outcome<'e> {
    let order = match (left, right) {
        (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
        (Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
        (Value::Int(left), Value::Float(right)) => (*left as f64).partial_cmp(right),
        (Value::Float(left), Value::Int(right)) => left.partial_cmp(&(*right as f64)),
        (Value::String(left), Value::String(right)) => Some(in_order(left, right)),
        (Value::Bytes(left), Value::Bytes(right)) => Some((**left).cmp(&**right)),
        (Value::Timestamp(left), Value::Timestamp(right)) => Some(left.cmp(right)),
        (Value::Duration(left), Value::Duration(right)) => Some(left.cmp(right)),
        _ => return not_supported(op, left, right, COMPARED),
    };
    // What is no number is in no order.
    let holds = order.is_some_and(|order| match op {
        BinaryOp::Less => order == Ordering::Less,
        BinaryOp::LessOrEqual => order != Ordering::Greater,
        BinaryOp::Greater => order == Ordering::Greater,
        _ => order != Ordering::Less,
    });
    Ok(Value::Bool(holds))
}

/// Strings are in the order of their UTF-16 code units.
fn in_order(left: &str, right: &str) -> Ordering {
    match left.is_ascii() && right.is_ascii() {
        true => left.cmp(right),
        false => left.encode_utf16().cmp(right.encode_utf16()),
    }
}

fn contains<'e>(item: &Value<'e>, holder: &Value<'e>) -> Outcome<'e> {
    let found = match holder {
        Value::List(list) => list.contains(item),
        Value::Set(items) => items.iter().any(|other| equal(other, item)),
        Value::Map(map) => match item {
            Value::String(key) => map.has(key),
            other => {
                let received = format!("map.in({})", other.type_of().name());
                return Err(unsupported(&received, "map.in(string)"));
            }
        },
        Value::Null => return Err(null_value()),
        _ => return Err(no_function("in")),
    };
    Ok(Value::Bool(found))
}

fn add<'e>(left: Value<'e>, right: Value<'e>) -> Outcome<'e> {
    match (&left, &right) {
        (Value::Int(left), Value::Int(right)) => {
            left.checked_add(*right).map(Value::Int).ok_or_else(integer_range)
        }
        (Value::String(left), Value::String(right)) => {
            if left.len() + right.len() > TEXT_MAX_BYTES {
                return Err(too_large());
            }
            let mut text = String::with_capacity(left.len() + right.len());
            text.push_str(left);
            text.push_str(right);
            Ok(Value::text(text))
        }
        (Value::Duration(left), Value::Duration(right)) => {
            Ok(Value::Duration(Duration::of_nanos(left.in_nanos() + right.in_nanos())?))
        }
        (Value::Timestamp(time), Value::Duration(duration))
        | (Value::Duration(duration), Value::Timestamp(time)) => {
            Ok(Value::Timestamp(checked_timestamp(nanos(*time) + duration.in_nanos())?))
        }
        _ => match floats(&left, &right) {
            Some((left, right)) => Ok(Value::Float(left + right)),
            None => not_supported(BinaryOp::Add, &left, &right, ADDED),
        },
    }
}

fn subtract<'e>(left: &Value<'e>, right: &Value<'e>) -> Outcome<'e> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => {
            left.checked_sub(*right).map(Value::Int).ok_or_else(integer_range)
        }
        (Value::Duration(left), Value::Duration(right)) => {
            Ok(Value::Duration(Duration::of_nanos(left.in_nanos() - right.in_nanos())?))
        }
        (Value::Timestamp(time), Value::Duration(duration)) => {
            Ok(Value::Timestamp(checked_timestamp(nanos(*time) - duration.in_nanos())?))
        }
        (Value::Timestamp(left), Value::Timestamp(right)) => {
            Ok(Value::Duration(Duration::of_nanos(nanos(*left) - nanos(*right))?))
        }
        _ => match floats(left, right) {
            Some((left, right)) => Ok(Value::Float(left - right)),
            None => not_supported(BinaryOp::Subtract, left, right, SUBTRACTED),
        },
    }
}

fn multiply<'e>(op: BinaryOp, left: &Value<'e>, right: &Value<'e>) -> Outcome<'e> {
    if let (Value::Int(left), Value::Int(right)) = (left, right) {
        if op != BinaryOp::Multiply && *right == 0 {
            return Err(failure("Divide by zero error."));
        }
        let number = match op {
            BinaryOp::Multiply => left.checked_mul(*right),
            // The smallest integer by -1 stays as it is.
            BinaryOp::Divide => Some(left.wrapping_div(*right)),
            _ => Some(left.wrapping_rem(*right)),
        };
        return number.map(Value::Int).ok_or_else(integer_range);
    }
    let Some((left, right)) = floats(left, right) else {
        return not_supported(op, left, right, MULTIPLIED);
    };
    Ok(Value::Float(match op {
        BinaryOp::Multiply => left * right,
        BinaryOp::Divide => left / right,
        _ => left % right,
    }))
}

/// Two numbers of which at least one is a float.
fn floats(left: &Value<'_>, right: &Value<'_>) -> Option<(f64, f64)> {
    match (left, right) {
        (Value::Float(left), Value::Float(right)) => Some((*left, *right)),
        (Value::Int(left), Value::Float(right)) => Some((*left as f64, *right)),
        (Value::Float(left), Value::Int(right)) => Some((*left, *right as f64)),
        _ => None,
    }
}

fn nanos(time: Timestamp) -> i128 {
    i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanos)
}
