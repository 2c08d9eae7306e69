//! Open tracks, a bounded number of them.

use std::sync::Arc;

use quick_cache::sync::Cache;

use super::OpenSource;
use crate::{Error, limits::SOURCES_OPEN_MAX, vfs::Node};

/// A track whose source is open.
#[derive(Debug)]
pub struct OpenTrack {
    /// Its source.
    pub source: OpenSource,
    /// Whether a splice says how it is put together; otherwise it is the whole source.
    pub spliced: bool,
}

/// Keeps the most useful open tracks by node and generation.
///
/// Two threads that miss the same one at once open it twice: cheaper than a lock across an open that may hang.
#[derive(Debug)]
pub struct SourceCache {
    tracks: Cache<Node, Arc<OpenTrack>>,
}

impl SourceCache {
    /// A cache that leaves three quarters of the process's descriptors to others.
    pub fn new() -> Self {
        let allowed = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
        Self { tracks: Cache::new(SOURCES_OPEN_MAX.min(usize::try_from(allowed / 4).unwrap_or(usize::MAX)).max(1)) }
    }

    /// The open track of `node`, opened with `open` on a miss.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn get(&self, node: Node, open: impl FnOnce() -> Result<OpenTrack, Error>) -> Result<Arc<OpenTrack>, Error> {
        if let Some(track) = self.tracks.get(&node) {
            return Ok(track);
        }
        let track = Arc::new(open()?);
        self.tracks.insert(node, Arc::clone(&track));
        Ok(track)
    }

    /// Forgets a track, so that the next read opens it anew.
    pub fn forget(&self, node: Node) {
        self.tracks.remove(&node);
    }

    /// Descriptors held.
    pub fn len(&self) -> usize {
        self.tracks.len()
    }

    /// Whether none is held.
    pub fn is_empty(&self) -> bool {
        self.tracks.is_empty()
    }
}

impl Default for SourceCache {
    fn default() -> Self {
        Self::new()
    }
}
