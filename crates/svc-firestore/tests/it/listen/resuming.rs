//! Targets that take up where a client was told something before.

use crate::script::check;

type Case = (&'static str, &'static [(&'static str, &'static str)]);

const CASES: &[Case] = &[
    (
        "nothing changed",
        &[
            (
                "set c/a n=1; listen 1 c; listen 2 docs c/a c/z",
                "add 1; c/a n=1 +1; current 1; --; add 2; c/a n=1 +2; gone c/z -2; current 2; --",
            ),
            ("keep x; reopen; listen from x 1 c", "add 1; current 1; --"),
            ("listen from x 2 docs c/a c/z", "add 2; current 2; --"),
            ("set c/a n=2", "c/a n=2 +1 +2; --"),
        ],
    ),
    (
        "changes, comings and goings",
        &[
            (
                "set c/a n=1 & set c/b n=2 & set c/c n=3 & set c/d n=4; listen 1 c where n > 1",
                "add 1; c/b n=2 +1; c/c n=3 +1; c/d n=4 +1; current 1; --",
            ),
            ("keep x; reopen; set c/a n=5; set c/b n=0; delete c/c; set c/e n=1; set c/f n=6", ""),
            (
                "listen from x 1 c where n > 1",
                "add 1; c/a n=5 +1; c/b n=0 -1; gone c/c -1; c/f n=6 +1; current 1; --",
            ),
        ],
    ),
    (
        "a document that is gone and here again",
        &[
            ("set c/a n=1; listen 1 c", "add 1; c/a n=1 +1; current 1; --"),
            ("keep x; reopen; delete c/a; set c/a n=1", ""),
            ("listen from x 1 c", "add 1; c/a n=1 +1; current 1; --"),
        ],
    ),
    (
        "documents that went and came",
        &[
            ("set c/a n=1; listen 1 docs c/a c/b", "add 1; c/a n=1 +1; gone c/b -1; current 1; --"),
            ("keep x; reopen; delete c/a; set c/b n=1", ""),
            ("listen from x 1 docs c/a c/b", "add 1; gone c/a -1; c/b n=1 +1; current 1; --"),
        ],
    ),
    (
        "a window",
        &[
            (
                "set c/a n=1 & set c/b n=2 & set c/c n=3; listen 1 c order n limit 2",
                "add 1; c/a n=1 +1; c/b n=2 +1; current 1; --",
            ),
            ("keep x; reopen; set c/a n=4; set c/d n=5", ""),
            ("listen from x 1 c order n limit 2", "add 1; c/a n=4 -1; c/c n=3 +1; current 1; --"),
            ("reopen; delete c/c", ""),
            ("listen from x 1 c order n limit 2", "add 1; c/a n=4 +1; current 1; --"),
        ],
    ),
    (
        "by read time",
        &[
            (
                "set c/a n=1 & set c/b n=2; listen 1 c",
                "add 1; c/a n=1 +1; c/b n=2 +1; current 1; --",
            ),
            ("keep x; reopen; listen at x 1 c", "add 1; current 1; --"),
            ("reopen; set c/a n=2; delete c/b", ""),
            ("listen at x 1 c", "add 1; c/a n=2 +1; gone c/b -1; current 1; --"),
        ],
    ),
    (
        "on the same stream, after it was removed",
        &[
            ("set c/a n=1; listen 1 c", "add 1; c/a n=1 +1; current 1; --"),
            (
                "keep x; unlisten 1; set c/a n=2; listen from x 1 c",
                "remove 1; add 1; c/a n=2 +1; current 1; --",
            ),
        ],
    ),
    (
        "from a boundary of another target",
        &[
            ("set c/a n=1; listen 1 c", "add 1; c/a n=1 +1; current 1; --"),
            ("set d/a n=1; listen 2 d", "add 2; d/a n=1 +2; current 2; --"),
            (
                "keep x; reopen; set c/a n=2; listen from x 1 c; listen from x 2 d",
                "add 1; c/a n=2 +1; current 1; --; add 2; current 2; --",
            ),
        ],
    ),
    (
        "from a boundary in the middle",
        &[
            ("listen 1 c", "add 1; current 1; --"),
            ("set c/a n=1", "c/a n=1 +1; --"),
            ("keep x; set c/a n=2", "c/a n=2 +1; --"),
            ("reopen; listen from x 1 c", "add 1; c/a n=2 +1; current 1; --"),
        ],
    ),
    (
        "a clear of few in between",
        &[
            ("set c/a n=1; listen 1 c", "add 1; c/a n=1 +1; current 1; --"),
            ("keep x; reopen; clear; listen from x 1 c", "add 1; gone c/a -1; current 1; --"),
        ],
    ),
    (
        "a clear of many in between",
        &[
            ("fill d 5000; set c/a n=1; listen 1 c", "add 1; c/a n=1 +1; current 1; --"),
            ("keep x; reopen; clear; set c/b n=1", ""),
            ("listen from x 1 c", "add 1; reset 1; c/b n=1 +1; current 1; --"),
            (
                "listen at x 2 docs c/a c/b",
                "add 2; reset 2; gone c/a -2; c/b n=1 +2; current 2; --",
            ),
        ],
    ),
    (
        "a token of another suite",
        &[
            ("set c/a n=1; listen 1 c", "add 1; c/a n=1 +1; current 1; --"),
            (
                "keep x; elsewhere; set c/b n=1; listen from x 1 c",
                "add 1; reset 1; c/b n=1 +1; current 1; --",
            ),
        ],
    ),
    (
        "a read time that has not come",
        &[
            ("set c/a n=1; listen 1 c", "add 1; c/a n=1 +1; current 1; --"),
            ("set d/a n=1; set c/a n=2", "c/a n=2 +1; --"),
            // The clock of the other one has not moved as far.
            ("keep x; elsewhere; listen at x 1 c", "add 1; reset 1; current 1; --"),
        ],
    ),
    (
        "a client that knows as many as there are, and were",
        &[
            (
                "set c/a n=1 & set c/b n=2; listen 1 c",
                "add 1; c/a n=1 +1; c/b n=2 +1; current 1; --",
            ),
            ("keep x; reopen; set c/a n=3", ""),
            ("listen from x 1 c expect 2", "add 1; c/a n=3 +1; current 1; --"),
        ],
    ),
    (
        "a client that knows more than there are by now",
        &[
            (
                "set c/a n=1 & set c/b n=2; listen 1 c",
                "add 1; c/a n=1 +1; c/b n=2 +1; current 1; --",
            ),
            ("keep x; reopen; delete c/a", ""),
            (
                "listen from x 1 c expect 2",
                "add 1; gone c/a -1; filter 1 1 named -0; current 1; --",
            ),
        ],
    ),
    (
        "a client that knows more than there were",
        &[
            (
                "set c/a n=1 & set c/b n=2 & set c/c n=3; listen 1 c order n limit 2",
                "add 1; c/a n=1 +1; c/b n=2 +1; current 1; --",
            ),
            ("keep x; imagine x 1 c/y; imagine x 1 c/z; reopen", ""),
            (
                "listen from x 1 c order n limit 2 expect 4",
                "add 1; filter 1 2 named -2; current 1; --",
            ),
            ("delete c/a; reopen", ""),
            // As many as there are by now would not show it.
            (
                "listen at x 1 c order n limit 2 expect 4",
                "add 1; gone c/a -1; c/c n=3 +1; filter 1 2 named -2; current 1; --",
            ),
        ],
    ),
    (
        "a client that knows nothing",
        &[
            ("listen 1 c", "add 1; current 1; --"),
            ("keep x; reopen; set c/a n=1", ""),
            ("listen from x 1 c expect 0", "add 1; c/a n=1 +1; filter 1 1 -0; current 1; --"),
            ("listen 2 c expect 7", "add 2; c/a n=1 +2; current 2; --"),
        ],
    ),
    (
        "once",
        &[
            ("set c/a n=1; listen 1 c", "add 1; c/a n=1 +1; current 1; --"),
            (
                "keep x; reopen; set c/a n=2; listen from x 1 c once",
                "add 1; c/a n=2 +1; current 1; --; remove 1",
            ),
        ],
    ),
    (
        "no token of ours",
        &[
            ("set c/a n=1; listen garbage x 1 c", "remove 1 3 bad resume token"),
            ("listen garbage 01234567890123456 1 docs c/a", "remove 1 3 bad resume token"),
            ("listen 1 c", "add 1; c/a n=1 +1; current 1; --"),
        ],
    ),
];

#[tokio::test(start_paused = true)]
async fn what_changed_since_is_told_exactly() {
    for (name, steps) in CASES {
        check(name, steps).await;
    }
}
