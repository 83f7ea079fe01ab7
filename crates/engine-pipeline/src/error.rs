//! Why a pipeline is refused or fails.

use engine_query::QueryError;
use thiserror::Error;

/// A refused or failed pipeline. `Display` is the text clients see.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PipelineError {
    /// The pipeline is wrong, or a value does not fit what is done with it.
    #[error("{0}")]
    Invalid(String),
    /// A stage, function or option that is not there.
    #[error("{0}")]
    Unimplemented(String),
    /// More is asked for than is given.
    #[error("{0}")]
    Exhausted(String),
    /// Nobody waits for the answer any more.
    #[error("the pipeline was cancelled")]
    Cancelled,
    /// It was at work for too long.
    #[error("the pipeline was at work for more than {} seconds", crate::limits::TIME_MAX.as_secs())]
    Overdue,
    /// The query that a source has become is refused.
    #[error(transparent)]
    Query(#[from] QueryError),
}

impl PipelineError {
    /// [`PipelineError::Invalid`] with this text.
    pub fn invalid(text: impl Into<String>) -> Self {
        PipelineError::Invalid(text.into())
    }

    /// Whether `is_error` and `if_error` catch it: what a value has caused, and nothing else.
    pub(crate) fn is_caught(&self) -> bool {
        matches!(self, PipelineError::Invalid(_))
    }
}
