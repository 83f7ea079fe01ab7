//! A running suite: ports bound first, then services opened, served, and stopped in order.

mod build;
mod control;
mod describe;
mod export;
mod import;
mod named;

pub use describe::ServiceInfo;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base_env::Env;
use base_status::Status;
use front::layers::Gate;
use front::{Bound, ServeOptions, Serving};
use svc_hub::Locator;
use svc_kit::{Context, Data, Directory, Listing, Log, Service};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use self::build::{build, claim};
use self::named::Named;
use crate::data::{DataFolder, SnapshotFolders};
use crate::error::{StartError, SuiteError};
use crate::limits::STOP_GRACE;
use crate::notice::Notice;
use crate::options::StartOptions;
use crate::plan::Plan;
use crate::ports;
use crate::services::ServiceRow;
use crate::snapshot::Snapshots;

pub use export::ExportOptions;
use export::Exports;

/// A started suite. Clones are the same suite.
///
/// Dropping the last clone closes the sockets at once; [`Suite::stop`] lets requests finish first.
#[derive(Clone)]
pub struct Suite {
    inner: Arc<Inner>,
}

struct Inner {
    env: Env,
    log: Log,
    /// Where relative paths of requests start.
    cwd: PathBuf,
    /// The folder of kept data.
    kept_dir: Option<PathBuf>,
    project: String,
    named: bool,
    notices: Vec<Notice>,
    listings: Vec<Listing>,
    services: Vec<Arc<dyn Service>>,
    snapshots: Snapshots,
    exports: Exports,
    named_snapshots: Named,
    directory: Directory,
    stopped: AtomicBool,
    live: Mutex<Live>,
}

/// What there is to stop, in this order.
struct Live {
    // INVARIANT: sorted so that the last one stops first.
    running: Vec<Running>,
    /// Those whose data is not closed.
    open: Vec<Arc<dyn Service>>,
    folder: Option<DataFolder>,
}

/// One service that listens.
struct Running {
    row: &'static ServiceRow,
    service: Arc<dyn Service>,
    serving: Serving,
    /// The hub's: gone when the hub is.
    locator: Option<Locator>,
}

impl Suite {
    /// Starts a suite.
    ///
    /// # Errors
    /// Options, configuration, ports or a service stand in the way. Nothing is left running.
    pub async fn start(options: StartOptions) -> Result<Self, StartError> {
        Self::open(Plan::new(options)?).await
    }

    /// Starts what a plan says.
    ///
    /// # Errors
    /// Ports or a service stand in the way. Nothing is left running.
    pub async fn open(plan: Plan) -> Result<Self, StartError> {
        let mut notices = plan.notices;
        let mut context = Context::new(plan.env.clone(), plan.project.id.clone());
        context.log = plan.log;
        let mut bound: Vec<(&'static ServiceRow, Bound)> = Vec::new();
        for planned in &plan.services {
            let taken: Vec<u16> = bound.iter().map(|(_, bound)| bound.port()).collect();
            let (opened, notice) = ports::bind(planned, &taken)?;
            notices.extend(notice);
            let listing = Listing::new(planned.row.name, opened.addrs().to_vec());
            if let Some(listing) = listing {
                context.directory.publish(listing);
            }
            bound.push((planned.row, opened));
        }

        // Data is opened once the ports are bound: clients can connect already, and are answered soon.
        let rows = bound.iter().map(|(row, _)| *row).collect();
        let kept = plan.data.as_ref().map(|data| data.services.clone()).unwrap_or_default();
        let imports = plan.import.is_some();
        let (mut folder, services) =
            build(rows, context.clone(), plan.data, plan.configs, imports).await?;
        let mut running = Vec::new();
        let mut gates = Vec::new();
        for ((row, bound), service) in bound.into_iter().zip(services.iter().cloned()) {
            let mut router = service.router();
            if imports && service.data().is_some() {
                let (waiting, gate) = Gate::before(router);
                router = waiting;
                gates.push(gate);
            }
            let serving = bound.serve(router, ServeOptions::default());
            let serving = serving.map_err(|error| StartError::Listen {
                description: row.description,
                reason: error.to_string(),
            })?;
            if service.has_web_socket()
                && let Some(listing) = context.directory.find(row.name)
            {
                context.directory.publish(Listing { has_web_socket: true, ..listing });
            }
            running.push(Running { row, service, serving, locator: None });
        }
        let kept_dir = folder.as_ref().map(|folder| folder.dir().to_owned());
        if let Some(import) = plan.import {
            let work = import::Work { import, services: services.clone(), folder, kept: kept.clone() };
            folder = import::run(work, &plan.env, &context.log).await?;
            gates.into_iter().for_each(Gate::open);
        }

        if let Some(folder) = plan.locator
            && let Some(hub) = running.iter_mut().find(|running| running.row.name == "hub")
            && let Some(listing) = context.directory.find("hub")
        {
            let (locator, notice) = claim(&folder, &plan.project.id, &listing);
            hub.locator = locator;
            notices.extend(notice);
        }
        running.sort_by_key(|running| std::cmp::Reverse(running.row.stop_rank));
        let inner = Inner {
            env: plan.env,
            log: context.log,
            cwd: plan.cwd,
            kept_dir,
            project: plan.project.id,
            named: plan.project.named,
            notices,
            listings: context.directory.listings(),
            named_snapshots: folder.as_ref().map_or_else(Named::default, |folder| {
                Named::kept(SnapshotFolders::at(folder.dir()), kept)
            }),
            live: Mutex::new(Live { running, open: services.clone(), folder }),
            services,
            snapshots: Snapshots::default(),
            exports: Exports::default(),
            directory: context.directory,
            stopped: AtomicBool::new(false),
        };
        let suite = Self { inner: Arc::new(inner) };
        suite.answer(&context.exporter);
        Ok(suite)
    }

    fn check_running(&self) -> Result<(), SuiteError> {
        match self.inner.stopped.load(Ordering::Acquire) {
            true => Err(SuiteError::Stopped),
            false => Ok(()),
        }
    }

    /// Stops every service, in order, within a bound, and writes what is kept to the disk. May be called
    /// again: every call returns when the suite is stopped.
    ///
    /// # Errors
    /// Kept data could not be written to the end; everything is stopped all the same.
    pub async fn stop(&self) -> Result<(), SuiteError> {
        self.stop_within(STOP_GRACE, |_| ()).await
    }

    /// Stops with a bound of the caller's for requests in flight, and says which service is next.
    ///
    /// When the future is dropped, another call goes on from there.
    ///
    /// # Errors
    /// As [`Suite::stop`].
    pub async fn stop_within(
        &self,
        grace: Duration,
        mut next: impl FnMut(&'static ServiceRow),
    ) -> Result<(), SuiteError> {
        self.inner.stopped.store(true, Ordering::Release);
        // An export is all or nothing, so it has the time it takes.
        let _none = self.inner.exports.none().await;
        let mut live = self.inner.live.lock().await;
        while let Some(one) = live.running.pop() {
            next(one.row);
            one.service.shutdown();
            one.serving.stop(grace).await;
            self.inner.directory.withdraw(one.row.name);
            drop(one.locator);
        }
        self.inner.end_named().await;
        self.inner.snapshots.end();
        let mut failed = Ok(());
        while let Some(service) = live.open.last().cloned() {
            let name = service.name();
            let close = move || service.data().map_or(Ok(()), Data::close);
            let closed = spawn_blocking(close).await.unwrap_or_else(|error| {
                Err(Status::internal(format!("closing the data failed: {error}")))
            });
            failed =
                failed.and(closed.map_err(|status| SuiteError::Service { service: name, status }));
            live.open.pop();
        }
        live.folder = None;
        failed
    }
}
