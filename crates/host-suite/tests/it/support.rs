//! Project folders, captured command lines, and a client that talks HTTP.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_suite::Machine;
use host_suite::cli::{ChildStdio, CliIo, Signal, SignalSource, Terminal};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

/// How long a test waits for something before it fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A folder with these files.
pub(crate) fn project(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// A machine whose current folder is `folder`, with its own temporary folder and home below it, and no
/// variables but the path.
pub(crate) fn machine(folder: &Path) -> Machine {
    let temp = folder.join("tmp");
    fs::create_dir_all(&temp).unwrap();
    let variables = [
        ("PATH".into(), std::env::var_os("PATH").unwrap_or_default()),
        ("HOME".into(), folder.join("home").into_os_string()),
    ];
    Machine { cwd: folder.to_owned(), temp, variables: variables.into() }
}

/// A stream that keeps what is written.
#[derive(Clone, Default)]
pub(crate) struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Write::write(&mut *self.0.lock().unwrap(), bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A command line in this process.
pub(crate) struct Cli {
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
    pub(crate) signals: mpsc::Sender<Signal>,
    io: CliIo,
}

/// A command line that has ended.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Cli {
    pub(crate) fn new(machine: Machine) -> Self {
        let (signals, receiver) = mpsc::channel(8);
        let (stdout, stderr) = (Captured::default(), Captured::default());
        let io = CliIo {
            machine,
            stdout: Box::new(stdout.clone()),
            stderr: Box::new(stderr.clone()),
            terminal: Terminal::default(),
            signals: SignalSource::Channel(receiver),
            child: ChildStdio::Null,
            uptime: Duration::ZERO,
        };
        Self { stdout, stderr, signals, io }
    }

    /// The same command line on a terminal.
    pub(crate) fn on_a_terminal(mut self) -> Self {
        self.io.terminal = Terminal { stdin: true, stdout: true, stderr: true };
        self
    }

    /// Runs it in the background.
    pub(crate) fn spawn(self, argv: &[&str]) -> Spawned {
        let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
        let io = self.io;
        let task = tokio::spawn(async move { host_suite::cli::run(&argv, io).await });
        Spawned { stdout: self.stdout, stderr: self.stderr, signals: self.signals, task }
    }

    /// Runs it to its end.
    pub(crate) async fn run(self, argv: &[&str]) -> Ended {
        self.spawn(argv).end().await
    }
}

/// A command line that runs.
pub(crate) struct Spawned {
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
    pub(crate) signals: mpsc::Sender<Signal>,
    task: tokio::task::JoinHandle<i32>,
}

impl Spawned {
    pub(crate) async fn end(self) -> Ended {
        let code = tokio::time::timeout(PATIENCE, self.task).await.unwrap().unwrap();
        Ended { code, stdout: self.stdout.text(), stderr: self.stderr.text() }
    }

    /// Waits until `text` stands on standard output.
    pub(crate) async fn says(&self, text: &str) {
        let what = || format!("{text:?} in {:?} and {:?}", self.stdout.text(), self.stderr.text());
        until(what, || self.stdout.text().contains(text)).await;
    }
}

/// Polls until `done`, with a deadline.
pub(crate) async fn until(what: impl Fn() -> String, done: impl Fn() -> bool) {
    let polling = async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let ended = tokio::time::timeout(PATIENCE, polling).await;
    assert!(ended.is_ok(), "waited in vain for {}", what());
}

/// The body of `GET path`, or why there is none.
pub(crate) async fn get(authority: &str, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(authority).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
}
