//! Built splices, within a budget of bytes.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use musefs_format::Splice;
use quick_cache::{Weighter, sync::Cache};

use crate::{Error, limits::HEADER_CACHE_BYTES, vfs::Node};

/// Fixed bytes of an entry besides what the splice itself holds.
const ENTRY_BYTES: u64 = 128;

#[derive(Clone, Debug)]
struct ByHeapBytes;

impl Weighter<Node, Arc<Splice>> for ByHeapBytes {
    fn weight(&self, _: &Node, splice: &Arc<Splice>) -> u64 {
        splice.heap_bytes() as u64 + ENTRY_BYTES
    }
}

/// Keeps the splices of edited tracks by node and generation; a generation's splice never changes.
#[derive(Debug)]
pub struct HeaderCache {
    splices: Cache<Node, Arc<Splice>, ByHeapBytes>,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl HeaderCache {
    /// An empty cache of [`HEADER_CACHE_BYTES`].
    pub fn new() -> Self {
        // The estimate only sizes the first table: headers with padding take a few KiB each.
        let items = (HEADER_CACHE_BYTES / 8192) as usize;
        Self {
            splices: Cache::with_weighter(items, HEADER_CACHE_BYTES, ByHeapBytes),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// The splice of `node`, made with `build` on a miss.
    ///
    /// # Errors
    /// Those of `build`.
    pub fn get(&self, node: Node, build: impl FnOnce() -> Result<Splice, Error>) -> Result<Arc<Splice>, Error> {
        if let Some(splice) = self.splices.get(&node) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(splice);
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let splice = Arc::new(build()?);
        self.splices.insert(node, Arc::clone(&splice));
        Ok(splice)
    }

    /// Requests answered from the cache, and those that had to build.
    pub fn hits_and_misses(&self) -> (u64, u64) {
        (self.hits.load(Ordering::Relaxed), self.misses.load(Ordering::Relaxed))
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.splices.weight()
    }
}

impl Default for HeaderCache {
    fn default() -> Self {
        Self::new()
    }
}
