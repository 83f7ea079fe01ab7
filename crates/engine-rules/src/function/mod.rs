//! The language's own methods and functions: which there are, what they take, and what they do.

mod bytes;
mod cast;
mod constraint;
mod hashing;
mod list;
mod map;
mod math;
mod path;
mod set;
mod string;
mod text;
mod time;

pub(crate) use cast::text_of;
pub(crate) use text::{index as text_index, slice as text_slice, utf16_len};

use crate::error::{Failure, failure, no_function, null_value, unsupported};
use crate::re2::Pattern;
use crate::value::{Type, Value};

/// The packages of functions, which no variable may be named after.
pub(crate) const PACKAGES: [&str; 5] = ["duration", "hashing", "latlng", "math", "timestamp"];

/// What a function is called with.
pub(crate) struct Args<'a, 'e> {
    /// What a method is called on; null for a function.
    pub(crate) of: &'a Value<'e>,
    /// The arguments, of the types of one of the signatures.
    pub(crate) args: &'a [Value<'e>],
    /// The first argument compiled, where it was a literal regular expression.
    pub(crate) pattern: Option<&'a Pattern>,
}

impl<'a, 'e> Args<'a, 'e> {
    pub(crate) fn arg(&self, number: usize) -> &'a Value<'e> {
        self.args.get(number).unwrap_or(&Value::Null)
    }
}

type Given<'e> = Result<Value<'e>, Failure>;
type CallFn = for<'a, 'e> fn(&Args<'a, 'e>) -> Given<'e>;

/// One method or function.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    /// The types of the arguments, one row for each way to call it.
    pub(crate) takes: &'static [&'static [Type]],
    /// The type of what it gives, where that is always the same.
    pub(crate) gives: Type,
    call: CallFn,
}

const fn builtin(
    name: &'static str,
    takes: &'static [&'static [Type]],
    gives: Type,
    call: CallFn,
) -> Builtin {
    Builtin { name, takes, gives, call }
}

const NOTHING: &[&[Type]] = &[&[]];

/// The methods of a type.
fn methods(of: Type) -> &'static [Builtin] {
    match of {
        Type::String => string::METHODS,
        Type::Bytes => bytes::METHODS,
        Type::List => list::METHODS,
        Type::Set => set::METHODS,
        Type::Map => map::METHODS,
        Type::MapDiff => map::DIFF_METHODS,
        Type::Path => path::METHODS,
        Type::Timestamp => time::TIMESTAMP_METHODS,
        Type::Duration => time::DURATION_METHODS,
        Type::LatLng => math::LATLNG_METHODS,
        Type::Constraint => constraint::METHODS,
        Type::Any | Type::Null | Type::Bool | Type::Int | Type::Float | Type::Vector => &[],
    }
}

/// The functions of a package; those without one for the empty name.
fn functions(package: &str) -> &'static [Builtin] {
    match package {
        "" => cast::FUNCTIONS,
        "duration" => time::DURATION_FUNCTIONS,
        "hashing" => hashing::FUNCTIONS,
        "latlng" => math::LATLNG_FUNCTIONS,
        "math" => math::FUNCTIONS,
        "timestamp" => time::TIMESTAMP_FUNCTIONS,
        _ => &[],
    }
}

const METHOD_TYPES: [Type; 10] = [
    Type::String,
    Type::Bytes,
    Type::List,
    Type::Set,
    Type::Map,
    Type::MapDiff,
    Type::Path,
    Type::Timestamp,
    Type::Duration,
    Type::LatLng,
];

/// Every method of a name, of whatever type.
pub(crate) fn methods_named(name: &str) -> impl Iterator<Item = &'static Builtin> {
    METHOD_TYPES.into_iter().filter_map(move |of| find(methods(of), name))
}

/// A method of a type.
pub(crate) fn method(of: Type, name: &str) -> Option<&'static Builtin> {
    find(methods(of), name)
}

/// A function of a package, or without one for the empty name.
pub(crate) fn function(package: &str, name: &str) -> Option<&'static Builtin> {
    find(functions(package), name)
}

fn find(table: &'static [Builtin], name: &str) -> Option<&'static Builtin> {
    table.iter().find(|builtin| builtin.name == name)
}

/// Calls a method.
pub(crate) fn call_method<'e>(name: &str, args: &Args<'_, 'e>) -> Given<'e> {
    let of = args.of.type_of();
    if of == Type::Null {
        return Err(null_value());
    }
    let found = method(of, name).ok_or_else(|| no_function(name))?;
    call(found, of.name(), args)
}

/// Calls a function of a package, or one without.
pub(crate) fn call_function<'e>(package: &str, name: &str, args: &[Value<'e>]) -> Given<'e> {
    let found = function(package, name).ok_or_else(|| match package {
        "" => no_function(name),
        _ => no_function(&format!("{package}.{name}")),
    })?;
    call(found, package, &Args { of: &Value::Null, args, pattern: None })
}

fn call<'e>(found: &Builtin, prefix: &str, args: &Args<'_, 'e>) -> Given<'e> {
    check_args(found.name, prefix, found.takes, args.args)?;
    (found.call)(args)
}

/// Refuses arguments that fit none of the signatures, as the product words it.
pub(crate) fn check_args(
    name: &str,
    prefix: &str,
    takes: &[&[Type]],
    args: &[Value<'_>],
) -> Result<(), Failure> {
    let fits = |signature: &&&[Type]| {
        signature.len() == args.len()
            && signature.iter().zip(args).all(|(wanted, given)| wanted.takes(given.type_of()))
    };
    if takes.iter().any(|signature| fits(&signature)) {
        return Ok(());
    }
    let name = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
    let written = |types: &[Type]| {
        let names: Vec<_> = types.iter().map(|one| one.name()).collect();
        format!("{name}({})", names.join(", "))
    };
    let expected: Vec<_> = takes.iter().map(|signature| written(signature)).collect();
    let expected = expected.join(", ");
    if !takes.iter().any(|signature| signature.len() == args.len()) {
        let count = args.len();
        return Err(failure(format!(
            "Incorrect number of arguments. Received: {count}. Expected: {expected}."
        )));
    }
    let given: Vec<_> = args.iter().map(Value::type_of).collect();
    Err(unsupported(&written(&given), &expected))
}

/// An argument that the signature does not let be of another type.
fn mismatch<'e>() -> Given<'e> {
    Err(null_value())
}
