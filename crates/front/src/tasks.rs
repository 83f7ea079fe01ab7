//! Tasks that outlive the request which starts them: they belong to the listener, whose stop waits for them.

use http::Extensions;
use tokio_util::task::TaskTracker;

/// The tasks of the listener that a request came by. Clones are the same tasks.
#[derive(Clone, Debug, Default)]
pub struct ListenerTasks(Option<TaskTracker>);

impl ListenerTasks {
    pub(crate) fn new(tasks: TaskTracker) -> Self {
        Self(Some(tasks))
    }

    /// The tasks that a request with these extensions may start.
    #[must_use]
    pub fn of(extensions: &Extensions) -> Self {
        extensions.get::<Self>().cloned().unwrap_or_default()
    }

    /// Runs a future beside the request. It has to end by itself when the service stops.
    pub fn spawn<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        match &self.0 {
            Some(tasks) => drop(tasks.spawn(future)),
            // A router that is called without a listener: its caller owns the runtime.
            None => drop(tokio::spawn(future)),
        }
    }
}
