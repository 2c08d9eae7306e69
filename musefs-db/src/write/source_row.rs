//! Rows of `sources`.

use rusqlite::params;

use crate::{
    Batch, Result,
    write::{
        put::{Found, Stored, bytes},
        shown,
    },
};

/// What [`Batch::update_source`] changed.
pub(super) struct Updated {
    /// Anything, the stamp and the place included.
    pub(super) any: bool,
    /// Something that a splice is made from.
    pub(super) served: bool,
    /// The audio, as far as its hash tells.
    pub(super) audio: bool,
}

impl Batch<'_> {
    pub(super) fn insert_source(&mut self, dir: i64, found: &Found<'_>) -> Result<i64> {
        let properties = found.properties;
        let mut insert = self.connection().prepare_cached(
            "INSERT INTO sources (dir, name, shown, size, mtime_ns, ctime_ns, state, reason, format, codec, duration_ms,
                                  sample_rate_hz, channels, bits, bitrate_bps, audio_offset, audio_len, audio_hash,
                                  added_at_ms, structure)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        Ok(insert.insert(params![
            dir,
            found.name,
            shown(found.name),
            bytes(found.stamp.size),
            found.stamp.mtime_ns,
            found.stamp.ctime_ns,
            found.state,
            found.reason,
            properties.format,
            properties.codec,
            properties.duration_ms,
            properties.sample_rate_hz,
            properties.channels,
            properties.bits,
            properties.bitrate_bps,
            bytes(properties.audio_offset),
            bytes(properties.audio_len),
            found.audio_hash,
            self.now_ms,
            found.structure,
        ])?)
    }

    /// Writes what differs; `added_at_ms` stays.
    pub(super) fn update_source(&mut self, stored: &Stored, dir: i64, found: &Found<'_>) -> Result<Updated> {
        let properties = found.properties;
        let mut differs = self.connection().prepare_cached(
            "SELECT structure IS NOT ?2 OR format IS NOT ?3, audio_hash IS NOT ?4 OR ?4 IS NULL FROM sources WHERE id = ?1",
        )?;
        let parts = params![stored.source, found.structure, properties.format, found.audio_hash];
        let (served, audio) = differs.query_row(parts, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut update = self.connection().prepare_cached(
            "UPDATE sources
                SET dir = ?2, name = ?3, shown = ?4, size = ?5, mtime_ns = ?6, ctime_ns = ?7, state = ?8, reason = ?9,
                    format = ?10, codec = ?11, duration_ms = ?12, sample_rate_hz = ?13, channels = ?14, bits = ?15,
                    bitrate_bps = ?16, audio_offset = ?17, audio_len = ?18, audio_hash = ?19, structure = ?20
              WHERE id = ?1
                AND (dir, name, size, mtime_ns, ctime_ns, state, reason, format, codec, duration_ms, sample_rate_hz,
                     channels, bits, bitrate_bps, audio_offset, audio_len, audio_hash, structure)
                    IS NOT (?2, ?3, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
        )?;
        let changed = update.execute(params![
            stored.source,
            dir,
            found.name,
            shown(found.name),
            bytes(found.stamp.size),
            found.stamp.mtime_ns,
            found.stamp.ctime_ns,
            found.state,
            found.reason,
            properties.format,
            properties.codec,
            properties.duration_ms,
            properties.sample_rate_hz,
            properties.channels,
            properties.bits,
            properties.bitrate_bps,
            bytes(properties.audio_offset),
            bytes(properties.audio_len),
            found.audio_hash,
            found.structure,
        ])?;
        Ok(Updated { any: changed > 0, served, audio })
    }
}
