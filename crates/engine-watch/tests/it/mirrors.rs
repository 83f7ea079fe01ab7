//! Copies kept by following alone, while others write.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use base_env::{Env, thread};
use bytes::Bytes;
use engine_store::{Record, Snapshot, Version};
use engine_txn::{Database, Limits};
use engine_watch::{CommitNews, Feed, Hub, News, Select, ViewId};
use tokio::time::timeout;

use crate::shape::Shape;
use crate::write;

/// Longer than any test here takes; reached only by one that hangs.
const HANGS: Duration = Duration::from_secs(120);

const TARGETS: [&str; 7] =
    ["c", "c>20", "**c", "docs c/1 c/2 d/3", "c order 0 3 5", "c order 2 4 6", "d order 0 5 5"];

/// What a reader has of one target.
struct Mirror {
    shape: Arc<Shape>,
    copy: BTreeMap<Bytes, Record>,
}

fn selected(shape: &Shape, snapshot: &Snapshot) -> BTreeMap<Bytes, Record> {
    shape.select(snapshot).into_iter().map(|row| (row.key, row.record)).collect()
}

/// A reader of every target.
struct Reader {
    database: Database,
    feed: Feed<Shape>,
    mirrors: BTreeMap<ViewId, Mirror>,
    version: Version,
}

impl Reader {
    fn new(database: &Database, mut feed: Feed<Shape>) -> Reader {
        let mut mirrors = BTreeMap::new();
        for text in TARGETS {
            let shape = Shape::new(text);
            mirrors.insert(feed.watch(&shape), Mirror { shape, copy: BTreeMap::new() });
        }
        let mut reader =
            Reader { database: database.clone(), feed, mirrors, version: Version::ZERO };
        reader.load();
        reader
    }

    fn load(&mut self) {
        let now = self.database.snapshot();
        self.version = now.version();
        for (view, mirror) in &mut self.mirrors {
            mirror.copy = selected(&mirror.shape, &now);
            if mirror.shape.bounds().is_some() {
                self.feed.offer(*view, self.version, mirror.shape.run(&now));
            }
        }
    }

    fn take(&mut self, commit: &CommitNews<Shape>) {
        for update in &commit.updates {
            let mirror = self.mirrors.get_mut(&update.view).unwrap();
            for seen in &update.changes {
                let key = seen.document.key.clone();
                match (&seen.document.record, seen.inside) {
                    (Some(record), true) => drop(mirror.copy.insert(key, record.clone())),
                    _ => assert!(mirror.copy.remove(&key).is_some(), "it had that"),
                }
            }
        }
        self.version = commit.version;
    }

    fn check(&self, state: &Snapshot) {
        for mirror in self.mirrors.values() {
            assert_eq!(mirror.copy, selected(&mirror.shape, state));
        }
    }

    /// Follows, and checks at each commit that he has what he should. Answers how many there were, and how often he
    /// had to begin anew.
    async fn follow(mut self, until: Version) -> (u64, u64) {
        let (mut heard, mut lost, mut last_mark) = (0, 0, None);
        while self.version < until {
            let is_over = self.database.log().newest() >= until;
            // One at each turn, so that it always goes on.
            let mark = self.feed.mark();
            if is_over && last_mark.is_none() {
                last_mark = Some(mark);
            }
            match self.feed.next().await {
                News::Commit(commit) if commit.version > self.version => {
                    self.take(&commit);
                    heard += 1;
                    // The log may be past it by now, where it is short.
                    if let Ok(then) = self.database.snapshot_at(commit.time) {
                        self.check(&then);
                    }
                }
                News::Commit(_) | News::Ping(_) => {}
                // The last commits may concern nobody.
                News::Mark(mark) if last_mark == Some(mark) => self.version = until,
                News::Mark(_) => {}
                News::Lost => {
                    lost += 1;
                    self.load();
                }
                News::Closed => panic!("somebody works"),
            }
        }
        self.check(&self.database.snapshot());
        (heard, lost)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_kept_by_following_are_right_at_every_commit() {
    const WRITERS: usize = 2;
    const COMMITS: usize = 400;
    // With a short log windows cannot look back, and must come out right all the same.
    for log_commits_max in [16_384, 3] {
        let database = Database::new(Env::real(), Limits { log_commits_max, ..Limits::default() });
        let until = Version::new((WRITERS * COMMITS) as u64);
        let hub = Hub::new(&database);
        // They begin before anything is written.
        let readers: Vec<_> = (0..3)
            .map(|_| {
                let (feed, runner) = hub.join();
                if let Some(runner) = runner {
                    tokio::spawn(runner.run(pending()));
                }
                Reader::new(&database, feed)
            })
            .collect();
        let readers: Vec<_> =
            readers.into_iter().map(|reader| tokio::spawn(reader.follow(until))).collect();
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let database = database.clone();
                let work = move || {
                    for commit in 0..COMMITS {
                        // Every one a change.
                        let value = 2 * commit + writer;
                        let collection = ["c", "c", "d", "e"][value % 4];
                        let path = format!("{collection}/{}", value * 7 % 9);
                        let other = format!("c/{}", value * 5 % 11);
                        let delete = if value % 3 == 0 && other != path {
                            format!("{other}-")
                        } else {
                            String::new()
                        };
                        write(
                            &database,
                            &format!("{path}={} {delete}", value * 13 % 1_000 + value),
                        );
                    }
                };
                thread::spawn("writer", work).unwrap()
            })
            .collect();
        for reader in readers {
            let (heard, lost) =
                timeout(HANGS, reader).await.expect("readers come to an end").unwrap();
            assert!(heard + lost > 0, "something was heard");
            assert!(lost == 0 || log_commits_max < 10, "a long log loses nothing");
        }
        writers.into_iter().for_each(|writer| writer.join().unwrap());
    }
}
