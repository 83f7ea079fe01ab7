//! `BindingSuite`: one suite, from its options to its end.

use std::sync::Arc;
use std::time::Duration;

use host_suite::{ExportOptions, Log, Machine, StartOptions, Suite, SuiteError};
use napi::Env;
use napi::bindgen_prelude::{Function, Object};
use napi::threadsafe_function::{
    ThreadsafeFunction, ThreadsafeFunctionCallMode, UnknownReturnValue,
};
use napi_derive::napi;
use parking_lot::Mutex;
use serde_json::Value;

use crate::answer::{Failure, text};
use crate::home::{Home, Lost};

/// How long a stop waits for requests in flight. They take microseconds; longer-lived ones are streams,
/// which end when their service shuts down, and clients that do not go on, which a test need not await.
const STOP_GRACE: Duration = Duration::from_millis(30);

/// One suite. Dropping it, as the end of its JavaScript environment does, stops it.
#[napi]
pub struct BindingSuite {
    home: Arc<Home>,
    running: Arc<Mutex<Option<Suite>>>,
    options: String,
    log: Log,
}

/// Calls JavaScript from any thread. It is weak: it does not keep Node's event loop alive.
type Warn =
    ThreadsafeFunction<String, UnknownReturnValue, String, napi::Status, false, true, WARNINGS_MAX>;

/// Warnings waiting for the JavaScript thread; with more, the newest are left out.
const WARNINGS_MAX: usize = 256;

#[napi]
impl BindingSuite {
    /// A suite that is not started yet. `options` is the JSON of `start`'s argument; `warn` is called with
    /// what the running suite has to tell.
    #[napi(
        constructor,
        catch_unwind,
        ts_args_type = "options: string, warn: (text: string) => void"
    )]
    pub fn new(options: String, warn: Function<String, UnknownReturnValue>) -> napi::Result<Self> {
        let home = Home::open().map_err(|error| napi::Error::from_reason(error.to_string()))?;
        let warn: Warn = warn
            .build_threadsafe_function()
            .callee_handled::<false>()
            .weak::<true>()
            .max_queue_size::<WARNINGS_MAX>()
            .build()?;
        let log = Log::new(move |label, text| {
            // A full queue, or an environment that is ending, leaves it out.
            let _status =
                warn.call(format!("{label}: {text}"), ThreadsafeFunctionCallMode::NonBlocking);
        });
        Ok(Self { home, running: Arc::default(), options, log })
    }

    /// Starts it, and answers what it is: project, services and environment.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn start<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let running = Arc::clone(&self.running);
        let (options, log) = (self.options.clone(), self.log.clone());
        let work = async move {
            text(launch(&options, log).await.map(|suite| {
                let described = suite.describe();
                *running.lock() = Some(suite);
                described
            }))
        };
        self.home.promise(env, work, lost, || ())
    }

    /// Deletes the data of one project, or of all.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn clear<'env>(
        &self,
        env: &'env Env,
        project: Option<String>,
    ) -> napi::Result<Object<'env>> {
        let work = on_suite(&self.running, move |suite| {
            suite.clear(project.as_deref())?;
            Ok(Value::Null)
        });
        self.home.promise(env, async { text(work.await) }, lost, || ())
    }

    /// Makes the project `to` a copy of `from`, or of the suite's own.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn fork<'env>(
        &self,
        env: &'env Env,
        to: String,
        from: Option<String>,
    ) -> napi::Result<Object<'env>> {
        let work = on_suite(&self.running, move |suite| {
            suite.fork(&to, from.as_deref())?;
            Ok(Value::Null)
        });
        self.home.promise(env, async { text(work.await) }, lost, || ())
    }

    /// Makes the suite what it was when the snapshot of that name was taken.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn restore_named<'env>(&self, env: &'env Env, name: String) -> napi::Result<Object<'env>> {
        let work = on_suite(&self.running, move |suite| {
            suite.restore_named(&name)?;
            Ok(Value::Null)
        });
        self.home.promise(env, async { text(work.await) }, lost, || ())
    }

    /// The names of the snapshots that have one.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn snapshot_names<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let work = on_suite(&self.running, |suite| Ok(suite.snapshot_names()?.into()));
        self.home.promise(env, async { text(work.await) }, lost, || ())
    }

    /// Moves the suite's clock forward by so many milliseconds, and resolves when what is due is done.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn advance<'env>(&self, env: &'env Env, by_ms: f64) -> napi::Result<Object<'env>> {
        // JavaScript has checked that it is neither negative nor endless; what is too long is refused as such.
        let by = Duration::try_from_secs_f64(by_ms / 1_000.0).unwrap_or(Duration::MAX);
        let work = on_suite(&self.running, move |suite| {
            suite.advance(by)?;
            Ok(Value::Null)
        });
        self.home.promise(env, async { text(work.await) }, lost, || ())
    }

    /// Resolves when every listener has been sent what was committed before.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn idle<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let suite = self.running.lock().clone();
        let work = async move {
            text(match suite {
                Some(suite) => suite
                    .idle()
                    .await
                    .map(|()| Value::Null)
                    .map_err(|error| Failure::new(error.code(), &error)),
                None => Err(Failure::stopped()),
            })
        };
        self.home.promise(env, work, lost, || ())
    }

    /// Writes an official export into a folder, also into one with other files where that is forced.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn export_data<'env>(
        &self,
        env: &'env Env,
        dir: String,
        force: bool,
    ) -> napi::Result<Object<'env>> {
        let suite = self.running.lock().clone();
        let work = async move {
            let options = ExportOptions { dir: dir.into(), targets: None, force };
            text(match suite {
                Some(suite) => {
                    suite.export(options).await.map_err(|error| Failure::new(error.code(), &error))
                }
                None => Err(Failure::stopped()),
            })
        };
        self.home.promise(env, work, lost, || ())
    }

    /// Asks a service for what it offers beside its protocols. `argument` is JSON, and so is the answer.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn control<'env>(
        &self,
        env: &'env Env,
        service: String,
        name: String,
        argument: String,
    ) -> napi::Result<Object<'env>> {
        let work = on_suite(&self.running, move |suite| {
            let argument = serde_json::from_str(&argument)
                .map_err(|error| SuiteError::Argument(error.to_string()))?;
            suite.control(&service, &name, &argument)
        });
        self.home.promise(env, async { text(work.await) }, lost, || ())
    }

    /// The time on the suite's clock in milliseconds since 1970; nothing where it does not run.
    #[napi(catch_unwind)]
    pub fn now(&self) -> Option<f64> {
        let micros = self.running.lock().as_ref().map(|suite| suite.now().0)?;
        // Exact: the times of clocks are far below 2^53 milliseconds.
        Some(micros.div_euclid(1_000) as f64)
    }

    /// What a snapshot needs of its suite.
    pub(crate) fn parts(&self) -> (Arc<Home>, Arc<Mutex<Option<Suite>>>) {
        (Arc::clone(&self.home), Arc::clone(&self.running))
    }

    /// Stops it and joins its threads. Resolves at once where it is stopped already.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn stop<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let suite = self.running.lock().take();
        let home = Arc::clone(&self.home);
        let work = async move {
            text(match suite {
                Some(suite) => suite
                    .stop_within(STOP_GRACE, |_| ())
                    .await
                    .map(|()| Value::Null)
                    .map_err(|error| Failure::new(error.code(), &error)),
                None => Ok(Value::Null),
            })
        };
        self.home.promise(env, work, lost_stop, move || home.close(async {}))
    }
}

impl Drop for BindingSuite {
    fn drop(&mut self) {
        let suite = self.running.lock().take();
        self.home.close(async {
            if let Some(suite) = suite {
                // Nobody is left who could be told.
                let _unheard = suite.stop_within(STOP_GRACE, |_| ()).await;
            }
        });
    }
}

async fn launch(options: &str, log: Log) -> Result<Suite, Failure> {
    let options = serde_json::from_str(options)
        .map_err(|error| Failure::internal(format!("the options came as no JSON: {error}")))?;
    let machine = Machine::of_process().map_err(|error| {
        Failure::system(format!("the current directory cannot be read: {error}"))
    })?;
    let started = match StartOptions::from_json(&options, machine) {
        Ok(options) => Suite::start(StartOptions { log, ..options }).await,
        Err(error) => Err(error),
    };
    started.map_err(|error| Failure::new(error.code(), &error))
}

/// Does something with the running suite, on a thread that may take its time.
pub(crate) fn on_suite<W>(
    running: &Mutex<Option<Suite>>,
    work: W,
) -> impl Future<Output = Result<Value, Failure>> + Send + use<W>
where
    W: FnOnce(&Suite) -> Result<Value, SuiteError> + Send + 'static,
{
    let suite = running.lock().clone();
    async move {
        let suite = suite.ok_or_else(Failure::stopped)?;
        let done = tokio::task::spawn_blocking(move || work(&suite)).await;
        let done = done.map_err(|_| Failure::internal(PANICKED))?;
        done.map_err(|error| Failure::new(error.code(), &error))
    }
}

/// Our defect, as users read it.
const PANICKED: &str = "a task of the suite panicked: this is a defect of firelet";

pub(crate) fn lost(why: Lost) -> String {
    text(Err(match why {
        Lost::Ended => Failure::stopped(),
        Lost::Panicked => Failure::internal(PANICKED),
    }))
}

/// A stop that comes late or fails has nothing left to stop.
fn lost_stop(why: Lost) -> String {
    match why {
        Lost::Ended => text(Ok(Value::Null)),
        Lost::Panicked => lost(why),
    }
}
