//! One HTTP answer in the form that cases compare and recordings keep.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Status, telling headers and body of one answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The HTTP status; 0 when no answer came in time.
    pub status: u16,
    /// Headers that a case may ask for, lower case. A plain `content-type: application/json` is left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The JSON body, or `{"$text": ...}` for a body that is not JSON.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub body: Value,
    /// How long the answer took. Not recorded.
    #[serde(skip)]
    pub millis: u64,
}

impl Answer {
    /// The answer of a request that was never answered.
    pub fn hang() -> Self {
        Self { status: 0, headers: BTreeMap::new(), body: Value::Null, millis: 0 }
    }

    /// Reads a body: JSON where it parses, text where not, null where empty.
    pub fn parse_body(bytes: &[u8]) -> Value {
        if bytes.is_empty() {
            return Value::Null;
        }
        serde_json::from_slice(bytes)
            .unwrap_or_else(|_| json!({ "$text": String::from_utf8_lossy(bytes) }))
    }

    /// True for the headers worth keeping: those a case may expect, without dates and lengths.
    pub fn keeps_header(name: &str, value: &str) -> bool {
        (name == "content-type" && value != "application/json")
            || name.starts_with("access-control-")
            || name == "vary"
    }

    /// The error object: bare, or the only element of the array that a streaming method answers.
    pub fn error(&self) -> Option<&Value> {
        let holder = match &self.body {
            Value::Array(items) if items.len() == 1 => items.first()?,
            other => other,
        };
        holder.get("error")
    }
}
