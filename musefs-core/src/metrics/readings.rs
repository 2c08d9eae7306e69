//! What is read off the library at the moment when the text is made.

use std::fs;

use crate::workers;

/// Values of the label `state` of `musefs_tracks`, in the order of [`Readings::tracks`].
pub const TRACK_STATES: &[&str] = &["ok", "opaque", "missing", "unreadable"];
/// Values of the label `state` of `musefs_workers`.
pub(super) const WORKER_STATES: &[&str] = &["idle", "busy", "stuck"];

/// What the library tells of itself now.
#[derive(Clone, Copy, Debug, Default)]
pub struct Readings {
    /// Heap bytes of SQLite.
    pub sqlite_memory_bytes: u64,
    /// Open connections to the catalogue.
    pub sqlite_connections: u64,
    /// SQL statements run so far; told only in builds that count them.
    pub sql_statements: u64,
    /// Files and directories of the tree.
    pub tree_nodes: u64,
    /// Heap bytes of the tree.
    pub tree_bytes: u64,
    /// Nodes whose id derives from a path.
    pub inode_paths: u64,
    /// Tracks by [state](TRACK_STATES).
    pub tracks: [u64; 4],
    /// Sources held open.
    pub handles_open: u64,
    /// Headers found in memory so far.
    pub header_hits: u64,
    /// Headers built so far.
    pub header_misses: u64,
    /// Bytes of kept headers.
    pub header_bytes: u64,
    /// Most bytes for read-ahead.
    pub readahead_budget_bytes: u64,
    /// Bytes in use by read-ahead.
    pub readahead_used_bytes: u64,
    /// Sequence of the catalogue that the tree shows.
    pub catalog_sequence: u64,
}

/// What an allocator tells of itself, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllocatorStats {
    /// Asked for by the program.
    pub allocated: u64,
    /// In pages with something allocated.
    pub active: u64,
    /// In RAM.
    pub resident: u64,
    /// Address space without memory behind it.
    pub retained: u64,
}

/// All that is read when the text is made.
#[derive(Default)]
pub(super) struct Moment {
    pub(super) library: Readings,
    pub(super) pushing_fails: bool,
    pub(super) workers: workers::Stats,
    pub(super) allocator: AllocatorStats,
    pub(super) uptime_seconds: u64,
    pub(super) resident_bytes: u64,
    #[cfg(feature = "metrics")]
    pub(super) io: super::io::IoCounts,
}

/// Bytes of this process in RAM: the second number of /proc/self/statm, in pages (proc_pid_statm(5)).
pub(super) fn resident_bytes() -> Option<u64> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_process_is_in_memory() {
        assert!(super::resident_bytes().is_some_and(|bytes| bytes > 100_000));
    }
}
