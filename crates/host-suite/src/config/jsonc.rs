//! JSON files with comments and trailing commas.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use jsonc_parser::ParseOptions;
use serde_json::{Map, Value};

use super::ConfigError;

/// JSON as people write firebase.json: comments and trailing commas, nothing else beyond JSON.
pub(super) const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Reads a file; `None` if there is none. An empty file is an empty object.
pub(super) fn read(file: &Path) -> Result<Option<Value>, ConfigError> {
    let bytes = match fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(ConfigError::Unreadable {
                file: file.to_owned(),
                reason: error.to_string(),
            });
        }
    };
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(ConfigError::Unreadable {
            file: file.to_owned(),
            reason: "it is not UTF-8 text".to_owned(),
        });
    };
    parse(file, &text).map(Some)
}

/// Parses the text of `file`.
fn parse(file: &Path, text: &str) -> Result<Value, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed: Result<Option<Value>, _> = jsonc_parser::parse_to_serde_value(text, &OPTIONS);
    match parsed {
        Ok(value) => Ok(value.unwrap_or_else(|| Value::Object(Map::new()))),
        Err(error) => Err(ConfigError::Syntax {
            file: file.to_owned(),
            message: error.kind().to_string().to_lowercase(),
            line: error.line_display(),
            column: error.column_display(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn files_are_read_as_people_write_them() {
        fn check(text: &str, expected: Value) {
            assert_eq!(parse(Path::new("firebase.json"), text).unwrap(), expected, "{text}");
        }
        check("", json!({}));
        check(" \n", json!({}));
        check("// nothing yet\n", json!({}));
        check("\u{feff}{}", json!({}));
        check("{ /* a */ \"a\": [1, 2,], // b\n }", json!({"a": [1, 2]}));
        check("{\"url\": \"http://x/*y*/\"}", json!({"url": "http://x/*y*/"}));
        check(
            "{\"a\": 1.5, \"b\": null, \"c\": \"\\u00e9\"}",
            json!({"a": 1.5, "b": null, "c": "\u{e9}"}),
        );
    }

    #[test]
    fn errors_name_the_place() {
        fn check(text: &str, line: usize, column: usize) {
            let error = parse(Path::new("firebase.json"), text).unwrap_err();
            let shown = error.to_string();
            let place = format!("on line {line}, column {column}");
            assert!(shown.starts_with("`firebase.json` is not valid JSON: "), "{shown}");
            assert!(shown.ends_with(&place), "{shown} for {text}");
        }
        check("{\n  \"a\": }", 2, 8);
        check("{\"a\": 1 \"b\": 2}", 1, 8);
        check("{a: 1}", 1, 2);
        check("{'a': 1}", 1, 2);
        check("{} {}", 1, 4);
    }
}
