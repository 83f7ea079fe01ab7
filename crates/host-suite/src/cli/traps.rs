//! What goes in front of a script so that a signal ends it as it would end its last program.
//!
//! A signal reaches the shell and the program that the shell waits for. Some shells die of it at once and
//! take the program's own end with them: its exit code is lost, and whoever waits for the script goes on
//! while the program is still putting its things in order. With a trap, every POSIX shell waits for the
//! program, does not start the next one, and ends with what the program said.

use std::fmt::Write as _;

/// The signals that are handed on, and the status by which a shell tells that one ended a program.
const SIGNALS: [(&str, u8); 4] = [("HUP", 129), ("INT", 130), ("QUIT", 131), ("TERM", 143)];

/// `script` for `sh -c`, with the traps in front and on the same line, so that the shell counts lines as
/// the user does. The script may set traps of its own; programs and subshells never see these.
pub(super) fn with_traps(script: &str) -> String {
    // After a signal, a program that ends well says nothing about a script that had more to do.
    let cut_short = if is_one_program(script) { "" } else { "0|" };
    let mut text = String::new();
    for (name, status) in SIGNALS {
        // `exit` without a number gives the status from before the trap.
        let _infallible = write!(
            text,
            "trap 'case $? in {cut_short}{status}) trap - {name}; kill -{name} $$;; *) exit;; esac' \
             {name}; "
        );
    }
    text + script
}

/// Whether a script starts one program and nothing after it. When in doubt, it does not.
fn is_one_program(script: &str) -> bool {
    let mut quote = None;
    let mut rest = script.trim().chars().peekable();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (Some('\''), _) => {}
            // What is escaped means nothing.
            (_, '\\') => drop(rest.next()),
            // What stands for the output of a program, or for the shell itself.
            (_, '`') => return false,
            (_, '$') if matches!(rest.peek(), Some('(' | '$')) => return false,
            (None, ';' | '&' | '|' | '(' | ')' | '{' | '}' | '\n') => return false,
            (_, _) => {}
        }
    }
    quote.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_command_is_one_program() {
        fn check(script: &str, one: bool) {
            assert_eq!(is_one_program(script), one, "{script}");
            let well = with_traps(script).contains("in 143)");
            assert_eq!(well, one, "{script}");
        }
        check("npm test", true);
        check("  FOO=1 node a.js --x=\"y z\" > out.txt\n", true);
        check("node -e \"a(); b('x')\" ';&|' \\;", true);
        check("npm run build; npm test", false);
        check("npm run build && npm test", false);
        check("server & npm test", false);
        check("node a.js | tee log", false);
        check("(node a.js)", false);
        check("node `which jest`", false);
        check("npm run build\nnpm test", false);
        check("node a.js \"$(which jest)\"", false);
        check("node a.js \"`which jest`\"", false);
        check("kill -TERM $$", false);
        check("node 'a.js", false);
    }

    #[test]
    fn the_script_stays_on_its_line() {
        let text = with_traps("a\nb");
        assert_eq!(text.lines().count(), 2);
        assert!(text.lines().next().is_some_and(|line| line.ends_with("TERM; a")), "{text}");
    }
}
