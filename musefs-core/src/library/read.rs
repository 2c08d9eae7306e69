//! From a node to its bytes: what the catalogue says of a track in one of its generations.

use std::path::PathBuf;

use musefs_db::{EditInput, Keys, Reader, TrackId, TrackRow, Which};
use musefs_format::{Format, Given, Splice, container};

use super::{Library, render::splice_raise};
use crate::{
    Error,
    metrics::{From, Warning},
    reading::{OpenSource, OpenTrack, Stamp, read_splice, read_whole},
    tree::track_of,
    vfs::{Generation, Node, Vfs as _},
};

/// How one generation of a track is served.
struct Recipe {
    path: PathBuf,
    stamp: Stamp,
    /// `None`: the whole source.
    splice: Option<Splice>,
}

/// What of a row outlives the query.
struct Row {
    id: TrackId,
    revision: u64,
    path: PathBuf,
    stamp: Stamp,
    format: String,
    edit: Option<EditInput>,
}

impl Library {
    /// Reads served bytes; fewer than `buf` holds only at the end of the file.
    pub(super) fn read_node(&self, node: Node, offset: u64, buf: &mut [u8]) -> Result<usize, Error> {
        let given = self.give(node, offset, buf).inspect_err(|error| {
            // A source that failed or changed is opened anew next time: it may be well again.
            self.sources.forget(node);
            self.metrics.warn(Warning::Source, format_args!("{error}"));
        })?;
        self.metrics.read_bytes(From::Memory, given.memory as u64);
        self.metrics.read_bytes(From::Source, given.source as u64);
        Ok(given.memory + given.source)
    }

    fn give(&self, node: Node, offset: u64, buf: &mut [u8]) -> Result<Given, Error> {
        let track = self.sources.get(node, || self.open_track(node))?;
        if track.spliced {
            let splice = self.headers.get(node, || self.recipe(node)?.splice.ok_or(Error::Stale))?;
            read_splice(&splice, &track.source, &self.read_ahead, offset, buf)
        } else {
            read_whole(&track.source, &self.read_ahead, offset, buf)
        }
    }

    fn open_track(&self, node: Node) -> Result<OpenTrack, Error> {
        let recipe = self.recipe(node)?;
        let source = OpenSource::open(recipe.path, recipe.stamp)?;
        let spliced = recipe.splice.is_some();
        if let Some(splice) = recipe.splice {
            self.headers.get(node, || Ok(splice))?;
        }
        Ok(OpenTrack { source, spliced })
    }

    /// What the catalogue says of a generation. Its size must be the one that clients were told.
    fn recipe(&self, node: Node) -> Result<Recipe, Error> {
        let size = self.attributes(node)?.size;
        let track = TrackId(track_of(node.id).ok_or(Error::NotFound)?);
        let recipe = self.catalog.read(|reader| match Row::of(reader, track)? {
            Some(row) => self.recipe_of(reader, row, node.generation),
            None => Ok(None),
        })?;
        let recipe = recipe.ok_or(Error::Stale)?;
        let len = recipe.splice.as_ref().map_or(recipe.stamp.size, Splice::len);
        if len == size { Ok(recipe) } else { Err(Error::Stale) }
    }

    fn recipe_of(
        &self,
        reader: &Reader<'_>,
        row: Row,
        generation: Generation,
    ) -> Result<Option<Recipe>, musefs_db::Error> {
        let splice = row.edit.as_ref().and_then(|input| self.view.splice(&row.format, input));
        let served = row.revision + splice.as_ref().map_or(0, |(container, _)| splice_raise(*container));
        let behind = (served.wrapping_sub(u64::from(generation.0))) % Generation::COUNT;
        let splice = if behind == 0 {
            Some(splice.map(|(_, splice)| splice))
        } else {
            self.splice_then(reader, &row, served.saturating_sub(behind))?
        };
        Ok(splice.map(|splice| Recipe { path: row.path, stamp: row.stamp, splice }))
    }

    /// The splice of an earlier served revision, from the log of edits. `None`: that revision is lost;
    /// `Some(None)`: it was the whole source.
    fn splice_then(
        &self,
        reader: &Reader<'_>,
        row: &Row,
        served: u64,
    ) -> Result<Option<Option<Splice>>, musefs_db::Error> {
        let raise = Format::from_name(&row.format).and_then(container).map_or(0, splice_raise);
        // Served revisions of edited tracks are raised by their container's splice version, others are not.
        for raised in [raise, 0] {
            let Some(revision) = served.checked_sub(raised) else { continue };
            let Some(input) = reader.edit_input_at(row.id, revision)? else { continue };
            let splice = self.view.splice(&row.format, &input);
            if raise == 0 || splice.is_some() == (raised > 0) {
                return Ok(Some(splice.map(|(_, splice)| splice)));
            }
        }
        Ok(None)
    }
}

impl Row {
    fn of(reader: &Reader<'_>, track: TrackId) -> Result<Option<Self>, musefs_db::Error> {
        let mut found = None;
        reader.visit_tracks(Which::One(track), &Keys::Only(&[]), &mut |row| {
            found = Some(row.into());
            Ok(())
        })?;
        Ok(found)
    }
}

impl std::convert::From<&TrackRow<'_>> for Row {
    fn from(row: &TrackRow<'_>) -> Self {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, path::Path};
        Self {
            id: row.id,
            revision: row.revision,
            path: Path::new(OsStr::from_bytes(row.dir)).join(OsStr::from_bytes(row.name)),
            stamp: Stamp { size: row.stamp.size, mtime_ns: row.stamp.mtime_ns },
            format: row.format.to_owned(),
            edit: row.edit.cloned(),
        }
    }
}
