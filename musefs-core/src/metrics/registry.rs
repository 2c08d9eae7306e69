//! Definitions to a prometheus registry, with handles for those who count.

use prometheus::core::Collector;
use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
};

use super::definitions::{self as def, Definition, Kind, Label};
use super::readings::Moment;

/// Limits of the buckets of request times: a look-up in memory takes microseconds, a disk that wakes up seconds.
const BUCKETS_SECONDS: &[f64] =
    &[0.000_01, 0.000_05, 0.000_1, 0.000_5, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0];

const VALID: &str = "the definition has a valid name, as the test of all definitions shows";

/// How a value is read.
type ValueOf = fn(&Moment) -> u64;

/// A metric whose value is read when the text is made.
struct Read {
    definition: &'static Definition,
    /// Value of its only label, or nothing.
    label: Option<&'static str>,
    value: ValueOf,
}

const fn read(definition: &'static Definition, value: ValueOf) -> Read {
    Read { definition, label: None, value }
}

const fn read_by(definition: &'static Definition, label: &'static str, value: ValueOf) -> Read {
    Read { definition, label: Some(label), value }
}

const READ: &[Read] = &[
    read(&def::UPTIME, |now| now.uptime_seconds),
    read(&def::RESIDENT, |now| now.resident_bytes),
    read(&def::SQLITE_MEMORY, |now| now.library.sqlite_memory_bytes),
    read(&def::SQLITE_CONNECTIONS, |now| now.library.sqlite_connections),
    read(&def::TREE_NODES, |now| now.library.tree_nodes),
    read(&def::TREE_BYTES, |now| now.library.tree_bytes),
    read(&def::INODE_PATHS, |now| now.library.inode_paths),
    read_by(&def::TRACKS, "ok", |now| now.library.tracks[0]),
    read_by(&def::TRACKS, "opaque", |now| now.library.tracks[1]),
    read_by(&def::TRACKS, "missing", |now| now.library.tracks[2]),
    read_by(&def::TRACKS, "unreadable", |now| now.library.tracks[3]),
    read(&def::SEQUENCE, |now| now.library.catalog_sequence),
    read(&def::HANDLES, |now| now.library.handles_open),
    read_by(&def::WORKERS, "idle", |now| now.workers.idle as u64),
    read_by(&def::WORKERS, "busy", |now| now.workers.busy as u64),
    read_by(&def::WORKERS, "stuck", |now| now.workers.stuck as u64),
    read(&def::WORKERS_QUEUED, |now| now.workers.queued as u64),
    read(&def::PUSH_FAILING, |now| now.pushing_fails.into()),
    read(&def::HEADER_HITS, |now| now.library.header_hits),
    read(&def::HEADER_MISSES, |now| now.library.header_misses),
    read(&def::HEADER_BYTES, |now| now.library.header_bytes),
    read(&def::READAHEAD_BUDGET, |now| now.library.readahead_budget_bytes),
    read(&def::READAHEAD_USED, |now| now.library.readahead_used_bytes),
];

const READ_ALLOCATOR: &[Read] = &[
    read(&def::ALLOCATED, |now| now.allocator.allocated),
    read(&def::ACTIVE, |now| now.allocator.active),
    read(&def::ALLOC_RESIDENT, |now| now.allocator.resident),
    read(&def::RETAINED, |now| now.allocator.retained),
];

#[cfg(feature = "metrics")]
const READ_IO: &[Read] = &[
    read(&def::IO_OPENS, |now| now.io.opens),
    read(&def::IO_STATS, |now| now.io.stats),
    read(&def::IO_PREADS, |now| now.io.reads),
    read(&def::IO_BYTES, |now| now.io.bytes),
    read(&def::IO_STATEMENTS, |now| now.library.sql_statements),
];
#[cfg(not(feature = "metrics"))]
const READ_IO: &[Read] = &[];

/// Where a value that was read is put.
enum Cell {
    Gauge(IntGauge),
    Counter(IntCounter),
}

impl Cell {
    fn set(&self, value: u64) {
        match self {
            Self::Gauge(gauge) => gauge.set(i64::try_from(value).unwrap_or(i64::MAX)),
            // Whoever counts has the sum; what was told before is taken off.
            Self::Counter(counter) => counter.inc_by(value.saturating_sub(counter.get())),
        }
    }
}

/// Metrics that are read, with their cells in the registry.
pub(super) struct Readers(Vec<(Cell, ValueOf)>);

impl Readers {
    /// Those that every program has.
    pub(super) fn always(registry: &Registry) -> Self {
        Self::register(READ.iter().chain(READ_IO), registry)
    }

    /// Those of the allocator.
    pub(super) fn of_allocator(registry: &Registry) -> Self {
        Self::register(READ_ALLOCATOR.iter(), registry)
    }

    fn register<'a>(reads: impl Iterator<Item = &'a Read>, registry: &Registry) -> Self {
        let mut readers = Vec::new();
        let mut vec: Option<(&str, IntGaugeVec)> = None;
        for Read { definition, label, value } in reads {
            let cell = match (label, definition.kind) {
                (None, Kind::Counter) => Cell::Counter(counter(definition, registry)),
                (None, _) => Cell::Gauge(registered(IntGauge::with_opts(opts(definition)).expect(VALID), registry)),
                (Some(label), _) => {
                    let known = vec.take().filter(|(name, _)| *name == definition.name);
                    let gauges = known.map_or_else(|| gauge_vec(definition, registry), |(_, gauges)| gauges);
                    let gauge = gauges.with_label_values(&[label]);
                    vec = Some((definition.name, gauges));
                    Cell::Gauge(gauge)
                }
            };
            readers.push((cell, *value));
        }
        Self(readers)
    }

    pub(super) fn set(&self, now: &Moment) {
        for (cell, value) in &self.0 {
            cell.set(value(now));
        }
    }
}

fn gauge_vec(definition: &Definition, registry: &Registry) -> IntGaugeVec {
    registered(IntGaugeVec::new(opts(definition), &label_names(definition)).expect(VALID), registry)
}

/// A counter without labels.
pub(super) fn counter(definition: &Definition, registry: &Registry) -> IntCounter {
    registered(IntCounter::with_opts(opts(definition)).expect(VALID), registry)
}

/// A counter for each combination of label values, in the order of the values; the last label moves first.
pub(super) fn counters(definition: &Definition, registry: &Registry) -> Vec<IntCounter> {
    let vec = registered(IntCounterVec::new(opts(definition), &label_names(definition)).expect(VALID), registry);
    combinations(definition.labels).iter().map(|values| vec.with_label_values(values)).collect()
}

/// A histogram of seconds for each combination of label values.
pub(super) fn histograms(definition: &Definition, registry: &Registry) -> Vec<Histogram> {
    let opts = HistogramOpts::new(definition.name, definition.help).buckets(BUCKETS_SECONDS.to_vec());
    let vec = registered(HistogramVec::new(opts, &label_names(definition)).expect(VALID), registry);
    combinations(definition.labels).iter().map(|values| vec.with_label_values(values)).collect()
}

fn combinations(labels: &[Label]) -> Vec<Vec<&'static str>> {
    labels.iter().fold(vec![Vec::new()], |before, label| {
        let with = |before: &Vec<&'static str>, value| before.iter().copied().chain([value]).collect();
        before.iter().flat_map(|before| label.values.iter().map(move |value| with(before, *value))).collect()
    })
}

fn registered<C: Collector + Clone + 'static>(collector: C, registry: &Registry) -> C {
    registry.register(Box::new(collector.clone())).expect("each definition is registered once, as a test shows");
    collector
}

fn opts(definition: &Definition) -> Opts {
    Opts::new(definition.name, definition.help)
}

fn label_names(definition: &Definition) -> Vec<&'static str> {
    definition.labels.iter().map(|label| label.name).collect()
}
