//! Sources that moved: one is missing, and one with the same audio is new.

use std::path::PathBuf;

use rusqlite::params;

use crate::{
    Batch, Properties, Reader, Result, RootId, SourceId, TrackDetail, TrackId,
    read::path_from,
    write::put::{Found, Place},
};

/// A track whose source was found at another place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The track; it keeps its id and its edits.
    pub track: TrackId,
    /// Where the source was.
    pub from: PathBuf,
    /// Where it is.
    pub to: PathBuf,
}

/// A source with the audio of a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twin {
    /// Of the source.
    pub source: SourceId,
    /// Of its track.
    pub track: TrackId,
    /// Where it was when it was last seen.
    pub path: PathBuf,
}

/// A missing source and the new one that it became.
struct Pair {
    missing: TrackId,
    new: TrackId,
    root: RootId,
    dir: i64,
    audio_hash: [u8; 16],
}

impl Batch<'_> {
    /// Sources that are not marked as missing and have the audio of one that this writer put new: those of other
    /// roots may have gone from there without a scan's notice.
    ///
    /// # Errors
    /// Those of reading.
    pub fn twins(&self) -> Result<Vec<Twin>> {
        let Some(first_new) = self.writer.first_new else { return Ok(Vec::new()) };
        let mut statement = self.connection().prepare_cached(
            "SELECT twin.id, old_track.id, dirs.path, twin.name
               FROM tracks AS old_track
               CROSS JOIN sources AS twin ON twin.id = old_track.source
               CROSS JOIN dirs ON dirs.id = twin.dir
              WHERE old_track.id < ?1 AND twin.state <> 'missing'
                AND (twin.audio_hash, twin.audio_len) IN
                    (SELECT audio_hash, audio_len FROM tracks CROSS JOIN sources ON sources.id = tracks.source
                      WHERE tracks.id >= ?1)",
        )?;
        let twins = statement
            .query_map([first_new], |row| {
                let path = path_from(row.get_ref(2)?.as_blob()?, row.get_ref(3)?.as_blob()?);
                Ok(Twin { source: row.get(0)?, track: row.get(1)?, path })
            })?
            .collect::<rusqlite::Result<_>>()?;
        Ok(twins)
    }

    /// Gives each missing source the place and the facts of the new one that has the same audio, when there is
    /// exactly one of each, or exactly one of each with the same file name. The track of the new one goes.
    ///
    /// New are sources that this writer put and nobody has edited yet. To be called when all files were put and
    /// all missing ones are marked.
    ///
    /// # Errors
    /// Those of writing.
    pub fn reunite(&mut self) -> Result<Vec<Moved>> {
        let Some(first_new) = self.writer.first_new else { return Ok(Vec::new()) };
        let any_missing =
            self.connection().prepare_cached("SELECT 1 FROM sources WHERE state = 'missing' LIMIT 1")?.exists([])?;
        if !any_missing {
            return Ok(Vec::new());
        }
        let mut moved = Vec::new();
        for same in ["missing.name = new.name", "1"] {
            for pair in self.pairs(same, first_new)? {
                moved.push(self.guarded(|batch| batch.unite(&pair))?);
            }
        }
        Ok(moved)
    }

    /// Pairs of tracks with the same audio of which neither has another partner.
    fn pairs(&self, same: &str, first_new: i64) -> Result<Vec<Pair>> {
        let mut statement = self.connection().prepare_cached(&format!(
            "WITH pairs AS (
                 SELECT old_track.id AS missing, new_track.id AS new, new.dir, new.audio_hash,
                        count(*) OVER (PARTITION BY old_track.id) AS of_missing,
                        count(*) OVER (PARTITION BY new_track.id) AS of_new
                   FROM tracks AS new_track
                   CROSS JOIN sources AS new ON new.id = new_track.source AND new.state IN ('ok', 'opaque')
                   CROSS JOIN sources AS missing
                              ON missing.state = 'missing' AND missing.audio_hash = new.audio_hash
                             AND missing.audio_len = new.audio_len AND {same}
                   CROSS JOIN tracks AS old_track ON old_track.source = missing.id
                  WHERE new_track.id >= ?1 AND old_track.id < ?1
                    AND NOT EXISTS (SELECT 1 FROM edit_log WHERE track = new_track.id))
             SELECT missing, new, root, dir, audio_hash FROM pairs JOIN dirs ON dirs.id = pairs.dir
              WHERE of_missing = 1 AND of_new = 1 ORDER BY missing"
        ))?;
        let pairs = statement
            .query_map([first_new], |row| {
                Ok(Pair {
                    missing: row.get(0)?,
                    new: row.get(1)?,
                    root: row.get(2)?,
                    dir: row.get(3)?,
                    audio_hash: row.get(4)?,
                })
            })?
            .collect::<rusqlite::Result<_>>()?;
        Ok(pairs)
    }

    fn unite(&mut self, pair: &Pair) -> Result<Moved> {
        let reader = Reader::new(self.connection());
        let from = reader.source_file(pair.missing)?.map(|file| file.path).unwrap_or_default();
        let new = reader.track(pair.new)?.ok_or(crate::Error::NoSuchTrack(pair.new))?;
        for table in ["tags", "pictures"] {
            self.connection().prepare_cached(&format!("DELETE FROM {table} WHERE track = ?"))?.execute([pair.new])?;
        }
        self.next_sequence();
        self.remove_bare(pair.new)?;
        self.take_place(pair, &new)?;
        Ok(Moved { track: pair.missing, from, to: new.path })
    }

    /// Puts the facts of a new source in the place of those of the missing one.
    fn take_place(&mut self, pair: &Pair, new: &TrackDetail) -> Result<()> {
        let tags: Vec<(&str, &[String])> =
            new.source_tags.iter().map(|(key, values)| (key.as_str(), values.as_slice())).collect();
        let properties: &Properties = &new.properties;
        let found = Found {
            root: pair.root,
            dir: new.path.parent().map_or(&[], |dir| dir.as_os_str().as_encoded_bytes()),
            name: new.path.file_name().map_or(&[], |name| name.as_encoded_bytes()),
            stamp: new.stamp,
            state: new.state,
            reason: new.reason.as_deref(),
            properties,
            audio_hash: Some(pair.audio_hash),
            structure: &new.structure,
            tags: &tags,
            pictures: &new.pictures,
        };
        let stored = self
            .stored_where("tracks.id = ?1", params![pair.missing])?
            .ok_or(crate::Error::NoSuchTrack(pair.missing))?;
        self.put_again(&stored, pair.dir, &found, Place::Moved)?;
        Ok(())
    }
}
