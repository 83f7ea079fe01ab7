//! Disagreements that are judged: each one a row of docs/reference/differences.md.

use super::ask::{Ask, Method, Transport};
use super::compare::Difference;
use super::send::Reply;

/// Why an answer may differ from the official emulator's, where that is known.
pub(super) fn why(
    ask: &Ask,
    ours: &Reply,
    theirs: &Reply,
    difference: Difference,
) -> Option<&'static str> {
    let rule = RULES.iter().find(|rule| {
        rule.method.is_none_or(|method| method == ask.method)
            && (rule.applies)(ask, ours, theirs, difference)
    });
    rule.map(|rule| rule.why)
}

/// URLs up to here the official emulator reads in any case: its request line, with the method and the version of
/// the protocol, has 4,096 bytes at most.
const OFFICIAL_URL_BYTES_MAX: usize = 4_000;

type Applies = fn(&Ask, &Reply, &Reply, Difference) -> bool;

struct Rule {
    why: &'static str,
    /// The one method whose answers it judges; none: those of all.
    method: Option<Method>,
    applies: Applies,
}

const fn any(why: &'static str, applies: Applies) -> Rule {
    Rule { why, method: None, applies }
}

const fn of(method: Method, why: &'static str, applies: Applies) -> Rule {
    Rule { why, method: Some(method), applies }
}

const RULES: &[Rule] = &[
    of(Method::PartitionQuery, "PartitionQuery is not served there", |_, _, theirs, _| {
        theirs.code() == "UNIMPLEMENTED"
    }),
    any("a transaction that is over is ABORTED in production", |_, ours, theirs, _| {
        ours.code() == "ABORTED" && theirs.text() == "Transaction is invalid or closed."
    }),
    of(
        Method::Rollback,
        "a rollback after the commit is ABORTED in production",
        |_, ours, theirs, _| ours.code() == "ABORTED" && theirs.code() == "OK",
    ),
    any("names run down over a whole collection where the index exists", |_, _, theirs, _| {
        theirs.text() == "Firestore does not support descending key scans"
    }),
    any("an update time in a query string is read as 0 there", |ask, _, theirs, _| {
        ask.transport == Transport::Rest
            && matches!(ask.method, Method::UpdateDocument | Method::DeleteDocument)
            && ask.message.pointer("/currentDocument/updateTime").is_some()
            && (theirs.text().ends_with("does not match the required base version (0)")
                || theirs.code() == "OK")
    }),
    any("an array transform stores elements unseen there", |ask, ours, _, difference| {
        let refused = ours.text();
        ask.message.to_string().contains("appendMissingElements")
            && (ask.method == Method::BatchWrite && difference == Difference::Content
                || refused.ends_with("value in an array value.")
                || refused.ends_with("contains an invalid nested entity.")
                || refused == "Vector cannot contain NaN values.")
    }),
    any(
        "a write that a later one of the commit replaces is not looked at there",
        |ask, ours, _, _| {
            let writes = ask.message.get("writes").and_then(|writes| writes.as_array());
            let names: Vec<String> = writes.into_iter().flatten().filter_map(written).collect();
            let repeated = names
                .iter()
                .enumerate()
                .any(|(at, name)| names.iter().take(at).any(|known| known == name));
            repeated && ours.code() == "INVALID_ARGUMENT"
        },
    ),
    any("to verify is to modify in a read-only transaction there", |ask, _, theirs, _| {
        theirs.text() == "Cannot modify entities in a read-only transaction."
            && ask.message.to_string().contains("\"verify\"")
    }),
    any("of several faults of a query another is told first", |_, ours, theirs, _| {
        ours.text().starts_with("collection group queries are only allowed if they")
            && theirs.text().starts_with("Cursor ")
    }),
    any("a comparison with null by no operator matches nothing there", |_, ours, theirs, _| {
        ours.text() == "Unknown FieldFilter operator." && theirs.code() == "OK"
    }),
    any("an inequality with null or NaN implies no order there", |ask, ours, _, difference| {
        let query = ask.message.to_string();
        let is_range = ["LESS_THAN", "GREATER_THAN", "NOT_EQUAL", "NOT_IN"];
        (difference != Difference::Code
            || ours.text() == "order by clause cannot contain more fields after the key")
            && is_range.iter().any(|op| query.contains(op))
            && (query.contains("nullValue") || query.contains("NaN"))
    }),
    any("a reserved name inside of a transform's path is stored there", |_, ours, _, _| {
        ours.text() == "the name __key__ is reserved"
    }),
    any("a path of 1,500 bytes in a transform or a search is one name there", |ask, ours, _, _| {
        ours.text() == "property path is longer than 1500 bytes."
            && ["ransforms", "findNearest"]
                .iter()
                .any(|part| ask.message.to_string().contains(part))
    }),
    any("an update time behind the stored one is INVALID_ARGUMENT there", |_, ours, theirs, _| {
        ours.code() == "FAILED_PRECONDITION"
            && theirs
                .text()
                .starts_with("Invalid base version, it is greater than the stored version")
    }),
    any(
        "that a document with an update time is missing is told as such there",
        |_, ours, theirs, _| {
            ours.text().starts_with("the stored version (0) does not match")
                && theirs.text().starts_with("no entity to update")
        },
    ),
    of(
        Method::BatchWrite,
        "an update time behind the stored one is INVALID_ARGUMENT there",
        |ask, _, _, difference| {
            difference == Difference::Content && ask.message.to_string().contains("updateTime")
        },
    ),
    of(
        Method::ListDocuments,
        "query parameters of another method are ignored there",
        |_, ours, _, _| ours.text().contains("Cannot bind query parameter"),
    ),
    of(
        Method::ListDocuments,
        "page size and mask count for nothing there where missing documents are shown",
        |ask, _, theirs, _| ask.message.get("showMissing").is_some() && theirs.code() == "OK",
    ),
    of(
        Method::ListDocuments,
        "a collection id that is too long names an empty collection there",
        |_, ours, theirs, _| {
            ours.text().starts_with("The query kind is longer") && theirs.code() == "OK"
        },
    ),
    any("a request line above 4 KiB is not found there", |ask, _, theirs, _| {
        theirs.code() == "HTTP 404" && ask.rest().target.len() > OFFICIAL_URL_BYTES_MAX
    }),
    any(
        "the cosine of a vector without direction is refused in production",
        |_, ours, theirs, _| {
            ours.text().starts_with("COSINE distance needs") && theirs.code() == "OK"
        },
    ),
    any("the field of a distance is a literal name there", |ask, _, theirs, difference| {
        let field = ask.message.pointer("/structuredQuery/findNearest/distanceResultField");
        let field = field.and_then(|field| field.as_str()).unwrap_or_default();
        let is_plain = !field.is_empty()
            && field.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        !field.is_empty() && theirs.code() == "OK" && (difference == Difference::Code || !is_plain)
    }),
    any(
        "a distance that is not a number is above every threshold there",
        |ask, _, _, difference| {
            difference == Difference::Rows
                && ask.message.pointer("/structuredQuery/findNearest/distanceThreshold").is_some()
                && ask.message.to_string().contains("NaN")
        },
    ),
    of(
        Method::RunQuery,
        "a query over all collections fails internally in a transaction there",
        |ask, _, theirs, _| ask.message.get("transaction").is_some() && theirs.code() == "UNKNOWN",
    ),
    of(
        Method::BatchGetDocuments,
        "reading no documents fails internally there",
        |ask, ours, theirs, _| {
            let documents = ask.message.get("documents").and_then(|names| names.as_array());
            documents.is_some_and(Vec::is_empty)
                && ours.code() == "OK"
                && theirs.code() == "UNKNOWN"
        },
    ),
];

/// The document that a write names.
fn written(write: &serde_json::Value) -> Option<String> {
    let name = ["/update/name", "/delete", "/verify", "/transform/document"]
        .iter()
        .find_map(|path| write.pointer(path)?.as_str());
    name.map(str::to_owned)
}
