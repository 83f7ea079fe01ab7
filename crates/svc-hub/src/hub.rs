//! The hub as a service of the suite.

use std::sync::Arc;

use axum::Router;
use svc_kit::{Context, Service};

use crate::{Config, api};

/// The emulator hub. It has no data of its own: everything it answers is in the directory.
#[derive(Clone)]
pub struct Hub {
    pub(crate) config: Config,
    pub(crate) context: Context,
}

impl Hub {
    /// A hub over the context's directory.
    #[must_use]
    pub fn new(config: Config, context: Context) -> Arc<Self> {
        Arc::new(Self { config, context })
    }
}

impl Service for Hub {
    fn name(&self) -> &'static str {
        "hub"
    }

    fn router(&self) -> Router {
        api::router(Arc::new(self.clone()))
    }

    fn shutdown(&self) {}
}
