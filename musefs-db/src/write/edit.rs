//! Edits: plain SQL on `edits`, so that its triggers number and log what happens, as for any other writer.

use std::collections::BTreeSet;

use rusqlite::{Connection, TransactionBehavior, params};

use crate::{ChangeId, Override, Result, TrackId, Writer};

/// The override that a key of a track is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackEdit {
    /// The track.
    pub track: TrackId,
    /// The key, in any case.
    pub key: String,
    /// `None` = as in the source, no values = removed, else the whole new list.
    pub values: Override,
}

/// Who edits, and why.
#[derive(Clone, Copy, Debug)]
pub struct Author<'a> {
    /// A name for the log.
    pub who: &'a str,
    /// The reason, for people.
    pub why: Option<&'a str>,
}

impl Writer {
    /// Makes all edits or, after an error, none: one change in the log. `None`: everything was so already.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::Error::Refused) for an unknown track, or when a key or value is over a limit;
    /// [`Error::Busy`](crate::Error::Busy); those of writing.
    pub fn edit(&mut self, edits: &[TrackEdit], author: Author<'_>) -> Result<Option<ChangeId>> {
        self.change(author, |connection| edits.iter().try_for_each(|edit| apply(connection, edit, author)))
    }

    /// Runs `work` in one transaction whose rows of the log are one change.
    pub(super) fn change(
        &mut self,
        author: Author<'_>,
        work: impl FnOnce(&Connection) -> Result<()>,
    ) -> Result<Option<ChangeId>> {
        // An edit that was told to be made survives a power cut.
        self.connection.execute_batch("PRAGMA synchronous = FULL")?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let change: ChangeId =
            transaction.query_row("SELECT coalesce(max(id), 0) + 1 FROM edit_log", [], |row| row.get(0))?;
        transaction.execute(
            "INSERT INTO author (id, change, who, why) VALUES (1, ?, ?, ?)",
            params![change, author.who, author.why],
        )?;
        work(&transaction)?;
        transaction.execute("DELETE FROM author", [])?;
        let made = transaction.prepare("SELECT 1 FROM edit_log WHERE id = ?")?.exists([change])?;
        transaction.commit()?;
        Ok(made.then_some(change))
    }
}

/// Makes the rows of one key say what is wanted; rows that say it already are left alone.
pub(super) fn apply(connection: &Connection, edit: &TrackEdit, author: Author<'_>) -> Result<()> {
    let wanted: Vec<Option<&str>> = match &edit.values {
        None => Vec::new(),
        Some(values) if values.is_empty() => vec![None],
        Some(values) => values.iter().map(|value| Some(value.as_str())).collect(),
    };
    let keys = spellings(connection, edit)?;
    let (key, others) = keys.split_first().map_or((edit.key.as_str(), &[][..]), |(key, others)| (key, others));
    for other in others {
        delete_from(connection, edit.track, other, 0)?;
    }
    delete_from(connection, edit.track, key, wanted.len())?;
    let mut upsert = connection.prepare_cached(
        "INSERT INTO edits (track, key, position, value, who, why) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (track, key, position) DO UPDATE SET value = excluded.value, who = excluded.who, why = excluded.why
          WHERE value IS NOT excluded.value",
    )?;
    for (position, value) in wanted.iter().enumerate() {
        upsert.execute(params![edit.track, key, position as i64, value, author.who, author.why])?;
    }
    Ok(())
}

/// How a key is spelt in `edits`: more than once only where letters outside ASCII differ in case.
fn spellings(connection: &Connection, edit: &TrackEdit) -> Result<Vec<String>> {
    let wanted = edit.key.to_lowercase();
    let mut statement = connection.prepare_cached("SELECT DISTINCT key FROM edits WHERE track = ?")?;
    let keys: BTreeSet<String> =
        statement.query_map([edit.track], |row| crate::read::text(row, 0))?.collect::<rusqlite::Result<_>>()?;
    Ok(keys.into_iter().filter(|key| key.to_lowercase() == wanted).collect())
}

fn delete_from(connection: &Connection, track: TrackId, key: &str, position: usize) -> Result<()> {
    connection.prepare_cached("DELETE FROM edits WHERE track = ? AND key = ? AND position >= ?")?.execute(params![
        track,
        key,
        position as i64
    ])?;
    Ok(())
}
