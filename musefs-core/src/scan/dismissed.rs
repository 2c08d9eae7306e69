//! Files that an earlier scan looked into and found to be no audio: not opened again while their stamp stays.

use std::{collections::HashSet, os::unix::ffi::OsStrExt as _};

use musefs_db::{self as db, Stamp};
use xxhash_rust::xxh3::Xxh3;

use super::walk::Found;

/// Hashes of their paths and stamps.
#[derive(Default)]
pub(super) struct DismissedFiles(HashSet<u64>);

impl DismissedFiles {
    pub(super) fn add(&mut self, file: &db::Dismissed<'_>) {
        self.0.insert(hash(file.dir, file.name, file.stamp));
    }

    /// Whether a found file is one of them, unchanged.
    pub(super) fn contains(&self, found: &Found) -> bool {
        !self.0.is_empty() && self.0.contains(&hash(found.dir_bytes(), found.name.as_bytes(), found.stamp))
    }
}

fn hash(dir: &[u8], name: &[u8], stamp: Stamp) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(dir);
    hasher.update(b"/");
    hasher.update(name);
    hasher.update(&stamp.size.to_le_bytes());
    hasher.update(&stamp.mtime_ns.to_le_bytes());
    hasher.update(&stamp.ctime_ns.to_le_bytes());
    hasher.digest()
}
