//! A batch of a scan: one transaction, with a savepoint for each file.

use rusqlite::{Connection, params};

use crate::{Error, Result, Sequence, SourceId, TrackId, Writer, write::now_ms};

/// Changes of a scan that become visible together, and none of them when it is dropped before [`Batch::commit`].
///
/// Each call that fails leaves the batch as it was before, so one bad file never takes others with it.
#[derive(Debug)]
pub struct Batch<'w> {
    pub(super) writer: &'w mut Writer,
    /// Number of the latest change in it.
    pub(super) sequence: i64,
    pub(super) now_ms: i64,
}

impl Writer {
    /// Starts a batch: waits until no other writer is at work.
    ///
    /// # Errors
    /// [`Error::Busy`] when others do not finish; those of writing.
    pub fn batch(&mut self) -> Result<Batch<'_>> {
        if !self.catalog.on_network_disk() {
            // A scan can be repeated: what a power cut takes of it is found again.
            self.connection.execute_batch("PRAGMA synchronous = NORMAL")?;
        }
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let sequence = self.connection.query_row("SELECT sequence FROM catalog", [], |row| row.get(0));
        let mut batch = Batch { writer: self, sequence: 0, now_ms: now_ms() };
        batch.sequence = sequence?;
        Ok(batch)
    }
}

impl Batch<'_> {
    /// Marks a source as missing. Everything that is known of it stays. Tells whether that was new.
    ///
    /// # Errors
    /// Those of writing.
    pub fn missing(&mut self, source: SourceId) -> Result<bool> {
        // One that was never read is read when it is back: its stamp must not look familiar then.
        self.set_state(
            source,
            "UPDATE sources SET state = 'missing', ctime_ns = CASE state WHEN 'unreadable' THEN 0 ELSE ctime_ns END
              WHERE id = ? AND state <> 'missing'",
        )
    }

    /// Marks a missing source, found again with the stamp that it had, as what it was. Tells whether it was missing.
    ///
    /// # Errors
    /// Those of writing.
    pub fn back(&mut self, source: SourceId) -> Result<bool> {
        self.set_state(
            source,
            "UPDATE sources SET state = CASE WHEN length(structure) > 0 THEN 'ok' ELSE 'opaque' END
              WHERE id = ? AND state = 'missing'",
        )
    }

    /// Takes a track and its source out of the catalogue, with its edits, whose log stays.
    ///
    /// # Errors
    /// [`Error::NoSuchTrack`]; those of writing.
    pub fn remove(&mut self, track: TrackId) -> Result<()> {
        self.guarded(|batch| {
            let number = batch.next_sequence();
            let connection = batch.connection();
            // Edits first: their triggers log that they are cleared, and number that from the stored counter.
            connection.prepare_cached("UPDATE catalog SET sequence = ?")?.execute([number])?;
            for table in ["edits", "picture_edits", "tags", "pictures"] {
                connection.prepare_cached(&format!("DELETE FROM {table} WHERE track = ?"))?.execute([track])?;
            }
            batch.sequence = connection.query_row("SELECT sequence + 1 FROM catalog", [], |row| row.get(0))?;
            batch.remove_bare(track)
        })
    }

    /// Makes all changes of the batch visible; tells the number of the latest.
    ///
    /// # Errors
    /// Those of writing; nothing of the batch is visible then.
    pub fn commit(self) -> Result<Sequence> {
        self.check()?;
        self.connection().prepare_cached("UPDATE catalog SET sequence = ?")?.execute([self.sequence])?;
        self.connection().execute_batch("COMMIT")?;
        Ok(Sequence(self.sequence))
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.writer.connection
    }

    /// The number for one more change.
    pub(super) fn next_sequence(&mut self) -> i64 {
        self.sequence = self.sequence.saturating_add(1);
        self.sequence
    }

    /// Runs `work` so that it leaves nothing behind when it fails.
    pub(super) fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.check()?;
        let before = self.sequence;
        self.connection().prepare_cached("SAVEPOINT file")?.execute([])?;
        let result = work(self);
        // A full disk ends the whole transaction, and the savepoint with it.
        if !self.connection().is_autocommit() {
            if result.is_err() {
                self.connection().prepare_cached("ROLLBACK TO file")?.execute([])?;
                self.sequence = before;
                self.writer.forget();
            }
            self.connection().prepare_cached("RELEASE file")?.execute([])?;
        }
        result
    }

    /// Removes a track that has no rows of its own any more, and its source.
    pub(super) fn remove_bare(&self, track: TrackId) -> Result<()> {
        let source: Option<i64> = {
            let mut delete = self.connection().prepare_cached("DELETE FROM tracks WHERE id = ? RETURNING source")?;
            let mut rows = delete.query([track])?;
            let source = rows.next()?.map(|row| row.get(0)).transpose()?;
            while rows.next()?.is_some() {}
            source
        };
        let source = source.ok_or(Error::NoSuchTrack(track))?;
        self.connection()
            .prepare_cached(
                "DELETE FROM sources WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM tracks WHERE source = ?1)",
            )?
            .execute([source])?;
        self.connection()
            .prepare_cached("INSERT INTO removed (track, sequence) VALUES (?, ?)")?
            .execute(params![track, self.sequence])?;
        Ok(())
    }

    fn set_state(&mut self, source: SourceId, update: &str) -> Result<bool> {
        self.guarded(|batch| {
            if batch.connection().prepare_cached(update)?.execute([source])? == 0 {
                return Ok(false);
            }
            let number = batch.next_sequence();
            batch
                .connection()
                .prepare_cached("UPDATE tracks SET sequence = ? WHERE source = ?")?
                .execute(params![number, source])?;
            Ok(true)
        })
    }

    fn check(&self) -> Result<()> {
        if self.connection().is_autocommit() {
            let reason = "the batch ended with an earlier error".into();
            return Err(Error::Sql(rusqlite::Error::SqliteFailure(
                rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ABORT),
                Some(reason),
            )));
        }
        Ok(())
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if !self.connection().is_autocommit() {
            // Nothing can be done about an error here; closing the connection ends the transaction as well.
            let _ = self.connection().execute_batch("ROLLBACK");
            self.writer.forget();
        }
    }
}

impl Writer {
    /// Forgets ids of rows that were rolled back.
    fn forget(&mut self) {
        self.keys.clear();
        self.dir = None;
    }
}
