//! What undoing changes would put back.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use crate::{
    ChangeId, Error, Reader, Result, TrackEdit, TrackId,
    read::log::{override_before, rows_of_change},
};

impl Reader<'_> {
    /// The overrides that [`Writer::undo`](crate::Writer::undo) of the given changes puts back. Keys of pictures are
    /// `picture:KIND`.
    ///
    /// # Errors
    /// [`Error::NoSuchChange`]; [`Error::ChangedAgain`] when a later change, which is not among the given ones,
    /// touched the same key; those of reading.
    pub fn plan_undo(&self, changes: &[ChangeId]) -> Result<Vec<TrackEdit>> {
        let mut plan = Vec::new();
        for ((track, key), earliest) in touched(self.connection, changes)? {
            refuse_later(self.connection, track, &key, earliest, changes)?;
            let values = override_before(self.connection, track, &key, earliest)?;
            plan.push(TrackEdit { track, key, values });
        }
        Ok(plan)
    }
}

/// The keys that changes touched, each with its first row in the log.
fn touched(connection: &Connection, changes: &[ChangeId]) -> Result<BTreeMap<(TrackId, String), i64>> {
    let mut touched = BTreeMap::new();
    for &change in changes {
        let rows = rows_of_change(connection, change)?;
        if rows.is_empty() {
            return Err(Error::NoSuchChange(change.0));
        }
        for row in rows {
            let earliest = touched.entry((row.track, row.key)).or_insert(row.id);
            *earliest = row.id.min(*earliest);
        }
    }
    Ok(touched)
}

/// Refuses when a change that is not to be undone touched a key after a row of the log.
fn refuse_later(connection: &Connection, track: TrackId, key: &str, row: i64, undone: &[ChangeId]) -> Result<()> {
    let mut statement = connection
        .prepare_cached("SELECT change FROM edit_log WHERE track = ? AND key = ? AND id > ? ORDER BY id DESC")?;
    let mut rows = statement.query(params![track, key, row])?;
    while let Some(row) = rows.next()? {
        let later: ChangeId = row.get(0)?;
        if !undone.contains(&later) {
            return Err(Error::ChangedAgain { track, key: key.to_owned(), later: later.0 });
        }
    }
    Ok(())
}
