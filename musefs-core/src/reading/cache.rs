//! Open sources, a bounded number of them.

use std::sync::Arc;

use quick_cache::sync::Cache;

use super::OpenSource;
use crate::{Error, limits::SOURCES_OPEN_MAX, vfs::Node};

/// Keeps the most useful open sources by node and generation.
///
/// Two threads that miss the same one at once open it twice: cheaper than a lock across an open that may hang.
#[derive(Debug)]
pub struct SourceCache {
    sources: Cache<Node, Arc<OpenSource>>,
}

impl SourceCache {
    /// A cache that leaves three quarters of the process's descriptors to others.
    pub fn new() -> Self {
        let allowed = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
        Self { sources: Cache::new(SOURCES_OPEN_MAX.min(usize::try_from(allowed / 4).unwrap_or(usize::MAX)).max(1)) }
    }

    /// The open source of `node`, opened with `open` on a miss.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn get(&self, node: Node, open: impl FnOnce() -> Result<OpenSource, Error>) -> Result<Arc<OpenSource>, Error> {
        if let Some(source) = self.sources.get(&node) {
            return Ok(source);
        }
        let source = Arc::new(open()?);
        self.sources.insert(node, Arc::clone(&source));
        Ok(source)
    }

    /// Forgets a source, so that the next read opens it anew.
    pub fn forget(&self, node: Node) {
        self.sources.remove(&node);
    }

    /// Descriptors held.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Whether none is held.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }
}

impl Default for SourceCache {
    fn default() -> Self {
        Self::new()
    }
}
