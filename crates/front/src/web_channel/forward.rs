//! What a client posts: a form of headers and numbered messages.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::form;
use crate::limits::{CHANNEL_FIELDS_MAX, CHANNEL_MESSAGES_MAX};

/// The member of a message's fields that holds its JSON.
const DATA: &str = "__data__";

/// A request's form.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Form {
    /// Headers in place of HTTP's, which would make a browser ask beforehand.
    pub(super) headers: String,
    /// The messages in the order of their numbers; `None` for one that the client could not write.
    pub(super) messages: BTreeMap<u64, Option<String>>,
}

impl Form {
    /// # Errors
    ///
    /// What is wrong with the form, for a developer.
    pub(super) fn parse(body: &[u8]) -> Result<Form, String> {
        let body = std::str::from_utf8(body).map_err(|_| "the form is not UTF-8".to_owned())?;
        let mut form = Form::default();
        let (mut count, mut offset) = (0, 0);
        let mut fields = Vec::new();
        for pair in form::pairs(body) {
            let (name, value) =
                pair.map_err(|_| "the form is not UTF-8 when decoded".to_owned())?;
            match name.as_str() {
                "headers" => form.headers = value,
                "count" => count = number(&value)?,
                "ofs" => offset = number(&value)?,
                name => fields.extend(field(name).map(|(index, key)| (index, key == DATA, value))),
            }
            if fields.len() > CHANNEL_FIELDS_MAX {
                return Err(format!(
                    "a form holds at most {CHANNEL_FIELDS_MAX} fields of messages"
                ));
            }
        }
        if count > CHANNEL_MESSAGES_MAX as u64 {
            return Err(format!("a form holds at most {CHANNEL_MESSAGES_MAX} messages"));
        }
        for (index, is_data, value) in fields {
            let id = offset.checked_add(index).ok_or("a message's number is too large")?;
            let message = form.messages.entry(id).or_default();
            if is_data {
                *message = Some(value);
            }
        }
        if form.messages.len() as u64 != count {
            return Err(format!("{} messages, not {count}", form.messages.len()));
        }
        Ok(form)
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "`count` and `ofs` must be numbers".to_owned())
}

/// `req{index}_{key}`.
fn field(name: &str) -> Option<(u64, &str)> {
    let (index, key) = name.strip_prefix("req")?.split_once('_')?;
    Some((index.parse().ok()?, key))
}

/// Puts the lines `Name: value` of a text into headers, in place of those of the same name.
pub(super) fn put_headers(text: &str, headers: &mut HeaderMap) {
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let name = HeaderName::from_bytes(name.trim().as_bytes());
        let value = HeaderValue::from_str(value.trim());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Messages<'a> = &'a [(u64, Option<&'a str>)];

    #[test]
    fn forms() {
        fn check(body: &str, expected: Result<(&str, Messages<'_>), &str>) {
            let found = Form::parse(body.as_bytes());
            let expected = expected.map_err(str::to_owned).map(|(headers, messages)| Form {
                headers: headers.to_owned(),
                messages: messages
                    .iter()
                    .map(|(id, message)| (*id, message.map(str::to_owned)))
                    .collect(),
            });
            assert_eq!(found, expected, "{body}");
        }
        check("", Ok(("", &[])));
        check("count=0&ofs=7", Ok(("", &[])));
        check("headers=A%3Ab%0D%0AC%3Ad%0D%0A&count=0", Ok(("A:b\r\nC:d\r\n", &[])));
        check("count=1&ofs=0&req0___data__=%7B%7D", Ok(("", &[(0, Some("{}"))])));
        check(
            "count=2&ofs=5&req1___data__=%F0%9F%94%A5&req0___data__=a+b%2B",
            Ok(("", &[(5, Some("a b+")), (6, Some("\u{1f525}"))])),
        );
        // A client that sorts its queue may begin above the offset.
        check("count=1&ofs=3&req90___data__=x", Ok(("", &[(93, Some("x"))])));
        check("count=1&ofs=3&req0_type=_badmap", Ok(("", &[(3, None)])));
        check("count=1&other=1&req_a=1&reqx_a=2&req0___data__=x", Ok(("", &[(0, Some("x"))])));
        check("count=2&ofs=0&req0___data__=x", Err("1 messages, not 2"));
        check("count=x", Err("`count` and `ofs` must be numbers"));
        check("count=-1", Err("`count` and `ofs` must be numbers"));
        check("count=1001", Err("a form holds at most 1000 messages"));
        check(
            "count=1&ofs=18446744073709551615&req1___data__=x",
            Err("a message's number is too large"),
        );
        check("count=1&req0___data__=%ff", Err("the form is not UTF-8 when decoded"));
        let many = "&req0_x=1".repeat(CHANNEL_FIELDS_MAX);
        check(&format!("count=1{many}"), Ok(("", &[(0, None)])));
        let refused = "a form holds at most 4000 fields of messages";
        check(&format!("count=1&req0_x=1{many}"), Err(refused));
        // What is no message is nothing.
        check(&format!("count=0{}", "&x".repeat(2 * CHANNEL_FIELDS_MAX)), Ok(("", &[])));
    }

    #[test]
    fn headers() {
        let mut headers = HeaderMap::new();
        headers.insert("x-kept", HeaderValue::from_static("1"));
        headers.insert("authorization", HeaderValue::from_static("Bearer old"));
        put_headers(
            "Authorization:Bearer a:b\r\nno header\r\n\u{fc}:1\r\nX-B: \u{1}\r\n\r\nx-c:\r\n",
            &mut headers,
        );
        let found =
            headers.iter().map(|(name, value)| format!("{name}={}", value.to_str().unwrap()));
        let mut found: Vec<_> = found.collect();
        found.sort();
        assert_eq!(found, ["authorization=Bearer a:b", "x-c=", "x-kept=1"]);
    }
}
