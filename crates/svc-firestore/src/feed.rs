//! What is told of decisions of rules to whoever follows them: one bounded ring for all, in which everybody is at a
//! place of his own. Who is too slow passes over what has left the ring and is told how much; nobody is waited for.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::limits::{FEED_BYTES_MAX, FEED_FRAMES_MAX, FEED_HISTORY_MAX, FEED_READERS_MAX};

/// The feed of one suite.
pub(crate) struct Feed {
    ring: Mutex<Ring>,
    readers: AtomicUsize,
    /// How many frames there were.
    news: watch::Sender<u64>,
}

#[derive(Default)]
struct Ring {
    frames: VecDeque<Arc<str>>,
    /// The number of the first of them.
    first: u64,
    bytes: usize,
}

impl Default for Feed {
    fn default() -> Self {
        Feed { ring: Mutex::default(), readers: AtomicUsize::new(0), news: watch::channel(0).0 }
    }
}

impl Feed {
    /// Whether anybody follows: only then are frames made.
    pub(crate) fn is_followed(&self) -> bool {
        self.readers.load(Ordering::Relaxed) > 0
    }

    /// Adds a frame.
    pub(crate) fn push(&self, frame: &str) {
        let end = {
            let mut ring = self.ring.lock();
            ring.bytes += frame.len();
            ring.frames.push_back(Arc::from(frame));
            while ring.frames.len() > FEED_FRAMES_MAX || ring.bytes > FEED_BYTES_MAX {
                let Some(oldest) = ring.frames.pop_front() else { break };
                ring.bytes -= oldest.len();
                ring.first += 1;
            }
            ring.end()
        };
        self.news.send_replace(end);
    }

    /// Begins to follow: the last frames there were, and the place behind them. Nothing where too many follow.
    pub(crate) fn follow(self: &Arc<Self>) -> Option<(Vec<Arc<str>>, Reader)> {
        let one_more = |readers: usize| (readers < FEED_READERS_MAX).then_some(readers + 1);
        let counted =
            self.readers.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok();
        if !counted {
            return None;
        }
        let news = self.news.subscribe();
        let ring = self.ring.lock();
        let old = ring.frames.len().saturating_sub(FEED_HISTORY_MAX);
        let history = ring.frames.iter().skip(old).map(Arc::clone).collect();
        Some((history, Reader { next: ring.end(), feed: Arc::clone(self), news }))
    }
}

impl Ring {
    fn end(&self) -> u64 {
        self.first + self.frames.len() as u64
    }
}

/// Somebody who follows the feed.
pub(crate) struct Reader {
    feed: Arc<Feed>,
    next: u64,
    news: watch::Receiver<u64>,
}

/// What a reader is told next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// A frame.
    Frame(Arc<str>),
    /// So many frames were passed over, because they came faster than the reader read.
    Lost(u64),
}

impl Reader {
    /// Waits for what comes next.
    pub(crate) async fn next(&mut self) -> Told {
        loop {
            self.news.mark_unchanged();
            if let Some(told) = self.take() {
                return told;
            }
            if self.news.changed().await.is_err() {
                // The sender lives in the feed that this holds.
                std::future::pending::<()>().await;
            }
        }
    }

    fn take(&mut self) -> Option<Told> {
        let ring = self.feed.ring.lock();
        if self.next < ring.first {
            let lost = ring.first - self.next;
            self.next = ring.first;
            return Some(Told::Lost(lost));
        }
        let place = usize::try_from(self.next - ring.first).ok()?;
        let frame = ring.frames.get(place)?;
        self.next += 1;
        Some(Told::Frame(Arc::clone(frame)))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if self.feed.readers.fetch_sub(1, Ordering::Relaxed) == 1 {
            // What comes while nobody follows is not told, and what was before that would mislead.
            let mut ring = self.feed.ring.lock();
            ring.first = ring.end();
            ring.frames.clear();
            ring.bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(reader: &mut Reader) -> Vec<Told> {
        std::iter::from_fn(|| reader.take()).collect()
    }

    #[test]
    fn a_reader_is_told_everything_in_order() {
        let feed = Arc::new(Feed::default());
        assert!(!feed.is_followed());
        let (history, mut reader) = feed.follow().unwrap();
        assert!(feed.is_followed() && history.is_empty());
        feed.push("a");
        feed.push("b");
        let (history, mut other) = feed.follow().unwrap();
        assert_eq!(history.iter().map(|one| &**one).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(frames(&mut other), []);
        feed.push("c");
        assert_eq!(frames(&mut other), [Told::Frame("c".into())]);
        assert_eq!(frames(&mut reader), ["a", "b", "c"].map(|one| Told::Frame(one.into())));
        drop((reader, other));
        assert!(!feed.is_followed());
        let (history, _reader) = feed.follow().unwrap();
        assert!(history.is_empty());
    }

    #[test]
    fn a_slow_reader_is_told_what_it_missed() {
        let feed = Arc::new(Feed::default());
        let (_, mut reader) = feed.follow().unwrap();
        for number in 0..FEED_FRAMES_MAX + 7 {
            feed.push(&number.to_string());
        }
        assert_eq!(reader.take(), Some(Told::Lost(7)));
        assert_eq!(reader.take(), Some(Told::Frame("7".into())));
        assert_eq!(frames(&mut reader).len(), FEED_FRAMES_MAX - 1);
        // Large frames are bounded by their bytes.
        let large = "x".repeat(FEED_BYTES_MAX / 4);
        for _ in 0..10 {
            feed.push(&large);
        }
        assert_eq!(reader.take(), Some(Told::Lost(6)));
        assert_eq!(frames(&mut reader).len(), 4);
    }

    #[test]
    fn readers_are_bounded() {
        let feed = Arc::new(Feed::default());
        let readers: Vec<_> = (0..FEED_READERS_MAX).map(|_| feed.follow().unwrap()).collect();
        assert!(feed.follow().is_none());
        drop(readers);
        assert!(feed.follow().is_some());
    }
}
