//! What is measured: each side is started, listens on a port of its own, and is stopped.

mod apart;
mod firelet;
pub(crate) mod floor;
mod home;
mod official;

use std::time::Duration;

use anyhow::Result;
use base_env::Env;

use crate::client::{Answer, Connection, Request, Transport};

pub use apart::{Apart, SERVE_FLAG, serve};
pub(crate) use home::Home;
pub use official::Install;

/// How long the official emulator may take to answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// The pause between two attempts to reach it: short against the seconds it takes.
pub(crate) const RETRY: Duration = Duration::from_millis(5);

/// The name of a side, which is also the head of its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideKind {
    /// An empty RPC and an empty HTTP route on firelet's own network stack.
    Floor,
    /// A suite in this process.
    Firelet,
    /// Google's emulator, in a process of its own.
    Official,
}

impl SideKind {
    /// All sides in the order of the columns.
    pub const ALL: [Self; 3] = [Self::Floor, Self::Firelet, Self::Official];

    /// How reports call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Firelet => "firelet",
            Self::Official => "official",
        }
    }
}

/// A side that answers.
pub struct Side {
    kind: SideKind,
    authority: String,
    running: Running,
}

enum Running {
    Floor(floor::Floor),
    Firelet(firelet::Firelet),
    Official(official::Official),
}

impl Side {
    /// Starts a side. The official one answers requests only some time later.
    ///
    /// # Errors
    /// It does not start.
    pub async fn open(kind: SideKind, install: Option<&Install>) -> Result<Self> {
        let (authority, running) = match (kind, install) {
            (SideKind::Floor, _) => {
                let (authority, floor) = floor::Floor::open().await?;
                (authority, Running::Floor(floor))
            }
            (SideKind::Firelet, _) => {
                let (authority, firelet) = firelet::Firelet::open().await?;
                (authority, Running::Firelet(firelet))
            }
            (SideKind::Official, Some(install)) => {
                let (authority, official) = official::Official::open(install)?;
                (authority, Running::Official(official))
            }
            (SideKind::Official, None) => anyhow::bail!("the official emulator is not installed"),
        };
        Ok(Self { kind, authority, running })
    }

    /// Starts a side and waits until it answers.
    ///
    /// # Errors
    /// It does not start, or does not answer in time.
    pub async fn open_ready(kind: SideKind, install: Option<&Install>) -> Result<Self> {
        let clock = Env::real();
        let mut side = Self::open(kind, install).await?;
        loop {
            side.check()?;
            match (kind, side.health().await) {
                (SideKind::Floor | SideKind::Firelet, _) | (_, Ok(_)) => return Ok(side),
                (_, Err(failed)) if clock.monotonic() > PATIENCE => return Err(failed),
                (_, Err(_)) => tokio::time::sleep(RETRY).await,
            }
        }
    }

    async fn health(&self) -> Result<Answer> {
        let mut connection = Connection::open(&self.authority, Transport::Rest).await?;
        connection.send(Request::rest(http::Method::GET, "/", "")).await
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

    /// Whether it still runs, as far as that can be seen from outside.
    ///
    /// # Errors
    /// The official emulator's process has ended.
    pub fn check(&mut self) -> Result<()> {
        match &mut self.running {
            Running::Floor(_) | Running::Firelet(_) => Ok(()),
            Running::Official(official) => official.check(),
        }
    }

    /// Stops it; returns when nothing of it is left.
    ///
    /// # Errors
    /// It does not stop.
    pub async fn close(self) -> Result<()> {
        match self.running {
            Running::Floor(floor) => floor.close().await,
            Running::Firelet(firelet) => firelet.close().await,
            Running::Official(official) => official.close().await,
        }
    }
}
