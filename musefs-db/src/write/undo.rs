//! Undoing changes: new changes that put back what was before.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, params};

use crate::{
    Author, ChangeId, Error, Override, Result, TrackEdit, TrackId, Writer,
    read::{is_picture, override_before, rows_of_change},
    write::edit::apply,
};

impl Writer {
    /// Puts back, as one new change, what each key had before the given changes. `None`: it was so already.
    ///
    /// # Errors
    /// [`Error::NoSuchChange`]; [`Error::ChangedAgain`] when a later change, which is not among the given ones,
    /// touched the same key; those of writing. Nothing is changed then.
    pub fn undo(&mut self, changes: &[ChangeId], author: Author<'_>) -> Result<Option<ChangeId>> {
        self.change(author, |connection| {
            for ((track, key), earliest) in touched(connection, changes)? {
                refuse_later(connection, track, &key, earliest, changes)?;
                let values = override_before(connection, track, &key, earliest)?;
                put_back(connection, TrackEdit { track, key, values }, author)?;
            }
            Ok(())
        })
    }

    /// Takes back all edits of tracks, as one new change: they are served as their sources are.
    ///
    /// # Errors
    /// Those of writing.
    pub fn clear(&mut self, tracks: &[TrackId], author: Author<'_>) -> Result<Option<ChangeId>> {
        self.change(author, |connection| {
            for track in tracks {
                connection.prepare_cached("DELETE FROM edits WHERE track = ?")?.execute([track])?;
                connection.prepare_cached("DELETE FROM picture_edits WHERE track = ?")?.execute([track])?;
            }
            Ok(())
        })
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

fn put_back(connection: &Connection, edit: TrackEdit, author: Author<'_>) -> Result<()> {
    match edit.key.strip_prefix("picture:").filter(|_| is_picture(&edit.key)).map(str::parse::<i64>) {
        Some(Ok(kind)) => put_back_pictures(connection, edit.track, kind, &edit.values, author),
        _ => apply(connection, &edit, author),
    }
}

/// Values of pictures in the log are the hash of the art and the description.
fn put_back_pictures(
    connection: &Connection,
    track: TrackId,
    kind: i64,
    values: &Override,
    author: Author<'_>,
) -> Result<()> {
    connection.execute("DELETE FROM picture_edits WHERE track = ? AND kind = ?", params![track, kind])?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO picture_edits (track, kind, position, art, description, who, why) VALUES (?, ?, ?, ?, ?, ?, ?)",
    )?;
    let Some(values) = values else { return Ok(()) };
    if values.is_empty() {
        insert.execute(params![track, kind, 0, None::<i64>, "", author.who, author.why])?;
    }
    for (position, value) in values.iter().enumerate() {
        let (hash, description) = value.split_once(' ').unwrap_or((value, ""));
        let art: Option<i64> = connection
            .prepare_cached("SELECT id FROM art WHERE lower(hex(blake3)) = ?")?
            .query_row([hash], |row| row.get(0))
            .optional()?;
        let art = art.ok_or_else(|| Error::Refused { reason: format!("there is no art {hash} any more") })?;
        insert.execute(params![track, kind, position as i64, art, description, author.who, author.why])?;
    }
    Ok(())
}
