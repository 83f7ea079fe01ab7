//! Tasks that outlive the request which starts them: they belong to the listener, whose stop waits for them.

use http::Extensions;
use tokio_util::task::TaskTracker;

/// The tasks of the listener a request came by, among the request's extensions.
#[derive(Clone, Debug)]
pub(crate) struct ListenerTasks(pub(crate) TaskTracker);

impl ListenerTasks {
    /// Runs a future beside the request with these extensions.
    pub(crate) fn spawn<F>(extensions: &Extensions, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        match extensions.get::<Self>() {
            Some(tasks) => drop(tasks.0.spawn(future)),
            // A router that is called without a listener: its caller owns the runtime.
            None => drop(tokio::spawn(future)),
        }
    }
}
