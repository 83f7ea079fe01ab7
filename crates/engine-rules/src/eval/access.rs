//! Members, indexes and slices.

use super::{Evaluator, Outcome};
use crate::error::{
    failure, no_function, no_property, null_value, out_of_bounds, unsupported, wrong_type,
};
use crate::function::{text_index, text_slice, utf16_len};
use crate::tree::Expr;
use crate::value::{List, Path, Segment, Value};

impl<'e> Evaluator<'e> {
    #[inline(never)]
    pub(super) fn member(&mut self, of: &'e Expr, name: &'e str) -> Outcome<'e> {
        let of = self.eval(of)?;
        property(&of, name)
    }

    #[inline(never)]
    pub(super) fn index(&mut self, of: &'e Expr, index: &'e Expr) -> Outcome<'e> {
        let of = self.eval(of)?;
        let index = self.eval(index)?;
        indexed(&of, &index)
    }

    #[inline(never)]
    pub(super) fn slice(&mut self, of: &'e Expr, from: &'e Expr, to: &'e Expr) -> Outcome<'e> {
        let of = self.eval(of)?;
        let from = self.eval(from)?;
        let to = self.eval(to)?;
        sliced(&of, &from, &to)
    }
}

fn property<'e>(of: &Value<'e>, name: &str) -> Outcome<'e> {
    match of {
        Value::Map(map) => map.get(name).ok_or_else(|| no_property(name)),
        Value::Path(path) => Err(no_capture(path, name)),
        Value::Null => Err(null_value()),
        other => Err(wrong_type(other.type_of().name(), "map,path")),
    }
}

/// A path has the captures it was written with, as long as they are not bound.
fn no_capture(path: &Path<'_>, name: &str) -> crate::error::Failure {
    let is_capture = path.segments().iter().any(|segment| match segment {
        Segment::Text(_) => false,
        Segment::Capture(capture) | Segment::Glob(capture) => **capture == *name,
    });
    match is_capture {
        true => failure(format!("Variable {name} is not bound in path template.")),
        false => no_property(name),
    }
}

fn indexed<'e>(of: &Value<'e>, index: &Value<'e>) -> Outcome<'e> {
    let place = |size: usize, index: i64| {
        let place = usize::try_from(index).ok().filter(|place| *place < size);
        place.ok_or_else(|| out_of_bounds(index, size))
    };
    match (of, index) {
        (Value::Null, _) => Err(null_value()),
        (Value::Map(map), Value::String(key)) => map.get(key).ok_or_else(|| no_property(key)),
        (Value::List(list), Value::Int(index)) => {
            list.get(place(list.len(), *index)?).ok_or_else(|| out_of_bounds(*index, list.len()))
        }
        (Value::String(text), Value::Int(index)) => Ok(Value::text(text_index(text, *index)?)),
        (Value::Path(path), Value::Int(index)) => {
            let size = path.segments().len();
            match path.segments().get(place(size, *index)?) {
                Some(Segment::Text(text)) => Ok(Value::String(text.clone())),
                Some(Segment::Capture(name) | Segment::Glob(name)) => {
                    Err(failure(format!("Variable {} is not bound in path template.", &**name)))
                }
                None => Err(out_of_bounds(*index, size)),
            }
        }
        (Value::Path(path), Value::String(name)) => Err(no_capture(path, name)),
        (Value::Map(_), _) => Err(mistyped(of, index, "string")),
        (Value::List(_) | Value::String(_), _) => Err(mistyped(of, index, "int")),
        (Value::Path(_), _) => {
            let received = format!("path[{}]", index.type_of().name());
            Err(unsupported(&received, "path[int], path[string]"))
        }
        _ => Err(no_function("[]")),
    }
}

fn mistyped(of: &Value<'_>, index: &Value<'_>, expected: &str) -> crate::error::Failure {
    let of = of.type_of().name();
    let received = format!("{of}[{}]", index.type_of().name());
    unsupported(&received, &format!("{of}[{expected}]"))
}

fn sliced<'e>(of: &Value<'e>, from: &Value<'e>, to: &Value<'e>) -> Outcome<'e> {
    let size = match of {
        Value::Null => return Err(null_value()),
        Value::List(list) => list.len(),
        Value::String(text) => utf16_len(text),
        Value::Path(path) => path.segments().len(),
        _ => return Err(no_function("@range")),
    };
    let (Value::Int(first), Value::Int(end)) = (from, to) else {
        let name = of.type_of().name();
        let received = format!("{name}[{}:{}]", from.type_of().name(), to.type_of().name());
        let pairs = ["null:null", "null:int", "int:null", "int:int"];
        let expected: Vec<_> = pairs.iter().map(|pair| format!("{name}[{pair}]")).collect();
        return Err(unsupported(&received, &expected.join(", ")));
    };
    let (first, end) = bounds(*first, *end, size)?;
    Ok(match of {
        Value::List(List::Stored(values)) => {
            Value::List(List::Stored(values.get(first..end).unwrap_or_default()))
        }
        Value::List(List::Made(values)) => {
            Value::list(values.get(first..end).unwrap_or_default().to_vec())
        }
        Value::Path(path) => {
            Value::Path(Path::new(path.segments().get(first..end).unwrap_or_default().to_vec()))
        }
        Value::String(text) => Value::text(text_slice(text, first, end)),
        _ => Value::Null,
    })
}

/// The product checks the first and the last place, not the end: `[0:0]` is out of bounds, `[1:1]` is empty.
fn bounds(first: i64, end: i64, size: usize) -> Result<(usize, usize), crate::error::Failure> {
    let place = |index: i64| {
        let place = usize::try_from(index).ok().filter(|place| *place < size);
        place.ok_or_else(|| out_of_bounds(index, size))
    };
    let from = place(first)?;
    let last = place(end.saturating_sub(1))?;
    if first > end {
        return Err(failure(format!(
            "Illegal range error. From index: [{first}] , To index: [{end}]."
        )));
    }
    Ok((from, last + 1))
}
