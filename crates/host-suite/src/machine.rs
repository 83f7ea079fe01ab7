//! What a suite reads of the process it runs in: read once, at the edge, so that tests can set it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;

/// The process's surroundings.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The current directory.
    pub cwd: PathBuf,
    /// The folder for temporary files, where the hub's locator file goes.
    pub temp: PathBuf,
    /// The environment variables.
    pub variables: BTreeMap<OsString, OsString>,
}

impl Machine {
    /// The surroundings of this process.
    ///
    /// # Errors
    /// The current directory is gone or may not be read.
    pub fn of_process() -> io::Result<Self> {
        Ok(Self {
            cwd: std::env::current_dir()?,
            temp: std::env::temp_dir(),
            variables: std::env::vars_os().collect(),
        })
    }

    /// A variable that is set and not empty.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str).filter(|v| !v.is_empty())
    }

    /// Where the official command line keeps what `firebase use` chose.
    #[must_use]
    pub(crate) fn official_settings(&self) -> Option<PathBuf> {
        let folder = match self.variable("XDG_CONFIG_HOME") {
            Some(folder) => PathBuf::from(folder),
            None => {
                let home = self.variable("HOME").or_else(|| self.variable("USERPROFILE"))?;
                PathBuf::from(home).join(".config")
            }
        };
        Some(folder.join("configstore").join("firebase-tools.json"))
    }

    /// Inside WSL the name `localhost` means another machine's to some clients, so the official suite
    /// listens on the address instead.
    pub(crate) fn default_host(&self) -> &'static str {
        if self.variable("WSL_DISTRO_NAME").is_some() { "127.0.0.1" } else { "localhost" }
    }
}
