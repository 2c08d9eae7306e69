//! Undoing changes: new changes that put back what was before.

use rusqlite::{Connection, OptionalExtension, params};

use crate::{
    Author, ChangeId, Error, Override, Reader, Result, TrackEdit, TrackId, Writer, read::is_picture, write::edit::apply,
};

impl Writer {
    /// Puts back, as one new change, what each key had before the given changes. `None`: it was so already.
    ///
    /// # Errors
    /// [`Error::NoSuchChange`]; [`Error::ChangedAgain`] when a later change, which is not among the given ones,
    /// touched the same key; those of writing. Nothing is changed then.
    pub fn undo(&mut self, changes: &[ChangeId], author: Author<'_>) -> Result<Option<ChangeId>> {
        self.change(author, |connection| {
            let plan = Reader::new(connection).plan_undo(changes)?;
            plan.into_iter().try_for_each(|edit| put_back(connection, edit, author))
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
