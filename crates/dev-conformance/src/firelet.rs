//! firelet itself, started in this process.

use anyhow::{Context, Result};
use host_suite::{Caller, ConfigChoice, Machine, StartOptions, Suite};

use crate::client::Client;

/// A running suite of one service.
pub struct Firelet {
    suite: Suite,
    client: Client,
}

impl Firelet {
    /// Starts a suite that runs `service` alone, on a free port.
    pub async fn start(service: &str) -> Result<Self> {
        let mut options = StartOptions::new(Caller::Program, Machine::of_process()?);
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

    /// Stops the suite.
    ///
    /// # Errors
    /// The suite's.
    pub async fn stop(self) -> Result<()> {
        Ok(self.suite.stop().await?)
    }
}
