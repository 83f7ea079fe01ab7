//! Writing while somebody listens, beside the same without.

use std::time::Duration;

use anyhow::{Context, Result};
use base_env::Env;

use super::clients::Clients;
use crate::client::Grpc;
use crate::profile::Counts;
use crate::report::Row;
use crate::rounds;
use crate::sides::{Apart, Install, SideKind};
use crate::stats::{Cell, Samples};
use crate::workloads::data::{self, WRITTEN};

/// The column of a suite of its own to which nobody listens, written to in turn with the others.
pub const ALONE: &str = "firelet, nobody listens";

/// Documents in the collection that is listened to: what the official emulator sends again with every write.
const DOCUMENTS: u64 = 10;
/// Unmeasured writes on every side.
const SETTLE: u64 = 20;

/// The rows of this group: how long writes take, and updates.
#[derive(Debug, Default)]
pub struct Rows {
    /// From the call to its answer.
    pub writes: Vec<Row>,
    /// From the call of a write until the last listener has the state with it.
    pub updates: Vec<Row>,
}

/// Who listens.
struct Listeners {
    name: String,
    count: u64,
    elsewhere: bool,
}

/// Measures this group.
///
/// # Errors
/// firelet fails, or tells a listener something wrong. Of the official emulator that is told in its cells.
pub async fn measure_listeners(
    counts: Counts,
    install: Option<&Install>,
    mut progress: impl FnMut(&str),
) -> Result<Rows> {
    let (many, elsewhere) = (counts.listeners, counts.listeners_elsewhere);
    let of = |name: String, count, elsewhere| Listeners { name, count, elsewhere };
    let who = [
        of("1 listener".to_owned(), 1, false),
        of(format!("{many} listeners of one query"), many, false),
        of(format!("{elsewhere} listeners of other collections"), elsewhere, true),
    ];
    let mut rows = Rows::default();
    for listeners in who {
        progress(&listeners.name);
        let mut lines = vec![Line::open(ALONE, Apart::firelet().await?).await?];
        lines.push(Line::open(SideKind::Firelet.name(), Apart::firelet().await?).await?);
        if let Some(install) = install {
            let side = Apart::official(install, None).await?;
            lines.push(Line::open(SideKind::Official.name(), side).await?);
        }
        for line in &mut lines {
            line.listen(&listeners).await?;
        }
        for round in 0..counts.listener_rounds {
            for index in rounds::order(lines.len(), round) {
                if let Some(line) = lines.get_mut(index) {
                    line.turn(counts.listener_writes).await?;
                }
            }
        }
        let cells = lines.iter_mut().map(|line| (line.name, line.cell(|line| &mut line.writes)));
        rows.writes.push(Row::new(format!("write, {}", listeners.name), cells));
        if !listeners.elsewhere {
            let told = lines.iter_mut().filter(|line| line.name != ALONE);
            let cells = told.map(|line| (line.name, line.cell(|line| &mut line.updates)));
            let name = format!("update at the last of {}", listeners.name);
            rows.updates.push(Row::new(name, cells));
        }
        for line in lines {
            line.close().await?;
        }
    }
    Ok(rows)
}

/// One side with its writer and its listeners.
struct Line {
    name: &'static str,
    side: Apart,
    grpc: Grpc,
    clients: Option<Clients>,
    waits: bool,
    number: u64,
    writes: Samples,
    updates: Samples,
    /// Why it takes no part any more.
    failed: Option<String>,
}

impl Line {
    async fn open(name: &'static str, side: Apart) -> Result<Self> {
        let mut grpc = Grpc::connect(side.authority()).await?;
        let documents = (0..DOCUMENTS).map(|number| (WRITTEN, number, 0, number));
        grpc.send(data::commit(documents)).await?;
        Ok(Self {
            name,
            side,
            grpc,
            clients: None,
            waits: false,
            number: 0,
            writes: Samples::default(),
            updates: Samples::default(),
            failed: None,
        })
    }

    async fn listen(&mut self, listeners: &Listeners) -> Result<()> {
        if self.name == ALONE {
            return self.settle().await;
        }
        let opened =
            Clients::open(self.side.authority(), listeners.count, listeners.elsewhere).await;
        self.waits = !listeners.elsewhere;
        match opened {
            Ok(clients) => self.clients = Some(clients),
            Err(failed) => self.give_up(failed, "does not serve that many")?,
        }
        self.settle().await
    }

    async fn settle(&mut self) -> Result<()> {
        self.turn(SETTLE).await?;
        (self.writes, self.updates) = (Samples::default(), Samples::default());
        Ok(())
    }

    async fn turn(&mut self, writes: u64) -> Result<()> {
        for _ in 0..writes {
            if self.failed.is_some() {
                return Ok(());
            }
            if let Err(failed) = self.write().await {
                self.give_up(failed, "lost an update")?;
            }
        }
        Ok(())
    }

    async fn write(&mut self) -> Result<()> {
        let clock = Env::real();
        self.number += 1;
        let number = self.number;
        let request = data::commit([(WRITTEN, number % DOCUMENTS, number, number)]);
        let (sent, begun) = (clock.now(), clock.monotonic());
        self.grpc.send(request).await?;
        self.writes.single(clock.monotonic().saturating_sub(begun));
        if let Some(clients) = self.clients.as_mut().filter(|_| self.waits) {
            let seen = clients.saw(number).await?;
            self.updates.single(seen.since(sent));
        }
        Ok(())
    }

    /// Only the official emulator may fail here.
    fn give_up(&mut self, failed: anyhow::Error, why: &str) -> Result<()> {
        if self.side.kind() != SideKind::Official {
            return Err(failed.context(self.name));
        }
        self.failed = Some(why.to_owned());
        Ok(())
    }

    fn cell(&mut self, samples: impl FnOnce(&mut Self) -> &mut Samples) -> Option<Cell> {
        match &self.failed {
            Some(why) => Some(Cell::failed(why)),
            None => std::mem::take(samples(self)).summary().map(Cell::from),
        }
    }

    async fn close(self) -> Result<()> {
        match (self.clients, self.failed) {
            (Some(clients), None) => clients.close().await.context(self.name)?,
            // They end with their handles.
            (clients, _) => drop(clients),
        }
        let _took: Duration = self.side.stop().await?;
        Ok(())
    }
}
