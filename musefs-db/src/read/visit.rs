//! All served tracks in one pass.
//!
//! Tracks, tags and edits are each read in track order and laid side by side, so that a million tracks cost
//! three statements. A few tracks are looked up one by one.

use std::{collections::HashMap, mem, sync::Arc};

use rusqlite::{CachedStatement, Row, Rows, fallible_streaming_iterator::FallibleStreamingIterator, params};

use crate::{
    EditInput, Keys, Result, RootId, Sequence, Tag, TrackId, TrackRow, Which,
    read::{
        OverrideRows, Reader,
        rows::{borrowed, text, text_or_null},
        stamp,
    },
};

/// Tracks are looked up one by one while fewer than one in so many is wanted.
const SPARSE: i64 = 8;

const TRACKS: &str = "SELECT tracks.id, revision, sequence, changed_at_ms, added_at_ms, root, path, name,
       size, mtime_ns, ctime_ns, state, format, codec, duration_ms, sample_rate_hz, channels, bits, bitrate_bps
  FROM tracks CROSS JOIN sources ON sources.id = tracks.source CROSS JOIN dirs ON dirs.id = sources.dir";

impl Reader<'_> {
    /// Shows `visit` tracks in the order of their ids, with effective tags of the wanted `keys`.
    ///
    /// # Errors
    /// Those of reading and of `visit`, which ends the pass.
    pub fn visit_tracks(
        &self,
        which: Which,
        keys: &Keys<'_>,
        visit: &mut dyn FnMut(&TrackRow<'_>) -> Result<()>,
    ) -> Result<()> {
        let names = KeyNames::load(self, keys)?;
        let roots = self.roots()?.into_iter().map(|root| (root.id, root.path.into_os_string().into_encoded_bytes()));
        let mut pass = Pass { reader: self, names, roots: roots.collect(), row: RowParts::default() };
        match which {
            Which::All => pass.merge(Sequence(i64::MIN), visit),
            Which::One(track) => pass.one_by_one(&[track.0], visit),
            Which::Since(since) => match self.changed_if_few(since)? {
                Some(tracks) => pass.one_by_one(&tracks, visit),
                None => pass.merge(since, visit),
            },
        }
    }

    /// The tracks that changed after a number, or `None` when a pass over all is cheaper.
    fn changed_if_few(&self, since: Sequence) -> Result<Option<Vec<i64>>> {
        let last: i64 = self
            .connection
            .prepare_cached("SELECT coalesce(max(id), 0) FROM tracks")?
            .query_row([], |row| row.get(0))?;
        let few = last / SPARSE + 1;
        let mut statement = self.connection.prepare_cached("SELECT id FROM tracks WHERE sequence > ?1 LIMIT ?2")?;
        let mut tracks =
            statement.query_map(params![since, few + 1], |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()?;
        tracks.sort_unstable();
        Ok((tracks.len() as i64 <= few).then_some(tracks))
    }

    /// All tags of a track's source and its structure.
    pub(crate) fn source_part(&self, track: TrackId, input: &mut EditInput) -> Result<()> {
        let mut tags = self.connection.prepare_cached(
            "SELECT name, value FROM tags JOIN keys ON keys.id = tags.key WHERE track = ? ORDER BY key, position",
        )?;
        let mut rows = tags.query([track])?;
        while let Some(row) = rows.next()? {
            input.source_tags.entry(text(row, 0)?).or_default().push(text(row, 1)?);
        }
        let mut structure = self.connection.prepare_cached(
            "SELECT structure FROM tracks JOIN sources ON sources.id = tracks.source WHERE tracks.id = ?",
        )?;
        input.structure = structure.query_row([track], |row| row.get(0))?;
        Ok(())
    }
}

/// The names of keys, and which are wanted.
struct KeyNames {
    by_id: HashMap<i64, Arc<str>>,
    /// Only these; `None` = all.
    wanted: Option<Vec<String>>,
}

impl KeyNames {
    fn load(reader: &Reader<'_>, keys: &Keys<'_>) -> Result<Self> {
        let wanted: Option<Vec<String>> = match keys {
            Keys::All => None,
            Keys::Only(names) => Some(names.iter().map(|name| name.to_lowercase()).collect()),
        };
        let mut names = Self { by_id: HashMap::new(), wanted };
        let mut statement = reader.connection.prepare_cached("SELECT id, name FROM keys")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let name = text(row, 1)?.to_lowercase();
            if names.wants(&name) {
                names.by_id.insert(row.get(0)?, name.into());
            }
        }
        Ok(names)
    }

    fn wants(&self, name: &str) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted.iter().any(|it| it == name))
    }

    /// A condition on `tags.key` that leaves out what is not wanted before it leaves SQLite.
    fn condition(&self) -> String {
        if self.wanted.is_none() {
            return "1".into();
        }
        let mut ids: Vec<_> = self.by_id.keys().map(i64::to_string).collect();
        ids.sort_unstable();
        // The plus keeps SQLite from searching by key where it should go through in order.
        format!("+key IN ({})", ids.join(","))
    }
}

/// The parts of a row that are put together here; kept from row to row so that strings are reused.
#[derive(Default)]
struct RowParts {
    tags: Vec<Tag>,
    /// How many of `tags` belong to the row at hand.
    count: usize,
    overrides: OverrideRows,
    input: EditInput,
}

impl RowParts {
    fn clear(&mut self) {
        self.count = 0;
        self.overrides.clear();
    }

    fn push(&mut self, key: &Arc<str>, value: &str) {
        match self.tags.get_mut(self.count) {
            Some(tag) => {
                tag.key.clone_from(key);
                tag.value.clear();
                tag.value.push_str(value);
            }
            None => self.tags.push(Tag { key: Arc::clone(key), value: value.to_owned() }),
        }
        self.count += 1;
    }

    fn push_row(&mut self, names: &KeyNames, row: &Row<'_>) -> rusqlite::Result<()> {
        if let Some(key) = names.by_id.get(&row.get(1)?) {
            match row.get_ref(2)?.as_str() {
                Ok(value) => self.push(key, value),
                Err(_) => self.push(key, &text(row, 2)?),
            }
        }
        Ok(())
    }

    /// Puts wanted overrides in the place of what the source has, and sorts.
    fn settle(&mut self, names: &KeyNames) {
        if !self.overrides.is_empty() {
            let overrides = mem::take(&mut self.overrides);
            let mut kept = mem::take(&mut self.tags);
            kept.truncate(self.count);
            kept.retain(|tag| overrides.get(&tag.key).is_none());
            self.count = kept.len();
            self.tags = kept;
            for (key, values) in overrides.changes().filter(|(key, _)| names.wants(key)) {
                let key: Arc<str> = key.into();
                values.iter().for_each(|value| self.push(&key, value));
            }
            self.overrides = overrides;
        }
        // Stable, so that values stay in their order.
        self.tags[..self.count].sort_by(|a, b| a.key.cmp(&b.key));
    }
}

/// One pass over tracks.
struct Pass<'r, 'c> {
    reader: &'r Reader<'c>,
    names: KeyNames,
    roots: HashMap<RootId, Vec<u8>>,
    row: RowParts,
}

impl Pass<'_, '_> {
    /// Reads everything in track order; shows what changed after a number.
    fn merge(&mut self, since: Sequence, visit: &mut dyn FnMut(&TrackRow<'_>) -> Result<()>) -> Result<()> {
        let connection = self.reader.connection;
        let mut tracks = connection.prepare_cached(&format!("{TRACKS} ORDER BY tracks.id"))?;
        let mut tags = connection.prepare_cached(&format!(
            "SELECT track, key, value FROM tags WHERE {} ORDER BY track, key, position",
            self.names.condition()
        ))?;
        let mut edits = edits_in_order(self.reader)?;
        let mut tracks = tracks.query([])?;
        let mut tags = Cursor::new(tags.query([])?)?;
        let mut edits = Cursor::new(edits.query([])?)?;
        while let Some(row) = tracks.next()? {
            let (track, sequence): (i64, Sequence) = (row.get(0)?, row.get(2)?);
            self.row.clear();
            tags.take(track, |tag| if sequence > since { self.row.push_row(&self.names, tag) } else { Ok(()) })?;
            edits.take(track, |edit| put_override(&mut self.row.overrides, edit))?;
            if sequence > since {
                self.show(row, visit)?;
            }
        }
        Ok(())
    }

    /// Looks up each of some tracks.
    fn one_by_one(&mut self, tracks: &[i64], visit: &mut dyn FnMut(&TrackRow<'_>) -> Result<()>) -> Result<()> {
        let connection = self.reader.connection;
        let mut one = connection.prepare_cached(&format!("{TRACKS} WHERE tracks.id = ?"))?;
        let mut tags = connection.prepare_cached(&format!(
            "SELECT track, key, value FROM tags WHERE track = ? AND {} ORDER BY key, position",
            self.names.condition()
        ))?;
        let mut edits = connection
            .prepare_cached("SELECT track, key, position, value FROM edits WHERE track = ? ORDER BY key, position")?;
        for &track in tracks {
            let mut found = one.query([track])?;
            let Some(row) = found.next()? else { continue };
            self.row.clear();
            let mut rows = tags.query([track])?;
            while let Some(tag) = rows.next()? {
                self.row.push_row(&self.names, tag)?;
            }
            let mut rows = edits.query([track])?;
            while let Some(edit) = rows.next()? {
                put_override(&mut self.row.overrides, edit)?;
            }
            self.show(row, visit)?;
        }
        Ok(())
    }

    fn show(&mut self, row: &Row<'_>, visit: &mut dyn FnMut(&TrackRow<'_>) -> Result<()>) -> Result<()> {
        self.row.settle(&self.names);
        let id = row.get(0)?;
        let edited = !self.row.overrides.is_empty();
        if edited {
            let input = &mut self.row.input;
            input.source_tags.clear();
            input.changes.clear();
            input.changes.extend(self.row.overrides.changes().map(|(key, values)| (key.to_owned(), values)));
            self.reader.source_part(id, input)?;
        }
        let root = row.get(5)?;
        visit(&TrackRow {
            id,
            revision: row.get::<_, i64>(1)?.unsigned_abs(),
            sequence: row.get(2)?,
            changed_at_ms: row.get(3)?,
            added_at_ms: row.get(4)?,
            root,
            root_path: self.roots.get(&root).map_or(&[], Vec::as_slice),
            dir: row.get_ref(6)?.as_blob().map_err(rusqlite::Error::from)?,
            name: row.get_ref(7)?.as_blob().map_err(rusqlite::Error::from)?,
            stamp: stamp(row, 8)?,
            state: row.get(11)?,
            format: borrowed(row, 12)?,
            codec: borrowed(row, 13)?,
            duration_ms: row.get(14)?,
            sample_rate_hz: row.get(15)?,
            channels: row.get(16)?,
            bits: row.get(17)?,
            bitrate_bps: row.get(18)?,
            tags: &self.row.tags[..self.row.count],
            edit: edited.then_some(&self.row.input),
        })
    }
}

/// All rows of `edits`: track, key, position, value.
fn edits_in_order<'r>(reader: &'r Reader<'_>) -> Result<CachedStatement<'r>> {
    Ok(reader
        .connection
        .prepare_cached("SELECT track, key, position, value FROM edits ORDER BY track, key, position")?)
}

fn put_override(overrides: &mut OverrideRows, edit: &Row<'_>) -> rusqlite::Result<()> {
    overrides.put(&text(edit, 1)?, edit.get(2)?, text_or_null(edit, 3)?);
    Ok(())
}

/// Rows whose first column is a track, in track order.
struct Cursor<'s> {
    rows: Rows<'s>,
    /// The track of the row at hand; `None` at the end.
    track: Option<i64>,
}

impl<'s> Cursor<'s> {
    fn new(rows: Rows<'s>) -> Result<Self> {
        let mut cursor = Self { rows, track: None };
        cursor.advance()?;
        Ok(cursor)
    }

    fn advance(&mut self) -> Result<()> {
        self.track = match self.rows.next()? {
            Some(row) => Some(row.get(0)?),
            None => None,
        };
        Ok(())
    }

    /// Skips rows of tracks before `track` and gives those of `track`.
    fn take(&mut self, track: i64, mut give: impl FnMut(&Row<'_>) -> rusqlite::Result<()>) -> Result<()> {
        while let Some(at) = self.track.filter(|&at| at <= track) {
            if at == track
                && let Some(row) = self.rows.get()
            {
                give(row)?;
            }
            self.advance()?;
        }
        Ok(())
    }
}
