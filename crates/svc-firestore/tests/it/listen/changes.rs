//! What commits do to targets.

use crate::script::check;

const START: (&str, &str) = (
    "set c/a n=1 & set c/b n=2; listen 1 c; listen 2 c where n > 1",
    "add 1; c/a n=1 +1; c/b n=2 +1; current 1; --; add 2; c/b n=2 +2; current 2; --",
);

/// What is committed once the stream is current, and what is told.
const CASES: &[(&str, &str)] = &[
    ("set c/c n=1", "c/c n=1 +1; --"),
    ("set c/c n=5", "c/c n=5 +1 +2; --"),
    ("set c/a n=0", "c/a n=0 +1; --"),
    ("set c/a n=7", "c/a n=7 +1 +2; --"),
    ("set c/b n=0", "c/b n=0 +1 -2; --"),
    ("set c/b m=1", "c/b m=1 +1 -2; --"),
    ("delete c/b", "gone c/b -1 -2; --"),
    ("delete c/a", "gone c/a -1; --"),
    ("delete c/z", ""),
    ("set c/b n=2", ""),
    ("update c/b n=2", ""),
    ("verify c/b", ""),
    ("set c/a n=9 & set c/a n=1", ""),
    ("set c/z n=9 & delete c/z", ""),
    ("delete c/b & set c/b n=2", "c/b n=2 +1 +2; --"),
    ("set d/a n=1", ""),
    ("set c/a/c/x n=5", ""),
    ("increment c/b n", "c/b n=3 +1 +2; --"),
    ("increment c/new n", "c/new n=1 +1; --"),
    // One commit is one boundary, however many documents it has; two commits are two.
    (
        "set c/a n=3 & set c/b n=0 & set c/c n=9 & set d/x n=1",
        "c/a n=3 +1 +2; c/b n=0 +1 -2; c/c n=9 +1 +2; --",
    ),
    ("set c/a n=3 & delete c/b", "c/a n=3 +1 +2; gone c/b -1 -2; --"),
    ("set c/a n=3; set c/a n=4", "c/a n=3 +1 +2; --; c/a n=4 +1 +2; --"),
    ("set c/a n=3; set c/a n=1", "c/a n=3 +1 +2; --; c/a n=1 +1 -2; --"),
    ("delete c/a; set c/a n=1", "gone c/a -1; --; c/a n=1 +1; --"),
    ("set c/x n=1; delete c/x", "c/x n=1 +1; --; gone c/x -1; --"),
    ("set d/x n=1; set c/x n=1; set d/x n=2", "c/x n=1 +1; --"),
    ("clear", "gone c/a -1; gone c/b -1 -2; --"),
    ("clear /c", "gone c/a -1; gone c/b -1 -2; --"),
    ("clear /c/a", "gone c/a -1; --"),
    ("clear /d", ""),
    ("clear; set c/a n=1", "gone c/a -1; gone c/b -1 -2; --; c/a n=1 +1; --"),
    ("clear; clear", "gone c/a -1; gone c/b -1 -2; --"),
];

#[tokio::test(start_paused = true)]
async fn commits_are_told_as_differences() {
    for (commit, told) in CASES {
        // Once more on the same stream: whatever happened, it goes on.
        check(commit, &[START, (commit, told), ("set c/last n=0", "c/last n=0 +1; --")]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_clear_of_many_documents_starts_targets_over() {
    check(
        "clear of many",
        &[
            ("fill d 5000; set c/a n=1", ""),
            ("listen 1 c; listen 2 d where n = 2; listen 3 docs c/a d/00001", "add 1; c/a n=1 +1; current 1; --; add 2; current 2; --; add 3; c/a n=1 +3; d/00001 n=1 +3; current 3; --"),
            ("clear", "reset 1; current 1; reset 2; current 2; reset 3; gone c/a -3; gone d/00001 -3; current 3; --"),
            ("set c/a n=1", "c/a n=1 +1 +3; --"),
            ("set d/a n=2", "d/a n=2 +2; --"),
        ],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_targets_is_told_nothing_of_a_clear() {
    check(
        "clear without targets",
        &[
            ("fill c 5000; listen 1 d", "add 1; current 1; --"),
            ("unlisten 1", "remove 1"),
            ("clear", ""),
            ("listen 1 d", "add 1; current 1; --"),
        ],
    )
    .await;
}
