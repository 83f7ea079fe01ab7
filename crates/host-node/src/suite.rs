//! `BindingSuite`: one suite, from its options to its end.

use std::sync::Arc;
use std::time::Duration;

use host_suite::{Machine, StartOptions, Suite};
use napi::Env;
use napi::bindgen_prelude::Object;
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
}

#[napi]
impl BindingSuite {
    /// A suite that is not started yet. `options` is the JSON of `start`'s argument.
    #[napi(constructor, catch_unwind)]
    pub fn new(options: String) -> napi::Result<Self> {
        let home = Home::open().map_err(|error| napi::Error::from_reason(error.to_string()))?;
        Ok(Self { home, running: Arc::default(), options })
    }

    /// Starts it, and answers what it is: project, services and environment.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn start<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let running = Arc::clone(&self.running);
        let options = self.options.clone();
        let work = async move {
            text(launch(&options).await.map(|suite| {
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
        let suite = self.running.lock().clone();
        let work = async move {
            text(match suite {
                Some(suite) => suite
                    .clear(project.as_deref())
                    .map(|()| Value::Null)
                    .map_err(|error| Failure::new(error.code(), &error)),
                None => Err(Failure::stopped()),
            })
        };
        self.home.promise(env, work, lost, || ())
    }

    /// Stops it and joins its threads. Resolves at once where it is stopped already.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn stop<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let suite = self.running.lock().take();
        let home = Arc::clone(&self.home);
        let work = async move {
            if let Some(suite) = suite {
                suite.stop_within(STOP_GRACE, |_| ()).await;
            }
            text(Ok(Value::Null))
        };
        self.home.promise(env, work, lost_stop, move || home.close(async {}))
    }
}

impl Drop for BindingSuite {
    fn drop(&mut self) {
        let suite = self.running.lock().take();
        self.home.close(async {
            if let Some(suite) = suite {
                suite.stop_within(STOP_GRACE, |_| ()).await;
            }
        });
    }
}

async fn launch(options: &str) -> Result<Suite, Failure> {
    let options = serde_json::from_str(options)
        .map_err(|error| Failure::internal(format!("the options came as no JSON: {error}")))?;
    let machine = Machine::of_process().map_err(|error| {
        Failure::internal(format!("the current directory cannot be read: {error}"))
    })?;
    let started = match StartOptions::from_json(&options, machine) {
        Ok(options) => Suite::start(options).await,
        Err(error) => Err(error),
    };
    started.map_err(|error| Failure::new(error.code(), &error))
}

fn lost(why: Lost) -> String {
    text(Err(match why {
        Lost::Ended => Failure::stopped(),
        Lost::Panicked => {
            Failure::internal("a task of the suite panicked: this is a defect of firelet")
        }
    }))
}

/// A stop that comes late or fails has nothing left to stop.
fn lost_stop(why: Lost) -> String {
    match why {
        Lost::Ended => text(Ok(Value::Null)),
        Lost::Panicked => lost(why),
    }
}
