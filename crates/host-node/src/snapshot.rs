//! `BindingSnapshot`: a moment of a suite's data, for as long as JavaScript holds it.

use std::sync::Arc;

use host_suite::{Snapshot, Suite, SuiteError};
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;
use parking_lot::Mutex;
use serde_json::Value;

use crate::answer::text;
use crate::home::Home;
use crate::suite::{BindingSuite, lost, on_suite};

/// A snapshot that is taken once and restored any number of times.
#[napi]
pub struct BindingSnapshot {
    home: Arc<Home>,
    running: Arc<Mutex<Option<Suite>>>,
    taken: Arc<Mutex<Option<Snapshot>>>,
}

#[napi]
impl BindingSnapshot {
    /// A snapshot of a suite that is not taken yet.
    #[napi(constructor, catch_unwind)]
    pub fn new(suite: &BindingSuite) -> Self {
        let (home, running) = suite.parts();
        Self { home, running, taken: Arc::default() }
    }

    /// Takes it, of one project or of all, by a name or without one.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn take<'env>(
        &self,
        env: &'env Env,
        project: Option<String>,
        name: Option<String>,
    ) -> napi::Result<Object<'env>> {
        let taken = Arc::clone(&self.taken);
        let work = on_suite(&self.running, move |suite| {
            let project = project.as_deref();
            *taken.lock() = Some(match name {
                Some(name) => suite.snapshot_named(&name, project)?,
                None => suite.snapshot(project)?,
            });
            Ok(Value::Null)
        });
        self.home.promise(env, async { text(work.await) }, lost, || ())
    }

    /// Makes `suite` what it was when this was taken.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn restore_in<'env>(
        &self,
        env: &'env Env,
        suite: &BindingSuite,
    ) -> napi::Result<Object<'env>> {
        let taken = self.taken.lock().clone();
        let (home, running) = suite.parts();
        let work = on_suite(&running, move |suite| {
            // One that was never taken is nobody's.
            let taken = taken.ok_or(SuiteError::ForeignSnapshot)?;
            suite.restore(&taken)?;
            Ok(Value::Null)
        });
        home.promise(env, async { text(work.await) }, lost, || ())
    }
}
