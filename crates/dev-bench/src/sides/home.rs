//! The runtime of a side in this process: its own, as every suite in Node has its own.

use std::future::Future;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::runtime::{Builder, Runtime};

/// As in the addon: two workers, and four on a large machine.
const WORKERS: (usize, usize) = (2, 4);

/// As in the addon: how long joining the workers may take.
const JOIN_MAX: Duration = Duration::from_millis(50);

/// A runtime with its threads.
pub(crate) struct Home {
    runtime: Option<Runtime>,
}

impl Home {
    pub(crate) fn open() -> Result<Self> {
        let cores = std::thread::available_parallelism().map_or(WORKERS.0, usize::from);
        let runtime = Builder::new_multi_thread()
            .worker_threads(cores.clamp(WORKERS.0, WORKERS.1))
            .thread_name("bench-side")
            .enable_all()
            .build()?;
        runtime.spawn(host_suite::memory::keep_low());
        Ok(Self { runtime: Some(runtime) })
    }

    /// Runs something on the workers.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T> {
        let runtime = self.runtime.as_ref().context("this runtime is closed")?;
        runtime.spawn(work).await.context("a task of this side panicked")
    }

    /// Joins the workers.
    pub(crate) async fn close(mut self) -> Result<()> {
        let Some(runtime) = self.runtime.take() else { return Ok(()) };
        // Joining blocks, which the client's own runtime must not.
        tokio::task::spawn_blocking(move || runtime.shutdown_timeout(JOIN_MAX)).await?;
        Ok(())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // After an error: this may be inside a runtime, so no wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
