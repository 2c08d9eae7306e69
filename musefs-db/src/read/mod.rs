//! Reading: everything over one consistent state of the catalogue.

mod detail;
mod edits;
mod log;
mod rows;
mod undo;
mod visit;

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use crate::{Result, Root, Sequence, SourceFile, SourceState, Stamp, TrackId};

pub(crate) use edits::OverrideRows;
pub(crate) use log::is_picture;
pub(crate) use rows::{path_from, path_parts, text};

/// Queries over one consistent state.
#[derive(Debug)]
pub struct Reader<'c> {
    connection: &'c Connection,
}

impl<'c> Reader<'c> {
    pub(crate) fn new(connection: &'c Connection) -> Self {
        Self { connection }
    }

    pub(crate) fn connection(&self) -> &Connection {
        self.connection
    }

    /// The number of the latest change.
    ///
    /// # Errors
    /// Those of reading, as everywhere here.
    pub fn sequence(&self) -> Result<Sequence> {
        Ok(self.connection.prepare_cached("SELECT sequence FROM catalog")?.query_row([], |row| row.get(0))?)
    }

    /// Tracks that went after a number.
    ///
    /// # Errors
    /// Those of reading.
    pub fn removed_since(&self, since: Sequence) -> Result<Vec<TrackId>> {
        let mut statement =
            self.connection.prepare_cached("SELECT track FROM removed WHERE sequence > ? ORDER BY track")?;
        let tracks = statement.query_map([since], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        Ok(tracks)
    }

    /// What an open file of a track needs to know of its source.
    ///
    /// # Errors
    /// Those of reading.
    pub fn source_file(&self, id: TrackId) -> Result<Option<SourceFile>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT dirs.path, sources.name, size, mtime_ns, ctime_ns, format, state
               FROM tracks JOIN sources ON sources.id = tracks.source JOIN dirs ON dirs.id = sources.dir
              WHERE tracks.id = ?",
        )?;
        let file = statement
            .query_row([id], |row| {
                Ok(SourceFile {
                    path: path_from(row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_blob()?),
                    stamp: stamp(row, 2)?,
                    format: text(row, 5)?,
                    state: row.get(6)?,
                })
            })
            .optional()?;
        Ok(file)
    }

    /// The track of the source at an absolute path.
    ///
    /// # Errors
    /// Those of reading.
    pub fn find_source(&self, path: &Path) -> Result<Option<TrackId>> {
        let Some((dir, name)) = path_parts(path) else { return Ok(None) };
        let mut statement = self.connection.prepare_cached(
            "SELECT tracks.id FROM dirs JOIN sources ON sources.dir = dirs.id JOIN tracks ON tracks.source = sources.id
              WHERE dirs.path = ? AND sources.name = ?",
        )?;
        Ok(statement.query_row([dir, name], |row| row.get(0)).optional()?)
    }

    /// All roots, in the order in which they were added.
    ///
    /// # Errors
    /// Those of reading.
    pub fn roots(&self) -> Result<Vec<Root>> {
        let mut statement = self.connection.prepare_cached("SELECT id, path FROM roots ORDER BY id")?;
        let roots = statement
            .query_map([], |row| Ok(Root { id: row.get(0)?, path: path_from(b"", row.get_ref(1)?.as_blob()?) }))?
            .collect::<rusqlite::Result<_>>()?;
        Ok(roots)
    }

    /// How many tracks have a source in each state; states without any are left out.
    ///
    /// # Errors
    /// Those of reading.
    pub fn counts_by_state(&self) -> Result<Vec<(SourceState, u64)>> {
        let mut statement =
            self.connection.prepare_cached("SELECT state, count(*) FROM sources WHERE state <> 'ok' GROUP BY state")?;
        let mut counts: Vec<(SourceState, u64)> = statement
            .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?
            .collect::<rusqlite::Result<_>>()?;
        // Each source has one track.
        let all: i64 =
            self.connection.prepare_cached("SELECT count(*) FROM tracks")?.query_row([], |row| row.get(0))?;
        let ok = all.unsigned_abs().saturating_sub(counts.iter().map(|(_, count)| count).sum());
        if ok > 0 {
            counts.insert(0, (SourceState::Ok, ok));
        }
        Ok(counts)
    }

    /// How many tracks have a source of each format, by its name.
    ///
    /// # Errors
    /// Those of reading.
    pub fn counts_by_format(&self) -> Result<Vec<(String, u64)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT format, count(*) FROM tracks JOIN sources ON sources.id = tracks.source GROUP BY format",
        )?;
        let counts = statement
            .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?
            .collect::<rusqlite::Result<_>>()?;
        Ok(counts)
    }
}

/// The stamp in three columns from `first`.
pub(crate) fn stamp(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<Stamp> {
    Ok(Stamp {
        size: row.get::<_, i64>(first)?.unsigned_abs(),
        mtime_ns: row.get(first + 1)?,
        ctime_ns: row.get(first + 2)?,
    })
}
