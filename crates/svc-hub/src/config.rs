//! What the suite decides for the hub.

/// How a hub is built.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The version it reports.
    pub version: &'static str,
}
