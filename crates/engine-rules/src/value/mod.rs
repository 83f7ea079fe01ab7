//! Values of expressions. What stands in a document is borrowed and read when it is asked for.

mod collection;
mod constraint;
mod equal;
mod path;
mod show;
mod time;

use std::ops::Deref;
use std::sync::Arc;

pub(crate) use base_value::Timestamp;
pub(crate) use collection::{DATA, ID, NAME, set_of};
pub use collection::{List, Map, MapDiff, Status};
pub(crate) use constraint::is_open;
pub use constraint::{Comparison, Constraint};
pub(crate) use equal::{equal, strictly_equal};
pub(crate) use path::BindError;
pub use path::{Path, Segment};
pub(crate) use show::java_double;
pub use show::utc;
pub use time::Duration;
pub(crate) use time::{Civil, checked_timestamp, civil, days_from_civil};

/// Something borrowed for as long as a request is decided, or shared.
#[derive(Debug)]
pub enum Shared<'e, T: ?Sized> {
    /// Part of the request, a document or the ruleset.
    Borrowed(&'e T),
    /// Made by an expression.
    Owned(Arc<T>),
}

impl<T: ?Sized> Clone for Shared<'_, T> {
    fn clone(&self) -> Self {
        match self {
            Shared::Borrowed(borrowed) => Shared::Borrowed(borrowed),
            Shared::Owned(owned) => Shared::Owned(Arc::clone(owned)),
        }
    }
}

impl<T: ?Sized> Deref for Shared<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Shared::Borrowed(borrowed) => borrowed,
            Shared::Owned(owned) => owned,
        }
    }
}

/// A value of an expression.
#[derive(Clone, Debug)]
pub enum Value<'e> {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Float(f64),
    /// Text.
    String(Shared<'e, str>),
    /// Raw bytes.
    Bytes(Shared<'e, [u8]>),
    /// A point in time.
    Timestamp(Timestamp),
    /// A span of time.
    Duration(Duration),
    /// A point on the globe.
    LatLng(f64, f64),
    /// A path of segments.
    Path(Path<'e>),
    /// Values in an order.
    List(List<'e>),
    /// Values without order or repetition.
    Set(Arc<[Value<'e>]>),
    /// Named values.
    Map(Map<'e>),
    /// How two maps differ.
    MapDiff(Arc<MapDiff>),
    /// A vector of a document.
    Vector(Shared<'e, [f64]>),
    /// What a query says of a field whose value it leaves open.
    Constraint(Constraint<'e>),
}

impl<'e> Value<'e> {
    /// Text made by an expression.
    pub fn text(text: impl AsRef<str>) -> Self {
        Value::String(Shared::Owned(Arc::from(text.as_ref())))
    }

    /// Bytes made by an expression.
    pub fn bytes(bytes: impl AsRef<[u8]>) -> Self {
        Value::Bytes(Shared::Owned(Arc::from(bytes.as_ref())))
    }

    /// A list made by an expression.
    pub fn list(items: Vec<Value<'e>>) -> Self {
        Value::List(List::Made(items.into()))
    }

    /// The value of a document, borrowed.
    pub fn stored(value: &'e base_value::Value) -> Self {
        match value {
            base_value::Value::Null => Value::Null,
            base_value::Value::Boolean(value) => Value::Bool(*value),
            base_value::Value::Integer(value) => Value::Int(*value),
            base_value::Value::Double(value) => Value::Float(*value),
            base_value::Value::Timestamp(value) => Value::Timestamp(*value),
            base_value::Value::String(value) => Value::String(Shared::Borrowed(value)),
            base_value::Value::Bytes(value) => Value::Bytes(Shared::Borrowed(value)),
            base_value::Value::Reference(value) => Value::Path(Path::of_reference(value)),
            base_value::Value::GeoPoint { latitude, longitude } => {
                Value::LatLng(*latitude, *longitude)
            }
            base_value::Value::Array(values) => Value::List(List::Stored(values)),
            base_value::Value::Vector(values) => Value::Vector(Shared::Borrowed(values)),
            base_value::Value::Map(fields) => Value::Map(Map::Stored(fields)),
        }
    }

    /// The type's name, as messages show it.
    pub fn type_of(&self) -> Type {
        match self {
            Value::Null => Type::Null,
            Value::Bool(_) => Type::Bool,
            Value::Int(_) => Type::Int,
            Value::Float(_) => Type::Float,
            Value::String(_) => Type::String,
            Value::Bytes(_) => Type::Bytes,
            Value::Timestamp(_) => Type::Timestamp,
            Value::Duration(_) => Type::Duration,
            Value::LatLng(..) => Type::LatLng,
            Value::Path(_) => Type::Path,
            Value::List(_) => Type::List,
            Value::Set(_) => Type::Set,
            Value::Map(_) => Type::Map,
            Value::MapDiff(_) => Type::MapDiff,
            Value::Vector(_) => Type::Vector,
            Value::Constraint(_) => Type::Constraint,
        }
    }
}

/// A type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Any of them; stands in signatures only.
    Any,
    /// `null`
    Null,
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `float`
    Float,
    /// `string`
    String,
    /// `bytes`
    Bytes,
    /// `timestamp`
    Timestamp,
    /// `duration`
    Duration,
    /// `latlng`
    LatLng,
    /// `path`
    Path,
    /// `list`
    List,
    /// `set`
    Set,
    /// `map`
    Map,
    /// `map_diff`
    MapDiff,
    /// `vector`
    Vector,
    /// `constraint`
    Constraint,
}

impl Type {
    /// As the product writes it.
    pub fn name(self) -> &'static str {
        match self {
            Type::Any => "any",
            Type::Null => "null",
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Float => "float",
            Type::String => "string",
            Type::Bytes => "bytes",
            Type::Timestamp => "timestamp",
            Type::Duration => "duration",
            Type::LatLng => "latlng",
            Type::Path => "path",
            Type::List => "list",
            Type::Set => "set",
            Type::Map => "map",
            Type::MapDiff => "map_diff",
            Type::Vector => "vector",
            Type::Constraint => "constraint",
        }
    }

    /// Whether a value of that type may stand where this one is asked for.
    pub(crate) fn takes(self, given: Type) -> bool {
        self == given || self == Type::Any || (self == Type::Float && given == Type::Int)
    }
}

/// What may stand behind `is`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeName {
    One(Type),
    Number,
}

impl TypeName {
    /// All names, in the product's order.
    pub(crate) const LIST: &str = "bool,bytes,constraint,duration,float,int,latlng,list,vector,set,\
                                   number,map,string,timestamp,path,map_diff";

    pub(crate) fn named(name: &str) -> Option<Self> {
        let found = match name {
            "bool" => Type::Bool,
            "bytes" => Type::Bytes,
            "duration" => Type::Duration,
            "float" => Type::Float,
            "int" => Type::Int,
            "latlng" => Type::LatLng,
            "list" => Type::List,
            "vector" => Type::Vector,
            "set" => Type::Set,
            "map" => Type::Map,
            "string" => Type::String,
            "timestamp" => Type::Timestamp,
            "path" => Type::Path,
            "map_diff" => Type::MapDiff,
            "number" => return Some(TypeName::Number),
            "constraint" => Type::Constraint,
            _ => return None,
        };
        Some(TypeName::One(found))
    }

    pub(crate) fn holds(self, value: &Value<'_>) -> bool {
        match self {
            // A set is no set to `is`, in production as in the emulator.
            TypeName::One(Type::Set) => false,
            TypeName::One(one) => one == value.type_of(),
            TypeName::Number => matches!(value, Value::Int(_) | Value::Float(_)),
        }
    }
}
