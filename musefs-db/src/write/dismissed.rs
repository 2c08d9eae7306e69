//! Files that a scan looked into and found to be no audio.

use std::{os::unix::ffi::OsStrExt as _, path::Path};

use rusqlite::params;

use crate::{
    Batch, Reader, Result, RootId, Stamp,
    read::stamp,
    write::{put::bytes, roots::below},
};

/// A file that is no audio although its name does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dismissed<'a> {
    /// Absolute path of its directory.
    pub dir: &'a [u8],
    /// Its file name.
    pub name: &'a [u8],
    /// What it was when a scan looked into it.
    pub stamp: Stamp,
}

impl Reader<'_> {
    /// Shows all dismissed files in a directory and below it.
    ///
    /// # Errors
    /// Those of reading.
    pub fn dismissed(&self, dir: &Path, visit: &mut dyn FnMut(&Dismissed<'_>)) -> Result<()> {
        let (from, to) = below(dir);
        let mut statement = self.connection().prepare_cached(
            "SELECT dirs.path, name, size, mtime_ns, ctime_ns FROM dirs CROSS JOIN dismissed ON dismissed.dir = dirs.id
              WHERE dirs.path = ?1 OR (dirs.path >= ?2 AND dirs.path < ?3)",
        )?;
        let mut rows = statement.query(params![dir.as_os_str().as_bytes(), from, to])?;
        while let Some(row) = rows.next()? {
            let dir = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
            let name = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            visit(&Dismissed { dir, name, stamp: stamp(row, 2)? });
        }
        Ok(())
    }
}

impl Batch<'_> {
    /// Notes that a file is no audio, as long as it has this stamp.
    ///
    /// # Errors
    /// Those of writing.
    pub fn dismiss(&mut self, root: RootId, file: &Dismissed<'_>) -> Result<()> {
        self.guarded(|batch| {
            let dir = batch.dir(root, file.dir)?;
            batch
                .connection()
                .prepare_cached("REPLACE INTO dismissed (dir, name, size, mtime_ns, ctime_ns) VALUES (?, ?, ?, ?, ?)")?
                .execute(params![dir, file.name, bytes(file.stamp.size), file.stamp.mtime_ns, file.stamp.ctime_ns])?;
            Ok(())
        })
    }
}
