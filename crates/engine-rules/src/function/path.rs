//! Methods of paths.

use super::{Args, Builtin, Given, builtin, mismatch};
use crate::error::{failure, wrong_type};
use crate::value::{BindError, Type, Value};

pub(super) const METHODS: &[Builtin] = &[builtin("bind", &[&[Type::Map]], Type::Path, bind)];

fn bind<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let (Value::Path(path), Value::Map(values)) = (args.of, args.arg(0)) else {
        return mismatch();
    };
    match path.bind(values) {
        Ok(bound) => Ok(Value::Path(bound)),
        Err(BindError::Unknown(names)) => {
            let names: Vec<_> = names.iter().map(|name| name.to_string()).collect();
            let names = names.join(", ");
            Err(failure(format!("Variable(s) {names} do not exist in the path template.")))
        }
        Err(BindError::NoPath(value)) => Err(wrong_type(value.type_of().name(), "path")),
        Err(BindError::NoText(failure)) => Err(failure),
    }
}
