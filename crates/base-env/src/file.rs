//! Files that others change: telling when one has.
//!
//! Files are looked at again and again instead of asking the operating system for news: editors replace files
//! in many ways, news does not come from every kind of file system, and a look at a file costs a microsecond.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use parking_lot::{Condvar, Mutex};

use crate::thread;

/// Looks after which a file is told that is never found the same twice in a row.
const RESTLESS_MAX: u32 = 10;

/// Follows some files until it is dropped.
#[derive(Debug)]
pub struct FileWatch {
    ending: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl FileWatch {
    /// Calls `on_change` with each file that has changed, once it is found the same in two looks: what is
    /// still being written is waited for, within a bound. Every file that is there is told once at first, so
    /// that no change is missed between reading a file and following it. A file that goes away is not told.
    ///
    /// # Errors
    /// The operating system's, when it cannot start a thread.
    pub fn start(
        files: Vec<PathBuf>,
        interval: Duration,
        mut on_change: impl FnMut(&Path) + Send + 'static,
    ) -> io::Result<FileWatch> {
        let ending = Arc::new((Mutex::new(false), Condvar::new()));
        let shared = Arc::clone(&ending);
        let mut followed: Vec<Followed> = files.into_iter().map(Followed::new).collect();
        let thread = thread::spawn("file-watch", move || {
            let (ended, changed) = &*shared;
            loop {
                for file in &mut followed {
                    if file.look() {
                        on_change(&file.path);
                    }
                }
                let mut ended = ended.lock();
                if !*ended {
                    changed.wait_for(&mut ended, interval);
                }
                if *ended {
                    return;
                }
            }
        })?;
        Ok(FileWatch { ending, thread: Some(thread) })
    }
}

impl Drop for FileWatch {
    fn drop(&mut self) {
        *self.ending.0.lock() = true;
        self.ending.1.notify_one();
        if let Some(thread) = self.thread.take() {
            // It has no result, and a panic in it has been reported.
            let _ended = thread.join();
        }
    }
}

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    modified: Option<SystemTime>,
    len: u64,
    /// Tells a file from the one that took its place.
    number: u64,
}

struct Followed {
    path: PathBuf,
    told: Option<Look>,
    seen: Option<Look>,
    restless: u32,
}

impl Followed {
    fn new(path: PathBuf) -> Followed {
        Followed { path, told: None, seen: None, restless: 0 }
    }

    /// Whether it is to be told now.
    fn look(&mut self) -> bool {
        let now = look(&self.path);
        let settled = now == self.seen;
        self.seen = now;
        if now.is_none() || now == self.told {
            self.restless = 0;
            return false;
        }
        self.restless += 1;
        if !settled && self.restless < RESTLESS_MAX {
            return false;
        }
        self.told = now;
        self.restless = 0;
        true
    }
}

fn look(path: &Path) -> Option<Look> {
    let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(Look { modified: found.modified().ok(), len: found.len(), number: number(&found) })
}

#[cfg(unix)]
fn number(found: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;

    found.ino()
}

#[cfg(not(unix))]
fn number(_found: &fs::Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    /// A folder of its own, removed in the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let mut random = [0; 8];
            crate::Env::real().random(&mut random);
            let name = format!("firelet-{name}-{:x}", u64::from_be_bytes(random));
            let path = std::env::temp_dir().join(name);
            fs::create_dir(&path).unwrap();
            Folder(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _gone = fs::remove_dir_all(&self.0);
        }
    }

    fn follow(file: &Path) -> (FileWatch, Receiver<String>) {
        let (tell, told) = channel();
        let watch =
            FileWatch::start(vec![file.to_owned()], Duration::from_millis(1), move |file| {
                tell.send(fs::read_to_string(file).unwrap_or_default()).unwrap();
            });
        (watch.unwrap(), told)
    }

    /// Waits until the file is told with this content, which may take some states before it.
    fn wait_for(told: &Receiver<String>, content: &str) {
        while told.recv_timeout(Duration::from_secs(30)).unwrap() != content {}
    }

    #[test]
    fn a_file_is_told_at_first_and_however_it_is_changed() {
        let folder = Folder::new("watch");
        let file = folder.0.join("a");
        fs::write(&file, "one").unwrap();
        let (watch, told) = follow(&file);
        wait_for(&told, "one");
        fs::write(&file, "longer").unwrap();
        wait_for(&told, "longer");
        // As editors do it: another file takes its place.
        fs::write(folder.0.join("b"), "placed").unwrap();
        fs::rename(folder.0.join("b"), &file).unwrap();
        wait_for(&told, "placed");
        fs::remove_file(&file).unwrap();
        fs::write(&file, "again").unwrap();
        wait_for(&told, "again");
        drop(watch);
        assert!(told.recv().is_err(), "the thread has ended");
    }

    #[test]
    fn what_is_still_written_is_waited_for_within_a_bound() {
        let folder = Folder::new("restless");
        let file = folder.0.join("a");
        let mut followed = Followed::new(file.clone());
        assert!(!followed.look(), "there is no file");
        let mut told = Vec::new();
        for len in 1..=2 * RESTLESS_MAX as usize {
            fs::write(&file, "x".repeat(len)).unwrap();
            if followed.look() {
                told.push(len);
            }
        }
        assert_eq!(told, [RESTLESS_MAX as usize, 2 * RESTLESS_MAX as usize]);
        assert!(!followed.look(), "it has not changed");
        fs::write(&file, "").unwrap();
        assert!(!followed.look());
        assert!(followed.look());
    }
}
