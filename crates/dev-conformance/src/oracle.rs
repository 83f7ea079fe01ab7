//! Google's own Firestore emulator, where this machine has it.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base_env::process::shell;
use tokio::time::sleep;

use crate::client::Client;

const JAR: &str = "platform/cloud-firestore-emulator/cloud-firestore-emulator.jar";
const MAIN: &str = "com.google.cloud.datastore.emulator.firestore.CloudFirestore";
/// It starts in 2 to 5 seconds on an idle machine.
const START_ATTEMPTS: u32 = 300;

/// A running emulator, ended when dropped.
#[derive(Debug)]
pub struct Oracle {
    child: tokio::process::Child,
    client: Client,
}

impl Oracle {
    /// Starts the emulator. `Ok(Err(reason))` when this machine has none.
    pub async fn start() -> Result<Result<Self, String>> {
        Self::start_with("").await
    }

    /// Starts it with the documents of an export, by the overall metadata file, in a project.
    pub async fn import(overall: &Path, project: &str) -> Result<Result<Self, String>> {
        let file = overall.display();
        Self::start_with(&format!("--import-data='{file}' --project_id={project}")).await
    }

    async fn start_with(flags: &str) -> Result<Result<Self, String>> {
        let Some(jar) = find_jar() else {
            return Ok(
                Err("no Cloud SDK with cloud-firestore-emulator on this machine".to_owned()),
            );
        };
        if find_program("java").is_none() {
            return Ok(Err("no java on this machine".to_owned()));
        }
        let port = free_port()?;
        let script = format!(
            "exec java -Duser.language=en -Xmx1g -cp '{}' {MAIN} --host=127.0.0.1 --port={port} {flags}",
            jar.display()
        );
        let child = shell(&script).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let client = Client::new(&format!("127.0.0.1:{port}"));
        let mut oracle = Self { child, client };
        oracle.wait_until_ready().await?;
        Ok(Ok(oracle))
    }

    /// The client that asks it.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Ends it and waits until it is gone.
    pub async fn stop(mut self) -> Result<()> {
        self.child.kill().await.context("ending the official emulator")
    }

    async fn wait_until_ready(&mut self) -> Result<()> {
        for _ in 0..START_ATTEMPTS {
            if let Some(status) = self.child.try_wait()? {
                bail!("the official emulator ended at once: {status}");
            }
            if self.client.is_ready().await {
                return Ok(());
            }
            sleep(Duration::from_millis(100)).await;
        }
        bail!("the official emulator did not start")
    }
}

/// The Cloud SDK is found through its `gcloud`, without running it: that alone takes a second.
fn find_jar() -> Option<PathBuf> {
    let gcloud = find_program("gcloud")?.canonicalize().ok()?;
    let jar = gcloud.parent()?.parent()?.join(JAR);
    jar.is_file().then_some(jar)
}

fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| Path::new(&folder).join(name))
        .find(|file| file.is_file())
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
