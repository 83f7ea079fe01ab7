//! Google's emulator, where the Cloud SDK is installed: found, started on a free port, stopped.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base_env::process::{Recipient, Signal, send, shell};
use tokio::process::Child;
use tokio::time::timeout;

const JAR: &str = "platform/cloud-firestore-emulator/cloud-firestore-emulator.jar";
const MAIN: &str = "com.google.cloud.datastore.emulator.firestore.CloudFirestore";

/// It ends within a second.
const STOP_MAX: Duration = Duration::from_secs(20);

/// An installed emulator.
#[derive(Clone, Debug)]
pub struct Install {
    /// What it calls itself, with its version.
    pub version: String,
    jar: PathBuf,
}

impl Install {
    /// Looks for the emulator of the Cloud SDK.
    ///
    /// # Errors
    /// Why this machine has none; a text for the reader of the report.
    pub async fn find() -> Result<Self, String> {
        let jar = find_jar().ok_or("no Cloud SDK with the Firestore emulator on this machine")?;
        find_program("java").ok_or("no java on this machine")?;
        let script = format!("exec {} --version", command(&jar, ""));
        let output = shell(&script).stderr(Stdio::null()).output().await;
        let output = output.map_err(|error| format!("java does not start: {error}"))?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        match output.status.success() && !version.is_empty() {
            true => Ok(Self { version, jar }),
            false => Err("the official emulator does not tell its version".to_owned()),
        }
    }
}

/// The Cloud SDK is found through its `gcloud`, without running it: that alone takes a second.
fn find_jar() -> Option<PathBuf> {
    let gcloud = find_program("gcloud")?.canonicalize().ok()?;
    let beside = gcloud.parent()?.parent()?.join(JAR);
    beside.is_file().then_some(beside)
}

fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn command(jar: &Path, options: &str) -> String {
    format!("java {options} -Duser.language=en -cp '{}' {MAIN}", jar.display())
}

/// A running emulator, ended when dropped.
pub(super) struct Official {
    child: Child,
}

impl Official {
    pub(super) fn open(install: &Install) -> Result<(String, Self)> {
        Self::open_with(install, "")
    }

    /// The same with options for Java.
    pub(super) fn open_with(install: &Install, options: &str) -> Result<(String, Self)> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let java = command(&install.jar, options);
        let script = format!("exec {java} --host=127.0.0.1 --port={port}");
        let child = shell(&script)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("java does not start")?;
        Ok((format!("127.0.0.1:{port}"), Self { child }))
    }

    pub(super) fn check(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            Some(status) => bail!("the official emulator has ended: {status}"),
            None => Ok(()),
        }
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    pub(super) async fn close(mut self) -> Result<()> {
        let id = self.child.id().context("the official emulator has ended already")?;
        send(Signal::Terminate, Recipient::Process(id))?;
        timeout(STOP_MAX, self.child.wait()).await.context("it does not stop")??;
        Ok(())
    }
}
