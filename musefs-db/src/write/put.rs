//! What a scan found at a path, put into the catalogue.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, params};

use crate::{
    Batch, EditInput, Picture, Properties, Reader, Result, RootId, SourceState, Stamp, TrackId,
    limits::SPLICE_SECONDS_MAX, read::stamp, write::shown,
};

/// A source as it was found.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// The root that it is under.
    pub root: RootId,
    /// Absolute path of its directory.
    pub dir: &'a [u8],
    /// Its file name.
    pub name: &'a [u8],
    /// Its size and times.
    pub stamp: Stamp,
    /// `Ok`, `Opaque` or `Unreadable`.
    pub state: SourceState,
    /// Why it is in that state.
    pub reason: Option<&'a str>,
    /// Technical facts.
    pub properties: &'a Properties,
    /// Tells the audio from others of the same length; `None` for a source without audio.
    pub audio_hash: Option<[u8; 16]>,
    /// What each part of the file is; empty when it cannot be edited.
    pub structure: &'a [u8],
    /// Lower-case keys, each once, with their values.
    pub tags: &'a [(&'a str, &'a [String])],
    /// In the order of the source.
    pub pictures: &'a [Picture],
}

/// What [`Batch::put`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// There is a new track.
    New(TrackId),
    /// The track of the source changed.
    Changed(TrackId),
    /// Nothing about it changed.
    Same(TrackId),
}

/// A source and its track as they stand in the catalogue.
pub(super) struct Stored {
    pub(super) source: i64,
    pub(super) track: TrackId,
    stamp: Stamp,
    changed_at_ms: Option<i64>,
}

impl Batch<'_> {
    /// Puts what was found at a path. A source that cannot be read keeps what was known of it.
    ///
    /// A new revision comes of a new stamp, and of new facts where edits are laid over them; a new change time alone
    /// makes none.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::Error::Refused) when something about it is over a limit: the batch goes on without
    /// it. Those of writing.
    pub fn put(&mut self, found: &Found<'_>) -> Result<Put> {
        self.guarded(|batch| {
            let dir = batch.dir(found.root, found.dir)?;
            match batch.stored(dir, found.name)? {
                Some(stored) if found.state == SourceState::Unreadable => batch.put_unreadable(&stored, found.reason),
                Some(stored) => batch.put_again(&stored, dir, found, Place::Same),
                None => batch.put_new(dir, found),
            }
        })
    }

    /// Puts other facts in the place of those of a stored source.
    pub(super) fn put_again(&mut self, stored: &Stored, dir: i64, found: &Found<'_>, place: Place) -> Result<Put> {
        let facts = self.update_source(stored, dir, found)?;
        let tags = self.update_tags(stored.track, found)?;
        let pictures = self.update_pictures(stored.track, found)?;
        let told = facts.served || tags || pictures;
        // Renaming, a new owner or a new mode change the change time and no byte; what else may lie behind it shows.
        let same_but_ctime = Stamp { ctime_ns: 0, ..stored.stamp } == Stamp { ctime_ns: 0, ..found.stamp };
        let same_file = match place {
            Place::Same => stored.stamp == found.stamp || (same_but_ctime && !told && !facts.audio),
            Place::Moved => same_but_ctime,
        };
        let bytes = !same_file || (told && self.is_edited(stored.track)?);
        if bytes {
            self.raise_revision(stored, found.stamp.mtime_ns)?;
        } else if facts.any || told {
            self.number(stored.track)?;
        } else {
            return Ok(Put::Same(stored.track));
        }
        Ok(Put::Changed(stored.track))
    }

    fn put_new(&mut self, dir: i64, found: &Found<'_>) -> Result<Put> {
        let source = self.insert_source(dir, found)?;
        let number = self.next_sequence();
        let mut insert =
            self.connection().prepare_cached("INSERT INTO tracks (source, revision, sequence) VALUES (?, 0, ?)")?;
        let track = TrackId(insert.insert([source, number])?);
        drop(insert);
        self.writer.first_new.get_or_insert(track.0);
        self.insert_tags(track, found.tags)?;
        self.insert_pictures(track, found.pictures)?;
        Ok(Put::New(track))
    }

    fn put_unreadable(&mut self, stored: &Stored, reason: Option<&str>) -> Result<Put> {
        let changed = self
            .connection()
            .prepare_cached(
                "UPDATE sources SET state = 'unreadable', reason = ?2
                  WHERE id = ?1 AND (state <> 'unreadable' OR reason IS NOT ?2)",
            )?
            .execute(params![stored.source, reason])?;
        if changed == 0 {
            return Ok(Put::Same(stored.track));
        }
        self.number(stored.track)?;
        Ok(Put::Changed(stored.track))
    }

    /// The id of a directory, which is made if it is new.
    pub(super) fn dir(&mut self, root: RootId, path: &[u8]) -> Result<i64> {
        if let Some((last, id)) = &self.writer.dir
            && last == path
        {
            return Ok(*id);
        }
        let found = self
            .connection()
            .prepare_cached("SELECT id FROM dirs WHERE path = ?")?
            .query_row([path], |row| row.get(0))
            .optional()?;
        let id = match found {
            Some(id) => id,
            None => self
                .connection()
                .prepare_cached("INSERT INTO dirs (root, path, shown) VALUES (?, ?, ?)")?
                .insert(params![root, path, shown(path)])?,
        };
        self.writer.dir = Some((path.to_owned(), id));
        Ok(id)
    }

    fn stored(&self, dir: i64, name: &[u8]) -> Result<Option<Stored>> {
        self.stored_where("sources.dir = ?1 AND sources.name = ?2", params![dir, name])
    }

    pub(super) fn stored_where(&self, condition: &str, params: impl rusqlite::Params) -> Result<Option<Stored>> {
        let mut statement = self.connection().prepare_cached(&format!(
            "SELECT sources.id, tracks.id, size, mtime_ns, ctime_ns, changed_at_ms
               FROM sources JOIN tracks ON tracks.source = sources.id WHERE {condition}"
        ))?;
        let stored = statement.query_row(params, |row| {
            Ok(Stored { source: row.get(0)?, track: row.get(1)?, stamp: stamp(row, 2)?, changed_at_ms: row.get(5)? })
        });
        Ok(stored.optional()?)
    }

    fn is_edited(&self, track: TrackId) -> Result<bool> {
        let mut statement = self.connection().prepare_cached(
            "SELECT 1 FROM edits WHERE track = ?1 UNION ALL SELECT 1 FROM picture_edits WHERE track = ?1",
        )?;
        Ok(statement.exists([track])?)
    }

    /// Numbers a change that leaves the served bytes as they are.
    pub(super) fn number(&mut self, track: TrackId) -> Result<()> {
        let number = self.next_sequence();
        self.connection()
            .prepare_cached("UPDATE tracks SET sequence = ? WHERE id = ?")?
            .execute(params![number, track])?;
        Ok(())
    }

    /// Numbers a change of served bytes.
    fn raise_revision(&mut self, stored: &Stored, mtime_ns: i64) -> Result<()> {
        let number = self.next_sequence();
        let changed_at_ms = changed_at(stored.stamp.mtime_ns, mtime_ns, stored.changed_at_ms, self.now_ms);
        self.connection()
            .prepare_cached("UPDATE tracks SET revision = revision + 1, sequence = ?, changed_at_ms = ? WHERE id = ?")?
            .execute(params![number, changed_at_ms, stored.track])?;
        Ok(())
    }

    fn update_tags(&mut self, track: TrackId, found: &Found<'_>) -> Result<bool> {
        let mut input = EditInput::default();
        Reader::new(self.connection()).source_part(track, &mut input)?;
        if same_tags(&input.source_tags, found.tags) {
            return Ok(false);
        }
        self.connection().prepare_cached("DELETE FROM tags WHERE track = ?")?.execute([track])?;
        self.insert_tags(track, found.tags)?;
        Ok(true)
    }

    fn update_pictures(&mut self, track: TrackId, found: &Found<'_>) -> Result<bool> {
        if Reader::new(self.connection()).pictures(track)? == found.pictures {
            return Ok(false);
        }
        self.connection().prepare_cached("DELETE FROM pictures WHERE track = ?")?.execute([track])?;
        self.insert_pictures(track, found.pictures)?;
        Ok(true)
    }

    fn insert_tags(&mut self, track: TrackId, tags: &[(&str, &[String])]) -> Result<()> {
        for (key, values) in tags {
            let key = self.key(key)?;
            let mut insert = self
                .connection()
                .prepare_cached("INSERT INTO tags (track, key, position, value) VALUES (?, ?, ?, ?)")?;
            for (position, value) in values.iter().enumerate() {
                insert.execute(params![track, key, position as i64, value])?;
            }
        }
        Ok(())
    }

    fn insert_pictures(&mut self, track: TrackId, pictures: &[Picture]) -> Result<()> {
        for (position, picture) in pictures.iter().enumerate() {
            self.connection().prepare_cached("INSERT INTO pictures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")?.execute(
                params![
                    track,
                    position as i64,
                    picture.kind,
                    picture.mime,
                    picture.width,
                    picture.height,
                    picture.description,
                    bytes(picture.offset),
                    bytes(picture.len),
                ],
            )?;
        }
        Ok(())
    }

    /// The id of a key, which is made if it is new.
    fn key(&mut self, name: &str) -> Result<i64> {
        if let Some(&id) = self.writer.keys.get(name) {
            return Ok(id);
        }
        let found = self
            .connection()
            .prepare_cached("SELECT id FROM keys WHERE name = ?")?
            .query_row([name], |row| row.get(0))
            .optional()?;
        let id = match found {
            Some(id) => id,
            None => self.connection().prepare_cached("INSERT INTO keys (name) VALUES (?)")?.insert([name])?,
        };
        self.writer.keys.insert(name.into(), id);
        Ok(id)
    }
}

/// Whether a source is put where it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// At the same path.
    Same,
    /// At another path.
    Moved,
}

fn same_tags(stored: &BTreeMap<String, Vec<String>>, found: &[(&str, &[String])]) -> bool {
    let found = found.iter().filter(|(_, values)| !values.is_empty());
    stored.len() == found.clone().count()
        && found.clone().all(|(key, values)| stored.get(*key).is_some_and(|it| it == values))
}

/// When served bytes changed, for a source whose time went from one to another: moved only where the file's own
/// time would not show it to players, which compare whole seconds.
fn changed_at(old_mtime_ns: i64, new_mtime_ns: i64, changed_at_ms: Option<i64>, now_ms: i64) -> Option<i64> {
    const SECOND_MS: i64 = 1000;
    // Rounded up, so that a second later is one.
    let old_mtime_ms = old_mtime_ns.div_euclid(1_000_000) + 1;
    let new_mtime_ms = new_mtime_ns.div_euclid(1_000_000);
    let told_ms = changed_at_ms.map_or(i64::MIN, |ms| ms.saturating_add(SPLICE_SECONDS_MAX * SECOND_MS));
    if new_mtime_ms >= old_mtime_ms.max(told_ms).saturating_add(SECOND_MS) {
        return changed_at_ms;
    }
    Some(now_ms.max(old_mtime_ms.max(changed_at_ms.unwrap_or(i64::MIN)).saturating_add(SECOND_MS)))
}

/// A size or offset as SQLite holds it.
pub(super) fn bytes(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_change_moves_only_where_the_source_does_not_show_it() {
        const S: i64 = 1_000_000_000;
        let now = 5_000_000;
        for (old_ns, new_ns, changed, expected) in [
            (100 * S, 102 * S, None, None),
            (100 * S, 100 * S, None, Some(now)),
            (100 * S, 100 * S + 5, None, Some(now)),
            (100 * S, 50 * S, None, Some(now)),
            (-100 * S, -50 * S, None, None),
            (9_000 * S, 9_000 * S, None, Some(9_001_001)),
            (100 * S, 200 * S, Some(4_999_999), Some(5_000_999)),
            (100 * S, 9_000 * S, Some(4_999_999), Some(4_999_999)),
        ] {
            assert_eq!(changed_at(old_ns, new_ns, changed, now), expected, "{old_ns} {new_ns} {changed:?}");
        }
    }
}
