//! Where the work of one JavaScript object runs: a tokio runtime that is made with it, and joined
//! when it ends.

use std::future::Future;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use napi::Env;
use napi::bindgen_prelude::Object;
use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};

/// Workers of one runtime: two serve everything a test suite does, and a large machine gives four.
const WORKERS: (usize, usize) = (2, 4);

/// Queries at once. One whose reader is slow keeps its thread for some time, and a thread that waits costs
/// little; they are started when needed.
const BLOCKING_MAX: usize = 2_048;

/// How long joining may take. Workers end within microseconds once their tasks are gone; only a
/// blocking job that does not look up, such as a long query, can take longer, and is left then.
const JOIN_MAX: Duration = Duration::from_millis(50);

/// A runtime until its end.
pub(crate) struct Home {
    runtime: Mutex<Option<Runtime>>,
}

type Settle = Box<dyn FnOnce(Env) -> napi::Result<String> + Send>;

impl Home {
    /// Starts a runtime.
    ///
    /// # Errors
    /// The operating system's, when it gives no thread or descriptor.
    pub(crate) fn open() -> std::io::Result<Arc<Self>> {
        let (least, most) = WORKERS;
        let workers = available_parallelism().map_or(least, |cores| cores.get().clamp(least, most));
        let runtime = Builder::new_multi_thread()
            .worker_threads(workers)
            .max_blocking_threads(BLOCKING_MAX)
            .thread_name("firelet")
            .enable_all()
            .build()?;
        runtime.spawn(host_suite::memory::keep_low());
        Ok(Arc::new(Self { runtime: Mutex::new(Some(runtime)) }))
    }

    /// Runs `work` on the runtime and returns a promise of what it answers.
    ///
    /// `settle` runs on the JavaScript thread once the answer is there, just before the promise
    /// resolves. After the end, and when `work` panics, the answer is what `lost` makes of it.
    pub(crate) fn promise<'env>(
        &self,
        env: &'env Env,
        work: impl Future<Output = String> + Send + 'static,
        lost: fn(Lost) -> String,
        settle: impl FnOnce() + Send + 'static,
    ) -> napi::Result<Object<'env>> {
        let (deferred, promise) = env.create_deferred::<String, Settle>()?;
        let guard = self.runtime.lock();
        let Some(runtime) = guard.as_ref() else {
            deferred.resolve(Box::new(move |_| Ok(lost(Lost::Ended))));
            return Ok(promise);
        };
        let work = runtime.spawn(work);
        runtime.spawn(async move {
            let text = work.await.unwrap_or_else(|_| lost(Lost::Panicked));
            deferred.resolve(Box::new(move |_| {
                settle();
                Ok(text)
            }));
        });
        Ok(promise)
    }

    /// Runs `last` to its end or for `JOIN_MAX`, then ends all tasks and joins all threads.
    ///
    /// Call it on the JavaScript thread. The second call does nothing.
    pub(crate) fn close(&self, last: impl Future<Output = ()>) {
        let Some(runtime) = self.runtime.lock().take() else { return };
        runtime.block_on(async {
            // A job that is late is dropped with the runtime.
            let _late = tokio::time::timeout(JOIN_MAX, last).await;
        });
        runtime.shutdown_timeout(JOIN_MAX);
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // Only when nobody closed it, which happens when the JavaScript environment ends before an
        // object for this home came to be. This may be one of the runtime's own workers, so no wait.
        if let Some(runtime) = self.runtime.get_mut().take() {
            runtime.shutdown_background();
        }
    }
}

/// Why a piece of work has no answer of its own.
pub(crate) enum Lost {
    /// The home was closed before.
    Ended,
    /// It panicked: our defect.
    Panicked,
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn closing_runs_the_last_work_once() {
        let home = Home::open().unwrap();
        let ran = AtomicBool::new(false);
        home.close(async { ran.store(true, Ordering::Relaxed) });
        assert!(ran.swap(false, Ordering::Relaxed));
        home.close(async { ran.store(true, Ordering::Relaxed) });
        assert!(!ran.load(Ordering::Relaxed), "the home is closed already");
    }

    #[test]
    fn last_work_that_does_not_end_is_left() {
        Home::open().unwrap().close(std::future::pending());
    }

    #[test]
    fn a_home_may_be_dropped_by_its_own_worker() {
        let home = Home::open().unwrap();
        let handle = home.runtime.lock().as_ref().unwrap().handle().clone();
        let (done, seen) = std::sync::mpsc::channel();
        handle.spawn(async move {
            drop(home);
            done.send(()).unwrap();
        });
        seen.recv_timeout(Duration::from_secs(10)).unwrap();
    }
}
