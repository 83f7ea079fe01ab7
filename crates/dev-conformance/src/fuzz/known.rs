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
    let rule = RULES.iter().find(|rule| (rule.applies)(ask, ours, theirs, difference));
    rule.map(|rule| rule.why)
}

struct Rule {
    why: &'static str,
    applies: fn(&Ask, &Reply, &Reply, Difference) -> bool,
}

const RULES: &[Rule] = &[
    Rule {
        why: "PartitionQuery is not served there",
        applies: |ask, _, theirs, _| {
            ask.method == Method::PartitionQuery && theirs.code() == "UNIMPLEMENTED"
        },
    },
    Rule {
        why: "a transaction that is over is ABORTED in production",
        applies: |_, ours, theirs, _| {
            ours.code() == "ABORTED" && theirs.text() == "Transaction is invalid or closed."
        },
    },
    Rule {
        why: "a rollback after the commit is ABORTED in production",
        applies: |ask, ours, theirs, _| {
            ask.method == Method::Rollback && ours.code() == "ABORTED" && theirs.code() == "OK"
        },
    },
    Rule {
        why: "names run down over a whole collection where the index exists",
        applies: |_, ours, theirs, _| {
            ours.code() == "OK"
                && theirs.text() == "Firestore does not support descending key scans"
        },
    },
    Rule {
        why: "an update time in a query string is read as 0 there",
        applies: |ask, _, theirs, _| {
            ask.transport == Transport::Rest
                && matches!(ask.method, Method::UpdateDocument | Method::DeleteDocument)
                && ask.message.pointer("/currentDocument/updateTime").is_some()
                && theirs.text().ends_with("does not match the required base version (0)")
        },
    },
    Rule {
        why: "an array transform stores an array inside of an array there",
        applies: |_, ours, theirs, _| {
            ours.text() == "Cannot convert an array value in an array value."
                && theirs.code() == "OK"
        },
    },
    Rule {
        why: "a query over all collections fails internally in a transaction there",
        applies: |ask, _, theirs, _| {
            ask.method == Method::RunQuery
                && ask.message.get("transaction").is_some()
                && theirs.code() == "UNKNOWN"
        },
    },
    Rule {
        why: "reading no documents fails internally there",
        applies: |ask, ours, theirs, _| {
            let documents = ask.message.get("documents").and_then(|names| names.as_array());
            ask.method == Method::BatchGetDocuments
                && documents.is_some_and(Vec::is_empty)
                && ours.code() == "OK"
                && theirs.code() == "UNKNOWN"
        },
    },
];
