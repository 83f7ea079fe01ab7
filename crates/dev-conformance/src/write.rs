//! The short form of one write.

use anyhow::{Result, bail};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::value::{fields_to_rest, to_rest};

/// One write: `update`, `delete`, `verify` or `transform` names the document by its relative path.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct WriteSpec {
    update: Option<String>,
    delete: Option<String>,
    verify: Option<String>,
    transform: Option<String>,
    /// Fields of an update, in short form.
    fields: Map<String, Value>,
    /// Update mask.
    mask: Option<Vec<String>>,
    /// `[path, kind]` or `[path, kind, operand]`; kinds: now, increment, maximum, minimum, union, remove.
    transforms: Vec<Vec<Value>>,
    exists: Option<bool>,
    update_time: Option<String>,
    /// The REST form of the whole write, instead of everything above.
    rest: Option<Value>,
}

impl WriteSpec {
    /// A write that sets a whole document.
    pub(crate) fn set(path: &str, fields: &Map<String, Value>) -> Self {
        Self { update: Some(path.to_owned()), fields: fields.clone(), ..Self::default() }
    }

    /// The REST form; paths become names below `{docs}`.
    pub(crate) fn to_rest(&self) -> Result<Value> {
        if let Some(rest) = &self.rest {
            return Ok(rest.clone());
        }
        let transforms = self
            .transforms
            .iter()
            .map(|transform| field_transform(transform))
            .collect::<Result<Vec<_>>>()?;
        let mut out = Map::new();
        if let Some(path) = &self.update {
            let fields = fields_to_rest(&self.fields);
            out.insert("update".into(), json!({ "name": name(path), "fields": fields }));
            if !transforms.is_empty() {
                out.insert("updateTransforms".into(), Value::Array(transforms));
            }
        } else if let Some(path) = &self.delete {
            out.insert("delete".into(), json!(name(path)));
        } else if let Some(path) = &self.verify {
            out.insert("verify".into(), json!(name(path)));
        } else if let Some(path) = &self.transform {
            let document = name(path);
            out.insert(
                "transform".into(),
                json!({ "document": document, "fieldTransforms": transforms }),
            );
        } else {
            bail!("a write needs one of update, delete, verify, transform, rest");
        }
        if let Some(mask) = &self.mask {
            out.insert("updateMask".into(), json!({ "fieldPaths": mask }));
        }
        if let Some(exists) = self.exists {
            out.insert("currentDocument".into(), json!({ "exists": exists }));
        }
        if let Some(time) = &self.update_time {
            out.insert("currentDocument".into(), json!({ "updateTime": time }));
        }
        Ok(Value::Object(out))
    }
}

fn name(path: &str) -> String {
    if path.starts_with("projects/") { path.to_owned() } else { format!("{{docs}}/{path}") }
}

fn field_transform(spec: &[Value]) -> Result<Value> {
    let [path, kind, operand @ ..] = spec else { bail!("a transform is [path, kind, operand]") };
    let operand = operand.first().unwrap_or(&Value::Null);
    let many = || match to_rest(operand) {
        Value::Object(mut rest) => rest.remove("arrayValue").unwrap_or_default(),
        other => other,
    };
    let (member, value) = match kind.as_str() {
        Some("now") => ("setToServerValue", json!("REQUEST_TIME")),
        Some("increment") => ("increment", to_rest(operand)),
        Some("maximum") => ("maximum", to_rest(operand)),
        Some("minimum") => ("minimum", to_rest(operand)),
        Some("union") => ("appendMissingElements", many()),
        Some("remove") => ("removeAllFromArray", many()),
        _ => bail!("unknown transform {kind}"),
    };
    Ok(json!({ "fieldPath": path, member: value }))
}
