//! A private copy of a catalogue, for when SQLite cannot open the real one where it lies.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::{Error, Result, disk::beside};

/// How often a copy is made again because the catalogue changed meanwhile.
const TRIES_MAX: usize = 5;

/// Copies of a catalogue and of its write-ahead log in a folder of their own, deleted with it.
#[derive(Debug)]
pub(crate) struct Snapshot {
    file: PathBuf,
    _folder: TempDir,
}

impl Snapshot {
    /// Copies a catalogue.
    ///
    /// # Errors
    /// When it cannot be read, there is no room, or it changes all the time.
    pub(crate) fn of(catalog: &Path) -> Result<Self> {
        let failed = |source| Error::Io { doing: "copying the catalogue", path: catalog.to_owned(), source };
        let folder = tempfile::Builder::new().prefix("musefs-").tempdir().map_err(failed)?;
        let file = folder.path().join(catalog.file_name().unwrap_or(OsStr::new("catalog")));
        let log = beside(catalog, "-wal");
        for _ in 0..TRIES_MAX {
            let before = (stamp(catalog), stamp(&log));
            fs::copy(catalog, &file).map_err(failed)?;
            copy_if_there(&log, &beside(&file, "-wal")).map_err(failed)?;
            if before == (stamp(catalog), stamp(&log)) {
                return Ok(Self { file, _folder: folder });
            }
        }
        Err(failed(io::Error::other("it is being written to all the time")))
    }

    /// The copy.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }
}

/// Whether the newest content of a catalogue is still in its write-ahead log.
pub(crate) fn has_unmerged_log(catalog: &Path) -> bool {
    fs::metadata(beside(catalog, "-wal")).is_ok_and(|log| log.len() > 0)
}

/// Whether an error of opening is one that a copy in a folder of one's own does not have.
pub(crate) fn may_help(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, ReadOnly};
    matches!(error.sqlite_error_code(), Some(CannotOpen | ReadOnly))
}

fn copy_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::copy(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::remove_file(to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
        other => other.map(|_| ()),
    }
}

fn stamp(file: &Path) -> Option<(u64, i64, i64, u64)> {
    let metadata = fs::metadata(file).ok()?;
    Some((metadata.size(), metadata.mtime(), metadata.mtime_nsec(), metadata.ino()))
}
