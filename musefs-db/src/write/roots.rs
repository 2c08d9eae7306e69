//! Roots, and what is already known below a directory.

use std::{os::unix::ffi::OsStrExt, path::Path};

use rusqlite::{OptionalExtension, params};

use crate::{
    Reader, Result, RootId, SourceId, SourceState, Stamp, TrackId, Writer,
    read::{path_from, stamp},
    write::now_ms,
};

/// A source that the catalogue has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known<'a> {
    /// Of the source.
    pub source: SourceId,
    /// Of its track.
    pub track: TrackId,
    /// Absolute path of its directory.
    pub dir: &'a [u8],
    /// Its file name.
    pub name: &'a [u8],
    /// What it was when it was scanned.
    pub stamp: Stamp,
    /// Its health.
    pub state: SourceState,
}

impl Writer {
    /// The root that covers an absolute path. A path inside a root belongs to that root; a new root takes in
    /// those that lie inside it, whose tracks count as changed because their place below their root is new.
    ///
    /// # Errors
    /// Those of writing.
    pub fn root(&mut self, path: &Path) -> Result<RootId> {
        for outer in path.ancestors() {
            let mut statement = self.connection.prepare_cached("SELECT id FROM roots WHERE path = ?")?;
            if let Some(root) = statement.query_row([outer.as_os_str().as_bytes()], |row| row.get(0)).optional()? {
                return Ok(root);
            }
        }
        let transaction = self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        transaction.execute(
            "INSERT INTO roots (path, added_at_ms) VALUES (?, ?)",
            params![path.as_os_str().as_bytes(), now_ms()],
        )?;
        let root = transaction.last_insert_rowid();
        let (from, to) = below(path);
        let inner = params![root, from, to];
        let moved = transaction.execute("UPDATE dirs SET root = ?1 WHERE path >= ?2 AND path < ?3", inner)?;
        transaction.execute("DELETE FROM roots WHERE id <> ?1 AND path >= ?2 AND path < ?3", inner)?;
        if moved > 0 {
            transaction.execute("UPDATE catalog SET sequence = sequence + 1", [])?;
            transaction.execute(
                "UPDATE tracks SET sequence = (SELECT sequence FROM catalog) WHERE source IN
                   (SELECT sources.id FROM sources JOIN dirs ON dirs.id = sources.dir WHERE dirs.root = ?)",
                [root],
            )?;
        }
        transaction.commit()?;
        Ok(RootId(root))
    }
}

impl Reader<'_> {
    /// Shows all sources in a directory and below it, by directory and name.
    ///
    /// # Errors
    /// Those of reading and of `visit`, which ends it.
    pub fn known(&self, dir: &Path, visit: &mut dyn FnMut(&Known<'_>) -> Result<()>) -> Result<()> {
        let (from, to) = below(dir);
        self.visit_known(
            "dirs.path = ?1 OR (dirs.path >= ?2 AND dirs.path < ?3)",
            params![dir.as_os_str().as_bytes(), from, to],
            visit,
        )
    }

    /// Shows the sources in one directory, by name.
    ///
    /// # Errors
    /// Those of reading and of `visit`, which ends it.
    pub fn known_in(&self, dir: &Path, visit: &mut dyn FnMut(&Known<'_>) -> Result<()>) -> Result<()> {
        self.visit_known("dirs.path = ?1", params![dir.as_os_str().as_bytes()], visit)
    }

    fn visit_known(
        &self,
        condition: &str,
        params: impl rusqlite::Params,
        visit: &mut dyn FnMut(&Known<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut statement = self.connection().prepare_cached(&format!(
            "SELECT sources.id, tracks.id, dirs.path, name, size, mtime_ns, ctime_ns, state
               FROM dirs CROSS JOIN sources ON sources.dir = dirs.id CROSS JOIN tracks ON tracks.source = sources.id
              WHERE {condition} ORDER BY dirs.path, name"
        ))?;
        let mut rows = statement.query(params)?;
        while let Some(row) = rows.next()? {
            visit(&Known {
                source: row.get(0)?,
                track: row.get(1)?,
                dir: row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?,
                name: row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?,
                stamp: stamp(row, 4)?,
                state: row.get(7)?,
            })?;
        }
        Ok(())
    }
}

/// The half-open range of paths below a directory.
pub(super) fn below(dir: &Path) -> (Vec<u8>, Vec<u8>) {
    let from = path_from(dir.as_os_str().as_bytes(), b"").into_os_string().into_encoded_bytes();
    let mut to = from.clone();
    // The byte after the slash at the end.
    to.pop();
    to.push(b'/' + 1);
    (from, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_is_what_has_the_directory_in_front() {
        let (from, to) = below(Path::new("/a/b"));
        assert_eq!((from.as_slice(), to.as_slice()), (&b"/a/b/"[..], &b"/a/b0"[..]));
        let (from, to) = below(Path::new("/"));
        assert_eq!((from.as_slice(), to.as_slice()), (&b"/"[..], &b"0"[..]));
    }
}
