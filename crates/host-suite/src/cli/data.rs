//! `firelet data`: what is kept, and everything that is done with it while no suite uses it.

use std::path::{Path, PathBuf};

use base_env::{Env, UnixMicros};
use serde_json::{Value, json};
use svc_firestore::{KeptDatabase, kept_databases};
use tokio::task::spawn_blocking;

use super::data_args::DataVerb;
use super::run::{FAILED, Run, failed};
use super::table::columns;
use crate::config::{self, FirebaseConfig};
use crate::data::{
    self, DEFAULT_DIR, DataError, DataFolder, KeptSnapshot, SnapshotFolders, Usage, check_existing,
    human, is_in_use,
};
use crate::error::StartError;
use crate::services::ServiceConfigs;

/// What to do with the data of which folder.
#[derive(Debug)]
pub(super) struct DataTask {
    pub(super) verb: DataVerb,
    /// The folder; that of the project where none is named.
    pub(super) dir: Option<PathBuf>,
    /// The firebase.json, if one is named.
    pub(super) config: Option<PathBuf>,
    pub(super) cwd: PathBuf,
}

/// What a command has to say.
struct Answer {
    text: String,
    result: Value,
}

/// Why a command did nothing.
enum Refusal {
    Start(StartError),
    /// The user has to say it in another way.
    Usage(String),
}

impl<E: Into<StartError>> From<E> for Refusal {
    fn from(error: E) -> Refusal {
        Refusal::Start(error.into())
    }
}

/// Runs the command.
pub(super) async fn run(run: &mut Run, task: DataTask) -> i32 {
    let env = run.env.clone();
    let done = spawn_blocking(move || task.run(&env)).await;
    match done {
        Ok(Ok(Answer { text, result })) => {
            run.out.text(&text);
            run.out.result(result);
            0
        }
        Ok(Err(Refusal::Start(error))) => failed(&mut run.out, &error),
        Ok(Err(Refusal::Usage(text))) => {
            run.out.failure(&text, None);
            FAILED
        }
        Err(error) => {
            run.out.failure(&format!("the command failed: {error}"), None);
            FAILED
        }
    }
}

impl DataTask {
    fn run(&self, env: &Env) -> Result<Answer, Refusal> {
        let config = self.config()?;
        let directory = config.as_ref().map_or(&self.cwd, |config| &config.directory);
        let dir = self.dir.clone().unwrap_or_else(|| directory.join(DEFAULT_DIR));
        match &self.verb {
            DataVerb::List => list(&dir, env.now()),
            DataVerb::Drop { targets, force } => drop_databases(&dir, targets, *force),
            DataVerb::Compact => {
                let mut configs = ServiceConfigs::default();
                if let Some(config) = &config {
                    // What is derived has to be what the next suite wants.
                    configs.firestore.indexes = config::firestore_indexes(config)?.0;
                }
                compact(&dir, &configs, env)
            }
            DataVerb::Copy { to } => copy(&dir, self.cwd.join(to)),
            DataVerb::Snapshots => list_snapshots(&dir, env.now()),
            DataVerb::DropSnapshots { names, force } => drop_snapshots(&dir, names, *force),
        }
    }

    fn config(&self) -> Result<Option<FirebaseConfig>, StartError> {
        let found = config::find_directory(&self.cwd).map(|dir| dir.join(config::FILE_NAME));
        let file = self.config.clone().or(found);
        Ok(file.map(|file| FirebaseConfig::load(&file)).transpose()?)
    }
}

/// One database with its size.
struct Kept {
    database: KeptDatabase,
    usage: Usage,
}

impl Kept {
    fn name(&self) -> String {
        format!("{}/{}", self.database.project, self.database.database)
    }
}

/// The databases of a folder. Firestore is the one service that has any.
fn databases(dir: &Path) -> Result<Vec<Kept>, Refusal> {
    let failed = |status| StartError::Service { description: "Firestore Emulator", status };
    let found = kept_databases(&dir.join("firestore")).map_err(failed)?;
    let kept = |database: KeptDatabase| {
        let usage = Usage::of(&database.dir)?;
        Ok(Kept { database, usage })
    };
    found.into_iter().map(kept).collect()
}

fn list(dir: &Path, now: UnixMicros) -> Result<Answer, Refusal> {
    check_existing(dir)?;
    let found = databases(dir)?;
    let snapshots = SnapshotFolders::at(dir).list()?;
    let total = Usage::of(dir)?;
    let in_use = is_in_use(dir);
    let used = if in_use { ", in use by a suite" } else { "" };
    let mut text = format!("{}: {}{used}\n", dir.display(), human(total.bytes));
    if found.is_empty() {
        text.push_str("\nNo database is kept there.\n");
    } else {
        let head = ["Project", "Database", "Size", "Format", "Last used"].map(str::to_owned);
        let mut rows = vec![head.to_vec()];
        rows.extend(found.iter().map(|Kept { database, usage }| {
            vec![
                database.project.clone(),
                database.database.clone(),
                human(usage.bytes),
                database.format.map_or_else(|| "unknown".to_owned(), |format| format.to_string()),
                usage.written.map_or_else(|| "unknown".to_owned(), |time| age(time, now)),
            ]
        }));
        text.push_str(&format!("\n{}", columns(&rows)));
    }
    if !snapshots.is_empty() {
        let (count, size) = (snapshots.len(), snapshots_size(&snapshots)?);
        text.push_str(&format!(
            "\nSnapshots: {count}, {}; `firelet data snapshots` lists them.\n",
            human(size)
        ));
    }
    let json = |Kept { database, usage }: &Kept| {
        json!({
            "service": "firestore",
            "project": database.project,
            "database": database.database,
            "bytes": usage.bytes,
            "format": database.format,
            "lastUsedMs": usage.written.map(millis),
        })
    };
    let result = json!({
        "dir": dir,
        "bytes": total.bytes,
        "inUse": in_use,
        "databases": found.iter().map(json).collect::<Vec<_>>(),
        "snapshots": snapshots.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
    });
    Ok(Answer { text: text.trim_end().to_owned(), result })
}

fn drop_databases(dir: &Path, targets: &[String], force: bool) -> Result<Answer, Refusal> {
    let folder = DataFolder::existing(dir)?;
    let all = databases(dir)?;
    let is_meant = |kept: &Kept, target: &str| match target.split_once('/') {
        Some((project, database)) => {
            kept.database.project == project && kept.database.database == database
        }
        None => kept.database.project == target,
    };
    let nothing = targets.iter().find(|target| !all.iter().any(|kept| is_meant(kept, target)));
    if let Some(target) = nothing {
        let known: Vec<String> = all.iter().map(Kept::name).collect();
        let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
        return Err(Refusal::Usage(format!(
            "nothing is kept of `{target}`, and nothing was removed; what is kept: {known}"
        )));
    }
    let meant: Vec<Kept> = all
        .into_iter()
        .filter(|kept| targets.is_empty() || targets.iter().any(|it| is_meant(kept, it)))
        .collect();
    let shown: Vec<String> =
        meant.iter().map(|kept| format!("{} ({})", kept.name(), human(kept.usage.bytes))).collect();
    let shown = if shown.is_empty() { "nothing".to_owned() } else { shown.join(", ") };
    if !force && !meant.is_empty() {
        return Err(Refusal::Usage(format!(
            "this would remove {shown} for good: add `--force` to do it"
        )));
    }
    for kept in &meant {
        data::remove_database(&folder, &kept.database.dir)?;
    }
    let mut text = format!("Removed {shown}.");
    let snapshots = SnapshotFolders::at(dir).list()?;
    if !snapshots.is_empty() {
        let names: Vec<&str> = snapshots.iter().map(|one| one.name.as_str()).collect();
        text.push_str(&format!(
            " Snapshots stay: {}; `firelet data snapshots drop` removes them.",
            names.join(", ")
        ));
    }
    let names: Vec<String> = meant.iter().map(Kept::name).collect();
    Ok(Answer { text, result: json!({ "removed": names }) })
}

fn compact(dir: &Path, configs: &ServiceConfigs, env: &Env) -> Result<Answer, Refusal> {
    let folder = DataFolder::existing(dir)?;
    let before = Usage::of(dir)?.bytes;
    data::compact(&folder, configs, env)?;
    let after = Usage::of(dir)?.bytes;
    let text = format!("{}: {}, and {} before", dir.display(), human(after), human(before));
    Ok(Answer { text, result: json!({ "bytesBefore": before, "bytes": after }) })
}

fn copy(dir: &Path, to: PathBuf) -> Result<Answer, Refusal> {
    let folder = DataFolder::existing(dir)?;
    data::copy(&folder, &to)?;
    let bytes = Usage::of(&to)?.bytes;
    let text = format!(
        "Copied {} to {}; `--keep-data --data-dir {}` uses it.",
        human(bytes),
        to.display(),
        to.display()
    );
    Ok(Answer { text, result: json!({ "dir": to, "bytes": bytes }) })
}

fn list_snapshots(dir: &Path, now: UnixMicros) -> Result<Answer, Refusal> {
    check_existing(dir)?;
    let found = SnapshotFolders::at(dir).list()?;
    let mut rows = vec![["Name", "Project", "Size", "Taken"].map(str::to_owned).to_vec()];
    let mut listed = Vec::new();
    for KeptSnapshot { name, project, taken, dir, .. } in &found {
        let bytes = Usage::of(dir)?.bytes;
        rows.push(vec![
            name.clone(),
            project.clone().unwrap_or_else(|| "all".to_owned()),
            human(bytes),
            age(*taken, now),
        ]);
        listed.push(json!({
            "name": name,
            "project": project,
            "bytes": bytes,
            "takenMs": millis(*taken),
        }));
    }
    let text = match found.as_slice() {
        [] => format!("No snapshot is kept in {}.", dir.display()),
        _ => columns(&rows).trim_end().to_owned(),
    };
    Ok(Answer { text, result: json!({ "snapshots": listed }) })
}

fn drop_snapshots(dir: &Path, names: &[String], force: bool) -> Result<Answer, Refusal> {
    let _folder = DataFolder::existing(dir)?;
    let folders = SnapshotFolders::at(dir);
    let found = folders.list()?;
    let missing = names.iter().find(|name| !found.iter().any(|one| one.name == **name));
    if let Some(missing) = missing {
        return Err(Refusal::Usage(format!(
            "there is no snapshot `{missing}`, and nothing was removed: `firelet data snapshots` lists them"
        )));
    }
    if !force {
        return Err(Refusal::Usage(format!(
            "this would remove {} for good: add `--force` to do it",
            names.join(", ")
        )));
    }
    for name in names {
        folders.remove(name)?;
    }
    let text = format!("Removed {}.", names.join(", "));
    Ok(Answer { text, result: json!({ "removed": names }) })
}

fn snapshots_size(snapshots: &[KeptSnapshot]) -> Result<u64, DataError> {
    snapshots.iter().map(|one| Ok(Usage::of(&one.dir)?.bytes)).sum()
}

fn millis(time: UnixMicros) -> i64 {
    time.0.div_euclid(1_000)
}

/// How long ago that was.
fn age(time: UnixMicros, now: UnixMicros) -> String {
    let seconds = now.since(time).as_secs();
    let (count, unit) = match seconds {
        0..60 => return "just now".to_owned(),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_readable() {
        let now = UnixMicros(1_780_000_000_000_000);
        for (seconds, shown) in [
            (-5, "just now"),
            (59, "just now"),
            (60, "1 minute ago"),
            (7_300, "2 hours ago"),
            (86_400, "1 day ago"),
            (864_000, "10 days ago"),
        ] {
            assert_eq!(age(UnixMicros(now.0 - seconds * 1_000_000), now), shown);
        }
    }
}
