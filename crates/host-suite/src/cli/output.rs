//! What the user reads: marked lines, colours on a terminal, verbosity, and the JSON of `--json`.

use std::io::Write;

use serde_json::{Value, json};

use super::io::CliIo;
use crate::notice::{Notice, NoticeLevel};

/// How much is printed. The order counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verbosity {
    #[default]
    Debug,
    Info,
    Quiet,
    Silent,
}

impl Verbosity {
    /// Reads the flag's value.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let all = [
            ("DEBUG", Self::Debug),
            ("INFO", Self::Info),
            ("QUIET", Self::Quiet),
            ("SILENT", Self::Silent),
        ];
        all.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, level)| level)
    }
}

/// How the flags want it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OutputOptions {
    pub(super) json: bool,
    pub(super) verbosity: Verbosity,
}

#[derive(Clone, Copy)]
enum Mark {
    Bullet,
    Success,
    Warning,
}

impl Mark {
    fn text(self) -> &'static str {
        match (self, cfg!(windows)) {
            (Self::Bullet, _) => "i",
            (Self::Success, false) => "\u{2714}",
            (Self::Success, true) => "+",
            (Self::Warning, false) => "\u{26a0}",
            (Self::Warning, true) => "!",
        }
    }

    /// The ANSI colour, bold: cyan, green, yellow.
    fn colour(self) -> &'static str {
        match self {
            Self::Bullet => "36;1",
            Self::Success => "32;1",
            Self::Warning => "33;1",
        }
    }
}

/// The two streams. What cannot be written (a closed pipe) is dropped: the exit code still tells.
pub(super) struct Output {
    stdout: Box<dyn Write + Send>,
    stderr: Box<dyn Write + Send>,
    stdout_colour: bool,
    stderr_colour: bool,
    options: OutputOptions,
}

impl Output {
    /// Takes the streams out of `io`.
    pub(super) fn new(io: &mut CliIo) -> Self {
        let allowed = io.machine.variable("NO_COLOR").is_none();
        Self {
            stdout: std::mem::replace(&mut io.stdout, Box::new(std::io::sink())),
            stderr: std::mem::replace(&mut io.stderr, Box::new(std::io::sink())),
            stdout_colour: allowed && io.terminal.stdout,
            stderr_colour: allowed && io.terminal.stderr,
            options: OutputOptions::default(),
        }
    }

    /// From here on as the flags want it.
    pub(super) fn set(&mut self, options: OutputOptions) {
        self.options = options;
    }

    /// `i  label: text`, unless the user wants less.
    pub(super) fn bullet(&mut self, label: &str, text: &str) {
        if self.options.verbosity <= Verbosity::Info {
            self.marked(Mark::Bullet, label, text);
        }
    }

    /// The same with a green mark.
    pub(super) fn success(&mut self, label: &str, text: &str) {
        if self.options.verbosity <= Verbosity::Info {
            self.marked(Mark::Success, label, text);
        }
    }

    /// The same with a yellow mark, on standard error.
    pub(super) fn warning(&mut self, label: &str, text: &str) {
        if self.options.verbosity <= Verbosity::Quiet {
            self.marked(Mark::Warning, label, text);
        }
    }

    /// A notice of the suite.
    pub(super) fn notice(&mut self, notice: &Notice) {
        match notice.level {
            NoticeLevel::Info => self.bullet(&notice.label, &notice.text),
            NoticeLevel::Warning => self.warning(&notice.label, &notice.text),
        }
    }

    /// Text that no verbosity takes away, because scripts wait for it.
    pub(super) fn text(&mut self, text: &str) {
        if !self.options.json {
            let _ = writeln!(self.stdout, "{text}");
            let _ = self.stdout.flush();
        }
    }

    /// Text on standard error that no verbosity takes away.
    pub(super) fn error_text(&mut self, text: &str) {
        if !self.options.json {
            let _ = writeln!(self.stderr, "{text}");
            let _ = self.stderr.flush();
        }
    }

    /// The last line of a command that failed.
    pub(super) fn failure(&mut self, message: &str, code: Option<&str>) {
        if self.options.json {
            let mut object = json!({"status": "error", "error": message});
            if let (Some(code), Some(map)) = (code, object.as_object_mut()) {
                map.insert("code".to_owned(), Value::String(code.to_owned()));
            }
            self.json(&object);
        } else {
            let label = paint(self.stderr_colour, "31;1", "Error:");
            self.error_text(&format!("\n{label} {message}"));
        }
    }

    /// The last line of a command that succeeded, for `--json`.
    pub(super) fn result(&mut self, result: Value) {
        if self.options.json {
            self.json(&json!({"status": "success", "result": result}));
        }
    }

    fn json(&mut self, object: &Value) {
        let _ = writeln!(self.stdout, "{object:#}");
        let _ = self.stdout.flush();
    }

    fn marked(&mut self, mark: Mark, label: &str, text: &str) {
        let to_stderr = matches!(mark, Mark::Warning);
        let colour = if to_stderr { self.stderr_colour } else { self.stdout_colour };
        let painted = paint(colour, mark.colour(), mark.text());
        let label = paint(colour, "1", &format!("{label}:"));
        let line = format!("{painted}  {label} {text}");
        if to_stderr { self.error_text(&line) } else { self.text(&line) }
    }
}

fn paint(colour: bool, code: &str, text: &str) -> String {
    if colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}
