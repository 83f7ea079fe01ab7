//! The locator file: how programs such as the official command line find the hub of a project.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use svc_kit::Listing;

/// How long another hub has to accept a connection before its file counts as left behind. Loopback
/// answers in microseconds; the bound is for a machine under load.
const PROBE: Duration = Duration::from_millis(250);

/// How a claim on a project's locator file ended.
#[derive(Debug)]
pub enum Claim {
    /// The file is ours until the locator goes.
    Written(Locator),
    /// Another suite of the same project runs and keeps its file.
    OtherSuite {
        /// The process the file names.
        pid: Option<u64>,
    },
}

/// A locator file we wrote. It is removed when this value is dropped, if it is still ours.
#[derive(Debug)]
pub struct Locator {
    path: PathBuf,
    content: String,
}

impl Locator {
    /// The file's name for a project. A colon (`example.com:app`) stays, as the official one writes it,
    /// except on Windows, where no file can have that name.
    #[must_use]
    pub fn file_name(project: &str) -> String {
        let project = if cfg!(windows) { project.replace(':', "_") } else { project.to_owned() };
        format!("hub-{project}.json")
    }

    /// Writes the file for a hub, unless another suite of the project runs.
    ///
    /// Whether one runs is asked from the addresses in its file, not from its process id: in containers a
    /// dead suite's id is soon somebody else's, often ours.
    ///
    /// # Errors
    /// The operating system's, when the file cannot be written.
    pub fn claim(
        directory: &Path,
        project: &str,
        version: &str,
        hub: &Listing,
    ) -> io::Result<Claim> {
        let path = directory.join(Self::file_name(project));
        if let Some(other) = read(&path).filter(|other| answers(other, hub)) {
            return Ok(Claim::OtherSuite { pid: other.get("pid").and_then(Value::as_u64) });
        }
        let content =
            json!({ "version": version, "origins": hub.origins(), "pid": std::process::id() })
                .to_string();
        write(&path, &content)?;
        Ok(Claim::Written(Self { path, content }))
    }

    /// The addresses in a locator file, in its order; `None` where there is no such file.
    pub(crate) fn addresses(path: &Path) -> Option<Vec<SocketAddr>> {
        Some(addresses(&read(path)?).collect())
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Locator {
    fn drop(&mut self) {
        let ours = fs::read_to_string(&self.path).is_ok_and(|content| content == self.content);
        if ours {
            // Nothing is lost when this fails: the next suite sees that nobody answers at the address.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The file is written anew beside its place and renamed, so that nobody reads half of it and a link
/// somebody put there in a shared folder is replaced, not followed.
fn write(path: &Path, content: &str) -> io::Result<()> {
    let fresh = path.with_extension(format!("json.{}", std::process::id()));
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&fresh)
        .or_else(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                fs::remove_file(&fresh)?;
                fs::OpenOptions::new().write(true).create_new(true).open(&fresh)
            }
            _ => Err(error),
        })
        .and_then(|mut file| file.write_all(content.as_bytes()))
        .and_then(|()| fs::rename(&fresh, path));
    if written.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    written
}

fn read(path: &Path) -> Option<Value> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

/// Whether another hub than ours accepts connections at one of the addresses of a locator file. Ours does
/// already, and may have the address of one that was killed.
fn answers(locator: &Value, ours: &Listing) -> bool {
    addresses(locator)
        .filter(|address| !ours.listen.contains(address))
        .any(|address| TcpStream::connect_timeout(&address, PROBE).is_ok())
}

fn addresses(locator: &Value) -> impl Iterator<Item = SocketAddr> {
    let origins = locator.get("origins").and_then(Value::as_array).into_iter().flatten();
    let origins = origins.filter_map(Value::as_str);
    origins.filter_map(|origin| origin.strip_prefix("http://")?.parse().ok())
}
