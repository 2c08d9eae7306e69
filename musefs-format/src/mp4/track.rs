//! A track: what plays, and where its chunks are.

use std::io;

use super::boxes::{Boxed, HEADER_BYTES, Kind, Walker, be};
use super::sound::{Sound, sound};
use super::structure::Table;
use super::tags::Reason;
use crate::ByteRange;

/// What is known of a track.
#[derive(Debug, Default)]
pub(super) struct Track {
    pub(super) id: u32,
    /// `soun`, `vide`, `text`…
    pub(super) handler: Kind,
    /// Units a second.
    pub(super) timescale: u32,
    /// In units; `None` if it is not told.
    pub(super) duration: Option<u64>,
    pub(super) sound: Option<Sound>,
}

/// Reads a `trak` box; its tables of chunk offsets are added to `tables`.
pub(super) fn track(walker: &Walker<'_>, trak: Boxed, tables: &mut Vec<Table>) -> io::Result<Result<Track, Reason>> {
    let mut track = Track::default();
    let outcome = descend(walker, trak, tables, &mut track)?;
    Ok(outcome.map(|()| track))
}

/// The boxes between a track and its tables stand in each other in a fixed order, so that this ends.
fn descend(
    walker: &Walker<'_>,
    parent: Boxed,
    tables: &mut Vec<Table>,
    track: &mut Track,
) -> io::Result<Result<(), Reason>> {
    let children = walker.children(parent.content())?;
    for &child in &children.boxes {
        let is_inner = match &child.kind {
            b"mdia" => &parent.kind == b"trak",
            b"minf" => &parent.kind == b"mdia",
            b"stbl" => &parent.kind == b"minf",
            _ => false,
        };
        if is_inner {
            if let Err(reason) = descend(walker, child, tables, track)? {
                return Ok(Err(reason));
            }
            continue;
        }
        match &child.kind {
            b"tkhd" => track.id = by_version(walker, child, [12, 20], [4, 4])?.unwrap_or(0) as u32,
            b"mdhd" => (track.timescale, track.duration) = time(walker, child)?,
            b"hdlr" if &parent.kind == b"mdia" => {
                let bytes = walker.source.bytes(child.content().offset, child.content().len, 12)?;
                track.handler = bytes.get(8..).and_then(|kind| kind.first_chunk()).copied().unwrap_or_default();
            }
            b"stsd" if &track.handler == b"soun" => track.sound = sound(walker, child)?,
            b"stco" | b"co64" | b"saio" => tables.extend(offsets(walker, child)?),
            _ => {}
        }
    }
    let rest = ByteRange::between(children.end, parent.end);
    let head = walker.source.bytes(rest.offset, rest.len, HEADER_BYTES as usize)?;
    let hides = matches!(head.get(4..8), Some(b"mdia" | b"minf" | b"stbl" | b"stco" | b"co64" | b"saio"));
    Ok(if hides { Err("a box of a track runs past the end of the box around it") } else { Ok(()) })
}

/// The time scale and duration of an `mdhd` or `mvhd` box (ISO/IEC 14496-12, sections 8.4.2 and 8.2.2).
pub(super) fn time(walker: &Walker<'_>, boxed: Boxed) -> io::Result<(u32, Option<u64>)> {
    let timescale = by_version(walker, boxed, [12, 20], [4, 4])?.unwrap_or(0);
    let duration = by_version(walker, boxed, [16, 24], [4, 8])?;
    // All ones where it is not known.
    let duration = duration.filter(|duration| *duration != u64::from(u32::MAX) && *duration != u64::MAX);
    Ok((timescale as u32, duration))
}

/// A number whose place and width the version of the box decides.
fn by_version(walker: &Walker<'_>, boxed: Boxed, at: [usize; 2], width: [usize; 2]) -> io::Result<Option<u64>> {
    let bytes = walker.source.bytes(boxed.content().offset, boxed.content().len, 40)?;
    let version = usize::from(bytes.first().is_some_and(|version| *version > 0));
    Ok(be(&bytes, at[version], width[version]))
}

/// The entries of a table of offsets: of chunks (sections 8.7.5), or of what decryption needs (8.7.9).
fn offsets(walker: &Walker<'_>, boxed: Boxed) -> io::Result<Option<Table>> {
    let content = boxed.content();
    let head = walker.source.bytes(content.offset, content.len, 20)?;
    let flags = be(&head, 1, 3).unwrap_or(0);
    let count_at = if &boxed.kind == b"saio" && flags & 1 != 0 { 12 } else { 4 };
    let wide = match &boxed.kind {
        b"saio" => head.first().is_some_and(|version| *version > 0),
        kind => kind == b"co64",
    };
    let Some(count) = be(&head, count_at, 4) else { return Ok(None) };
    let entries = ByteRange::between(content.offset + count_at as u64 + 4, content.end());
    Ok(Some(Table::new(entries, count, if wide { 8 } else { 4 }, 0, wide)))
}

impl Table {
    /// `count` entries at the begin of `range`, as many as have room there.
    pub(super) fn new(range: ByteRange, count: u64, entry_bytes: u8, field: u8, wide: bool) -> Self {
        let most = range.len / u64::from(entry_bytes.max(1));
        let len = count.min(most) * u64::from(entry_bytes);
        Self { offset: range.offset, len, entry_bytes, field, wide }
    }
}
