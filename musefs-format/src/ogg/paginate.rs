//! How packets are laid on pages.
//!
//! Page breaks of the source between two packets stay, so that header packets keep pages of their own; what
//! lies between two such breaks is laid out anew if a packet there changed, on as many pages as before if that
//! can be. The number of all pages stays whenever it can: then no page behind them has to change.

use super::new_page::PageChecksum;
use super::page::{BEGINS, CHECKSUM_AT, CONTINUED, ENDS, Header, NO_GRANULE, SEGMENTS_MAX};
use super::renumber::Renumbered;
use super::splice::NewPacket;
use super::structure::{OggStructure, Page, segments_of};
use crate::SpliceBuilder;
use crate::vorbis::Piece;

/// Packets between two page breaks that stay.
struct Group {
    /// Lacing values of all, of those in front of the first packet, and of those behind the last.
    segments: usize,
    before: usize,
    after: usize,
    /// Lacing values on each page of the source.
    old: Vec<usize>,
    /// Whether the packets have their old lengths.
    same: bool,
    pages: usize,
}

impl Group {
    fn least(&self) -> usize {
        self.segments.div_ceil(SEGMENTS_MAX)
    }

    fn most(&self) -> usize {
        let between = self.segments - self.before - self.after;
        between + usize::from(self.before > 0) + usize::from(self.after > 0)
    }

    /// Lacing values on each page: about equal, with `before` on the first page and `after` on the last.
    fn counts(&self) -> Vec<usize> {
        if self.same && self.pages == self.old.len() {
            return self.old.clone();
        }
        let mut counts = Vec::new();
        let mut rest = self.segments;
        for later in (1..self.pages).rev() {
            let first = if counts.is_empty() { self.before } else { 0 };
            let least = first.max(1).max(rest.saturating_sub(later * SEGMENTS_MAX));
            let most = SEGMENTS_MAX.min(rest - (later - 1) - self.after.max(1));
            let count = rest.div_ceil(later + 1).min(most).max(least);
            counts.push(count);
            rest -= count;
        }
        counts.push(rest);
        counts
    }
}

/// Lacing values on each page for packets of these lengths.
pub(super) fn plan(structure: &OggStructure, lens: &[u64]) -> Vec<usize> {
    let mut groups = groups(structure, lens);
    let mut pages: usize = groups.iter().map(|group| group.pages).sum();
    for group in &mut groups {
        let others = pages - group.pages;
        group.pages = structure.pages.len().saturating_sub(others).clamp(group.least(), group.most());
        pages = others + group.pages;
    }
    groups.iter().flat_map(Group::counts).collect()
}

fn groups(structure: &OggStructure, lens: &[u64]) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut pages = structure.pages.iter().map(|page| usize::from(page.segments));
    let (mut start, mut old, mut on_pages, mut old_segments) = (0, Vec::new(), 0, structure.before.len());
    for (at, len) in structure.packets.iter().enumerate() {
        old_segments += segments_of(u64::from(*len)) as usize;
        let is_last = at + 1 == structure.packets.len();
        while on_pages < old_segments {
            let Some(count) = pages.next() else { break };
            old.push(count);
            on_pages += count;
        }
        if on_pages == old_segments || is_last {
            let before = if start == 0 { structure.before.len() } else { 0 };
            let after = if is_last { structure.after.len() } else { 0 };
            let packets = lens[start..=at].iter().map(|len| segments_of(*len) as usize).sum::<usize>();
            let same =
                lens[start..=at].iter().zip(&structure.packets[start..=at]).all(|(new, old)| *new == u64::from(*old));
            let segments = before + packets + after;
            let mut group = Group { segments, before, after, old: std::mem::take(&mut old), same, pages: 0 };
            group.pages = group.old.len().clamp(group.least(), group.most());
            groups.push(group);
            start = at + 1;
        }
    }
    groups
}

/// The pages to serve in place of the source's.
pub(super) struct Pages<'a> {
    pub(super) structure: &'a OggStructure,
    pub(super) packets: &'a [NewPacket],
    /// Lacing values on each page.
    pub(super) plan: Vec<usize>,
}

impl Pages<'_> {
    /// Appends them and everything behind them up to the end of the last page.
    pub(super) fn append_to(&self, builder: &mut SpliceBuilder) {
        let (old, new) = (self.structure.pages.len(), self.plan.len());
        let lacing = self.lacing();
        let mut content = Content::new(self.structure, self.packets);
        let mut at = 0;
        let mut continued = self.structure.pages[0].flags & CONTINUED;
        for (index, count) in self.plan.iter().enumerate() {
            let values = &lacing[at..at + count];
            at += count;
            let is_last = index + 1 == new;
            let gaps = if is_last { index..old.max(index) } else { index..(index + 1).min(old) };
            gaps.for_each(|gap| self.append_gap(builder, gap));
            let flags = continued | self.outer_flags(index == 0, is_last);
            let sequence = match self.structure.pages.get(index) {
                Some(page) if old == new => page.sequence,
                _ => self.structure.pages[0].sequence.wrapping_add(index as u32),
            };
            let granule = match self.structure.granule {
                _ if !values.iter().any(|len| *len < 255) => NO_GRANULE,
                granule if is_last && granule != NO_GRANULE => granule,
                _ => 0,
            };
            let serial = self.structure.serial;
            content.append_page(builder, Header { flags, granule, serial, sequence, checksum: 0, lacing: values });
            continued = if values.last() == Some(&255) { CONTINUED } else { 0 };
        }
        self.append_rest(builder);
    }

    /// Appends everything behind the pages, up to the end of the last page.
    fn append_rest(&self, builder: &mut SpliceBuilder) {
        let (start, serial) = (self.structure.pages_end(), self.structure.serial);
        let (stream_end, end) = (self.structure.stream_end, self.structure.end);
        match (self.plan.len() as u32).wrapping_sub(self.structure.pages.len() as u32) {
            0 => builder.source(start, stream_end - start),
            delta => {
                builder.ogg_pages(Renumbered { at: start, start, end: stream_end, serial, delta }, stream_end - start);
            }
        }
        builder.source(stream_end, end - stream_end);
    }

    fn lacing(&self) -> Vec<u8> {
        let mut lacing = self.structure.before.clone();
        for packet in self.packets {
            lacing.resize(lacing.len() + (packet.len / 255) as usize, 255);
            lacing.push((packet.len % 255) as u8);
        }
        lacing.extend(&self.structure.after);
        lacing
    }

    /// Flags that a first and a last page of the source hand on.
    fn outer_flags(&self, is_first: bool, is_last: bool) -> u8 {
        let of = |page: Option<&Page>, flag: u8| page.map_or(0, |page| page.flags & flag);
        let first = if is_first { of(self.structure.pages.first(), BEGINS) } else { 0 };
        let last = if is_last { of(self.structure.pages.last(), ENDS) } else { 0 };
        first | last
    }

    /// Appends what stands in the source in front of a page, behind the one before it: pages of other streams.
    fn append_gap(&self, builder: &mut SpliceBuilder, index: usize) {
        if let (Some(before), Some(page)) = (index.checked_sub(1), self.structure.pages.get(index)) {
            let begin = self.structure.pages[before].end();
            builder.source(begin, page.offset - begin);
        }
    }
}

/// The bytes of the packets, handed out page by page.
struct Content<'a> {
    pages: &'a [Page],
    /// For each page the number of bytes that the pages before it hold.
    starts: Vec<u64>,
    pieces: std::vec::IntoIter<Piece>,
    rest: Option<Piece>,
}

impl<'a> Content<'a> {
    fn new(structure: &'a OggStructure, packets: &[NewPacket]) -> Self {
        let mut held = 0;
        let starts = structure.pages.iter().map(|page| {
            held += u64::from(page.body);
            held - u64::from(page.body)
        });
        let starts: Vec<_> = starts.collect();
        let bytes = |values: &[u8]| values.iter().map(|len| u32::from(*len)).sum::<u32>();
        let mut pieces = vec![Piece::Kept(0, bytes(&structure.before))];
        let after = bytes(&structure.after);
        let after = Piece::Kept(held as u32 - after, after);
        for piece in packets.iter().flat_map(|packet| &packet.pieces).chain([&after]) {
            match (pieces.last_mut(), piece) {
                (_, piece) if piece.bytes() == 0 => {}
                (Some(Piece::Kept(start, before)), Piece::Kept(offset, len)) if *start + *before == *offset => {
                    *before += len
                }
                _ => pieces.push(piece.clone()),
            }
        }
        Self { pages: &structure.pages, starts, pieces: pieces.into_iter(), rest: None }
    }

    /// The page of the source that has all that a page is to have.
    fn same_page(&self, header: &Header<'_>) -> Option<&'a Page> {
        let Some(Piece::Kept(offset, len)) = self.rest.as_ref().or(self.pieces.as_slice().first()) else { return None };
        let page = &self.pages[self.starts.binary_search(&u64::from(*offset)).ok()?];
        let content = (page.body, usize::from(page.segments)) == (header.body_len() as u32, header.lacing.len());
        let place = (page.sequence, page.flags) == (header.sequence, header.flags);
        (content && place && page.body <= *len).then_some(page)
    }

    fn append_page(&mut self, builder: &mut SpliceBuilder, header: Header<'_>) {
        if let Some(page) = self.same_page(&header) {
            builder.source(page.offset, page.body_offset() - page.offset);
        } else {
            let bytes = header.bytes();
            let len = (header.len() + header.body_len()) as u32;
            let checksum = PageChecksum { page: builder.len(), len, skipped: 0 };
            builder.made(&bytes[..CHECKSUM_AT]);
            builder.ogg_checksum(checksum);
            builder.made(&bytes[CHECKSUM_AT + 4..]);
        }
        let mut wanted = header.body_len();
        while wanted > 0
            && let Some(piece) = self.rest.take().or_else(|| self.pieces.next())
        {
            wanted -= self.append_piece(builder, piece, wanted);
        }
    }

    /// Appends at most `wanted` bytes of a piece and keeps the rest of it; gives how many.
    fn append_piece(&mut self, builder: &mut SpliceBuilder, piece: Piece, wanted: usize) -> usize {
        let count = wanted.min(piece.bytes() as usize);
        match piece {
            Piece::Made(mut bytes) => {
                let behind = bytes.split_off(count);
                builder.made(&bytes);
                self.rest = (!behind.is_empty()).then_some(Piece::Made(behind));
            }
            Piece::Kept(offset, len) => {
                self.append_kept(builder, u64::from(offset), count as u64);
                let behind = len - count as u32;
                self.rest = (behind > 0).then_some(Piece::Kept(offset + count as u32, behind));
            }
        }
        count
    }

    /// Appends a range of what the source's pages hold, wherever page headers cut it there.
    fn append_kept(&self, builder: &mut SpliceBuilder, mut offset: u64, mut len: u64) {
        let first = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        for (page, start) in self.pages.iter().zip(&self.starts).skip(first) {
            if len == 0 {
                break;
            }
            let skipped = offset - start;
            let count = len.min(u64::from(page.body) - skipped);
            builder.source(page.body_offset() + skipped, count);
            offset += count;
            len -= count;
        }
    }
}
