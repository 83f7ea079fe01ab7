//! The trait through which the suite runs a service without knowing the product behind it.

use std::pin::Pin;

use base_status::Status;
use serde_json::Value;

use crate::Data;

/// One Firebase product we stand in for, as the suite sees it.
///
/// A service owns no socket: the suite binds the port, serves [`Service::router`] on it, and calls
/// [`Service::shutdown`] before it closes the connections.
pub trait Service: Send + Sync + 'static {
    /// The name of the configuration key and of `--only`, such as `firestore`.
    fn name(&self) -> &'static str;

    /// Every route of the service, all protocols on one port.
    fn router(&self) -> axum::Router;

    /// Whether it answers WebSockets on its port, by which the Emulator UI follows it.
    fn has_web_socket(&self) -> bool {
        false
    }

    /// The data it keeps for its clients, if it is a service that has any.
    fn data(&self) -> Option<&dyn Data> {
        None
    }

    /// Does what has become due by the suite's clock, which was moved, and returns when that is done: as long as
    /// it takes.
    ///
    /// # Errors
    /// Whatever the product answers when something could not be done.
    fn clock_moved(&self) -> Result<(), Status> {
        Ok(())
    }

    /// Waits until every client that listens has been sent what was caused before: as long as the slowest of them takes.
    fn idle(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::ready(()))
    }

    /// Does what the product offers to the program that has started the suite, beside its protocols.
    ///
    /// # Errors
    /// UNIMPLEMENTED for a name that the service does not have; whatever the product answers.
    fn control(&self, name: &str, argument: &Value) -> Result<Value, Status> {
        let _unread = argument;
        Err(Status::unimplemented(format!("{} has no `{name}`", self.name())))
    }

    /// Ends what would keep a connection busy (streams, long polls), so that connections can drain.
    ///
    /// Returns at once and may be called more than once.
    fn shutdown(&self);
}
