//! The query shapes on a generated data set, over gRPC with one client, and what the sides take for it: memory,
//! and time to load and to stop.
//!
//! Both sides run in processes of their own. Every answer of one is compared with that of the other.

mod ask;
mod grown;
mod load;
mod measure;
mod query;
mod table;

pub use grown::{FIRELET_FEW, measure_grown};
pub(crate) use query::{Query, encoded};
pub use table::SHAPE_NAMES;

use std::time::Duration;

use anyhow::{Context, Result};

use crate::profile::Counts;
use crate::report::Row;
use crate::sides::{Apart, Install};
use crate::stats::Cell;
use measure::Line;

/// How long a side may take to come to rest: the official emulator collects garbage for long.
const REST_MAX: Duration = Duration::from_secs(180);

/// What [`measure_shapes`] found out.
#[derive(Debug, Default)]
pub struct ShapeRows {
    /// A row for each shape.
    pub shapes: Vec<Row>,
    /// Loading, memory, stop.
    pub costs: Vec<Row>,
}

/// Measures the shapes that are wanted, and their surroundings.
///
/// # Errors
/// A side fails, or two sides answer differently.
pub async fn measure_shapes(
    counts: Counts,
    heap_gib: Option<u32>,
    install: Option<&Install>,
    wanted: impl Fn(&str) -> bool,
    mut progress: impl FnMut(&str),
) -> Result<ShapeRows> {
    let sizes = counts.sizes;
    let mut sides = vec![Apart::firelet().await?];
    if let Some(install) = install {
        sides.push(Apart::official(install, heap_gib).await?);
    }
    let mut costs = Costs::default();
    costs.memory("memory after start", &sides);
    let mut times = Vec::new();
    for side in &sides {
        let name = side.kind().name();
        progress(&format!("loading {} documents: {name}", sizes.all));
        let loaded = load::load(side.authority(), sizes.documents()).await;
        let loaded = loaded.map_err(|(at, error)| {
            error.context(format!("{name} after {} documents", at.documents))
        })?;
        progress(&format!("{name} took {:?}", loaded.took));
        times.push((name, Some(Cell::seconds(loaded.took))));
    }
    costs.rows.push(Row::new(format!("load {} documents over gRPC", sizes.all), times));
    costs.memory("memory after the load", &sides);
    // Opened only now: a connection that is silent from the start is closed after a while.
    let mut lines = Vec::new();
    for side in sides {
        lines.push(Line::open(side).await?);
    }

    let shapes = table::SHAPES.iter().filter(|shape| wanted(shape.name)).collect::<Vec<_>>();
    for shape in &shapes {
        progress(&format!("once: {}", shape.name));
        measure::once(shape, sizes, &mut lines).await.with_context(|| shape.name)?;
    }
    for line in &lines {
        line.side.rest(REST_MAX).await;
    }
    costs.lines("memory at rest, everything folded", &lines);
    let mut rows = Vec::new();
    for shape in shapes {
        let row = measure::shape(shape, sizes, counts, &mut lines).await?;
        progress(&measure::told(&row));
        rows.push(row);
    }
    for line in &lines {
        line.side.rest(REST_MAX).await;
    }
    costs.lines("memory after the shapes", &lines);
    let mut stops = Vec::new();
    for line in lines {
        let name = line.kind().name();
        stops.push((name, Some(Cell::seconds(line.side.stop().await?))));
    }
    costs.rows.push(Row::new("stop", stops));
    Ok(ShapeRows { shapes: rows, costs: costs.rows })
}

#[derive(Default)]
struct Costs {
    rows: Vec<Row>,
}

impl Costs {
    fn memory<'s>(&mut self, name: &str, sides: impl IntoIterator<Item = &'s Apart>) {
        let cells =
            sides.into_iter().map(|side| (side.kind().name(), side.memory().map(Cell::mebibytes)));
        self.rows.push(Row::new(name, cells));
    }

    fn lines(&mut self, name: &str, lines: &[Line]) {
        self.memory(name, lines.iter().map(|line| &line.side));
    }
}
