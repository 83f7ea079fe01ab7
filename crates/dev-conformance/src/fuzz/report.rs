//! What came of the requests: how many there were, what failed, and how the two sides disagreed.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use super::ask::Ask;
use super::compare::{Difference, rows};
use super::send::Reply;

/// How long an example is at most.
const SHOWN_CHARS_MAX: usize = 1_500;

/// A kind of disagreement.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    /// Why it is no fault of ours, where that is known.
    why: Option<&'static str>,
    method: &'static str,
    difference: Difference,
    ours: String,
    theirs: String,
}

impl Kind {
    pub(super) fn of(
        ask: &Ask,
        ours: &Reply,
        theirs: &Reply,
        difference: Difference,
        why: Option<&'static str>,
    ) -> Self {
        let said = |reply: &Reply| match why {
            // One line is enough for what is known.
            Some(_) => String::new(),
            None => format!("{} {}", reply.code(), shape(reply.text())),
        };
        let method = if why.is_some() { "" } else { ask.method.name() };
        Kind { why, method, difference, ours: said(ours), theirs: said(theirs) }
    }
}

/// A text without what is different in every request: names and numbers.
fn shape(text: &str) -> String {
    let mut shape = String::new();
    let mut quoted = None;
    for character in text.chars() {
        match (quoted, character) {
            (Some(quote), _) if quote == character => quoted = None,
            (Some(_), _) => continue,
            (None, '"' | '\'' | '`') => quoted = Some(character),
            (None, '0'..='9') if shape.ends_with('#') => continue,
            (None, '0'..='9') => {
                shape.push('#');
                continue;
            }
            (None, _) => {}
        }
        shape.push(character);
    }
    let is_name = |word: &&str| word.starts_with("projects/");
    let words: Vec<&str> =
        shape.split(' ').map(|word| if is_name(&word) { "NAME" } else { word }).collect();
    words.join(" ")
}

#[derive(Clone, Debug)]
struct Example {
    count: usize,
    text: String,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Report {
    requests: usize,
    succeeded: usize,
    cut: usize,
    faults: Vec<String>,
    differences: BTreeMap<Kind, Example>,
}

impl Report {
    pub(super) fn count(&mut self, reply: &Reply) {
        self.requests += 1;
        self.succeeded += usize::from(reply.code() == "OK");
    }

    /// A session that ended early, because the two sides held other documents.
    pub(super) fn cut(&mut self) {
        self.cut += 1;
    }

    pub(super) fn fault(&mut self, ask: &Ask, reply: &Reply) {
        self.faults.push(format!("{} {}\n{}", reply.code(), reply.text(), shown(ask)));
    }

    pub(super) fn difference(&mut self, kind: Kind, ask: &Ask, ours: &Reply, theirs: &Reply) {
        let answered = |reply: &Reply| match reply {
            Reply::Fine(messages) => format!("{:?}", rows(ask, messages)),
            other => format!("{} {}", other.code(), other.text()),
        };
        let text = format!(
            "{}\n  firelet:  {}\n  official: {}",
            shown(ask),
            cut(&answered(ours)),
            cut(&answered(theirs))
        );
        let example =
            self.differences.entry(kind).or_insert(Example { count: 0, text: text.clone() });
        example.count += 1;
        if text.len() < example.text.len() {
            example.text = text;
        }
    }

    pub(super) fn add(&mut self, other: Report) {
        self.requests += other.requests;
        self.succeeded += other.succeeded;
        self.cut += other.cut;
        self.faults.extend(other.faults);
        for (kind, example) in other.differences {
            let count = example.count;
            let known =
                self.differences.entry(kind).or_insert(Example { count: 0, ..example.clone() });
            known.count += count;
            if example.text.len() < known.text.len() {
                known.text = example.text;
            }
        }
    }

    /// How many requests there were.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.requests
    }

    /// How many of them succeeded.
    #[must_use]
    pub fn succeeded(&self) -> usize {
        self.succeeded
    }

    /// Requests that failed internally or were not answered in time, each with what was asked.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// How many kinds of disagreement there are that nobody has judged.
    #[must_use]
    pub fn unjudged(&self) -> usize {
        self.differences.keys().filter(|kind| kind.why.is_none()).count()
    }
}

fn shown(ask: &Ask) -> String {
    format!("{} {:?} {}", ask.method.name(), ask.transport, cut(&ask.message.to_string()))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} requests, {} succeeded, {} faults, {} sessions cut short",
            self.requests,
            self.succeeded,
            self.faults.len(),
            self.cut
        )?;
        for fault in &self.faults {
            writeln!(f, "\nFAULT {fault}")?;
        }
        for (kind, Example { count, text }) in &self.differences {
            let mut head = String::new();
            match kind.why {
                Some(why) => write!(head, "known: {why}")?,
                None => write!(
                    head,
                    "{:?} of {}: firelet {} / official {}",
                    kind.difference, kind.method, kind.ours, kind.theirs
                )?,
            }
            writeln!(f, "\n{count} x {head}\n  {text}")?;
        }
        Ok(())
    }
}
