//! firelet: a suite in this process, as the JavaScript API starts it without options.

use anyhow::{Context, Result};
use host_suite::{Caller, ConfigChoice, Machine, StartOptions, Suite};

use super::home::Home;
use crate::workloads::data::PROJECT;

pub(super) struct Firelet {
    suite: Suite,
    home: Home,
}

impl Firelet {
    pub(super) async fn open() -> Result<(String, Self)> {
        let home = Home::open()?;
        let mut options = StartOptions::new(Caller::Program, Machine::of_process()?);
        options.project = Some(PROJECT.to_owned());
        options.config = ConfigChoice::Nothing;
        let suite = home.run(Suite::start(options)).await??;
        let firestore = suite.services().into_iter().find(|info| info.name == "firestore");
        let authority = firestore.context("the suite has no Firestore")?.authority;
        Ok((authority, Self { suite, home }))
    }

    pub(super) async fn close(self) -> Result<()> {
        let Self { suite, home } = self;
        home.run(async move { suite.stop().await }).await??;
        home.close().await
    }
}
