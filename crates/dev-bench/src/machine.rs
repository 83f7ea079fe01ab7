//! The machine, as far as a reader of the numbers needs it and nobody can be found by it.

use serde::Serialize;

/// What the numbers were measured on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Machine {
    /// Processors this process may use.
    pub cores: usize,
    /// Memory in GiB, where the system tells.
    pub memory_gib: Option<u64>,
    /// Operating system, kernel version (major and minor) and processor architecture.
    pub system: String,
    /// The load average of the minute before, where the system tells: whether other work ran.
    pub load_before: Option<f64>,
}

impl Machine {
    /// This machine.
    #[must_use]
    pub fn this() -> Self {
        let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let loadavg = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gib: memory_gib(&meminfo),
            system: [os, &major_and_minor(&release), arch].join(" ").replace("  ", " "),
            load_before: loadavg.split_whitespace().next().and_then(|load| load.parse().ok()),
        }
    }
}

fn memory_gib(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    // Kernels keep a part for themselves, so 24 GiB read as a little less.
    Some(kib.div_ceil(1024 * 1024))
}

/// The rest of a release names the one who built it, and sometimes the machine.
fn major_and_minor(release: &str) -> String {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    match (parts.next(), parts.next()) {
        (Some(major), Some(minor)) => format!("{major}.{minor}"),
        (Some(_), None) | (None, _) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_general_facts_are_kept() {
        assert_eq!(memory_gib("MemTotal:       24672212 kB\nMemFree: 1 kB\n"), Some(24));
        assert_eq!(memory_gib(""), None);
        assert_eq!(major_and_minor("6.18.44-builder-host7\n"), "6.18");
        assert_eq!(major_and_minor(""), "");
    }
}
