//! What feeds say, and what is asked of targets for it.

use std::collections::BTreeMap;
use std::future::{pending, ready};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, Waker};

use engine_txn::Database;
use engine_watch::{Feed, Hub, News, ViewId};

use crate::shape::Shape;
use crate::{database, path_of, write};

/// A reader of several targets, by the names they are called in tests.
struct Reader {
    feed: Feed<Shape>,
    names: BTreeMap<ViewId, &'static str>,
}

impl Reader {
    fn join(hub: &Hub<Shape>) -> Reader {
        let (feed, runner) = hub.join();
        if let Some(runner) = runner {
            tokio::spawn(runner.run(pending()));
        }
        Reader { feed, names: BTreeMap::new() }
    }

    fn watch(&mut self, text: &'static str) -> Arc<Shape> {
        let shape = Shape::new(text);
        self.names.insert(self.feed.watch(&shape), text);
        shape
    }

    /// Everything that there is to hear, as text.
    async fn hear(&mut self) -> String {
        let mark = self.feed.mark();
        let mut heard = Vec::new();
        loop {
            match self.feed.next().await {
                News::Commit(commit) => {
                    let mut updates: Vec<_> = commit
                        .updates
                        .iter()
                        .map(|update| {
                            let mut text = self.names[&update.view].to_owned();
                            let changes = update.changes.iter().map(|seen| {
                                let sign = if seen.inside { '+' } else { '-' };
                                let gone = if seen.document.record.is_none() { "!" } else { "" };
                                format!(" {sign}{}{gone}", path_of(&seen.document.key))
                            });
                            let mut changes: Vec<String> = changes.collect();
                            changes.sort();
                            text.extend(changes);
                            text
                        })
                        .collect();
                    updates.sort();
                    heard.push(updates.join(", "));
                }
                News::Mark(number) if number == mark => return heard.join("; "),
                News::Mark(_) => {}
                News::Ping(_) => heard.push("ping".to_owned()),
                News::Lost => heard.push("lost".to_owned()),
                News::Closed => return "closed".to_owned(),
            }
        }
    }
}

/// Commits, and what is heard of them by a reader of `targets` in a database that holds `before`.
async fn check(before: &str, targets: &[&'static str], commits: &[(&str, &str)]) {
    let database = database();
    write(&database, before);
    let mut reader = Reader::join(&Hub::new(&database));
    for target in targets {
        reader.watch(target);
    }
    for (commit, expected) in commits {
        commit.split("; ").for_each(|commit| drop(write(&database, commit)));
        assert_eq!(reader.hear().await, *expected, "{targets:?}: {commit}");
    }
}

#[tokio::test]
async fn changes_are_told_to_whom_they_concern() {
    check(
        "c/a=1 c/b=2 d/a=1 c/a/c/x=1",
        &["c", "c>1", "**c", "docs c/a d/z", "*", "part c"],
        &[
            ("c/a=1", ""),
            ("e/a=1", "* +e/a"),
            (
                "c/a=3",
                "* +c/a, **c +c/a, c +c/a, c>1 +c/a, docs c/a d/z +c/a, part c +c/a",
            ),
            ("c/b=0", "* +c/b, **c +c/b, c +c/b, c>1 -c/b, part c +c/b"),
            ("c/a/c/x-", "* -c/a/c/x!, **c -c/a/c/x!"),
            (
                "c/a- d/z=1",
                "* +d/z -c/a!, **c -c/a!, c -c/a!, c>1 -c/a!, docs c/a d/z +d/z -c/a!, part c -c/a!",
            ),
            ("d/z=2; d/y=1", "* +d/z, docs c/a d/z +d/z; * +d/y"),
        ],
    )
    .await;
}

#[tokio::test]
async fn windows_move() {
    check(
        "c/a=1 c/b=2 c/c=3 c/d=4 c/e=5",
        &["c order 1 2 4"],
        &[
            ("c/z=9", ""),
            ("c/c=7", "c order 1 2 4 +c/d -c/c"),
            ("c/a-", "c order 1 2 4 +c/e -c/b"),
            ("c/0=0", "c order 1 2 4 +c/b -c/e"),
            ("c/b=2", ""),
            ("c/d=3", "c order 1 2 4 +c/d"),
            ("c/0- c/b- c/d-", "c order 1 2 4 +c/c +c/z -c/b! -c/d!"),
            ("c/e- c/c-", "c order 1 2 4 -c/c! -c/z"),
            ("c/x=1 c/y=2; c/z-", "c order 1 2 4 +c/y +c/z; c order 1 2 4 -c/z!"),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_window_asks_for_its_query_only_when_what_it_knows_is_used_up() {
    let database = database();
    write(&database, &(10..40).map(|n| format!("c/{n}={n} ")).collect::<String>());
    let mut reader = Reader::join(&Hub::new(&database));
    let shape = reader.watch("c order 0 2 6");
    let view = reader.names.keys().next().copied().unwrap();
    let now = database.snapshot();
    reader.feed.offer(view, now.version(), engine_watch::Select::run(&*shape, &now));
    reader.hear().await;
    let mut runs = 1;
    for n in 10..35 {
        write(&database, &format!("c/{n}-"));
        let expected = format!("c order 0 2 6 +c/{} -c/{n}!", n + 2);
        assert_eq!(reader.hear().await, expected);
        // Four leave before the last two are not enough.
        if (n - 10) % 5 == 4 {
            runs += 1;
        }
        assert_eq!(shape.runs.load(Relaxed), runs, "{n}");
    }
}

#[tokio::test]
async fn a_view_does_not_begin_with_what_the_hub_has_yet_to_do() {
    let database = database();
    let mut reader = Reader::join(&Hub::new(&database));
    reader.watch("d");
    // The hub is told of the first for the other target's sake, and not of the second.
    write(&database, "c/a=1 d/a=1");
    write(&database, "c/b=2");
    reader.watch("c order 0 9 9");
    write(&database, "c/c=3");
    write(&database, "c/b-");
    assert_eq!(reader.hear().await, "d +d/a; c order 0 9 9 +c/c; c order 0 9 9 -c/b!");
}

#[tokio::test]
async fn commits_elsewhere_ask_nothing_of_a_target() {
    let database = database();
    let hub = Hub::new(&database);
    let mut reader = Reader::join(&hub);
    let shapes = ["c", "c>1", "**g", "docs d/a", "c order 0 1 2"].map(|text| reader.watch(text));
    for n in 0..100 {
        write(&database, &format!("e/{n}=1 d/{n}=1 c/a/d/{n}=1"));
    }
    assert_eq!(reader.hear().await, "");
    assert!(shapes.iter().all(|shape| shape.asked.load(Relaxed) == 0));
}

#[tokio::test]
async fn equal_targets_are_one_view_and_share_what_is_made_of_documents() {
    let database = database();
    let hub = Hub::new(&database);
    let mut readers = [Reader::join(&hub), Reader::join(&hub)];
    let shapes = readers.each_mut().map(|reader| reader.watch("c"));
    // Another view that tells documents as they are.
    readers[0].watch("**c");
    write(&database, "c/a=1");
    let mut made = Vec::new();
    for (number, reader) in readers.iter_mut().enumerate() {
        let News::Commit(commit) = reader.feed.next().await else { panic!("there was a commit") };
        for update in &commit.updates {
            made.push(*update.changes[0].document.made(|| number));
        }
    }
    assert_eq!(made, [0, 0, 0]);
    let asked: usize = shapes.iter().map(|shape| shape.asked.load(Relaxed)).sum();
    assert_eq!(asked, 1, "one view is asked, about the change's after alone");
    // The view goes on when one of them leaves.
    let [mut first, second] = readers;
    drop(second);
    write(&database, "c/b=1");
    assert_eq!(first.hear().await, "**c +c/b, c +c/b");
}

#[tokio::test]
async fn a_target_is_watched_as_often_as_it_is_not_unwatched() {
    let database = database();
    let mut reader = Reader::join(&Hub::new(&database));
    reader.watch("c");
    reader.watch("c");
    let view = reader.names.keys().next().copied().unwrap();
    for (heard, commit) in [("c +c/a", "c/a=1"), ("c +c/a", "c/a=2"), ("", "c/a=3")] {
        write(&database, commit);
        assert_eq!(reader.hear().await, heard);
        reader.feed.unwatch(view);
    }
}

#[tokio::test]
async fn who_does_not_read_is_bounded_and_told_so() {
    let database = database();
    let hub = Hub::new(&database);
    let (mut slow, mut quick) = (Reader::join(&hub), Reader::join(&hub));
    slow.watch("c");
    quick.watch("d");
    for n in 0..20_000 {
        write(&database, &format!("c/a={n}"));
        // The hub has its turn now and then.
        if n % 1_000 == 0 {
            assert_eq!(quick.hear().await, "");
        }
    }
    write(&database, "d/a=1");
    assert_eq!(quick.hear().await, "d +d/a");
    assert_eq!(slow.hear().await, "lost");
    write(&database, "c/a=0");
    assert_eq!(slow.hear().await, "c +c/a");
}

#[tokio::test]
async fn what_lists_nothing_is_lost_to_all() {
    let limits = engine_txn::Limits { clear_changes_max: 2, ..engine_txn::Limits::default() };
    let env = base_env::Env::simulated(1, base_env::UnixMicros(1_000_000));
    let database = Database::new(env, limits);
    write(&database, "c/a=1 c/b=2 c/c=3");
    let mut reader = Reader::join(&Hub::new(&database));
    reader.watch("c order 0 1 1");
    write(&database, "c/d=0");
    assert_eq!(reader.hear().await, "c order 0 1 1 +c/d -c/a");
    write(&database, "c/e=5");
    database.clear().unwrap();
    assert_eq!(reader.hear().await, "lost");
    // The window knows nothing of before.
    write(&database, "c/x=7");
    assert_eq!(reader.hear().await, "c order 0 1 1 +c/x");
}

#[tokio::test]
async fn idle_waits_for_what_readers_have_not_passed_on() {
    let database = database();
    let hub = Hub::new(&database);
    hub.idle().await;
    let mut reader = Reader::join(&hub);
    hub.clone().idle().await_passed(&mut reader).await;
    reader.watch("c");
    write(&database, "c/a=1");
    let mut idle = pin!(hub.idle());
    let mut poll = || idle.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(poll().is_pending());
    assert!(matches!(reader.feed.next().await, News::Commit(_)));
    let News::Ping(ping) = reader.feed.next().await else { panic!("a ping comes behind it") };
    assert!(poll().is_pending());
    drop(ping);
    assert!(poll().is_ready());
    // Nor does it wait for who went away.
    let mut idle = pin!(hub.idle());
    assert!(idle.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(reader);
    idle.await;
}

/// Polls something until it is ready, while a reader passes on what he hears.
trait AwaitPassed: Future<Output = ()> + Sized {
    async fn await_passed(self, reader: &mut Reader) {
        let mut this = pin!(self);
        loop {
            if let Poll::Ready(()) = this.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                return;
            }
            reader.hear().await;
        }
    }
}

impl<F: Future<Output = ()>> AwaitPassed for F {}

#[tokio::test]
async fn the_work_ends_with_the_last_reader_and_begins_again_with_the_next() {
    let database = database();
    let hub: Hub<Shape> = Hub::new(&database);
    for _ in 0..3 {
        let (feed, runner) = hub.join();
        let work = tokio::spawn(runner.expect("nobody works").run(pending()));
        let (other, none) = hub.join();
        assert!(none.is_none(), "somebody does");
        drop((feed, other));
        work.await.unwrap();
    }
}

#[tokio::test]
async fn readers_hear_when_the_work_ends_before_they_do() {
    let database = database();
    let hub = Hub::new(&database);
    let (feed, runner) = hub.join();
    let mut reader = Reader { feed, names: BTreeMap::new() };
    reader.watch("c");
    let runner = runner.unwrap();
    runner.run(ready(())).await;
    assert_eq!(reader.hear().await, "closed");
    hub.idle().await;
    // Another one begins where nothing is left of before.
    let mut next = Reader::join(&hub);
    next.watch("c");
    write(&database, "c/a=1");
    assert_eq!(next.hear().await, "c +c/a");
    drop(reader);
    write(&database, "c/a=2");
    assert_eq!(next.hear().await, "c +c/a");
}
