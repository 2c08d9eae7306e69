//! The program's allocator, and what it tells of itself.

use musefs_core::metrics::Metrics;

// glibc's allocator keeps what a scan or a full re-rendering touched once; jemalloc gives it back.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Adds the allocator's numbers to a library's metrics, where it has any.
pub(crate) fn watch(metrics: &Metrics) {
    #[cfg(feature = "jemalloc")]
    metrics.watch_allocator(stats);
    #[cfg(not(feature = "jemalloc"))]
    let _ = metrics;
}

/// jemalloc(3): `stats.*` are those of the last `epoch`. Zeros if it was built without them.
#[cfg(feature = "jemalloc")]
fn stats() -> musefs_core::metrics::AllocatorStats {
    use tikv_jemalloc_ctl::{epoch, stats};
    let _ = epoch::advance();
    let bytes = |read: tikv_jemalloc_ctl::Result<usize>| read.unwrap_or(0) as u64;
    musefs_core::metrics::AllocatorStats {
        allocated: bytes(stats::allocated::read()),
        active: bytes(stats::active::read()),
        resident: bytes(stats::resident::read()),
        retained: bytes(stats::retained::read()),
    }
}
