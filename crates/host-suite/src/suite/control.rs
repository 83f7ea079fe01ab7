//! What whoever has started a suite may do with it while it runs: with its data, its clock, and its services.

use std::time::Duration;

use base_env::UnixMicros;
use base_status::{Code, Status};
use serde_json::Value;
use svc_firestore::BAD_RULES;
use svc_kit::{Data, Service};

use super::Suite;
use crate::error::SuiteError;
use crate::limits::CLOCK_MAX;
use crate::snapshot::Snapshot;

impl Suite {
    /// Forgets the data of one project, or of all, in every service.
    ///
    /// # Errors
    /// The suite is stopped, or a service refuses; the services before it are cleared then.
    pub fn clear(&self, project: Option<&str>) -> Result<(), SuiteError> {
        self.each(|data| data.clear(project))
    }

    /// The data of one project, or of all, in every service.
    ///
    /// # Errors
    /// The suite is stopped.
    pub fn snapshot(&self, project: Option<&str>) -> Result<Snapshot, SuiteError> {
        self.check_running()?;
        Ok(self.inner.snapshots.take(&self.inner.services, project))
    }

    /// Makes the projects of a snapshot what they were when it was taken.
    ///
    /// # Errors
    /// The suite is stopped; the snapshot is another suite's; or a service refuses, and the services
    /// before it are restored then.
    pub fn restore(&self, snapshot: &Snapshot) -> Result<(), SuiteError> {
        self.check_running()?;
        let parts = self.inner.snapshots.parts(snapshot).ok_or(SuiteError::ForeignSnapshot)?;
        for (service, saved) in parts.lock().iter() {
            if let Some(data) = service.data() {
                data.restore(saved).map_err(of(&**service))?;
            }
        }
        Ok(())
    }

    /// Makes the project `to` a copy of `from`, which is the suite's own where none is named.
    ///
    /// # Errors
    /// The suite is stopped; `to` cannot be a project id, or is the same project; or a service refuses.
    pub fn fork(&self, to: &str, from: Option<&str>) -> Result<(), SuiteError> {
        let from = from.unwrap_or(&self.inner.project);
        // Clients may use ids that no project of production could have, so may forks.
        if to.is_empty() || to.contains('/') {
            return Err(SuiteError::Project(to.to_owned()));
        }
        if to == from {
            return Err(SuiteError::ForkOfItself(to.to_owned()));
        }
        self.each(|data| data.fork(from, to))
    }

    /// The time on the suite's clock.
    #[must_use]
    pub fn now(&self) -> UnixMicros {
        self.inner.env.now()
    }

    /// Moves the suite's clock forward, and does what has become due by it in every service, as long as that takes.
    ///
    /// # Errors
    /// The suite is stopped; the clock would pass the last time that protocols can say; or a service could not
    /// do something, and the clock was moved all the same.
    pub fn advance(&self, by: Duration) -> Result<(), SuiteError> {
        self.check_running()?;
        if self.now().plus(by) > CLOCK_MAX {
            return Err(SuiteError::ClockRange);
        }
        self.inner.env.advance(by);
        let mut failed = Ok(());
        for service in &self.inner.services {
            failed = failed.and(service.clock_moved().map_err(of(&**service)));
        }
        failed
    }

    /// Waits until every listener has been sent what was committed before this call: as long as the slowest reader takes.
    ///
    /// # Errors
    /// The suite is stopped.
    pub async fn idle(&self) -> Result<(), SuiteError> {
        self.check_running()?;
        for service in &self.inner.services {
            service.idle().await;
        }
        Ok(())
    }

    /// Asks a service for what it offers to whoever has started the suite, beside its protocols.
    ///
    /// # Errors
    /// The suite is stopped; there is no such service or no such name; or the service refuses.
    pub fn control(
        &self,
        service: &str,
        name: &str,
        argument: &Value,
    ) -> Result<Value, SuiteError> {
        self.check_running()?;
        let found = self.inner.services.iter().find(|running| running.name() == service);
        let found = found
            .ok_or_else(|| SuiteError::Argument(format!("this suite does not run {service}")))?;
        found.control(name, argument).map_err(|status| match status {
            Status { reason: BAD_RULES, message, .. } => SuiteError::Rules(message),
            Status { code: Code::InvalidArgument, message, .. } => SuiteError::Argument(message),
            status => of(&**found)(status),
        })
    }

    fn each(&self, work: impl Fn(&dyn Data) -> Result<(), Status>) -> Result<(), SuiteError> {
        self.check_running()?;
        for service in &self.inner.services {
            if let Some(data) = service.data() {
                work(data).map_err(of(&**service))?;
            }
        }
        Ok(())
    }
}

/// A service's refusal as the suite's.
pub(super) fn of(service: &dyn Service) -> impl FnOnce(Status) -> SuiteError {
    let service = service.name();
    move |status| SuiteError::Service { service, status }
}
