//! One thing that is wrong with the options.

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// There is no such option.
    #[error("unknown option `{path}`{}", meant(.nearest))]
    Unknown {
        /// Its path, such as `firestore.prot`.
        path: String,
        /// The one it is closest to, as a path.
        nearest: Option<String>,
    },
    /// The value is of the wrong kind.
    #[error("option `{path}` must be {expected}, not {found}")]
    Invalid {
        /// The option's path, such as `firestore.port`.
        path: String,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// The value is an empty text.
    #[error("option `{path}` must not be empty")]
    Empty {
        /// The option's path.
        path: String,
    },
    /// A method of the running suite does what the option is to do.
    #[error("unknown option `{path}`: call `suite.{method}()` where the data is to be written")]
    Method {
        /// The option.
        path: String,
        /// The method.
        method: &'static str,
    },
    /// The option is about a service firelet does not have yet.
    #[error("option `{path}`: firelet does not have the {description} yet")]
    NotYet {
        /// The option's path.
        path: String,
        /// The service or the feature, as messages name it.
        description: &'static str,
    },
}

fn meant(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|path| format!(", did you mean `{path}`?")).unwrap_or_default()
}
