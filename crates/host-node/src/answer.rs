//! The one form of every answer: `{"ok": value}`, or `{"error": {"code", "message", "cause"}}`.
//!
//! JavaScript makes its own error class out of it (`npm/api/binding.js`), so that a rejected promise
//! of the addon itself always means a defect.

use serde_json::{Value, json};

/// An answer as a promise resolves to it.
pub(crate) fn text(outcome: Result<Value, Failure>) -> String {
    match outcome {
        Ok(value) => json!({ "ok": value }),
        Err(Failure { code, message, cause: None }) => {
            json!({ "error": { "code": code, "message": message } })
        }
        Err(Failure { code, message, cause: Some(cause) }) => {
            json!({ "error": { "code": code, "message": message, "cause": cause } })
        }
    }
    .to_string()
}

/// An error on its way to JavaScript.
pub(crate) struct Failure {
    /// One of docs/reference/errors.md.
    code: &'static str,
    message: String,
    /// What the error below says.
    cause: Option<String>,
}

impl Failure {
    /// An error that host-suite reports.
    pub(crate) fn new(code: &'static str, error: &dyn std::error::Error) -> Self {
        let cause = error.source().map(ToString::to_string);
        Self { code, message: error.to_string(), cause }
    }

    /// The operating system stands in the way.
    pub(crate) fn system(message: impl Into<String>) -> Self {
        Self { code: "FIRELET_SYSTEM_REFUSED", message: message.into(), cause: None }
    }

    /// Our own defect: a task panicked.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self { code: "FIRELET_INTERNAL", message: message.into(), cause: None }
    }

    /// The object is used after its end.
    pub(crate) fn stopped() -> Self {
        let message = "this suite is stopped".to_owned();
        Self { code: "FIRELET_STOPPED", message, cause: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_values_or_errors() {
        fn check(outcome: Result<Value, Failure>, expected: &str) {
            assert_eq!(text(outcome), expected);
        }
        check(Ok(Value::Null), r#"{"ok":null}"#);
        check(Ok(json!({"a": [1]})), r#"{"ok":{"a":[1]}}"#);
        check(
            Err(Failure::internal("say \"so\"")),
            r#"{"error":{"code":"FIRELET_INTERNAL","message":"say \"so\""}}"#,
        );
        check(
            Err(Failure::stopped()),
            r#"{"error":{"code":"FIRELET_STOPPED","message":"this suite is stopped"}}"#,
        );
    }

    #[test]
    fn an_error_brings_the_one_below_it() {
        #[derive(Debug)]
        struct Outer(std::io::Error);
        impl std::fmt::Display for Outer {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("outer")
            }
        }
        impl std::error::Error for Outer {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                Some(&self.0)
            }
        }
        let failure = Failure::new("FIRELET_X", &Outer(std::io::Error::other("inner")));
        assert_eq!(
            text(Err(failure)),
            r#"{"error":{"code":"FIRELET_X","message":"outer","cause":"inner"}}"#
        );
    }
}
