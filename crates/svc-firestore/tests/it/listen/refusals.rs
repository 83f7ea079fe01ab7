//! What is wrong with one target ends that target; what is wrong with the stream ends the stream.

use crate::script::check;

const START: (&str, &str) = ("set c/a n=1; listen 1 c", "add 1; c/a n=1 +1; current 1; --");

/// Whatever was refused, the first target goes on.
const AFTER: (&str, &str) = ("set c/a n=2", "c/a n=2 +1; --");

/// What is asked for beside the first target, and how it is refused.
const TARGETS: &[(&str, &str)] = &[
    (
        "listen 2 c where a..b = 1",
        "add 2; remove 2 3 Invalid property path \"a..b\". Unquoted property paths must match regex ([a-zA-Z_][a-zA-Z_0-9]*), and quoted property paths must match regex (`(?:[^`\\\\]|(?:\\\\.))+`)",
    ),
    (
        "listen 2 docs foo",
        "add 2; remove 2 3 Document name \"projects/p/databases/(default)/documents/foo\" lacks \"/\" at index 44.",
    ),
    (
        "listen 2 docs projects/p/databases/other/documents/c/a",
        "add 2; remove 2 3 The request was for database 'projects/p/databases/(default)' but was attempting to access database 'projects/p/databases/other'",
    ),
    (
        "listen 2 c/a/**/d",
        "add 2; remove 2 3 'all_descendants' in CollectionSelector with document parent is not supported by real-time queries.",
    ),
    (
        "listen 2 **/",
        "add 2; remove 2 3 All-collection queries are not supported by real-time queries.",
    ),
    ("listen 2 nothing", "add 2; remove 2 3 a target must be a query or documents"),
    ("listen 0 nothing", "add 2; remove 2 3 a target must be a query or documents"),
    ("listen 1 d", "remove 1 6 Target ID already exists: 1"),
    ("listen 1 docs d/a", "remove 1 6 Target ID already exists: 1"),
    // The id decides before what is wrong with the rest: the client's first target must not seem to end.
    ("listen 1 nothing", "remove 1 6 Target ID already exists: 1"),
    ("listen 1 c where a..b = 1", "remove 1 6 Target ID already exists: 1"),
    ("listen garbage x 1 d", "remove 1 6 Target ID already exists: 1"),
    ("listen garbage x 2 d", "remove 2 3 bad resume token"),
];

/// What ends the stream, with what.
const STREAMS: &[(&str, &str)] = &[
    ("listen -1 c", "end 3 target ids must not be negative"),
    ("listen -1 nothing", "end 3 target ids must not be negative"),
    ("empty", "end 3 a listen request must add or remove a target"),
];

#[tokio::test(start_paused = true)]
async fn a_refused_target_leaves_the_others_alone() {
    for (doing, told) in TARGETS {
        check(doing, &[START, (doing, told), AFTER]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_first_target_leaves_the_stream_alone() {
    for (doing, told) in TARGETS.iter().filter(|(doing, _)| doing.contains(" 2 ")) {
        check(doing, &[(doing, told), START, AFTER]).await;
    }
    check(
        "no id",
        &[
            ("listen 0 nothing", "add 1; remove 1 3 a target must be a query or documents"),
            START,
            AFTER,
        ],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn some_requests_end_the_stream() {
    for (doing, told) in STREAMS {
        check(doing, &[(doing, told)]).await;
        check(doing, &[START, (doing, told)]).await;
    }
}
