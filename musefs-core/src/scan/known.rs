//! What the catalogue knows of the scanned places: the look-up that makes an unchanged file cost one stat.
//!
//! Read once before the walk and asked by all its threads without a lock. Holds hashes instead of
//! paths and stamps, 40 bytes a file, so that a million files fit into 40 MiB.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use std::os::unix::ffi::OsStrExt as _;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::file::Stamp;

/// How a catalogued file stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Its stamp is the catalogue's.
    Unchanged,
    /// It has another stamp, or could not be seen or read last time.
    Probe,
    /// It is not in the catalogue.
    New,
}

struct Known {
    path: [u64; 2],
    stamp: u64,
    settled: bool,
    seen: AtomicBool,
}

/// Every catalogued file of the scanned places.
#[derive(Default)]
pub(super) struct KnownFiles {
    /// By hash of the path.
    files: Vec<Known>,
}

impl KnownFiles {
    /// Adds a file; all are added before the first is looked up. `settled`: an equal stamp says that nothing is to do.
    pub(super) fn add(&mut self, dir: &[u8], name: &[u8], stamp: Stamp, settled: bool) {
        let (path, stamp) = (path_hash(dir, name), stamp_hash(stamp));
        self.files.push(Known { path, stamp, settled, seen: AtomicBool::new(false) });
    }

    /// Makes ready for look-ups.
    pub(super) fn seal(&mut self) {
        self.files.sort_unstable_by_key(|known| known.path);
        self.files.shrink_to_fit();
    }

    /// Number of files.
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// How a found file stands; notes that it was seen.
    pub(super) fn look_up(&self, dir: &Path, name: &[u8], stamp: Stamp) -> Standing {
        match self.get(dir.as_os_str().as_bytes(), name) {
            Some(known) => {
                known.seen.store(true, Ordering::Relaxed);
                if known.settled && known.stamp == stamp_hash(stamp) { Standing::Unchanged } else { Standing::Probe }
            }
            None => Standing::New,
        }
    }

    /// Whether a file was in the catalogue before the walk and not met by it.
    pub(super) fn is_unseen(&self, dir: &[u8], name: &[u8]) -> bool {
        self.get(dir, name).is_some_and(|known| !known.seen.load(Ordering::Relaxed))
    }

    fn get(&self, dir: &[u8], name: &[u8]) -> Option<&Known> {
        let path = path_hash(dir, name);
        self.files.binary_search_by_key(&path, |known| known.path).ok().map(|at| &self.files[at])
    }
}

fn path_hash(dir: &[u8], name: &[u8]) -> [u64; 2] {
    let mut hasher = Xxh3::new();
    hasher.update(dir);
    hasher.update(b"/");
    hasher.update(name);
    let hash = hasher.digest128();
    [(hash >> 64) as u64, hash as u64]
}

fn stamp_hash(stamp: Stamp) -> u64 {
    let mut bytes = [0; 24];
    bytes[..8].copy_from_slice(&stamp.size.to_le_bytes());
    bytes[8..16].copy_from_slice(&stamp.mtime_ns.to_le_bytes());
    bytes[16..].copy_from_slice(&stamp.ctime_ns.to_le_bytes());
    xxh3_64(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_path_and_stamp() {
        let stamp = Stamp { size: 1, mtime_ns: -2, ctime_ns: 3 };
        let mut known = KnownFiles::default();
        known.add(b"/m/a", b"x.mp3", stamp, true);
        known.add(b"/m/b", b"\xff.mp3", stamp, false);
        known.add(b"/m", b"gone", stamp, true);
        known.seal();
        let look_up = |dir: &str, name: &[u8], stamp| known.look_up(Path::new(dir), name, stamp);
        assert_eq!(look_up("/m/a", b"x.mp3", stamp), Standing::Unchanged);
        assert_eq!(look_up("/m/a", b"x.mp3", Stamp { ctime_ns: 4, ..stamp }), Standing::Probe);
        assert_eq!(look_up("/m/b", b"\xff.mp3", stamp), Standing::Probe);
        assert_eq!(look_up("/m", b"a/y.mp3", stamp), Standing::New);
        assert!(known.is_unseen(b"/m", b"gone"));
        assert!(!known.is_unseen(b"/m/a", b"x.mp3") && !known.is_unseen(b"/m", b"never known"));
    }

    #[test]
    fn a_file_costs_40_bytes() {
        assert_eq!(size_of::<Known>(), 32);
    }
}
