//! The product's regular expressions, which are few of JavaScript's: anchors at the very ends, groups, sets, counts.

use regex::{Regex, RegexBuilder};

/// Bytes a compiled expression may take.
const SIZE_MAX: usize = 1024 * 1024;

/// Compiles a literal, or says what is wrong with it.
pub(super) fn compile(pattern: &str, flags: &str) -> Result<Regex, String> {
    if !matches!(flags, "" | "i") {
        return Err(format!("Invalid regular expression flags '{flags}': there is only 'i'."));
    }
    let translated = translate(pattern)?;
    RegexBuilder::new(&translated)
        .case_insensitive(flags == "i")
        .size_limit(SIZE_MAX)
        .dfa_size_limit(SIZE_MAX)
        .build()
        .map_err(|_| format!("Invalid regular expression /{pattern}/."))
}

/// The same in the spelling of the `regex` crate, whose classes know more characters and whose sets know operators.
fn translate(pattern: &str) -> Result<String, String> {
    let invalid = |why: &str| Err(format!("Invalid regular expression /{pattern}/: {why}."));
    let chars: Vec<char> = pattern.chars().collect();
    let mut out = String::with_capacity(2 * pattern.len());
    let (mut in_set, mut groups) = (false, 0_usize);
    let mut at = 0;
    while let Some(&next) = chars.get(at) {
        let following = chars.get(at + 1).copied();
        match next {
            '\\' => {
                let Some(escaped) = following else { return invalid("it ends with '\\'") };
                at += 1;
                match escaped {
                    'd' => out.push_str(if in_set { "0-9" } else { "[0-9]" }),
                    'w' => out.push_str(if in_set { "0-9A-Za-z_" } else { "[0-9A-Za-z_]" }),
                    's' => out.push_str(r"[\t\n\x0B\f\r \u{a0}\u{feff}\p{Zs}\u{2028}\u{2029}]"),
                    'D' => out.push_str("[^0-9]"),
                    'W' => out.push_str("[^0-9A-Za-z_]"),
                    'S' => out.push_str(r"[^\t\n\x0B\f\r \u{a0}\u{feff}\p{Zs}\u{2028}\u{2029}]"),
                    'n' | 'r' | 't' | 'f' => out.extend(['\\', escaped]),
                    'v' => out.push_str(r"\x0B"),
                    other if other.is_ascii_alphanumeric() => {
                        return invalid(&format!("'\\{other}' is not supported"));
                    }
                    other => out.push_str(&::regex::escape(&other.to_string())),
                }
            }
            '[' if !in_set => {
                in_set = true;
                out.push('[');
                if following == Some('^') {
                    out.push('^');
                    at += 1;
                }
            }
            ']' if in_set => {
                in_set = false;
                out.push(']');
            }
            // Operators of sets there, plain characters here.
            '[' | '&' | '~' | '^' if in_set => out.extend(['\\', next]),
            _ if in_set => out.push(next),
            '^' if at == 0 => out.push('^'),
            '$' if at + 1 == chars.len() => out.push('$'),
            '^' | '$' => {
                return invalid("'^' stands at the very start and '$' at the very end alone");
            }
            '(' if following == Some('?') => return invalid("'(?' is not supported"),
            '(' if following == Some(')') => return invalid("a group must not be empty"),
            '(' => {
                groups += 1;
                out.push_str("(?:");
            }
            ')' => {
                let Some(left) = groups.checked_sub(1) else {
                    return invalid("')' closes nothing");
                };
                groups = left;
                out.push(')');
            }
            '.' => out.push_str("[^\\n\\r\\u{2028}\\u{2029}]"),
            // A lazy quantifier changes what is found and never whether something is.
            other => out.push(other),
        }
        at += 1;
    }
    match (in_set, groups) {
        (true, _) => invalid("a set is not closed"),
        (_, 0) => Ok(out),
        _ => invalid("a group is not closed"),
    }
}
