//! What operators see of a running library.
//!
//! [`Metrics`] is one for a library. Hot paths count through handles that were made at start: no look-up of labels, no
//! allocation. Everything else is read when the [text](Metrics::render) is made. Metrics are [defined](definitions) as
//! data; `docs/METRICS.md` is made from it. Served as files by [`files`].

pub mod definitions;
pub mod files;
pub mod io;
mod readings;
mod registry;
mod sets;
mod warnings;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use prometheus::{Histogram, IntCounter, Registry, TextEncoder};

use crate::workers;
use definitions as def;
use readings::Moment;
pub use readings::{AllocatorStats, Readings, TRACK_STATES};
use registry::Readers;
pub use sets::{From, Op, Outcome, Refresh, Warning};

/// All metrics of a library.
pub struct Metrics {
    registry: Registry,
    start: Instant,
    requests: Vec<IntCounter>,
    request_seconds: Vec<Histogram>,
    read_bytes: Vec<IntCounter>,
    refreshes: Vec<IntCounter>,
    refresh_seconds: Vec<Histogram>,
    warns_suppressed: IntCounter,
    limiter: warnings::Limiter,
    readers: Readers,
    pushing_fails: AtomicBool,
    workers: OnceLock<Box<dyn Fn() -> workers::Stats + Send + Sync>>,
    allocator: OnceLock<Allocator>,
    /// Held while the text is made, so that all values in it are of one moment.
    rendering: Mutex<()>,
}

struct Allocator {
    readers: Readers,
    stats: Box<dyn Fn() -> AllocatorStats + Send + Sync>,
}

impl Metrics {
    /// Metrics at zero; the uptime begins.
    pub fn new() -> Self {
        let registry = Registry::new();
        Self {
            start: Instant::now(),
            requests: registry::counters(&def::REQUESTS, &registry),
            request_seconds: registry::histograms(&def::REQUEST_SECONDS, &registry),
            read_bytes: registry::counters(&def::READ_BYTES, &registry),
            refreshes: registry::counters(&def::REFRESHES, &registry),
            refresh_seconds: registry::histograms(&def::REFRESH_SECONDS, &registry),
            warns_suppressed: registry::counter(&def::WARNS_SUPPRESSED, &registry),
            limiter: warnings::Limiter::default(),
            readers: Readers::always(&registry),
            pushing_fails: AtomicBool::new(false),
            workers: OnceLock::new(),
            allocator: OnceLock::new(),
            rendering: Mutex::new(()),
            registry,
        }
    }

    /// Counts a request of a client and how long its answer took.
    #[inline]
    pub fn request(&self, op: Op, outcome: Outcome, took: Duration) {
        self.requests[op as usize * Outcome::NAMES.len() + outcome as usize].inc();
        self.request_seconds[op as usize].observe(took.as_secs_f64());
    }

    /// Counts bytes given to a client.
    #[inline]
    pub fn read_bytes(&self, from: From, bytes: u64) {
        self.read_bytes[from as usize].inc_by(bytes);
    }

    /// Counts that the tree followed the catalogue, and how long that took from the notice of the change.
    pub fn refreshed(&self, outcome: Refresh, took: Duration) {
        self.refreshes[outcome as usize].inc();
        for seconds in &self.refresh_seconds {
            seconds.observe(took.as_secs_f64());
        }
    }

    /// Warns in the log; beyond 10 warnings in 30 seconds and class only a debug message is left, and a count.
    pub fn warn(&self, class: Warning, message: fmt::Arguments<'_>) {
        if self.limiter.admits(class, Instant::now()) {
            tracing::warn!("{message}");
        } else {
            self.warns_suppressed.inc();
            tracing::debug!("{message}");
        }
    }

    /// Tells whether the kernel could not be told of a change, so that its caches are believed for a moment only.
    pub fn set_pushing_fails(&self, fails: bool) {
        self.pushing_fails.store(fails, Ordering::Relaxed);
    }

    /// Says where the state of the workers is read. Only the first call counts.
    pub fn watch_workers(&self, stats: impl Fn() -> workers::Stats + Send + Sync + 'static) {
        let _ = self.workers.set(Box::new(stats));
    }

    /// Says where the numbers of the program's allocator are read, which adds its metrics. Only the first call counts.
    pub fn watch_allocator(&self, stats: impl Fn() -> AllocatorStats + Send + Sync + 'static) {
        let readers = || Readers::of_allocator(&self.registry);
        self.allocator.get_or_init(|| Allocator { readers: readers(), stats: Box::new(stats) });
    }

    /// All metrics in Prometheus' text format, version 0.0.4.
    pub fn render(&self, library: Readings) -> String {
        let _rendering = self.rendering.lock().unwrap_or_else(PoisonError::into_inner);
        let allocator = self.allocator.get();
        let now = Moment {
            library,
            pushing_fails: self.pushing_fails.load(Ordering::Relaxed),
            workers: self.workers.get().map(|stats| stats()).unwrap_or_default(),
            allocator: allocator.map(|allocator| (allocator.stats)()).unwrap_or_default(),
            uptime_seconds: self.start.elapsed().as_secs(),
            resident_bytes: readings::resident_bytes().unwrap_or_default(),
            #[cfg(feature = "metrics")]
            io: io::counts(),
        };
        self.readers.set(&now);
        if let Some(allocator) = allocator {
            allocator.readers.set(&now);
        }
        let text = TextEncoder::new().encode_to_string(&self.registry.gather());
        text.expect("all names and labels are valid, and writing to a string cannot fail")
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
