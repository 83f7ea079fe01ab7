//! The hub's work: takes commits in their order, works out what they change, and tells the readers.

use std::collections::HashMap;
use std::fmt;
use std::pin::pin;
use std::sync::Arc;

use base_env::UnixMicros;
use engine_store::{Commit, Version};
use tokio::task::{consume_budget, spawn_blocking};

use crate::hub::Shared;
use crate::inbox::Item;
use crate::queue::{CommitNews, News, Queue};
use crate::select::{Row, Select};
use crate::view::{Followed, Made, Update, View};
use crate::window::Window;

/// The hub's work while there are readers. Dropping it, or an end before its own, tells them that nothing comes any more.
pub struct Runner<S: Select> {
    shared: Arc<Shared<S>>,
    /// Up to where commits were left out.
    lost: Version,
    /// Whether readers depend on it.
    is_needed: bool,
}

impl<S: Select> Runner<S> {
    pub(crate) fn new(shared: Arc<Shared<S>>) -> Runner<S> {
        Runner { shared, lost: Version::ZERO, is_needed: true }
    }

    /// Works until there are no readers, or until `stop` is ready.
    pub async fn run(mut self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        loop {
            while let Some(item) = self.shared.inbox.take() {
                self.take(item).await;
                consume_budget().await;
            }
            if self.ends() {
                return;
            }
            tokio::select! {
                biased;
                () = stop.as_mut() => return,
                () = self.shared.inbox.ready() => {}
            }
        }
    }

    /// Ends where nobody reads.
    fn ends(&mut self) -> bool {
        let mut readers = self.shared.readers.lock();
        if !readers.queues.is_empty() || !self.shared.inbox.is_empty() {
            return false;
        }
        readers.running = false;
        self.shared.database.observe(None);
        self.is_needed = false;
        true
    }

    async fn take(&mut self, item: Item<S>) {
        match item {
            Item::Commit(commit) => self.follow(&commit).await,
            Item::Offer { view, version, rows } if version >= self.lost => view.offer(rows),
            Item::Offer { .. } => {}
            Item::Mark(queue, mark) => queue.push(News::Mark(mark)),
            Item::Ping(ping) => {
                self.for_each_reader(|queue| queue.push(News::Ping(ping.clone())));
            }
            Item::Lost(version) => {
                self.lost = version;
                self.shared.registry.read().all().for_each(|view| view.forget());
                self.for_each_reader(|queue| queue.lose());
            }
        }
    }

    fn for_each_reader(&self, tell: impl FnMut(&Arc<Queue<S>>)) {
        self.shared.readers.lock().queues.values().for_each(tell);
    }

    async fn follow(&self, commit: &Arc<Commit>) {
        // Commits need the registry, so it is not held while the views work.
        let routed = self.shared.registry.read().route(commit);
        let mut updates = Vec::new();
        let mut unknown = Vec::new();
        let made = Made::new(commit);
        for (view, places) in routed.into_values() {
            match view.follow(&made, &places) {
                Followed::Nothing => {}
                Followed::Update(update) => updates.push((view, Arc::new(update))),
                Followed::Unknown(before) => unknown.push((view, before)),
            }
        }
        drop(made);
        for (view, before) in unknown {
            if let Some(update) = self.find_out(&view, before, commit).await {
                updates.push((view, Arc::new(update)));
            }
        }
        tell(commit, updates);
    }

    /// Runs the query of a view.
    async fn find_out(
        &self,
        view: &Arc<View<S>>,
        before: Option<Vec<Row>>,
        commit: &Arc<Commit>,
    ) -> Option<Update<S>> {
        let (shape, database) = (Arc::clone(&view.shape), self.shared.database.clone());
        let time = commit.time;
        let run = move |time: UnixMicros| {
            let snapshot = database.snapshot_at(time).ok()?;
            let rows = shape.run(&snapshot);
            // What the disk does not give must not look deleted.
            snapshot.check().ok()?;
            Some(rows)
        };
        let bounds = view.shape.bounds()?;
        let work = move || {
            let before = match before {
                Some(before) => before,
                None => {
                    let rows = run(UnixMicros(time.0.saturating_sub(1)))?;
                    Window::new(bounds, rows).shown().to_vec()
                }
            };
            Some((before, run(time)?))
        };
        let Ok(Some((before, rows))) = spawn_blocking(work).await else {
            // They find out for themselves, and meet whatever is in the way.
            view.forget();
            view.for_each_reader(|queue| queue.lose());
            return None;
        };
        match view.follow_to(&Made::new(commit), before, rows) {
            Followed::Update(update) => Some(update),
            Followed::Nothing | Followed::Unknown(_) => None,
        }
    }
}

/// What a commit changes for a view.
type Updated<S> = (Arc<View<S>>, Arc<Update<S>>);

/// All that concerns one reader.
type Concerning<S> = (Arc<Queue<S>>, Vec<Arc<Update<S>>>);

/// Tells each reader of all that concerns him at once.
fn tell<S: Select>(commit: &Commit, updates: Vec<Updated<S>>) {
    let news = |updates| CommitNews { version: commit.version, time: commit.time, updates };
    if let [(view, update)] = &updates[..] {
        view.for_each_reader(|queue| {
            queue.push(News::Commit(news(vec![Arc::clone(update)])));
        });
        return;
    }
    let mut by_reader: HashMap<u64, Concerning<S>> = HashMap::new();
    for (view, update) in &updates {
        view.for_each_reader(|queue| {
            let (_, updates) =
                by_reader.entry(queue.reader).or_insert_with(|| (Arc::clone(queue), Vec::new()));
            updates.push(Arc::clone(update));
        });
    }
    for (queue, updates) in by_reader.into_values() {
        queue.push(News::Commit(news(updates)));
    }
}

impl<S: Select> Drop for Runner<S> {
    fn drop(&mut self) {
        if !self.is_needed {
            return;
        }
        let mut readers = self.shared.readers.lock();
        readers.running = false;
        self.shared.database.observe(None);
        let queues = std::mem::take(&mut readers.queues);
        self.shared.registry.write().clear();
        self.shared.inbox.clear();
        drop(readers);
        queues.values().for_each(|queue| queue.close());
    }
}

impl<S: Select> fmt::Debug for Runner<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner").finish_non_exhaustive()
    }
}
