//! Movie fragments (ISO/IEC 14496-12, section 8.8): how long they play, and which offsets into the file they hold.

use std::io;

use super::boxes::{Boxed, Walker, be};
use super::structure::Table;
use crate::ByteRange;
use crate::limits::{MP4_FRAGMENT_BYTES_MAX, MP4_RUN_BYTES_MAX};

/// What the fragments of one track say.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    /// The track.
    track: u32,
    /// Duration of a sample where no fragment tells another.
    default_duration: u64,
    /// End of the last sample, in units of the track.
    pub(super) end: u64,
    /// Whether some were not read because they are too many.
    pub(super) is_partial: bool,
    read_bytes: u64,
}

/// A track in a fragment, as far as it was read.
#[derive(Default)]
struct TrackFragment {
    track: u32,
    default_duration: Option<u64>,
}

impl Fragments {
    /// Of a track, none read yet.
    pub(super) fn of(track: u32) -> Self {
        Self { track, ..Self::default() }
    }

    /// Reads what `mvex` in `moov` says of the track.
    pub(super) fn defaults(&mut self, walker: &Walker<'_>, mvex: Boxed) -> io::Result<()> {
        for trex in walker.children(mvex.content())?.boxes.iter().filter(|child| &child.kind == b"trex") {
            let bytes = walker.source.bytes(trex.content().offset, trex.content().len, 16)?;
            if be(&bytes, 4, 4) == Some(u64::from(self.track)) {
                self.default_duration = be(&bytes, 12, 4).unwrap_or(0);
            }
        }
        Ok(())
    }

    /// Reads a `moof` box; absolute offsets in it are added to `tables`.
    pub(super) fn fragment(&mut self, walker: &Walker<'_>, moof: Boxed, tables: &mut Vec<Table>) -> io::Result<()> {
        for traf in walker.children(moof.content())?.boxes.iter().filter(|child| &child.kind == b"traf") {
            let mut current = TrackFragment::default();
            for &child in &walker.children(traf.content())?.boxes {
                match &child.kind {
                    b"tfhd" => current = header(walker, child, tables)?,
                    b"tfdt" if current.track == self.track => {
                        let bytes = walker.source.bytes(child.content().offset, child.content().len, 12)?;
                        let width = if bytes.first() == Some(&0) { 4 } else { 8 };
                        self.end = be(&bytes, 4, width).unwrap_or(self.end);
                    }
                    b"trun" if current.track == self.track => self.run(walker, child, &current)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Adds the durations of a run of samples.
    fn run(&mut self, walker: &Walker<'_>, trun: Boxed, current: &TrackFragment) -> io::Result<()> {
        const TOLD_DURATION: u64 = 0x100;
        let content = trun.content();
        let head = walker.source.bytes(content.offset, content.len, 8)?;
        let (Some(flags), Some(count)) = (be(&head, 1, 3), be(&head, 4, 4)) else { return Ok(()) };
        if flags & TOLD_DURATION == 0 {
            let each = current.default_duration.unwrap_or(self.default_duration);
            self.end = self.end.saturating_add(count.saturating_mul(each));
            return Ok(());
        }
        self.read_bytes = self.read_bytes.saturating_add(content.len);
        if content.len > MP4_RUN_BYTES_MAX as u64 || self.read_bytes > MP4_FRAGMENT_BYTES_MAX {
            self.is_partial = true;
            return Ok(());
        }
        let optional = |mask: u64| if flags & mask != 0 { 4 } else { 0 };
        let entry_bytes = [0x100, 0x200, 0x400, 0x800].map(optional).iter().sum();
        let bytes = walker.source.bytes(content.offset, content.len, MP4_RUN_BYTES_MAX)?;
        let entries = bytes.get(8 + optional(0x1) + optional(0x4)..).unwrap_or_default().chunks_exact(entry_bytes);
        let durations = entries.take(usize::try_from(count).unwrap_or(usize::MAX)).filter_map(|entry| be(entry, 0, 4));
        self.end = durations.fold(self.end, u64::saturating_add);
        Ok(())
    }
}

/// Reads a `tfhd` box (section 8.8.7).
fn header(walker: &Walker<'_>, tfhd: Boxed, tables: &mut Vec<Table>) -> io::Result<TrackFragment> {
    const ABSOLUTE: u64 = 0x1;
    const TOLD_DESCRIPTION: u64 = 0x2;
    const TOLD_DURATION: u64 = 0x8;
    let content = tfhd.content();
    let bytes = walker.source.bytes(content.offset, content.len, 32)?;
    let flags = be(&bytes, 1, 3).unwrap_or(0);
    let mut at = 8;
    if flags & ABSOLUTE != 0 {
        tables.push(Table::new(ByteRange::between(content.offset + 8, content.end()), 1, 8, 0, true));
        at += 8;
    }
    if flags & TOLD_DESCRIPTION != 0 {
        at += 4;
    }
    let default_duration = be(&bytes, at, 4).filter(|_| flags & TOLD_DURATION != 0);
    Ok(TrackFragment { track: be(&bytes, 4, 4).unwrap_or(0) as u32, default_duration })
}

/// The places of fragments in an `mfra` box (section 8.8.10): time, offset, and numbers of one to four bytes.
pub(super) fn random_access(walker: &Walker<'_>, mfra: Boxed, tables: &mut Vec<Table>) -> io::Result<()> {
    for tfra in walker.children(mfra.content())?.boxes.iter().filter(|child| &child.kind == b"tfra") {
        let content = tfra.content();
        let head = walker.source.bytes(content.offset, content.len, 16)?;
        let (Some(lengths), Some(count)) = (be(&head, 8, 4), be(&head, 12, 4)) else { continue };
        let wide = head.first().is_some_and(|version| *version > 0);
        let field = if wide { 8 } else { 4 };
        let numbers: u64 = [4, 2, 0].iter().map(|shift| (lengths >> shift & 3) + 1).sum();
        let entries = ByteRange::between(content.offset + 16, content.end());
        tables.push(Table::new(entries, count, 2 * field + numbers as u8, field, wide));
    }
    Ok(())
}
