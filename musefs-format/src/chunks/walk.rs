//! From chunk to chunk.

use std::io;

use super::dialect::{Class, Dialect, Name, OPEN};
use super::lookup::Sizes;
use crate::ReadAt;
use crate::limits::CHUNKS_MAX;

/// A chunk that was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) name: Name,
    /// Of its header.
    pub(crate) offset: u64,
    /// Bytes of its content that are there.
    pub(crate) len: u64,
    /// Bytes between its content and the next chunk.
    pub(super) padding: u8,
    /// Whether its length was told otherwise.
    pub(super) mended: bool,
}

/// The chunks from `from` on, without gaps, up to something that is none.
pub(super) struct Walk {
    pub(super) spots: Vec<Spot>,
    /// Of the first byte behind them.
    pub(super) end: u64,
    /// Whether there are more than are met.
    pub(super) is_cut: bool,
}

/// Steps from chunk to chunk. A length that is beyond the end is that of the audio while it is written, or of a file that was
/// cut: audio and tags then end with the file, and anything else is no chunk.
pub(super) fn walk(source: &dyn ReadAt, dialect: Dialect, from: u64) -> io::Result<Walk> {
    let mut walk = Walk { spots: Vec::new(), end: from, is_cut: false };
    let mut sizes = Sizes::default();
    let mut had_audio = false;
    while let Some(spot) = spot(source, dialect, walk.end, &sizes, had_audio)? {
        if walk.spots.len() == CHUNKS_MAX {
            walk.is_cut = true;
            break;
        }
        match dialect.class(spot.name) {
            Class::Sizes => sizes = Sizes::read(source, spot.offset + dialect.header_bytes(), spot.len)?,
            Class::Audio => had_audio = true,
            _ => {}
        }
        walk.end = spot.offset + dialect.header_bytes() + spot.len + u64::from(spot.padding);
        walk.spots.push(spot);
    }
    Ok(walk)
}

fn spot(
    source: &dyn ReadAt,
    dialect: Dialect,
    offset: u64,
    sizes: &Sizes,
    had_audio: bool,
) -> io::Result<Option<Spot>> {
    let Some((name, told)) = header(source, dialect, offset)? else { return Ok(None) };
    let begin = offset + dialect.header_bytes();
    let available = source.len().saturating_sub(begin);
    let is_audio = dialect.class(name) == Class::Audio && !had_audio;
    let told = if told == OPEN && dialect == Dialect::Rf64 { sizes.of(name, is_audio).unwrap_or(told) } else { told };
    let is_unfinished = is_audio && told == 0 && available > 0 && !follows(source, dialect, begin)?;
    if told <= available && !is_unfinished {
        let padding = padding(source, dialect, begin + told, told)?;
        return Ok(Some(Spot { name, offset, len: told, padding, mended: false }));
    }
    let is_tag = matches!(dialect.class(name), Class::Id3 | Class::List | Class::Text);
    Ok((is_audio || is_tag).then_some(Spot { name, offset, len: available, padding: 0, mended: true }))
}

fn header(source: &dyn ReadAt, dialect: Dialect, offset: u64) -> io::Result<Option<(Name, u64)>> {
    let len = dialect.header_bytes();
    Ok(dialect.header(&source.bytes(offset, len, len as usize)?))
}

/// Whether a chunk stands at `offset`, or the end of the file.
fn follows(source: &dyn ReadAt, dialect: Dialect, offset: u64) -> io::Result<bool> {
    let available = source.len().saturating_sub(offset);
    let begin = offset.saturating_add(dialect.header_bytes());
    let next = header(source, dialect, offset)?;
    Ok(available == 0 || next.is_some_and(|(_, len)| begin.saturating_add(len) <= source.len()))
}

/// Bytes between a content of `len` that ends at `end` and the next chunk. Some writers leave them out (field report F34).
fn padding(source: &dyn ReadAt, dialect: Dialect, end: u64, len: u64) -> io::Result<u8> {
    let due = dialect.padding(len);
    if due == 0 || !follows(source, dialect, end + due)? && follows(source, dialect, end)? {
        return Ok(0);
    }
    Ok(due.min(source.len() - end) as u8)
}
