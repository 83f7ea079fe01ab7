//! Where in a request the decoder is, and how Google's transcoder says that something there does not fit.

use std::cell::RefCell;
use std::fmt::Write as _;

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

use crate::limits::JSON_ECHO_CHARS_MAX;

/// What is said of a body that is no object.
pub(super) const ROOT: &str =
    "Invalid JSON payload received. Unknown name \"\": Root element must be a message.";

/// One step from a message into what it holds.
#[derive(Debug)]
pub(super) enum Step {
    Field(FieldDescriptor),
    Index(usize),
    /// The scalar in a wrapper.
    Value,
}

/// The way from the request to the value at hand. After a refusal it stays where it was.
pub(super) struct Place {
    base: String,
    /// Whether the values come from a query string, where names are the message's.
    is_text: bool,
    steps: RefCell<Vec<Step>>,
    refusal: RefCell<Option<String>>,
}

impl Place {
    pub(super) fn new(base: &str, is_text: bool) -> Self {
        Place {
            base: base.to_owned(),
            is_text,
            steps: RefCell::default(),
            refusal: RefCell::default(),
        }
    }

    pub(super) fn enter(&self, step: Step) {
        self.steps.borrow_mut().push(step);
    }

    pub(super) fn leave(&self) {
        self.steps.borrow_mut().pop();
    }

    pub(super) fn enter_value(&self) {
        self.enter(Step::Value);
    }

    /// Keeps the text that explains a refusal.
    pub(super) fn refuse(&self, text: String) {
        self.refusal.borrow_mut().get_or_insert(text);
    }

    /// What to tell of an error: what was kept, or what is wrong with the text as JSON.
    pub(super) fn refusal(&self, error: &serde_json::Error, json: &[u8]) -> String {
        if let Some(text) = self.refusal.borrow_mut().take() {
            return text;
        }
        let said = error.to_string();
        if said.starts_with("number out of range") {
            return format!("Invalid value at '{}', the number is out of range", self.path());
        }
        if said.starts_with("recursion limit") {
            return format!(
                "Invalid JSON payload received. Message too deep. Max recursion depth reached at '{}'",
                echo(&self.path())
            );
        }
        if error.is_eof() {
            return "Invalid JSON payload received. Unexpected end of string. Expected a value.\n\n^"
                .to_owned();
        }
        let text = String::from_utf8_lossy(json);
        let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
        let column = error.column().saturating_sub(1);
        let from = column.saturating_sub(JSON_ECHO_CHARS_MAX / 2);
        let part: String = line.chars().skip(from).take(JSON_ECHO_CHARS_MAX).collect();
        let caret = " ".repeat(column - from);
        format!("Invalid JSON payload received. Unexpected token ({said}).\n{part}\n{caret}^")
    }

    /// `a.b[0].c`, by the names that messages use.
    fn path(&self) -> String {
        let mut path = self.base.clone();
        for step in self.steps.borrow().iter() {
            match step {
                Step::Field(field) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(field.name());
                }
                Step::Value => path.push_str(".value"),
                Step::Index(index) => {
                    // Writing to a text cannot fail.
                    let _written = write!(path, "[{index}]");
                }
            }
        }
        path
    }

    /// The name of the field at hand, and where the message is that has it.
    fn field_and_parent(&self) -> (String, String) {
        let path = self.path();
        match path.rsplit_once('.') {
            Some((parent, field)) => (field.to_owned(), at(parent)),
            None => (path, String::new()),
        }
    }

    pub(super) fn invalid(&self, kind: &str, shown: &str) -> String {
        format!("Invalid value at '{}' ({kind}), {}", echo(&self.path()), echo(shown))
    }

    /// A time that is none: `problem` says why.
    pub(super) fn invalid_time(&self, problem: &str) -> String {
        let name = match self.steps.borrow().last() {
            Some(Step::Field(field)) if self.is_text => field.name().to_owned(),
            Some(Step::Field(field)) => field.json_name().to_owned(),
            Some(Step::Index(_) | Step::Value) | None => String::new(),
        };
        let path = echo(&self.path());
        format!(
            "Invalid value at '{path}' (type.googleapis.com/google.protobuf.Timestamp), Field '{name}', {problem}"
        )
    }

    /// Base64 that is none.
    pub(super) fn invalid_bytes(&self, text: &str) -> String {
        let path = echo(&self.path());
        format!(
            "Invalid value at '{path}' (TYPE_BYTES), Base64 decoding failed for {}",
            quoted(text)
        )
    }

    pub(super) fn unknown(&self, name: &str) -> String {
        let at = at(&self.path());
        format!(
            "Invalid JSON payload received. Unknown name {}{at}: Cannot find field.",
            quoted(name)
        )
    }

    pub(super) fn taken(&self, oneof: &str, name: &str) -> String {
        let at = at(&self.path());
        format!(
            "Invalid value{at} (oneof), oneof field '{oneof}' is already set. Cannot set '{name}'"
        )
    }

    pub(super) fn not_repeating(&self) -> String {
        let (field, at) = self.field_and_parent();
        format!(
            "Invalid JSON payload received. Unknown name \"{}\"{at}: Proto field is not repeating, cannot start list.",
            echo(&field)
        )
    }

    pub(super) fn object_on_scalar(&self, kind: &str) -> String {
        self.invalid(kind, "Starting an object on a scalar field")
    }
}

fn at(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(" at '{}'", echo(path)) }
}

/// How a value's type is named.
pub(super) fn kind_type(kind: &Kind) -> String {
    match kind {
        Kind::Message(message) => message_type(message),
        Kind::Enum(of) => format!("type.googleapis.com/{}", of.full_name()),
        scalar => format!("TYPE_{}", format!("{scalar:?}").to_uppercase()),
    }
}

pub(super) fn message_type(message: &MessageDescriptor) -> String {
    format!("type.googleapis.com/{}", message.full_name())
}

/// A text as JSON shows it, cut where it is long.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(echo(text)).to_string()
}

/// A number as JSON shows it.
pub(super) fn shown(value: f64) -> String {
    serde_json::Value::from(value).to_string()
}

/// A text that a client sent, cut where it is long.
fn echo(text: &str) -> String {
    match text.char_indices().nth(JSON_ECHO_CHARS_MAX) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
