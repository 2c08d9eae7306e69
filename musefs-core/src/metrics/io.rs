//! What disks are asked, counted: for tests that hold the cost of an operation, and for curious operators.
//!
//! Without the feature `metrics` every function here is empty.

#[cfg(feature = "metrics")]
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(feature = "metrics")]
static OPENS: AtomicU64 = AtomicU64::new(0);
#[cfg(feature = "metrics")]
static STATS: AtomicU64 = AtomicU64::new(0);
#[cfg(feature = "metrics")]
static READS: AtomicU64 = AtomicU64::new(0);
#[cfg(feature = "metrics")]
static BYTES: AtomicU64 = AtomicU64::new(0);

/// Counts since the program started.
#[cfg(feature = "metrics")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoCounts {
    /// Sources opened.
    pub opens: u64,
    /// Stats of sources, by name or descriptor.
    pub stats: u64,
    /// Reads of sources.
    pub reads: u64,
    /// Bytes that those reads asked for.
    pub bytes: u64,
}

/// The counts so far.
#[cfg(feature = "metrics")]
pub fn counts() -> IoCounts {
    IoCounts {
        opens: OPENS.load(Ordering::Relaxed),
        stats: STATS.load(Ordering::Relaxed),
        reads: READS.load(Ordering::Relaxed),
        bytes: BYTES.load(Ordering::Relaxed),
    }
}

/// Counts an open.
#[inline]
pub(crate) fn opened() {
    #[cfg(feature = "metrics")]
    OPENS.fetch_add(1, Ordering::Relaxed);
}

/// Counts a stat.
#[inline]
pub(crate) fn stated() {
    #[cfg(feature = "metrics")]
    STATS.fetch_add(1, Ordering::Relaxed);
}

/// Counts a read of `bytes`.
#[inline]
pub(crate) fn read(bytes: u64) {
    #[cfg(feature = "metrics")]
    {
        READS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(bytes, Ordering::Relaxed);
    }
    #[cfg(not(feature = "metrics"))]
    let _ = bytes;
}
