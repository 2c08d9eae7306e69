//! One open source: its descriptor and the stamp under which it was catalogued.

use std::{
    fs::File,
    io,
    os::unix::fs::{FileExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use rustix::fs::{Advice, fadvise};

use crate::{Error, metrics::io as counters};

/// What tells whether a source is still the one that was catalogued.
///
/// The change time is left out: a changed owner or link count moves it, and no byte with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// In bytes.
    pub size: u64,
    /// Modification time in nanoseconds since 1970.
    pub mtime_ns: i64,
}

/// An open source. Reads may come from several threads at once.
#[derive(Debug)]
pub struct OpenSource {
    file: File,
    path: PathBuf,
    stamp: Stamp,
    /// Tells streams of the read-ahead apart; never used twice.
    id: u64,
    sequential: AtomicBool,
    /// Where a page of Ogg begins, from which the search for others may start; 0 if none is known.
    known_page: AtomicU64,
}

impl OpenSource {
    /// Opens the source at `path` and makes sure that it is the one that was catalogued.
    ///
    /// # Errors
    /// [`Error::Source`] when it cannot be opened, [`Error::SourceChanged`] when its stamp is another.
    pub fn open(path: PathBuf, stamp: Stamp) -> Result<Self, Error> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        counters::opened();
        let file = File::open(&path).map_err(|source| Error::Source { path: path.clone(), source })?;
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        let source = Self { file, path, stamp, id, sequential: AtomicBool::new(true), known_page: AtomicU64::new(0) };
        source.check_stamp()?;
        // Scanners read heads and tails: without this each of them makes the disk read megabytes ahead.
        source.advise_sequential(false);
        Ok(source)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// As it was catalogued.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// A number that no other open source has had.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Tells the kernel whether to read ahead. Costs nothing when it was told the same before.
    pub fn advise_sequential(&self, sequential: bool) {
        if self.sequential.swap(sequential, Ordering::Relaxed) != sequential {
            let advice = if sequential { Advice::Sequential } else { Advice::Random };
            // Advice that a file system does not take changes nothing but speed.
            let _ = fadvise(&self.file, 0, None, advice);
        }
    }

    /// Where a page of Ogg was known to begin last.
    pub(super) fn known_page(&self) -> Option<u64> {
        Some(self.known_page.load(Ordering::Relaxed)).filter(|known| *known > 0)
    }

    /// Remembers where a page of Ogg begins.
    pub(super) fn know_page(&self, known: Option<u64>) {
        self.known_page.store(known.unwrap_or(0), Ordering::Relaxed);
    }

    /// Fills `buf` from `offset` on.
    ///
    /// # Errors
    /// [`Error::Source`] when the disk fails, [`Error::SourceChanged`] when the source ends before.
    pub fn read_exact(&self, offset: u64, buf: &mut [u8]) -> Result<(), Error> {
        counters::read(buf.len() as u64);
        self.file.read_exact_at(buf, offset).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::SourceChanged { path: self.path.clone() },
            _ => self.failed(error),
        })
    }

    /// Compares the open file with the stamp.
    ///
    /// # Errors
    /// [`Error::SourceChanged`] when they differ, [`Error::Source`] when the disk fails.
    pub fn check_stamp(&self) -> Result<(), Error> {
        counters::stated();
        let metadata = self.file.metadata().map_err(|error| self.failed(error))?;
        let mtime_ns = metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec());
        if (Stamp { size: metadata.len(), mtime_ns }) == self.stamp {
            Ok(())
        } else {
            Err(Error::SourceChanged { path: self.path.clone() })
        }
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Source { path: self.path.clone(), source }
    }
}
