//! Targets with a limit or an offset: which documents they have depends on the others.

use crate::script::check;

const FIVE: &str = "set c/a n=1 & set c/b n=2 & set c/c n=3 & set c/d n=4 & set c/e n=5";

/// What is committed, and what is told.
type Steps = &'static [(&'static str, &'static str)];

/// Query, its first state, then what is committed and what is told. A member that leaves and the one that
/// takes its place come before one boundary.
const CASES: &[(&str, &str, Steps)] = &[
    (
        "c order n limit 2",
        "c/a n=1 +1; c/b n=2 +1",
        &[
            ("delete c/a", "gone c/a -1; c/c n=3 +1; --"),
            ("set c/b n=9", "c/b n=9 -1; c/d n=4 +1; --"),
            ("set c/0 n=0", "c/0 n=0 +1; c/d n=4 -1; --"),
            ("set c/c n=2", "c/c n=2 +1; --"),
            // Membership stays, the order changes.
            ("set c/c n=-5", "c/c n=-5 +1; --"),
            ("set c/z n=99", ""),
            ("delete c/e", ""),
            ("set c/0 m=1", "c/0 m=1 -1; c/d n=4 +1; --"),
            ("delete c/d & delete c/c", "gone c/d -1; gone c/c -1; c/b n=9 +1; c/z n=99 +1; --"),
            ("delete c/b", "gone c/b -1; --"),
            ("set c/b n=3", "c/b n=3 +1; --"),
            ("clear", "gone c/b -1; gone c/z -1; --"),
        ],
    ),
    (
        // What an SDK sends for limitToLast(2).
        "c order -n limit 2",
        "c/e n=5 +1; c/d n=4 +1",
        &[
            ("set c/f n=6", "c/f n=6 +1; c/d n=4 -1; --"),
            ("delete c/e", "gone c/e -1; c/d n=4 +1; --"),
            ("set c/a n=0", ""),
        ],
    ),
    (
        "c limit 2",
        "c/a n=1 +1; c/b n=2 +1",
        &[
            ("set c/Z n=0", "c/Z n=0 +1; c/b n=2 -1; --"),
            ("delete c/Z", "gone c/Z -1; c/b n=2 +1; --"),
            ("set c/x n=0", ""),
            ("set c/a n=1", ""),
        ],
    ),
    (
        "c order n offset 1 limit 2",
        "c/b n=2 +1; c/c n=3 +1",
        &[
            // A document before the window goes: nothing of the window itself has changed.
            ("delete c/a", "c/b n=2 -1; c/d n=4 +1; --"),
            ("set c/b n=100", "c/c n=3 -1; c/e n=5 +1; --"),
            ("set c/a n=1", "c/c n=3 +1; c/e n=5 -1; --"),
        ],
    ),
    (
        "c order n offset 3",
        "c/d n=4 +1; c/e n=5 +1",
        &[
            ("delete c/a", "c/d n=4 -1; --"),
            ("set c/a n=1", "c/d n=4 +1; --"),
            ("set c/b m=0", "c/d n=4 -1; --"),
        ],
    ),
    (
        "c where n > 2 order n limit 1",
        "c/c n=3 +1",
        &[
            ("set c/c n=1", "c/c n=1 -1; c/d n=4 +1; --"),
            ("set c/a n=3", "c/a n=3 +1; c/d n=4 -1; --"),
            ("set c/b n=3", ""),
            ("delete c/a", "gone c/a -1; c/b n=3 +1; --"),
        ],
    ),
    ("c limit 0", "", &[("set c/f n=1", ""), ("delete c/a", "")]),
    (
        "**/c limit 3",
        "c/a n=1 +1; c/b n=2 +1; c/c n=3 +1",
        &[("set c/a/c/x n=0", "c/a/c/x n=0 +1; c/c n=3 -1; --")],
    ),
    (
        "c order n limit 10",
        "c/a n=1 +1; c/b n=2 +1; c/c n=3 +1; c/d n=4 +1; c/e n=5 +1",
        &[("delete c/e", "gone c/e -1; --"), ("set c/z n=1", "c/z n=1 +1; --")],
    ),
];

#[tokio::test(start_paused = true)]
async fn windows_are_refilled_before_the_boundary() {
    for (query, first, steps) in CASES {
        let listen = format!("{FIVE}; listen 1 {query}");
        let first = match *first {
            "" => "add 1; current 1; --".to_owned(),
            first => format!("add 1; {first}; current 1; --"),
        };
        let mut script = vec![(listen.as_str(), first.as_str())];
        script.extend(steps.iter().copied());
        check(query, &script).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_window_that_is_behind_sees_each_state_as_it_was() {
    let listen = format!("{FIVE}; listen 1 c order n limit 2");
    check(
        "behind",
        &[
            (&listen, "add 1; c/a n=1 +1; c/b n=2 +1; current 1; --"),
            (
                "delete c/a; set c/a n=0; delete c/b & delete c/c; set c/e n=-1",
                "gone c/a -1; c/c n=3 +1; --; c/a n=0 +1; c/c n=3 -1; --; gone c/b -1; c/d n=4 +1; --; c/e n=-1 +1; c/d n=4 -1; --",
            ),
        ],
    )
    .await;
}
