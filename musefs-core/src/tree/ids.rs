//! Node ids: derived from track ids and paths, never stored, equal after a restart.

use xxhash_rust::xxh3::xxh3_64;

use super::Tree;
use super::columns::Slot;
use crate::{limits::TRACK_MIN, metrics::files::is_snapshot, vfs::NodeId};

/// Bits of a track id in a file's node id.
const TRACK_BITS: u32 = 38;
/// Where the view stands in a file's node id, above 8 bits for a track's further places in one view.
const VIEW_SHIFT: u32 = 46;
/// Bits of a directory's hash.
pub(super) const HASH_BITS: u32 = 52;

/// The number of a view, 0–63: 0 is the unnamed view, whose tree is the whole mount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View(pub u8);

/// Where ids of directories come from.
#[derive(Clone, Copy)]
pub(super) struct IdSpace {
    pub(super) view: View,
    /// Bits of the hash that are used: all but in tests of what happens to equal ones.
    pub(super) hash_bits: u32,
}

/// The node of a track's file in a view.
pub(super) fn file(view: View, track: i64) -> NodeId {
    NodeId(u64::from(view.0) << VIEW_SHIFT | track as u64)
}

/// The track of a file's node; `None` for directories, generated files and reserved ids.
pub fn track(node: NodeId) -> Option<i64> {
    let is_file = node.0 & NodeId::DERIVED == 0 && node.0 >= TRACK_MIN as u64;
    is_file.then_some((node.0 & ((1 << TRACK_BITS) - 1)) as i64)
}

impl IdSpace {
    fn home(self, path_key: &str) -> NodeId {
        let mut bytes = vec![self.view.0];
        bytes.extend_from_slice(path_key.as_bytes());
        outside_snapshots(NodeId(NodeId::DERIVED | xxh3_64(&bytes) & ((1 << self.hash_bits) - 1)))
    }
}

fn following(id: NodeId) -> NodeId {
    outside_snapshots(NodeId(NodeId::DERIVED | (id.0 + 1) & (NodeId::DERIVED - 1)))
}

/// The ids of snapshots of the metrics are the last of the range: what comes there goes on at its beginning.
fn outside_snapshots(id: NodeId) -> NodeId {
    if is_snapshot(id) { NodeId(NodeId::DERIVED) } else { id }
}

impl Tree {
    /// Gives a directory its id. Others may have to move on, those whose path is behind in order.
    pub(super) fn claim_id(&mut self, directory: u32, moved: &mut MovedIds) {
        let home = self.columns.ids.home(&self.columns.path_key(directory));
        let mut crowd = self.take_from(home);
        crowd.push(directory);
        self.settle_ids(crowd, moved);
    }

    /// Takes a directory's id from it. Others may move up to it.
    pub(super) fn release_id(&mut self, directory: u32, moved: &mut MovedIds) {
        let id = self.columns.directories[directory].id;
        self.remove_id(Slot::directory(directory));
        let crowd = self.take_from(following(id));
        self.settle_ids(crowd, moved);
    }

    /// Takes their ids from all directories from `id` on to the next free one: only they can be affected.
    fn take_from(&mut self, mut id: NodeId) -> Vec<u32> {
        let mut crowd = Vec::new();
        while let Some(directory) = self.directory_index(id) {
            self.remove_id(Slot::directory(directory));
            crowd.push(directory);
            id = following(id);
        }
        crowd
    }

    fn settle_ids(&mut self, crowd: Vec<u32>, moved: &mut MovedIds) {
        let mut crowd: Vec<_> =
            crowd.into_iter().map(|directory| (self.columns.path_key(directory), directory)).collect();
        crowd.sort();
        for (key, directory) in crowd {
            let mut id = self.columns.ids.home(&key);
            while self.directory_index(id).is_some() {
                id = following(id);
            }
            let old = std::mem::replace(&mut self.columns.directories[directory].id, id);
            if old != id {
                moved.push((directory, old));
            }
            self.insert_id(Slot::directory(directory));
        }
    }
}

/// Directories whose id changed, with the one before; 0 before the first.
pub(super) type MovedIds = Vec<(u32, NodeId)>;
