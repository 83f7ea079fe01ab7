//! A running suite: ports bound first, then services opened, served, and stopped in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base_env::{Env, UnixMicros};
use base_status::{Code, Status};
use front::{Bound, ServeOptions, Serving};
use serde_json::{Map, Value, json};
use svc_firestore::BAD_RULES;
use svc_hub::{Claim, Locator};
use svc_kit::{Context, Data, Directory, Listing, Place, Service};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use crate::data::DataFolder;
use crate::error::{StartError, SuiteError};
use crate::limits::{CLOCK_MAX, STOP_GRACE};
use crate::notice::Notice;
use crate::options::StartOptions;
use crate::plan::{Plan, PlannedData};
use crate::ports;
use crate::services::{self, ServiceConfigs, ServiceRow};
use crate::snapshot::{Snapshot, Snapshots};

/// A started suite. Clones are the same suite.
///
/// Dropping the last clone closes the sockets at once; [`Suite::stop`] lets requests finish first.
#[derive(Clone)]
pub struct Suite {
    inner: Arc<Inner>,
}

struct Inner {
    env: Env,
    project: String,
    named: bool,
    notices: Vec<Notice>,
    listings: Vec<Listing>,
    services: Vec<Arc<dyn Service>>,
    snapshots: Snapshots,
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

/// One running service, for tables and for JavaScript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceInfo {
    /// Its name, such as `firestore`.
    pub name: &'static str,
    /// Its name in messages.
    pub description: &'static str,
    /// The host clients connect to.
    pub host: String,
    /// The port.
    pub port: u16,
    /// `host:port`, an IPv6 host in brackets.
    pub authority: String,
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
        let (folder, services) = build(rows, context.clone(), plan.data, plan.configs).await?;
        let built = bound.into_iter().zip(services.iter().cloned());
        let built = built.map(|((row, bound), service)| (row, bound, service));
        let mut running = Vec::new();
        for (row, bound, service) in built {
            let serving = bound.serve(service.router(), ServeOptions::default());
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
            project: plan.project.id,
            named: plan.project.named,
            notices,
            listings: context.directory.listings(),
            live: Mutex::new(Live { running, open: services.clone(), folder }),
            services,
            snapshots: Snapshots::default(),
            directory: context.directory,
            stopped: AtomicBool::new(false),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The project id.
    #[must_use]
    pub fn project(&self) -> &str {
        &self.inner.project
    }

    /// Whether somebody named the project; otherwise it is the placeholder.
    #[must_use]
    pub fn project_is_named(&self) -> bool {
        self.inner.named
    }

    /// What there is to tell the user about this start.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.inner.notices
    }

    /// The services of this suite, in the table's order. They stay listed after a stop.
    #[must_use]
    pub fn services(&self) -> Vec<ServiceInfo> {
        let info = |listing: &Listing| {
            let row = services::find(listing.name)?;
            Some(ServiceInfo {
                name: row.name,
                description: row.description,
                host: listing.host.clone(),
                port: listing.port,
                authority: listing.authority(),
            })
        };
        self.inner.listings.iter().filter_map(info).collect()
    }

    /// The environment variables by which SDKs find this suite, and the project they are to use.
    #[must_use]
    pub fn env(&self) -> Vec<(String, String)> {
        let of_services = self.inner.listings.iter().flat_map(|listing| {
            services::find(listing.name).into_iter().flat_map(|row| row.environment(listing))
        });
        let project = &self.inner.project;
        let firebase_config = json!({
            "projectId": project,
            "storageBucket": format!("{project}.appspot.com"),
            "databaseURL": format!("https://{project}.firebaseio.com"),
        });
        of_services
            .chain([
                ("GCLOUD_PROJECT".to_owned(), project.clone()),
                ("FIREBASE_CONFIG".to_owned(), firebase_config.to_string()),
            ])
            .collect()
    }

    /// The suite as the JavaScript API hands it out: project, services, variables and notices.
    #[must_use]
    pub fn describe(&self) -> Value {
        let services: Map<String, Value> = self
            .services()
            .into_iter()
            .map(|info| {
                let url = format!("http://{}", info.authority);
                (info.name.to_owned(), json!({"host": info.host, "port": info.port, "url": url}))
            })
            .collect();
        let env: Map<String, Value> =
            self.env().into_iter().map(|(name, value)| (name, Value::String(value))).collect();
        let notices: Vec<Value> = self
            .notices()
            .iter()
            .map(|notice| {
                json!({"level": notice.level.name(), "label": notice.label, "text": notice.text})
            })
            .collect();
        json!({"project": self.project(), "services": services, "env": env, "notices": notices})
    }

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

    fn check_running(&self) -> Result<(), SuiteError> {
        match self.inner.stopped.load(Ordering::Acquire) {
            true => Err(SuiteError::Stopped),
            false => Ok(()),
        }
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
        let mut live = self.inner.live.lock().await;
        while let Some(one) = live.running.pop() {
            next(one.row);
            one.service.shutdown();
            one.serving.stop(grace).await;
            self.inner.directory.withdraw(one.row.name);
            drop(one.locator);
        }
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

/// Opens the folder of kept data and builds the services, on a thread that may take its time.
async fn build(
    rows: Vec<&'static ServiceRow>,
    context: Context,
    data: Option<PlannedData>,
    configs: ServiceConfigs,
) -> Result<(Option<DataFolder>, Vec<Arc<dyn Service>>), StartError> {
    let build = move || {
        let kept = data.filter(|data| !data.services.is_empty());
        let folder = kept.as_ref().map(|kept| DataFolder::open(&kept.dir)).transpose()?;
        let mut services = Vec::new();
        for row in rows {
            // The plan holds only services that exist.
            let Some(constructor) = row.constructor else { continue };
            let mut context = context.clone();
            if let (Some(kept), Some(folder)) = (&kept, &folder)
                && kept.services.contains(&row.name)
            {
                let dir = folder.of(row.name);
                context.place = Place::Kept { dir, durability: kept.durability };
            }
            let service = constructor(context, &configs)
                .map_err(|status| StartError::Service { description: row.description, status })?;
            services.push(service);
        }
        Ok((folder, services))
    };
    spawn_blocking(build).await.unwrap_or_else(|error| {
        let status = Status::internal(format!("building the services failed: {error}"));
        Err(StartError::Service { description: "the suite", status })
    })
}

/// A service's refusal as the suite's.
fn of(service: &dyn Service) -> impl FnOnce(Status) -> SuiteError {
    let service = service.name();
    move |status| SuiteError::Service { service, status }
}

/// Claims the project's locator file. A suite works without one, so what stands in the way is a notice.
fn claim(
    folder: &std::path::Path,
    project: &str,
    hub: &Listing,
) -> (Option<Locator>, Option<Notice>) {
    match Locator::claim(folder, project, crate::VERSION, hub) {
        Ok(Claim::Written(locator)) => (Some(locator), None),
        Ok(Claim::OtherSuite { .. }) => {
            let text = format!(
                "It seems that you are running multiple instances of the emulator suite for \
                 project {project}. This may result in unexpected behavior."
            );
            (None, Some(Notice::warning("emulators", text)))
        }
        Err(error) => {
            let file = folder.join(Locator::file_name(project));
            let text = format!(
                "could not write `{}`, so the firebase command will not find this suite: {error}",
                file.display()
            );
            (None, Some(Notice::warning("hub", text)))
        }
    }
}
