//! Signals: which the command line listens to, and repeats of one that are one.

use std::time::Duration;

use base_env::Env;
use base_env::process;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::limits::SIGNAL_REPEAT;

/// A signal that ends the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT, Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP.
    Hangup,
    /// SIGQUIT.
    Quit,
}

impl Signal {
    /// The name in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT (Ctrl-C)",
            Self::Terminate => "SIGTERM",
            Self::Hangup => "SIGHUP",
            Self::Quit => "SIGQUIT",
        }
    }

    /// Whether a terminal sends it to the whole foreground group when a key is pressed.
    pub(super) fn is_from_keyboard(self) -> bool {
        match self {
            Self::Interrupt | Self::Quit => true,
            Self::Terminate | Self::Hangup => false,
        }
    }

    /// The same signal for a child.
    pub(super) fn for_child(self) -> process::Signal {
        match self {
            Self::Interrupt => process::Signal::Interrupt,
            Self::Terminate => process::Signal::Terminate,
            Self::Hangup => process::Signal::Hangup,
            Self::Quit => process::Signal::Quit,
        }
    }
}

/// Where signals come from.
#[derive(Debug)]
pub enum SignalSource {
    /// The process.
    Process,
    /// A test.
    Channel(mpsc::Receiver<Signal>),
}

/// How often a signal has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    First(Signal),
    Again(Signal),
}

/// The signals of one run.
pub(super) struct Signals {
    receiver: mpsc::Receiver<Signal>,
    listeners: Vec<JoinHandle<()>>,
    env: Env,
    seen: Vec<(Signal, Duration)>,
}

/// Signals that wait to be read: more than anybody sends between two reads.
const WAITING_MAX: usize = 16;

impl Signals {
    /// Starts to listen. Needs a runtime.
    pub(super) fn listen(source: SignalSource, env: Env) -> Self {
        let (receiver, listeners) = match source {
            SignalSource::Channel(receiver) => (receiver, Vec::new()),
            SignalSource::Process => {
                let (sender, receiver) = mpsc::channel(WAITING_MAX);
                (receiver, listen_to_process(&sender))
            }
        };
        Self { receiver, listeners, env, seen: Vec::new() }
    }

    /// Whether any signal has been read so far.
    pub(super) fn any_came(&self) -> bool {
        !self.seen.is_empty()
    }

    /// The next signal. Repeats that come at once are left out.
    pub(super) async fn next(&mut self) -> Arrival {
        loop {
            let Some(signal) = self.receiver.recv().await else {
                // Nobody sends any more: there will be no signal.
                return std::future::pending().await;
            };
            let now = self.env.monotonic();
            let known = self.seen.iter_mut().find(|(seen, _)| *seen == signal);
            match known {
                None => {
                    self.seen.push((signal, now));
                    return Arrival::First(signal);
                }
                Some((_, last)) => {
                    let repeat = now.saturating_sub(*last) < SIGNAL_REPEAT;
                    *last = now;
                    if !repeat {
                        return Arrival::Again(signal);
                    }
                }
            }
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for listener in &self.listeners {
            listener.abort();
        }
    }
}

#[cfg(unix)]
fn listen_to_process(sender: &mpsc::Sender<Signal>) -> Vec<JoinHandle<()>> {
    use tokio::signal::unix::{SignalKind, signal};

    let kinds = [
        (Signal::Interrupt, SignalKind::interrupt()),
        (Signal::Terminate, SignalKind::terminate()),
        (Signal::Hangup, SignalKind::hangup()),
        (Signal::Quit, SignalKind::quit()),
    ];
    kinds
        .into_iter()
        .filter_map(|(name, kind)| Some((name, signal(kind).ok()?)))
        .map(|(name, mut stream)| {
            let sender = sender.clone();
            tokio::spawn(async move {
                while stream.recv().await.is_some() {
                    // A full channel holds more signals than it takes to stop.
                    let _ = sender.try_send(name);
                }
            })
        })
        .collect()
}

#[cfg(windows)]
fn listen_to_process(sender: &mpsc::Sender<Signal>) -> Vec<JoinHandle<()>> {
    use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close};

    let mut listeners = Vec::new();
    macro_rules! listen {
        ($signal:expr, $stream:expr) => {
            if let Ok(mut stream) = $stream {
                let sender = sender.clone();
                listeners.push(tokio::spawn(async move {
                    while stream.recv().await.is_some() {
                        let _ = sender.try_send($signal);
                    }
                }));
            }
        };
    }
    listen!(Signal::Interrupt, ctrl_c());
    listen!(Signal::Terminate, ctrl_break());
    listen!(Signal::Hangup, ctrl_close());
    listeners
}
