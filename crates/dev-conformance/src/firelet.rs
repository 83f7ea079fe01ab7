//! firelet itself, started in this process.

use std::path::Path;

use anyhow::{Context, Result};
use host_suite::{
    Caller, ConfigChoice, ExportOptions, ImportOptions, Machine, StartOptions, Suite,
};

use crate::client::Client;

/// A running suite of one service.
pub struct Firelet {
    suite: Suite,
    client: Client,
}

impl Firelet {
    /// Starts a suite that runs `service` alone, on a free port.
    pub async fn start(service: &str) -> Result<Self> {
        Self::start_with(service, StartOptions::new(Caller::Program, Machine::of_process()?)).await
    }

    /// Starts a suite of Firestore in a project, with the documents of an export.
    pub async fn import(dir: &Path, project: &str) -> Result<Self> {
        let mut options = StartOptions::new(Caller::Program, Machine::of_process()?);
        options.project = Some(project.to_owned());
        options.import = Some(ImportOptions { dir: dir.to_owned(), ..ImportOptions::default() });
        Self::start_with("firestore", options).await
    }

    async fn start_with(service: &str, mut options: StartOptions) -> Result<Self> {
        options.only = Some(vec![service.to_owned()]);
        options.config = ConfigChoice::Nothing;
        let suite = Suite::start(options).await?;
        let services = suite.services();
        let info = services.iter().find(|info| info.name == service);
        let client = Client::new(&info.with_context(|| format!("no {service} started"))?.authority);
        Ok(Self { suite, client })
    }

    /// The client that asks it.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Writes its data into a folder.
    ///
    /// # Errors
    /// The suite's.
    pub async fn export(&self, dir: &Path) -> Result<()> {
        let options = ExportOptions { dir: dir.to_owned(), ..ExportOptions::default() };
        self.suite.export(options).await?;
        Ok(())
    }

    /// Stops the suite.
    ///
    /// # Errors
    /// The suite's.
    pub async fn stop(self) -> Result<()> {
        Ok(self.suite.stop().await?)
    }
}
