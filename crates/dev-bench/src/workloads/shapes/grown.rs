//! The collection that grows by millions of small documents: four queries, at ten thousand documents and at all of them.

use std::time::Duration;

use anyhow::{Context, Result};

use super::load::{Loaded, load};
use super::measure::{self, Line};
use super::table::GROWN_SHAPES;
use super::{REST_MAX, ShapeRows};
use crate::dataset::{Grown, Sizes};
use crate::profile::Counts;
use crate::report::Row;
use crate::sides::{Apart, Install, SideKind};
use crate::stats::Cell;

/// The column of firelet with few documents, which the one with many is held against.
pub const FIRELET_FEW: &str = "firelet, 10,000";
/// How many that are.
const FEW: u64 = 10_000;
/// How long the official emulator may take to load: several times what firelet takes. Its heap fills, and then
/// collecting garbage is all it does.
const LOAD_MAX: Duration = Duration::from_secs(8 * 60);

/// How long the first answer to each query may take. A heap that is nearly full answers after many minutes.
const ANSWER_MAX: Duration = Duration::from_secs(2 * 60);

/// Measures the four queries on a collection of [`Counts::grown`] documents.
///
/// # Errors
/// firelet fails. Where the official emulator does, its cells say so.
pub async fn measure_grown(
    counts: Counts,
    heap_gib: Option<u32>,
    install: Option<&Install>,
    mut progress: impl FnMut(&str),
) -> Result<ShapeRows> {
    let documents = counts.grown;
    let few = firelet(counts, FEW, &mut progress).await?;
    let many = firelet(counts, documents, &mut progress).await?;
    let official = match install {
        Some(install) => {
            progress(&format!("growing official by {documents} documents"));
            Some(official(counts, documents, heap_gib, install, &mut progress).await?)
        }
        None => None,
    };
    let sides = [
        (FIRELET_FEW, Some(few)),
        (SideKind::Firelet.name(), Some(many)),
        (SideKind::Official.name(), official),
    ];
    let row = |index: usize, name: &str, of: fn(&Side) -> &Vec<Option<Cell>>| {
        let cells = sides.iter().map(|(side, found)| {
            let cell = found.as_ref().and_then(|found| of(found).get(index).cloned().flatten());
            (*side, cell)
        });
        Row::new(name, cells.collect::<Vec<_>>())
    };
    let shapes = GROWN_SHAPES.iter().enumerate();
    let shapes = shapes.map(|(index, shape)| row(index, shape.name, |side| &side.shapes));
    let costs = COSTS.iter().enumerate();
    let costs = costs.map(|(index, name)| row(index, name, |side| &side.costs));
    Ok(ShapeRows { shapes: shapes.collect(), costs: costs.collect() })
}

const COSTS: [&str; 4] = ["load", "memory after the load", "memory after the queries", "stop"];

/// The cells of one side, in the order of the rows.
struct Side {
    shapes: Vec<Option<Cell>>,
    costs: Vec<Option<Cell>>,
}

async fn firelet(counts: Counts, documents: u64, progress: &mut impl FnMut(&str)) -> Result<Side> {
    progress(&format!("growing firelet by {documents} documents"));
    let side = Apart::firelet().await?;
    let loaded = fill(&side, documents).await.map_err(|(_, error)| error)?;
    let mut line = Line::open(side).await?;
    measured(counts, documents, line_of(&mut line), loaded, progress).await?.stopped(line).await
}

/// Only to borrow a line as a slice of one.
fn line_of(line: &mut Line) -> &mut [Line] {
    std::slice::from_mut(line)
}

async fn fill(side: &Apart, documents: u64) -> Result<Loaded, (Loaded, anyhow::Error)> {
    load(side.authority(), (0..documents).map(Grown::document)).await
}

async fn measured(
    counts: Counts,
    documents: u64,
    lines: &mut [Line],
    loaded: Loaded,
    progress: &mut impl FnMut(&str),
) -> Result<Side> {
    let sizes = Sizes { articles: 0, orders: 0, lists: 0, all: documents };
    let memory =
        |lines: &[Line]| lines.first().and_then(|line| line.side.memory()).map(Cell::mebibytes);
    let mut costs = vec![Some(Cell::seconds(loaded.took)), memory(lines)];
    // The first query makes firelet fold what it would otherwise look through.
    for shape in &GROWN_SHAPES {
        let once = measure::once(shape, sizes, lines);
        let answered = tokio::time::timeout(ANSWER_MAX, once).await;
        answered.context("no answer in time").flatten().with_context(|| shape.name)?;
    }
    for line in lines.iter() {
        line.side.rest(REST_MAX).await;
    }
    let mut shapes = Vec::new();
    for shape in &GROWN_SHAPES {
        let row = measure::shape(shape, sizes, counts, lines).await?;
        progress(&measure::told(&row));
        shapes.push(row.cells.into_iter().next().and_then(|(_, cell)| cell));
    }
    costs.push(memory(lines));
    Ok(Side { shapes, costs })
}

impl Side {
    /// One that has nothing to show.
    fn failed(why: &str) -> Self {
        let cell = Some(Cell::failed(why));
        Side { shapes: vec![cell.clone(); GROWN_SHAPES.len()], costs: vec![cell; COSTS.len()] }
    }

    async fn stopped(mut self, line: Line) -> Result<Self> {
        self.costs.push(Some(Cell::seconds(line.side.stop().await?)));
        Ok(self)
    }
}

async fn official(
    counts: Counts,
    documents: u64,
    heap_gib: Option<u32>,
    install: &Install,
    progress: &mut impl FnMut(&str),
) -> Result<Side> {
    let mut side = Apart::official(install, heap_gib).await?;
    let Ok(filled) = tokio::time::timeout(LOAD_MAX, fill(&side, documents)).await else {
        return Ok(Side::failed(&format!("not loaded in {} min", LOAD_MAX.as_secs() / 60)));
    };
    let failed = match filled {
        Ok(loaded) => {
            let mut line = Line::open(side).await?;
            match measured(counts, documents, line_of(&mut line), loaded, progress).await {
                Ok(found) => return found.stopped(line).await,
                Err(error) => {
                    side = line.side;
                    format!("{error:#}")
                }
            }
        }
        Err((loaded, error)) => format!("after {} documents: {error:#}", loaded.documents),
    };
    // Which of the two it is, its exit tells: it was started so that it ends when its heap is full.
    let why = if side.check().is_ok() { "no answer" } else { "out of memory" };
    progress(&format!("official: {why}, {failed}"));
    Ok(Side::failed(why))
}
