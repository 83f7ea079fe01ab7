//! One run: which tables there are, and what is measured for each.

use anyhow::{Result, ensure};

use crate::machine::Machine;
use crate::profile::{Counts, Profile};
use crate::report::{Measure, Ratio, Report, Row, Show, Table};
use crate::sides::{Install, Side, SideKind};
use crate::workloads::engine::{
    self, measure_commits, measure_durable, measure_restart, measure_states, measure_storms,
};
use crate::workloads::lifecycle::measure_lifecycle;
use crate::workloads::listeners::{ALONE, measure_listeners, measure_unread};
use crate::workloads::rules::{self, measure_rules};
use crate::workloads::shapes::{FIRELET_FEW, SHAPE_NAMES, measure_grown, measure_shapes};
use crate::workloads::{REQUEST_GROUPS, RequestWorkload, measure_in_process, measure_requests};

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// How much to measure.
    pub profile: Profile,
    /// Only workloads whose name contains this text.
    pub only: Option<String>,
    /// Leave the official emulator out.
    pub without_official: bool,
    /// Documents of the grown collection, where it is not the profile's number.
    pub grown: Option<u64>,
    /// Listeners of one query, where they are not the profile's number; ten times as many listen elsewhere.
    pub listeners: Option<u64>,
    /// Heap of the official emulator's data sets, where it is not Java's default.
    pub official_heap_gib: Option<u32>,
}

impl Options {
    /// Whether a row of a group is wanted: by its own name or by that of its group.
    fn wants(&self, group: &str, name: &str) -> bool {
        self.only.as_deref().is_none_or(|text| name.contains(text) || group.contains(text))
    }

    fn counts(&self) -> Counts {
        let counts = self.profile.counts();
        let listeners = self.listeners.unwrap_or(counts.listeners);
        let elsewhere = self.listeners.map_or(counts.listeners_elsewhere, |count| 10 * count);
        let unread = self.listeners.map_or(counts.unread_changes, |count| 100 * count);
        let grown = self.grown.unwrap_or(counts.grown);
        Counts {
            grown,
            listeners,
            listeners_elsewhere: elsewhere,
            unread_changes: unread,
            ..counts
        }
    }
}

// The groups; `--only` selects by these, too.
const REQUESTS: &str = "requests";
const RULES: &str = "rules";
const LIFECYCLE: &str = "start and stop";
const LISTENERS: &str = "listeners";
const COMMITS: &str = "engine commits";
const STORMS: &str = "engine storms";
const STATES: &str = "engine states";
const RESTART: &str = "engine restart";
const SHAPES: &str = "query shapes";
const GROWN: &str = "grown collection";

/// Measures what is wanted; `note` hears how far it is.
///
/// # Errors
/// A side fails, or nothing has the name that is wanted.
pub async fn run(options: &Options, note: fn(&str)) -> Result<Report> {
    let official = match options.without_official {
        true => Err("left out by the caller".to_owned()),
        false => Install::find().await,
    };
    let install = official.as_ref().ok();
    let machine = Machine::this();
    let mut tables = Vec::new();
    tables.extend(requests(options, install, note).await?);
    tables.extend(engine(options, note).await?);
    tables.extend(shapes(options, install, note).await?);
    ensure!(!tables.is_empty(), "no workload has this name");
    Ok(Report {
        profile: options.profile,
        machine,
        firelet: host_suite::VERSION,
        official: official.map(|install| install.version),
        tables,
    })
}

async fn requests(
    options: &Options,
    install: Option<&Install>,
    note: fn(&str),
) -> Result<Vec<Table>> {
    let counts = options.counts();
    let workloads = REQUEST_GROUPS.into_iter().flatten();
    let workloads: Vec<_> = workloads.filter(|one| options.wants(REQUESTS, one.name)).collect();
    let mut tables = Vec::new();
    if !workloads.is_empty() {
        tables = over_sockets(&workloads, counts, install, note).await?;
        let rows = measure_in_process(&workloads, counts, note).await?;
        let sides = [SideKind::Floor, SideKind::Firelet];
        if !rows.is_empty() {
            let title = "The same without sockets";
            tables.push(table(title, &sides, Show::Latency, &AGAINST_FLOOR, rows));
        }
    }
    if options.wants(RULES, RULES) {
        tables.push(Table {
            title: "Security rules",
            sides: vec![rules::OPEN, rules::RULES],
            show: Show::Latency,
            ratios: &AGAINST_OPEN,
            rows: measure_rules(counts, note).await?,
        });
    }
    if options.wants(LIFECYCLE, LIFECYCLE) {
        let rows = measure_lifecycle(counts, install, note).await?;
        tables.push(table("Start and stop", &SideKind::ALL, Show::Latency, &AGAINST, rows));
    }
    if options.wants(LISTENERS, LISTENERS) {
        let rows = measure_listeners(counts, install, note).await?;
        let sides = vec![ALONE, SideKind::Firelet.name(), SideKind::Official.name()];
        let of = |title, ratios, rows| Table {
            title,
            sides: sides.clone(),
            show: Show::Latency,
            ratios,
            rows,
        };
        tables.push(of("Writes that somebody listens to", &AGAINST_ALONE, rows.writes));
        tables.push(table(
            "Listeners' updates",
            &[SideKind::Firelet, SideKind::Official],
            Show::Latency,
            &AGAINST_OFFICIAL,
            rows.updates,
        ));
        let row = measure_unread(counts, note).await?;
        let title = "What listeners cost that do not read, in memory";
        tables.push(table(title, &[SideKind::Firelet], Show::Amounts, &[], vec![row]));
    }
    Ok(tables)
}

async fn over_sockets(
    workloads: &[&RequestWorkload],
    counts: Counts,
    install: Option<&Install>,
    note: fn(&str),
) -> Result<Vec<Table>> {
    let mut sides = Vec::new();
    for kind in SideKind::ALL {
        if kind != SideKind::Official || install.is_some() {
            sides.push(Side::open_ready(kind, install).await?);
        }
    }
    let rows = measure_requests(workloads, &sides, counts, note).await?;
    for side in sides {
        side.close().await?;
    }
    let at_once = workloads.iter().zip(&rows).filter(|(workload, _)| workload.at_once > 1);
    let at_once: Vec<Row> = at_once.map(|(_, row)| row.clone()).collect();
    let mut tables = vec![table("Requests", &SideKind::ALL, Show::Latency, &AGAINST, rows)];
    if !at_once.is_empty() {
        tables.push(table("Throughput", &SideKind::ALL, Show::Rate, &AGAINST_RATE, at_once));
    }
    Ok(tables)
}

async fn engine(options: &Options, note: fn(&str)) -> Result<Vec<Table>> {
    let counts = options.counts();
    let of = |title, sides: &[&'static str], show, ratios, rows| Table {
        title,
        sides: sides.to_vec(),
        show,
        ratios,
        rows,
    };
    let mut tables = Vec::new();
    if options.wants(COMMITS, COMMITS) {
        let rows = measure_commits(counts, note)?;
        let sides = [engine::FIRELET, engine::REDB_NONE];
        let title = "Engine: one commit of a document of 200 bytes";
        tables.push(of(title, &sides, Show::Micros, &AGAINST_REDB_NONE, rows));
        let rows = measure_durable(counts, note)?;
        let sides = [engine::FIRELET, engine::REDB];
        let title = "Engine: durable commits";
        tables.push(of(title, &sides, Show::Rate, &AGAINST_REDB, rows));
    }
    if options.wants(STORMS, STORMS) {
        let rows = measure_storms(counts, note)?;
        let sides = [engine::FIRELET, engine::REDB, engine::REDB_NONE, engine::FJALL];
        tables.push(of("Engine: storms", &sides, Show::Rate, &AGAINST_STORES, rows));
    }
    if options.wants(STATES, STATES) {
        let rows = measure_states(counts, note)?;
        let title = "Engine: snapshot, fork, clear, restore";
        tables.push(of(title, &[engine::FIRELET], Show::Micros, &[], rows));
    }
    if options.wants(RESTART, RESTART) {
        let rows = measure_restart(counts, note).await?;
        let title = "Engine: kept data opened again";
        tables.push(of(title, &[engine::FIRELET], Show::Amounts, &[], rows));
    }
    Ok(tables)
}

async fn shapes(
    options: &Options,
    install: Option<&Install>,
    note: fn(&str),
) -> Result<Vec<Table>> {
    let counts = options.counts();
    let heap = options.official_heap_gib;
    let sides = [SideKind::Firelet, SideKind::Official];
    let mut tables = Vec::new();
    if SHAPE_NAMES.iter().any(|name| options.wants(SHAPES, name)) {
        let wanted = |name: &str| options.wants(SHAPES, name);
        let rows = measure_shapes(counts, heap, install, wanted, note).await?;
        let title = "Query shapes";
        tables.push(table(title, &sides, Show::Latency, &AGAINST_OFFICIAL, rows.shapes));
        let title = "What the query shapes cost";
        tables.push(table(title, &sides, Show::Amounts, &AGAINST_AMOUNT, rows.costs));
    }
    if counts.grown > 0 && options.wants(GROWN, GROWN) {
        let rows = measure_grown(counts, heap, install, note).await?;
        let title = "The grown collection";
        let sides = vec![FIRELET_FEW, SideKind::Firelet.name(), SideKind::Official.name()];
        let of =
            |title, show, ratios, rows| Table { title, sides: sides.clone(), show, ratios, rows };
        tables.push(of(title, Show::Latency, &AGAINST_FEW, rows.shapes));
        let title = "What the grown collection costs";
        tables.push(of(title, Show::Amounts, &AGAINST_AMOUNT, rows.costs));
    }
    Ok(tables)
}

const fn ratio(
    head: &'static str,
    over: &'static str,
    under: &'static str,
    measure: Measure,
) -> Ratio {
    Ratio { head, over, under, measure }
}

/// Above 1: firelet is that many times faster than the official emulator; below 1: it is slower. And
/// how many times the floor it takes.
const AGAINST: [Ratio; 3] = [
    ratio("official / firelet p50", "official", "firelet", Measure::P50),
    ratio("official / firelet p99", "official", "firelet", Measure::P99),
    ratio("firelet / floor p50", "firelet", "floor", Measure::P50),
];

/// The same by requests per second.
const AGAINST_RATE: [Ratio; 2] = [
    ratio("firelet / official", "firelet", "official", Measure::PerSecond),
    ratio("floor / firelet", "floor", "firelet", Measure::PerSecond),
];

/// Where the official emulator cannot be: its code is behind sockets only.
const AGAINST_FLOOR: [Ratio; 1] = [ratio("firelet / floor p50", "firelet", "floor", Measure::P50)];

/// Where the floor has nothing to say.
const AGAINST_OFFICIAL: [Ratio; 2] = [
    ratio("official / firelet p50", "official", "firelet", Measure::P50),
    ratio("official / firelet p99", "official", "firelet", Measure::P99),
];

/// Beside the official emulator, and beside a suite to which nobody listens.
const AGAINST_ALONE: [Ratio; 4] = [
    ratio("official / firelet p50", "official", "firelet", Measure::P50),
    ratio("official / firelet p99", "official", "firelet", Measure::P99),
    ratio("firelet / nobody listens p50", "firelet", ALONE, Measure::P50),
    ratio("firelet / nobody listens p99", "firelet", ALONE, Measure::P99),
];

/// What rules cost.
const AGAINST_OPEN: [Ratio; 2] = [
    ratio("under / without rules p50", rules::RULES, rules::OPEN, Measure::P50),
    ratio("under / without rules p99", rules::RULES, rules::OPEN, Measure::P99),
];

/// Single numbers.
const AGAINST_AMOUNT: [Ratio; 1] =
    [ratio("official / firelet", "official", "firelet", Measure::Amount)];

/// How many times as long redb takes for the same documents and entries.
const AGAINST_REDB_NONE: [Ratio; 2] = [
    ratio("redb / firelet p50", engine::REDB_NONE, engine::FIRELET, Measure::P50),
    ratio("redb / firelet p99", engine::REDB_NONE, engine::FIRELET, Measure::P99),
];

/// How many times as many commits in the same time.
const AGAINST_REDB: [Ratio; 1] =
    [ratio("firelet / redb", engine::FIRELET, engine::REDB, Measure::PerSecond)];

/// The same of the stores that storms are sent to.
const AGAINST_STORES: [Ratio; 3] = [
    ratio("firelet / redb Immediate", engine::FIRELET, engine::REDB, Measure::PerSecond),
    ratio("firelet / redb None", engine::FIRELET, engine::REDB_NONE, Measure::PerSecond),
    ratio("firelet / fjall", engine::FIRELET, engine::FJALL, Measure::PerSecond),
];

/// Whether a query costs what it returns, or what there is.
const AGAINST_FEW: [Ratio; 2] = [
    ratio("official / firelet p50", "official", "firelet", Measure::P50),
    ratio("firelet / 10,000 p50", "firelet", FIRELET_FEW, Measure::P50),
];

fn table(
    title: &'static str,
    sides: &[SideKind],
    show: Show,
    ratios: &'static [Ratio],
    rows: Vec<Row>,
) -> Table {
    let sides = sides.iter().map(|side| side.name()).collect();
    Table { title, sides, show, ratios, rows }
}
