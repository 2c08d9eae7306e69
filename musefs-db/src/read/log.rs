//! The log of edits, and the edits of earlier revisions that follow from it.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{
    Action, ChangeId, EditInput, KeyChange, LogEntry, LogQuery, Override, Result, TrackId,
    limits::LOG_ENTRIES_MAX,
    read::{
        OverrideRows, Reader,
        rows::{text, text_or_null},
    },
};

const ENTRIES: &str = "SELECT id, change, at_ms, who, why, track, revision, key, position, action, value FROM edit_log";

impl Reader<'_> {
    /// Rows of the log, newest first.
    ///
    /// # Errors
    /// Those of reading.
    pub fn log(&self, query: &LogQuery) -> Result<Vec<LogEntry>> {
        let count_max = query.count_max.unwrap_or(LOG_ENTRIES_MAX).min(LOG_ENTRIES_MAX) as i64;
        let mut statement = self.connection.prepare_cached(&format!(
            "{ENTRIES} WHERE (?1 IS NULL OR track = ?1) AND (?2 IS NULL OR (change = ?2 AND id >= ?2))
              ORDER BY id DESC LIMIT ?3"
        ))?;
        let entries = statement
            .query_map(params![query.track, query.change, count_max], entry)?
            .collect::<rusqlite::Result<_>>()?;
        Ok(entries)
    }

    /// What each change did to each key, newest first: the rows of [`Reader::log`] with the overrides before and
    /// after. `count_max` counts keys of changes.
    ///
    /// # Errors
    /// Those of reading.
    pub fn changes(&self, query: &LogQuery) -> Result<Vec<KeyChange>> {
        let count_max = query.count_max.unwrap_or(LOG_ENTRIES_MAX);
        let mut changes: Vec<KeyChange> = Vec::new();
        for entry in self.log(&LogQuery { count_max: None, ..query.clone() })? {
            let told = |it: &KeyChange| it.change == entry.change && it.track == entry.track && it.key == entry.key;
            if changes.iter().rev().take_while(|it| it.change == entry.change).any(told) {
                continue;
            }
            if changes.len() >= count_max {
                break;
            }
            changes.push(self.key_change(entry)?);
        }
        Ok(changes)
    }

    /// What a splice of a track at a revision is made from. `None`: there is no such track, or its source has
    /// changed since, and the bytes of that revision are lost.
    ///
    /// # Errors
    /// Those of reading.
    pub fn edit_input_at(&self, track: TrackId, revision: u64) -> Result<Option<EditInput>> {
        let revision = i64::try_from(revision).unwrap_or(i64::MAX);
        // Revisions that no edit made were made by another source.
        let mut unlogged = self.connection.prepare_cached(
            "SELECT revision - ?2 - (SELECT count(DISTINCT revision) FROM edit_log WHERE track = ?1 AND revision > ?2)
               FROM tracks WHERE id = ?1",
        )?;
        let unlogged: Option<i64> = unlogged.query_row(params![track, revision], |row| row.get(0)).optional()?;
        if unlogged != Some(0) {
            return Ok(None);
        }
        let mut statement =
            self.connection.prepare_cached(&format!("{ENTRIES} WHERE track = ?1 AND revision <= ?2 ORDER BY id"))?;
        let mut overrides = OverrideRows::default();
        let mut rows = statement.query(params![track, revision])?;
        while let Some(row) = rows.next()? {
            replay(&mut overrides, entry(row)?);
        }
        let mut input = EditInput::default();
        input.changes.extend(overrides.changes().filter(|(key, _)| !is_picture(key)).map(|(key, it)| (key.into(), it)));
        self.source_part(track, &mut input)?;
        Ok(Some(input))
    }

    /// The override of a key of a track now, as the log tells it. Keys of pictures are `picture:KIND`.
    ///
    /// # Errors
    /// Those of reading.
    pub fn override_now(&self, track: TrackId, key: &str) -> Result<Override> {
        override_before(self.connection, track, key, i64::MAX)
    }

    fn key_change(&self, entry: LogEntry) -> Result<KeyChange> {
        let before = override_before(self.connection, entry.track, &entry.key, entry.change.0)?;
        let after = override_after(self.connection, entry.track, &entry.key, entry.change)?;
        let LogEntry { change, at_ms, who, why, track, key, .. } = entry;
        Ok(KeyChange { change, at_ms, who, why, track, key, before, after })
    }
}

/// Whether a key of the log stands for pictures.
pub(crate) fn is_picture(key: &str) -> bool {
    key.starts_with("picture:")
}

/// The override of a key just before a row of the log.
pub(super) fn override_before(connection: &Connection, track: TrackId, key: &str, row: i64) -> Result<Override> {
    replay_key(connection, "id < ?3", track, key, row)
}

/// The override of a key when a change was done.
fn override_after(connection: &Connection, track: TrackId, key: &str, change: ChangeId) -> Result<Override> {
    replay_key(connection, "change <= ?3", track, key, change.0)
}

fn replay_key(connection: &Connection, until: &str, track: TrackId, key: &str, bound: i64) -> Result<Override> {
    let mut statement =
        connection.prepare_cached(&format!("{ENTRIES} WHERE track = ?1 AND key = ?2 AND {until} ORDER BY id"))?;
    let mut overrides = OverrideRows::default();
    let mut rows = statement.query(params![track, key, bound])?;
    while let Some(row) = rows.next()? {
        replay(&mut overrides, entry(row)?);
    }
    Ok(overrides.get(&key.to_lowercase()))
}

/// The rows of one change, in order.
pub(super) fn rows_of_change(connection: &Connection, change: ChangeId) -> Result<Vec<LogEntry>> {
    let mut statement = connection.prepare_cached(&format!("{ENTRIES} WHERE id >= ?1 AND change = ?1 ORDER BY id"))?;
    let entries = statement.query_map([change], entry)?.collect::<rusqlite::Result<_>>()?;
    Ok(entries)
}

fn replay(overrides: &mut OverrideRows, entry: LogEntry) {
    overrides.replay(&entry.key, entry.position, entry.action, entry.value);
}

fn entry(row: &Row<'_>) -> rusqlite::Result<LogEntry> {
    let action = match row.get_ref(9)?.as_str()? {
        "set" => Action::Set,
        "remove" => Action::Remove,
        _ => Action::Clear,
    };
    Ok(LogEntry {
        id: row.get(0)?,
        change: row.get(1)?,
        at_ms: row.get(2)?,
        who: text(row, 3)?,
        why: text_or_null(row, 4)?,
        track: row.get(5)?,
        revision: row.get::<_, i64>(6)?.unsigned_abs(),
        key: text(row, 7)?,
        position: row.get(8)?,
        action,
        value: text_or_null(row, 10)?,
    })
}
