//! Puts texts from paths and query strings into the fields of a message.

use super::decode::decode_text;
use super::json::Style;
use crate::form;
use prost_reflect::{
    DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, ReflectMessage, Value,
};

/// Parameters that belong to Google's REST APIs in general, not to a method. We need none of them, but clients send
/// them.
const SYSTEM: &[&str] = &[
    "key",
    "alt",
    "prettyPrint",
    "access_token",
    "fields",
    "callback",
    "oauth_token",
    "quotaUser",
    "userIp",
    "uploadType",
    "upload_protocol",
];

/// The parameters of a query string, decoded, in their order.
#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// # Errors
    ///
    /// A name or value is not UTF-8 when decoded.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let pairs: Result<Vec<_>, String> = form::pairs(text).collect();
        pairs
            .map(Self)
            .map_err(|part| format!("The query parameter \"{part}\" is not UTF-8 when decoded."))
    }

    /// How the answer is to be written.
    pub(crate) fn style(&self) -> Style {
        let asked = self.0.iter().find(|(name, _)| name == "prettyPrint" || name == "$prettyPrint");
        match asked {
            Some((_, value)) if value == "false" || value == "0" => Style::Compact,
            _ => Style::Pretty,
        }
    }

    /// Binds all parameters that are the method's.
    ///
    /// # Errors
    ///
    /// One does not fit, in Google's words.
    pub(crate) fn bind(&self, message: &mut DynamicMessage) -> Result<(), String> {
        for (name, value) in &self.0 {
            match resolve(&message.descriptor(), name) {
                Ok(_) => {}
                Err(_) if SYSTEM.contains(&name.as_str()) || name.starts_with('$') => continue,
                Err(reason) => return Err(reason),
            }
            bind(message, name, value)?;
        }
        Ok(())
    }
}

/// Sets the field at `path` (names in either spelling, dots between) to what `text` says; appends to a list. The last
/// of several texts for one field counts.
///
/// # Errors
///
/// There is no such field, or the text does not fit it.
pub(crate) fn bind(message: &mut DynamicMessage, path: &str, text: &str) -> Result<(), String> {
    let fields = resolve_path(&message.descriptor(), path);
    let Some((leaf, parents)) = fields.split_last() else {
        return Err(unknown(path));
    };
    let at = dotted(parents);
    let mut parent = message;
    for field in parents {
        let value = parent.get_field_mut(field);
        parent = value.as_message_mut().ok_or_else(|| unknown(path))?;
    }
    if let Some(oneof) = leaf.containing_oneof() {
        let taken = oneof.fields().find(|other| other != leaf && parent.has_field(other));
        if let Some(other) = taken {
            // Google's transcoder binds in the order of names.
            let later = leaf.name().max(other.name());
            let place = if at.is_empty() { String::new() } else { format!(" at '{at}'") };
            return Err(format!(
                "Invalid value{place} (oneof), oneof field '{}' is already set. Cannot set '{later}'",
                oneof.name(),
            ));
        }
    }
    let value = parse(leaf, text, &at)?;
    match value {
        Value::List(mut items) => {
            if let Some(list) = parent.get_field_mut(leaf).as_list_mut() {
                list.append(&mut items);
            }
        }
        value => parent.set_field(leaf, value),
    }
    Ok(())
}

fn resolve(message: &MessageDescriptor, path: &str) -> Result<FieldDescriptor, String> {
    resolve_path(message, path).pop().ok_or_else(|| unknown(path))
}

/// The fields along a path; empty when one of them does not exist.
fn resolve_path(message: &MessageDescriptor, path: &str) -> Vec<FieldDescriptor> {
    let mut fields: Vec<FieldDescriptor> = Vec::new();
    for name in path.split('.') {
        let parent = match fields.last().map(|field| (field.kind(), field.is_list())) {
            None => message.clone(),
            Some((Kind::Message(parent), false)) => parent,
            Some(_) => return Vec::new(),
        };
        let field = parent.get_field_by_json_name(name).or_else(|| parent.get_field_by_name(name));
        match field {
            Some(field) if !field.is_map() => fields.push(field),
            _ => return Vec::new(),
        }
    }
    fields
}

fn dotted(fields: &[FieldDescriptor]) -> String {
    let names: Vec<&str> = fields.iter().map(FieldDescriptor::name).collect();
    names.join(".")
}

/// Reads a text as JSON would be read.
fn parse(field: &FieldDescriptor, text: &str, at: &str) -> Result<Value, String> {
    let encoded = decode_text(field, text, at)?;
    let message = DynamicMessage::decode(field.parent_message().clone(), encoded.as_slice());
    let mut message = message.map_err(|error| error.to_string())?;
    // A default without presence is not stored, but it is what the text says.
    Ok(message.take_field(field).unwrap_or_else(|| field.default_value()))
}

fn unknown(path: &str) -> String {
    format!(
        "Invalid JSON payload received. Unknown name \"{path}\": Cannot bind query parameter. Field '{path}' could not be found in request message."
    )
}

#[cfg(test)]
mod tests;
