//! What a library tells of itself.

use super::{Library, lock};
use crate::{
    metrics::{Readings, TRACK_STATES},
    vfs::NodeId,
};

impl Library {
    /// All metrics as they are now, in Prometheus' text format.
    pub(super) fn metrics_text(&self) -> String {
        self.metrics.render(self.readings())
    }

    fn readings(&self) -> Readings {
        let (header_hits, header_misses) = self.headers.hits_and_misses();
        let (budget, used) = self.read_ahead.budget_and_used();
        let (nodes, directories, tree_bytes) = {
            let tree = self.tree();
            (tree.node_count(), tree.totals().directories, tree.heap_bytes())
        };
        Readings {
            sqlite_memory_bytes: musefs_db::memory_used_bytes(),
            sqlite_connections: u64::from(self.catalog.connections()),
            #[cfg(feature = "metrics")]
            sql_statements: musefs_db::statements_total(),
            tree_nodes: nodes,
            tree_bytes: tree_bytes as u64,
            // The root's id is fixed; those of all other directories derive from their paths.
            inode_paths: directories.saturating_sub(NodeId::ROOT.0),
            tracks: *lock(&self.tracks_by_state),
            handles_open: self.sources.len() as u64,
            header_hits,
            header_misses,
            header_bytes: self.headers.bytes(),
            readahead_budget_bytes: budget as u64,
            readahead_used_bytes: used as u64,
            catalog_sequence: u64::try_from(self.sequence().0).unwrap_or(0),
            ..Readings::default()
        }
    }

    /// Counts tracks by state anew, for the metrics only.
    pub(super) fn count_tracks(&self) {
        if self.generated.is_none() {
            return;
        }
        match self.catalog.read(|reader| reader.counts_by_state()) {
            Ok(counts) => {
                let count =
                    |state: &&str| counts.iter().find(|(it, _)| it.as_str() == *state).map_or(0, |(_, count)| *count);
                let mut tracks = [0; TRACK_STATES.len()];
                TRACK_STATES.iter().zip(&mut tracks).for_each(|(state, tracks)| *tracks = count(state));
                *lock(&self.tracks_by_state) = tracks;
            }
            Err(error) => tracing::debug!("counting tracks: {error}"),
        }
    }
}
