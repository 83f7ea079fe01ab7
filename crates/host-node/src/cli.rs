//! `BindingCli`: one command line, from its arguments to its exit code.

use std::sync::Arc;
use std::time::Duration;

use host_suite::cli::{self, CliIo, Signal, SignalSource};
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;
use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::answer::{Failure, text};
use crate::home::{Home, Lost};

/// One run of the command line. `npm/cli/bin.js` listens for signals, because Node owns their
/// handlers in its process, and passes them on.
#[napi]
pub struct BindingCli {
    home: Arc<Home>,
    parameters: Vec<String>,
    uptime: Duration,
    signals: mpsc::Sender<Signal>,
    received: Mutex<Option<mpsc::Receiver<Signal>>>,
}

/// Signals that wait to be read: more than anybody sends before a stop is over.
const SIGNALS_MAX: usize = 16;

#[napi]
impl BindingCli {
    /// A command line without the program's own name, and how long the process runs already.
    #[napi(constructor, catch_unwind)]
    pub fn new(parameters: Vec<String>, uptime_ms: f64) -> napi::Result<Self> {
        host_suite::memory::share_arenas();
        let home = Home::open().map_err(|error| napi::Error::from_reason(error.to_string()))?;
        let (signals, received) = mpsc::channel(SIGNALS_MAX);
        let uptime = Duration::try_from_secs_f64(uptime_ms / 1_000.0).unwrap_or_default();
        Ok(Self { home, parameters, uptime, signals, received: Mutex::new(Some(received)) })
    }

    /// Runs it, and answers the exit code.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn run<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let parameters = self.parameters.clone();
        let uptime = self.uptime;
        let received = self.received.lock().take();
        let home = Arc::clone(&self.home);
        let work = async move {
            let Some(received) = received else {
                return text(Err(Failure::internal("this command line has run already")));
            };
            let io = match CliIo::of_process() {
                Ok(io) => CliIo { signals: SignalSource::Channel(received), uptime, ..io },
                Err(error) => {
                    let message = format!("the current directory cannot be read: {error}");
                    return text(Err(Failure::system(message)));
                }
            };
            text(Ok(cli::run(&parameters, io).await.into()))
        };
        self.home.promise(env, work, lost, move || home.close(async {}))
    }

    /// Tells the running command of a signal by its name. One it does not know is left out.
    #[napi(catch_unwind)]
    pub fn signal(&self, name: String) {
        let signal = match name.as_str() {
            "SIGINT" => Signal::Interrupt,
            "SIGTERM" => Signal::Terminate,
            "SIGHUP" => Signal::Hangup,
            "SIGQUIT" => Signal::Quit,
            _ => return,
        };
        // Full or closed: the command is ending already.
        let _ending = self.signals.try_send(signal);
    }
}

impl Drop for BindingCli {
    fn drop(&mut self) {
        self.home.close(async {});
    }
}

fn lost(why: Lost) -> String {
    text(Err(match why {
        Lost::Ended => Failure::internal("this command line has ended"),
        Lost::Panicked => Failure::internal("the command panicked: this is a defect of firelet"),
    }))
}
