//! A listener that does not read while much is written, and what it costs until it does.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::time::timeout;

use super::clients::{State, request};
use crate::client::{Grpc, Messages};
use crate::profile::Counts;
use crate::report::Row;
use crate::sides::{Apart, SideKind};
use crate::stats::Cell;
use crate::workloads::data::{self, WRITTEN};

/// Documents that are written, over and over.
const DOCUMENTS: u64 = 10;
/// How long it may take to catch up.
const CATCH_UP_MAX: Duration = Duration::from_secs(60);
/// How long the suites may take to come to rest.
const REST_MAX: Duration = Duration::from_secs(10);

/// The row of this group: memory over that of a suite to which the same was written and nobody listened.
///
/// # Errors
/// firelet fails, or the listener does not have everything in the end.
pub async fn measure_unread(counts: Counts, mut progress: impl FnMut(&str)) -> Result<Row> {
    let changes = counts.unread_changes;
    let name = format!("a listener that does not read {changes} changes");
    progress(&name);
    let (alone, listened) = (Apart::firelet().await?, Apart::firelet().await?);
    let mut reader = Grpc::connect(listened.authority()).await?;
    let stream = Messages::of(reader.stream(request(WRITTEN)).await?);
    for side in [&alone, &listened] {
        let mut grpc = Grpc::connect(side.authority()).await?;
        for number in 1..=changes {
            grpc.send(data::commit([(WRITTEN, number % DOCUMENTS, number, number)])).await?;
        }
        side.rest(REST_MAX).await;
    }
    let memory = |side: &Apart| side.memory().context("nobody knows its memory");
    let more = memory(&listened)?.saturating_sub(memory(&alone)?);
    timeout(CATCH_UP_MAX, catch_up(stream, changes)).await.context("it does not catch up")??;
    for side in [alone, listened] {
        let _took: Duration = side.stop().await?;
    }
    Ok(Row::new(name, [(SideKind::Firelet.name(), Some(Cell::mebibytes(more)))]))
}

/// Reads on until the listener has the newest state.
async fn catch_up(mut messages: Messages, newest: u64) -> Result<()> {
    let mut state = State::default();
    while state.told() < newest {
        let message = messages.next().await?.context("the listener's stream ended")?;
        state.take(message)?;
    }
    ensure!(state.told() == newest, "it has more than was written");
    Ok(())
}
