//! Methods of places and of strings.

use std::sync::Arc;

use super::eval::{Here, Outcome, Scene, TEXT_MAX};
use super::expression::{Expr, Kind};
use super::value::{Scalar, State, Value};

/// Calls a method.
pub(super) fn call<'e>(
    scene: &mut Scene<'e>,
    of: &Value<'e>,
    name: &str,
    args: &'e [Expr],
    here: &Here,
) -> Outcome<'e> {
    match of {
        Value::Place(state, path) => {
            let args = args.iter().map(|arg| scene.eval(arg, here));
            let args: Vec<_> = args.collect::<Result<_, _>>()?;
            place(scene, *state, path, name, &args)
        }
        Value::Scalar(Scalar::String(of)) => {
            // A pattern is no value.
            if let ("matches", Some(Kind::Regex(regex))) = (name, args.first().map(|arg| &arg.kind))
            {
                return Ok(Value::bool(regex.is_match(of)));
            }
            let args = args.iter().map(|arg| scene.eval(arg, here));
            let args: Vec<_> = args.collect::<Result<_, _>>()?;
            let texts: Vec<_> = args.iter().map(text).collect::<Result<_, _>>()?;
            string(of, name, &texts)
        }
        other => Err(no_such(name, other)),
    }
}

fn no_such(name: &str, of: &Value<'_>) -> String {
    format!("No such method/property '{name}' of {}.", of.kind())
}

fn text<'v>(value: &'v Value<'_>) -> Result<&'v str, String> {
    match value {
        Value::Scalar(Scalar::String(text)) => Ok(text),
        other => Err(format!("A string is wanted, and this is {}.", other.kind())),
    }
}

fn place<'e>(
    scene: &Scene<'e>,
    state: State,
    path: &[Arc<str>],
    name: &str,
    args: &[Value<'e>],
) -> Outcome<'e> {
    let tree = scene.tree(state);
    let names: Vec<&str> = path.iter().map(|name| &**name).collect();
    let scalar = || tree.scalar(&names);
    Ok(match (name, args) {
        ("val", []) => match scalar() {
            Some(scalar) => Value::Scalar(scalar),
            None if tree.exists(&names) => Value::Branch,
            None => Value::Null,
        },
        ("child", [child]) => Value::Place(state, below(path, text(child)?)),
        ("parent", []) => {
            let (_, parent) = path.split_last().ok_or("The root has no parent.")?;
            Value::Place(state, parent.to_vec())
        }
        ("exists", []) => Value::bool(tree.exists(&names)),
        ("hasChild", [child]) => Value::bool(has(scene, state, path, text(child)?)),
        ("hasChildren", []) => Value::bool(!tree.children(&names).is_empty()),
        ("hasChildren", [Value::List(children)]) if !children.is_empty() => {
            for child in children {
                if !has(scene, state, path, text(child)?) {
                    return Ok(Value::bool(false));
                }
            }
            Value::bool(true)
        }
        ("getPriority", []) => Value::maybe(tree.priority(&names)),
        ("isNumber", []) => Value::bool(matches!(scalar(), Some(Scalar::Number(_)))),
        ("isString", []) => Value::bool(matches!(scalar(), Some(Scalar::String(_)))),
        ("isBoolean", []) => Value::bool(matches!(scalar(), Some(Scalar::Bool(_)))),
        _ => return Err(no_such(name, &Value::Place(state, Vec::new()))),
    })
}

fn below(path: &[Arc<str>], child: &str) -> Vec<Arc<str>> {
    let names = child.split('/').filter(|name| !name.is_empty()).map(Arc::from);
    path.iter().cloned().chain(names).collect()
}

fn has(scene: &Scene<'_>, state: State, path: &[Arc<str>], child: &str) -> bool {
    let path = below(path, child);
    let names: Vec<&str> = path.iter().map(|name| &**name).collect();
    scene.tree(state).exists(&names)
}

fn string<'e>(of: &str, name: &str, args: &[&str]) -> Outcome<'e> {
    Ok(match (name, args) {
        ("contains", [part]) => Value::bool(of.contains(part)),
        ("beginsWith", [part]) => Value::bool(of.starts_with(part)),
        ("endsWith", [part]) => Value::bool(of.ends_with(part)),
        ("replace", [from, to]) => {
            let found = if from.is_empty() { of.len() + 1 } else { of.matches(from).count() };
            if found.saturating_mul(to.len()).saturating_add(of.len()) > TEXT_MAX {
                return Err("The string is longer than an expression may make.".to_owned());
            }
            Value::text(&of.replace(from, to))
        }
        ("toLowerCase", []) => Value::text(&of.to_lowercase()),
        ("toUpperCase", []) => Value::text(&of.to_uppercase()),
        _ => return Err(no_such(name, &Value::text(""))),
    })
}
