//! What the catalogue knows of the scanned places: the look-up that makes an unchanged file cost one stat.
//!
//! Read once before the walk and asked by all its threads without a lock. Holds hashes instead of
//! paths and stamps, 40 bytes a file, so that a million files fit into 40 MiB.

use std::sync::atomic::{AtomicBool, Ordering};

use musefs_db::{SourceId, SourceState, Stamp};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::walk::Found;

/// How a catalogued file stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Its stamp is the catalogue's.
    Unchanged,
    /// It was missing, and is back with the stamp that it had.
    Back(SourceId),
    /// It has another stamp, or could not be read last time.
    Probe,
    /// It is not in the catalogue.
    New,
}

struct Known {
    path: [u64; 2],
    stamp: u64,
    source: SourceId,
    state: SourceState,
    seen: AtomicBool,
}

/// Every catalogued file of the scanned places.
#[derive(Default)]
pub(super) struct KnownFiles {
    /// By hash of the path.
    files: Vec<Known>,
}

impl KnownFiles {
    /// Adds a file; all are added before the first is looked up.
    pub(super) fn add(&mut self, known: &musefs_db::Known<'_>) {
        self.files.push(Known {
            path: path_hash(known.dir, known.name),
            stamp: stamp_hash(known.stamp),
            source: known.source,
            state: known.state,
            seen: AtomicBool::new(false),
        });
    }

    /// Makes ready for look-ups.
    pub(super) fn seal(&mut self) {
        self.files.sort_unstable_by_key(|known| known.path);
        self.files.shrink_to_fit();
    }

    /// How a found file stands; notes that it was seen.
    pub(super) fn look_up(&self, found: &Found) -> Standing {
        match self.get(found.dir_bytes(), found.name_bytes()) {
            Some(known) => {
                known.seen.store(true, Ordering::Relaxed);
                match known.state {
                    _ if known.stamp != stamp_hash(found.stamp) => Standing::Probe,
                    SourceState::Ok | SourceState::Opaque => Standing::Unchanged,
                    SourceState::Missing => Standing::Back(known.source),
                    SourceState::Unreadable => Standing::Probe,
                }
            }
            None => Standing::New,
        }
    }

    /// Whether a file was in the catalogue before the walk, and not missing, and the walk did not meet it.
    pub(super) fn is_newly_missing(&self, dir: &[u8], name: &[u8]) -> bool {
        self.get(dir, name)
            .is_some_and(|known| known.state != SourceState::Missing && !known.seen.load(Ordering::Relaxed))
    }

    /// Whether a found file was in the catalogue before the walk.
    pub(super) fn contains(&self, found: &Found) -> bool {
        self.get(found.dir_bytes(), found.name_bytes()).is_some()
    }

    /// Takes back that a file was met.
    pub(super) fn unsee(&self, found: &Found) {
        if let Some(known) = self.get(found.dir_bytes(), found.name_bytes()) {
            known.seen.store(false, Ordering::Relaxed);
        }
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
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, path::Path};

    use musefs_db::TrackId;

    use super::*;

    fn known<'a>(dir: &'a [u8], name: &'a [u8], state: SourceState) -> musefs_db::Known<'a> {
        musefs_db::Known { source: SourceId(7), track: TrackId(16), dir, name, stamp: STAMP, state }
    }

    const STAMP: Stamp = Stamp { size: 1, mtime_ns: -2, ctime_ns: 3 };

    #[test]
    fn files_are_known_by_path_and_stamp() {
        let mut files = KnownFiles::default();
        files.add(&known(b"/m/a", b"x.mp3", SourceState::Ok));
        files.add(&known(b"/m/b", b"\xff.mp3", SourceState::Unreadable));
        files.add(&known(b"/m", b"back", SourceState::Missing));
        files.add(&known(b"/m", b"gone", SourceState::Opaque));
        files.add(&known(b"/m", b"long gone", SourceState::Missing));
        files.seal();
        let look_up = |dir: &str, name: &[u8], stamp| {
            let name = OsStr::from_bytes(name).to_owned();
            files.look_up(&Found { dir: Path::new(dir).into(), name, stamp })
        };
        assert_eq!(look_up("/m/a", b"x.mp3", STAMP), Standing::Unchanged);
        assert_eq!(look_up("/m/a", b"x.mp3", Stamp { ctime_ns: 4, ..STAMP }), Standing::Probe);
        assert_eq!(look_up("/m/b", b"\xff.mp3", STAMP), Standing::Probe);
        assert_eq!(look_up("/m", b"back", STAMP), Standing::Back(SourceId(7)));
        assert_eq!(look_up("/m", b"a/y.mp3", STAMP), Standing::New);
        let missing = |name: &[u8]| files.is_newly_missing(b"/m", name);
        assert!(missing(b"gone") && !missing(b"back") && !missing(b"long gone") && !missing(b"never known"));
    }

    #[test]
    fn a_file_costs_40_bytes() {
        assert_eq!(size_of::<Known>(), 40);
    }
}
