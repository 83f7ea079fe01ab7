//! What the system says of a process: its memory and the time it has used. Linux only; elsewhere nobody knows.

use std::time::Duration;

use base_env::Env;

/// The clock tick of `/proc`: a hundredth of a second wherever Linux runs.
const TICK: Duration = Duration::from_millis(10);

/// How often a process is looked at while it comes to rest.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// Looks in a row at which it must have been at rest.
const RESTING_LOOKS: u32 = 4;
/// What it may use between two looks and be at rest: four percent of a processor.
const RESTING_MAX: Duration = Duration::from_millis(20);

/// Memory that is resident, in bytes.
#[must_use]
pub fn resident_bytes(id: u32) -> Option<u64> {
    resident_of(&std::fs::read_to_string(format!("/proc/{id}/status")).ok()?)
}

/// Memory of this process that is resident, in bytes.
#[must_use]
pub fn own_resident_bytes() -> Option<u64> {
    resident_of(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// Waits until a process does nothing any more: what it does after its last answer (folding, collecting
/// garbage, compiling) is neither measured with the next request nor left out of its memory.
pub async fn rest(id: u32, wait_max: Duration) {
    let clock = Env::real();
    let mut resting = 0;
    let mut before = used(id);
    while resting < RESTING_LOOKS && clock.monotonic() < wait_max {
        tokio::time::sleep(LOOK_INTERVAL).await;
        let (Some(earlier), Some(now)) = (before, used(id)) else { return };
        let rests = now.saturating_sub(earlier) <= RESTING_MAX;
        resting = if rests { resting + 1 } else { 0 };
        before = Some(now);
    }
}

fn used(id: u32) -> Option<Duration> {
    used_of(&std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
}

fn resident_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// User and system time. The name in front of them may hold spaces and parentheses.
fn used_of(stat: &str) -> Option<Duration> {
    let (_, behind) = stat.rsplit_once(')')?;
    let mut fields = behind.split_whitespace().skip(11);
    let ticks: u32 = fields.next()?.parse::<u32>().ok()? + fields.next()?.parse::<u32>().ok()?;
    Some(TICK * ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_proc_are_read() {
        assert_eq!(resident_of("Name:\tx\nVmRSS:\t  2048 kB\nThreads: 1"), Some(2048 * 1024));
        assert_eq!(resident_of("Name:\tx"), None);
        let stat = "7 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0 9 0";
        assert_eq!(used_of(stat), Some(Duration::from_secs(2)));
        assert_eq!(used_of("7 (a"), None);
    }
}
