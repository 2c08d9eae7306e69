//! Everything about one track.

use rusqlite::{OptionalExtension, Row};

use crate::{
    EditInput, EditRow, Picture, Properties, Result, TrackDetail, TrackId,
    read::{
        Reader, path_from,
        rows::{text, text_or_null},
        stamp,
    },
};

const DETAIL: &str =
    "SELECT revision, changed_at_ms, sources.added_at_ms, roots.path, dirs.path, name, size, mtime_ns, ctime_ns,
       state, reason, format, codec, duration_ms, sample_rate_hz, channels, bits, bitrate_bps, audio_offset, audio_len
  FROM tracks JOIN sources ON sources.id = tracks.source JOIN dirs ON dirs.id = sources.dir
       JOIN roots ON roots.id = dirs.root
 WHERE tracks.id = ?";

impl Reader<'_> {
    /// Everything about one track.
    ///
    /// # Errors
    /// Those of reading.
    pub fn track(&self, id: TrackId) -> Result<Option<TrackDetail>> {
        let found = self.connection.prepare_cached(DETAIL)?.query_row([id], |row| detail(id, row)).optional()?;
        let Some(mut detail) = found else { return Ok(None) };
        let mut input = EditInput::default();
        self.source_part(id, &mut input)?;
        detail.structure = input.structure;
        detail.source_tags = input.source_tags;
        detail.pictures = self.pictures(id)?;
        detail.edits = self.edits(id)?;
        Ok(Some(detail))
    }

    /// The pictures of a track's source, in its order.
    ///
    /// # Errors
    /// Those of reading.
    pub fn pictures(&self, id: TrackId) -> Result<Vec<Picture>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT kind, mime, width, height, description, offset, len FROM pictures WHERE track = ? ORDER BY position",
        )?;
        let pictures = statement.query_map([id], picture)?.collect::<rusqlite::Result<_>>()?;
        Ok(pictures)
    }

    /// The current edits of a track, by key and position.
    fn edits(&self, id: TrackId) -> Result<Vec<EditRow>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT key, position, value, who, why FROM edits WHERE track = ? ORDER BY key, position",
        )?;
        let edits = statement
            .query_map([id], |row| {
                Ok(EditRow {
                    key: text(row, 0)?.to_lowercase(),
                    position: row.get(1)?,
                    value: text_or_null(row, 2)?,
                    who: text(row, 3)?,
                    why: text_or_null(row, 4)?,
                })
            })?
            .collect::<rusqlite::Result<_>>()?;
        Ok(edits)
    }
}

fn detail(id: TrackId, row: &Row<'_>) -> rusqlite::Result<TrackDetail> {
    Ok(TrackDetail {
        id,
        revision: row.get::<_, i64>(0)?.unsigned_abs(),
        changed_at_ms: row.get(1)?,
        added_at_ms: row.get(2)?,
        root: path_from(b"", row.get_ref(3)?.as_blob()?),
        path: path_from(row.get_ref(4)?.as_blob()?, row.get_ref(5)?.as_blob()?),
        stamp: stamp(row, 6)?,
        state: row.get(9)?,
        reason: text_or_null(row, 10)?,
        properties: Properties {
            format: text(row, 11)?,
            codec: text(row, 12)?,
            duration_ms: row.get(13)?,
            sample_rate_hz: row.get(14)?,
            channels: row.get(15)?,
            bits: row.get(16)?,
            bitrate_bps: row.get(17)?,
            audio_offset: row.get::<_, i64>(18)?.unsigned_abs(),
            audio_len: row.get::<_, i64>(19)?.unsigned_abs(),
        },
        structure: Vec::new(),
        source_tags: Default::default(),
        pictures: Vec::new(),
        edits: Vec::new(),
    })
}

fn picture(row: &Row<'_>) -> rusqlite::Result<Picture> {
    Ok(Picture {
        kind: row.get(0)?,
        mime: text(row, 1)?,
        width: row.get(2)?,
        height: row.get(3)?,
        description: text(row, 4)?,
        offset: row.get::<_, i64>(5)?.unsigned_abs(),
        len: row.get::<_, i64>(6)?.unsigned_abs(),
    })
}
