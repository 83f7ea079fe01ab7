//! Sides in processes of their own, so that what the system says of a process is said of one side alone.

use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base_env::Env;
use base_env::process::shell;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::time::timeout;

use super::firelet::Firelet;
use super::official::Official;
use super::{Install, PATIENCE, RETRY, SideKind};
use crate::client::{Grpc, Request};
use crate::process;

/// The hidden flag with which this program is a suite and nothing else.
pub const SERVE_FLAG: &str = "--serve";

/// Any answer to this means that a side is ready.
fn health() -> Request {
    crate::workloads::data::commit([])
}

/// A side in a process of its own.
pub struct Apart {
    kind: SideKind,
    authority: String,
    running: Running,
}

enum Running {
    Firelet(Served),
    Official(Official),
}

/// A child of this program that runs a suite.
struct Served {
    child: Child,
    bare_bytes: u64,
    lines: Lines<BufReader<ChildStdout>>,
    /// The child stops when this is closed.
    input: ChildStdin,
}

impl Apart {
    /// A suite, started as the JavaScript API starts it without options.
    ///
    /// # Errors
    /// It does not start.
    pub async fn firelet() -> Result<Self> {
        let program = std::env::current_exe().context("this program does not know its own file")?;
        let mut child = shell(&format!("exec '{}' {SERVE_FLAG}", program.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().context("the child has no input")?;
        let output = child.stdout.take().context("the child has no output")?;
        let mut lines = BufReader::new(output).lines();
        let line = lines.next_line().await?.context("the child did not start")?;
        let (bare, authority) = line.split_once(' ').context("the child says something else")?;
        let served = Served { child, bare_bytes: bare.parse()?, lines, input };
        Ok(Self {
            kind: SideKind::Firelet,
            authority: authority.to_owned(),
            running: Running::Firelet(served),
        })
    }

    /// Google's emulator, with Java's default heap or with one of so many GiB. It ends when it runs out
    /// of memory, instead of answering nothing for ever.
    ///
    /// # Errors
    /// It does not start, or does not answer in time.
    pub async fn official(install: &Install, heap_gib: Option<u32>) -> Result<Self> {
        let heap = heap_gib.map_or_else(String::new, |gib| format!("-Xmx{gib}g "));
        let options = format!("{heap}-XX:+ExitOnOutOfMemoryError");
        let (authority, official) = Official::open_with(install, &options)?;
        let kind = SideKind::Official;
        let mut side = Self { kind, authority, running: Running::Official(official) };
        let clock = Env::real();
        while let Err(failed) = side.is_ready().await {
            side.check()?;
            if clock.monotonic() > PATIENCE {
                return Err(failed);
            }
            tokio::time::sleep(RETRY).await;
        }
        Ok(side)
    }

    async fn is_ready(&self) -> Result<()> {
        Grpc::connect(&self.authority).await?.send(health()).await.map(drop)
    }

    /// Which side this is.
    #[must_use]
    pub fn kind(&self) -> SideKind {
        self.kind
    }

    /// Where it listens, as `host:port`.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Whether it still runs.
    ///
    /// # Errors
    /// It has ended.
    pub fn check(&mut self) -> Result<()> {
        match &mut self.running {
            Running::Official(official) => official.check(),
            Running::Firelet(served) => match served.child.try_wait()? {
                Some(status) => bail!("the process with the suite has ended: {status}"),
                None => Ok(()),
            },
        }
    }

    /// Its resident memory. For firelet over that of its process before the suite was started.
    #[must_use]
    pub fn memory(&self) -> Option<u64> {
        let resident = process::resident_bytes(self.id()?)?;
        Some(match &self.running {
            Running::Firelet(served) => resident.saturating_sub(served.bare_bytes),
            Running::Official(_) => resident,
        })
    }

    /// Waits until it has nothing to do any more.
    pub async fn rest(&self, wait_max: Duration) {
        if let Some(id) = self.id() {
            process::rest(id, wait_max).await;
        }
    }

    fn id(&self) -> Option<u32> {
        match &self.running {
            Running::Firelet(served) => served.child.id(),
            Running::Official(official) => official.id(),
        }
    }

    /// Stops it and tells how long that took.
    ///
    /// # Errors
    /// It does not stop.
    pub async fn stop(self) -> Result<Duration> {
        match self.running {
            Running::Firelet(served) => served.stop().await,
            Running::Official(official) => {
                let clock = Env::real();
                official.close().await?;
                Ok(clock.monotonic())
            }
        }
    }
}

impl Served {
    async fn stop(self) -> Result<Duration> {
        let Self { mut child, mut lines, input, .. } = self;
        drop(input);
        let line = timeout(PATIENCE, lines.next_line()).await??;
        let micros = line.context("the suite did not stop")?.parse()?;
        timeout(PATIENCE, child.wait()).await??;
        Ok(Duration::from_micros(micros))
    }
}

/// What the child does: starts a suite, says its bare memory and where it listens, stops the suite when
/// its input ends, and says how many microseconds that took.
///
/// # Errors
/// The suite does not start or stop.
pub async fn serve() -> Result<()> {
    let bare = process::own_resident_bytes().unwrap_or_default();
    let (authority, firelet) = Firelet::open().await?;
    writeln!(std::io::stdout().lock(), "{bare} {authority}")?;
    tokio::task::spawn_blocking(|| std::io::stdin().lock().read_to_end(&mut Vec::new())).await??;
    let clock = Env::real();
    firelet.close().await?;
    Ok(writeln!(std::io::stdout().lock(), "{}", clock.monotonic().as_micros())?)
}
