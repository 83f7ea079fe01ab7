//! What a starting suite has to tell its user besides failing.

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeLevel {
    /// Worth knowing.
    Info,
    /// Something the user asked for is not done, or not as asked.
    Warning,
}

/// One line for the user. The command line prints it; the JavaScript API hands it to the logger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// How much it matters.
    pub level: NoticeLevel,
    /// What it is about: a service's name, or `emulators` for the suite.
    pub label: String,
    /// The text, one sentence.
    pub text: String,
}

impl Notice {
    /// A notice worth knowing.
    pub fn info(label: &str, text: impl Into<String>) -> Self {
        Self { level: NoticeLevel::Info, label: label.to_owned(), text: text.into() }
    }

    /// A notice that something is not as asked.
    pub fn warning(label: &str, text: impl Into<String>) -> Self {
        Self { level: NoticeLevel::Warning, label: label.to_owned(), text: text.into() }
    }
}

impl NoticeLevel {
    /// The level's name, as loggers have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warn",
        }
    }
}
