//! From catalogue rows to files of the tree: path, exact size, times.

use musefs_db::{EditInput, TrackRow};
use musefs_format::{Container, Edits, Format, Refusal, Splice, Structure, container};

use super::{devices::Devices, fields::RowFields};
use crate::{
    template::{RenderOptions, Rendered, Template, UniqueIndex},
    tree::TreeFile,
    vfs::{Generation, Time},
};

/// Which edits reach the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Edited tracks are spliced.
    #[default]
    Overlay,
    /// Every byte is the source's; edits only move tracks in the tree.
    StructureOnly,
}

/// How rows become files of the tree.
#[derive(Debug)]
pub struct View {
    /// Where tracks go.
    pub template: Template,
    /// What stands in for missing values.
    pub options: RenderOptions,
    /// Which edits reach the bytes.
    pub mode: Mode,
}

/// A row as a file of the tree, kept until the tree takes it.
#[derive(Debug)]
pub(super) struct RenderedFile {
    track: i64,
    revision: u64,
    path: String,
    extension: String,
    size: u64,
    mtime: Time,
    root: u16,
    changed_ms: i64,
}

impl RenderedFile {
    pub(super) fn track(&self) -> i64 {
        self.track
    }

    pub(super) fn generation(&self) -> Generation {
        Generation::of(self.revision)
    }

    pub(super) fn borrow(&self) -> TreeFile<'_> {
        TreeFile {
            track: self.track,
            revision: self.revision,
            path: &self.path,
            extension: &self.extension,
            size: self.size,
            mtime: self.mtime,
            root: self.root,
            changed_ms: self.changed_ms,
        }
    }
}

impl View {
    /// The file that `row` is in this view; `None` when it is left out.
    pub(super) fn file(
        &self,
        row: &TrackRow<'_>,
        unique: Option<&UniqueIndex>,
        devices: &Devices,
    ) -> Option<RenderedFile> {
        let fields = RowFields::new(row);
        let mut path = String::new();
        let rendered = match unique {
            Some(index) => self.template.render_unique(&fields, &self.options, index, &mut path),
            None => self.template.render(&fields, &self.options, &mut path),
        };
        if let Rendered::Skipped { missing } = rendered {
            tracing::debug!(track = row.id.0, missing, "left out of the tree");
            return None;
        }
        let spliced = row.edit.and_then(|input| self.splice(row.format, input));
        let raise = spliced.as_ref().map_or(0, |(container, _)| splice_raise(*container));
        Some(RenderedFile {
            track: row.id.0,
            revision: row.revision + raise,
            path,
            extension: fields.extension().into_owned(),
            size: spliced.map_or(row.stamp.size, |(_, splice)| splice.len()),
            mtime: served_mtime(row),
            root: devices.number(row.root, row.root_path),
            changed_ms: row.changed_at_ms.unwrap_or(i64::MIN).max(row.added_at_ms),
        })
    }

    /// How an edited track is put together; `None` when it is served whole, by its nature or the mode's.
    pub(super) fn splice(&self, format: &str, input: &EditInput) -> Option<(&'static dyn Container, Splice)> {
        if self.mode == Mode::StructureOnly {
            return None;
        }
        splice(format, input).and_then(Result::ok)
    }
}

/// How an edited track is put together, or why it cannot be; `None` when edits reach no file of its kind.
pub fn splice(format: &str, input: &EditInput) -> Option<Result<(&'static dyn Container, Splice), Refusal>> {
    let container = Format::from_name(format).and_then(container)?;
    if input.structure.is_empty() || input.changes.is_empty() {
        return None;
    }
    let edits = Edits::over(input.source_tags.clone().into(), input.changes.iter().cloned());
    let splice = container.splice(&Structure(input.structure.clone()), &edits);
    Some(splice.map(|splice| (container, splice)))
}

/// What a container's splice version adds to the revision, and in seconds to the time, of its edited tracks.
pub(super) fn splice_raise(container: &dyn Container) -> u64 {
    u64::from(container.splice_version().saturating_sub(1))
}

/// The source's time or that of the last change, whichever is later. What the splice version adds, it adds to each
/// track that was ever changed: an edit that is undone must not give a file its earlier time back.
fn served_mtime(row: &TrackRow<'_>) -> Time {
    let changed_ns = row.changed_at_ms.map_or(i64::MIN, |ms| ms.saturating_mul(1_000_000));
    let mut mtime = Time::from_ns(row.stamp.mtime_ns.max(changed_ns));
    if row.changed_at_ms.is_some() {
        let raise = Format::from_name(row.format).and_then(container).map_or(0, splice_raise);
        mtime.secs = mtime.secs.saturating_add_unsigned(raise);
    }
    mtime
}
