//! Every metric that there is, as data: what is exported and what docs/METRICS.md says come from here.

/// What a metric is to Prometheus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows, from 0 at start.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts of values below limits, with sum and count.
    Histogram,
}

impl Kind {
    /// The word in the exposition format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// Whether dashboards may rely on a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stability {
    /// Name, unit and labels stay; removal is announced in the changelog one release before.
    Stable,
    /// May change with any release.
    Experimental,
}

/// When a metric is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Always.
    Always,
    /// When the program's allocator tells numbers (feature `jemalloc`, the default).
    Allocator,
    /// In programs built with the feature `metrics`.
    IoCounters,
}

/// A label and the closed set of its values.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// Its name.
    pub name: &'static str,
    /// All values it can have.
    pub values: &'static [&'static str],
}

/// A metric.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// `musefs_<subsystem>_<what>_<unit>`, with `_total` for counters.
    pub name: &'static str,
    /// What it is to Prometheus.
    pub kind: Kind,
    /// What one of it is: bytes, seconds, requests…
    pub unit: &'static str,
    /// In order.
    pub labels: &'static [Label],
    /// One sentence, without a full stop.
    pub help: &'static str,
    /// Whether it may change.
    pub stability: Stability,
    /// When it is there.
    pub presence: Presence,
}

impl Definition {
    const fn new(name: &'static str, kind: Kind, unit: &'static str, help: &'static str) -> Self {
        Self { name, kind, unit, labels: &[], help, stability: Stability::Stable, presence: Presence::Always }
    }

    const fn gauge(name: &'static str, unit: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Gauge, unit, help)
    }

    const fn counter(name: &'static str, unit: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Counter, unit, help)
    }

    const fn by(mut self, labels: &'static [Label]) -> Self {
        self.labels = labels;
        self
    }

    const fn only(mut self, presence: Presence) -> Self {
        self.presence = presence;
        self
    }

    const fn experimental(mut self) -> Self {
        self.stability = Stability::Experimental;
        self
    }
}

const OP: Label = Label { name: "op", values: super::Op::NAMES };
const OUTCOME: Label = Label { name: "outcome", values: super::Outcome::NAMES };
const FROM: Label = Label { name: "from", values: super::From::NAMES };
const REFRESH: Label = Label { name: "outcome", values: super::Refresh::NAMES };
const TRACK_STATE: Label = Label { name: "state", values: super::readings::TRACK_STATES };
const WORKER_STATE: Label = Label { name: "state", values: super::readings::WORKER_STATES };

pub(super) const UPTIME: Definition =
    Definition::gauge("musefs_uptime_seconds", "seconds", "Time since the library was opened");
pub(super) const RESIDENT: Definition = Definition::gauge(
    "musefs_process_resident_bytes",
    "bytes",
    "Memory of the process that is in RAM, as the kernel counts it",
);
pub(super) const ALLOCATED: Definition = Definition::gauge(
    "musefs_alloc_allocated_bytes",
    "bytes",
    "Memory that the program has asked for and not given back",
)
.only(Presence::Allocator);
pub(super) const ACTIVE: Definition =
    Definition::gauge("musefs_alloc_active_bytes", "bytes", "Memory in pages that hold something allocated")
        .only(Presence::Allocator);
pub(super) const ALLOC_RESIDENT: Definition =
    Definition::gauge("musefs_alloc_resident_bytes", "bytes", "Memory in RAM that the allocator holds")
        .only(Presence::Allocator);
pub(super) const RETAINED: Definition = Definition::gauge(
    "musefs_alloc_retained_bytes",
    "bytes",
    "Address space that the allocator keeps without memory behind it",
)
.only(Presence::Allocator);
pub(super) const SQLITE_MEMORY: Definition =
    Definition::gauge("musefs_sqlite_memory_bytes", "bytes", "Memory that SQLite has allocated");
pub(super) const SQLITE_CONNECTIONS: Definition =
    Definition::gauge("musefs_sqlite_connections", "connections", "Open connections to the catalogue");
pub(super) const TREE_NODES: Definition =
    Definition::gauge("musefs_tree_nodes", "nodes", "Files and directories of the tree");
pub(super) const TREE_BYTES: Definition = Definition::gauge("musefs_tree_bytes", "bytes", "Memory of the tree");
pub(super) const INODE_PATHS: Definition = Definition::gauge(
    "musefs_inode_paths",
    "nodes",
    "Nodes whose id derives from a path: directories and generated files",
);
pub(super) const TRACKS: Definition =
    Definition::gauge("musefs_tracks", "tracks", "Tracks of the catalogue").by(&[TRACK_STATE]);
pub(super) const HANDLES: Definition =
    Definition::gauge("musefs_handles_open", "descriptors", "Sources that are held open");
pub(super) const WORKERS: Definition = Definition::gauge(
    "musefs_workers",
    "threads",
    "Threads for reads from disks; stuck ones are on a read whose deadline has passed",
)
.by(&[WORKER_STATE]);
pub(super) const WORKERS_QUEUED: Definition =
    Definition::gauge("musefs_workers_queued", "requests", "Reads that no worker has taken yet").experimental();
pub(super) const PUSH_FAILING: Definition = Definition::gauge(
    "musefs_push_failing",
    "flag",
    "1 while the kernel could not be told of a change, so that it may show something old for a second",
);
pub(super) const HEADER_HITS: Definition = Definition::counter(
    "musefs_cache_header_hits_total",
    "look-ups",
    "Headers of edited files that were found in memory",
);
pub(super) const HEADER_MISSES: Definition =
    Definition::counter("musefs_cache_header_misses_total", "look-ups", "Headers of edited files that had to be built");
pub(super) const HEADER_BYTES: Definition =
    Definition::gauge("musefs_cache_header_bytes", "bytes", "Memory of kept headers of edited files");
pub(super) const READAHEAD_BUDGET: Definition =
    Definition::gauge("musefs_readahead_budget_bytes", "bytes", "Most memory that read-ahead of sources may use");
pub(super) const READAHEAD_USED: Definition =
    Definition::gauge("musefs_readahead_used_bytes", "bytes", "Memory that read-ahead of sources uses");
pub(super) const REQUESTS: Definition =
    Definition::counter("musefs_requests_total", "requests", "Requests of clients by how they ended")
        .by(&[OP, OUTCOME]);
pub(super) const REQUEST_SECONDS: Definition = Definition::new(
    "musefs_request_seconds",
    Kind::Histogram,
    "seconds",
    "Time from the arrival of a request to its answer",
)
.by(&[OP]);
pub(super) const READ_BYTES: Definition =
    Definition::counter("musefs_read_bytes_total", "bytes", "Bytes given to clients by where they came from")
        .by(&[FROM]);
pub(super) const REFRESHES: Definition =
    Definition::counter("musefs_refresh_total", "refreshes", "Times that the tree followed the catalogue")
        .by(&[REFRESH]);
pub(super) const REFRESH_SECONDS: Definition = Definition::new(
    "musefs_refresh_seconds",
    Kind::Histogram,
    "seconds",
    "Time from the notice of a change of the catalogue until the tree shows it",
);
pub(super) const SEQUENCE: Definition = Definition::gauge(
    "musefs_catalog_sequence",
    "changes",
    "Number of the last change of the catalogue that the tree shows",
);
pub(super) const WARNS_SUPPRESSED: Definition = Definition::counter(
    "musefs_serve_warns_suppressed_total",
    "messages",
    "Warnings beyond 10 in 30 seconds and class, which are logged as debug messages only",
);
pub(super) const IO_OPENS: Definition =
    Definition::counter("musefs_io_opens_total", "calls", "Sources opened").only(Presence::IoCounters).experimental();
pub(super) const IO_STATS: Definition =
    Definition::counter("musefs_io_stats_total", "calls", "Stats of sources").only(Presence::IoCounters).experimental();
pub(super) const IO_PREADS: Definition = Definition::counter("musefs_io_preads_total", "calls", "Reads of sources")
    .only(Presence::IoCounters)
    .experimental();
pub(super) const IO_BYTES: Definition =
    Definition::counter("musefs_io_bytes_total", "bytes", "Bytes that reads of sources asked for")
        .only(Presence::IoCounters)
        .experimental();
pub(super) const IO_STATEMENTS: Definition =
    Definition::counter("musefs_io_sql_statements_total", "statements", "SQL statements run on the catalogue")
        .only(Presence::IoCounters)
        .experimental();

/// All metrics, in the order of docs/METRICS.md.
pub const ALL: &[Definition] = &[
    UPTIME,
    RESIDENT,
    ALLOCATED,
    ACTIVE,
    ALLOC_RESIDENT,
    RETAINED,
    SQLITE_MEMORY,
    SQLITE_CONNECTIONS,
    TREE_NODES,
    TREE_BYTES,
    INODE_PATHS,
    TRACKS,
    SEQUENCE,
    HANDLES,
    WORKERS,
    WORKERS_QUEUED,
    PUSH_FAILING,
    HEADER_HITS,
    HEADER_MISSES,
    HEADER_BYTES,
    READAHEAD_BUDGET,
    READAHEAD_USED,
    REQUESTS,
    REQUEST_SECONDS,
    READ_BYTES,
    REFRESHES,
    REFRESH_SECONDS,
    WARNS_SUPPRESSED,
    IO_OPENS,
    IO_STATS,
    IO_PREADS,
    IO_BYTES,
    IO_STATEMENTS,
];
