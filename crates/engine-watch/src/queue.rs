//! What waits for one reader.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use base_env::UnixMicros;
use engine_store::Version;
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};

use crate::limits::{QUEUE_BYTES_MAX, QUEUE_COMMITS_MAX};
use crate::select::Select;
use crate::view::Update;

/// What a reader hears.
pub enum News<S: Select> {
    /// What a commit changed for views that he watches. Commits come in their order.
    Commit(CommitNews<S>),
    /// Everything that was committed before [`crate::Feed::mark`] gave this number has come.
    Mark(u64),
    /// Somebody waits for this to be dropped; it is to follow what came before it to the client.
    Ping(Ping),
    /// Some commits were left out: he was too slow, or nobody knows what they changed. Nothing after them is missing.
    Lost,
    /// Nothing comes any more.
    Closed,
}

/// What a commit changed for some views.
#[derive(Debug)]
pub struct CommitNews<S: Select> {
    /// The version it led to.
    pub version: Version,
    /// Its time.
    pub time: UnixMicros,
    /// By view. None is without changes.
    pub updates: Vec<Arc<Update<S>>>,
}

/// Dropped when it has come as far as it goes.
#[derive(Clone, Debug)]
pub struct Ping {
    _alive: mpsc::Sender<()>,
}

impl Ping {
    /// A ping, and what becomes ready when all its clones are gone.
    pub(crate) fn new() -> (Ping, impl Future<Output = ()>) {
        let (alive, mut gone) = mpsc::channel(1);
        let gone = async move {
            // Nothing is ever sent.
            let _none = gone.recv().await;
        };
        (Ping { _alive: alive }, gone)
    }
}

/// A bounded queue of news, for one reader.
pub(crate) struct Queue<S: Select> {
    /// Tells readers of one hub apart.
    pub(crate) reader: u64,
    waiting: Mutex<Waiting<S>>,
    ready: Notify,
}

struct Waiting<S: Select> {
    news: VecDeque<News<S>>,
    commits: usize,
    bytes: usize,
    /// Whether commits were left out that the reader has not been told of. Until then no more are taken in.
    lost: bool,
    closed: bool,
}

impl<S: Select> Queue<S> {
    pub(crate) fn new(reader: u64) -> Queue<S> {
        let waiting =
            Waiting { news: VecDeque::new(), commits: 0, bytes: 0, lost: false, closed: false };
        Queue { reader, waiting: Mutex::new(waiting), ready: Notify::new() }
    }

    pub(crate) fn push(&self, news: News<S>) {
        let mut waiting = self.waiting.lock();
        if let News::Commit(commit) = &news {
            if waiting.lost {
                return;
            }
            let bytes = commit.size();
            // One commit is let in whatever its size.
            let is_full = waiting.commits >= QUEUE_COMMITS_MAX
                || (waiting.commits > 0 && waiting.bytes + bytes > QUEUE_BYTES_MAX);
            if is_full {
                waiting.lose();
            } else {
                waiting.commits += 1;
                waiting.bytes += bytes;
                waiting.news.push_back(news);
            }
        } else {
            waiting.news.push_back(news);
        }
        drop(waiting);
        self.ready.notify_one();
    }

    /// Leaves out what waits.
    pub(crate) fn lose(&self) {
        self.waiting.lock().lose();
        self.ready.notify_one();
    }

    pub(crate) fn close(&self) {
        self.waiting.lock().closed = true;
        self.ready.notify_one();
    }

    /// The next news, if there is some already.
    pub(crate) fn take(&self) -> Option<News<S>> {
        let mut waiting = self.waiting.lock();
        if std::mem::take(&mut waiting.lost) {
            return Some(News::Lost);
        }
        let news = waiting.news.pop_front();
        if let Some(News::Commit(commit)) = &news {
            waiting.commits -= 1;
            waiting.bytes -= commit.size();
        }
        news.or_else(|| waiting.closed.then_some(News::Closed))
    }

    /// Waits for the next news. Nothing is lost when the future is dropped before it is ready.
    pub(crate) async fn next(&self) -> News<S> {
        loop {
            if let Some(news) = self.take() {
                return news;
            }
            self.ready.notified().await;
        }
    }
}

impl<S: Select> Waiting<S> {
    fn lose(&mut self) {
        self.news.retain(|news| !matches!(news, News::Commit(_)));
        (self.commits, self.bytes) = (0, 0);
        self.lost = true;
    }
}

impl<S: Select> CommitNews<S> {
    fn size(&self) -> usize {
        self.updates.iter().map(|update| update.size).sum()
    }
}

impl<S: Select> fmt::Debug for News<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            News::Commit(commit) => f.debug_tuple("Commit").field(&commit.version).finish(),
            News::Mark(mark) => f.debug_tuple("Mark").field(mark).finish(),
            News::Ping(_) => f.write_str("Ping"),
            News::Lost => f.write_str("Lost"),
            News::Closed => f.write_str("Closed"),
        }
    }
}
