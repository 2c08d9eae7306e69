//! How a served file is put together: ordered segments, each of made bytes or of a range of something.

use crate::offsets::Offsets;
use crate::ogg::{PageChecksum, Renumbered};

/// Where the bytes of a segment come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Of the splice's own made bytes, from this offset.
    Made(usize),
    /// Of the source, from this offset.
    Source(u64),
    /// Of the source, with the offsets into the file mended that stand there.
    Offsets(Offsets),
    /// Of the source, with the pages of an Ogg stream numbered anew.
    OggPages(Renumbered),
    /// The checksum of a made page of Ogg, which depends on what the page has of the source.
    OggChecksum(PageChecksum),
}

/// A run of the served file with one origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Offset of its first byte in the served file.
    pub start: u64,
    /// In bytes, never 0.
    pub len: u64,
    /// Where the bytes are.
    pub origin: Origin,
}

impl Segment {
    /// Offset of the first byte behind it in the served file.
    pub fn end(&self) -> u64 {
        self.start + self.len
    }
}

/// The segments of a served file, without gaps, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Splice {
    made: Box<[u8]>,
    segments: Box<[Segment]>,
}

impl Splice {
    /// The whole source, untouched.
    pub fn whole(len: u64) -> Self {
        let mut builder = SpliceBuilder::default();
        builder.source(0, len);
        builder.finish()
    }

    /// Length of the served file in bytes.
    pub fn len(&self) -> u64 {
        self.segments.last().map_or(0, Segment::end)
    }

    /// Whether the served file has no bytes.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// All bytes that [`Origin::Made`] points into.
    pub fn made(&self) -> &[u8] {
        &self.made
    }

    /// All segments in order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The parts of segments that make up `offset .. offset + len` of the served file, clipped to it.
    pub fn range(&self, offset: u64, len: u64) -> impl Iterator<Item = Segment> + '_ {
        let end = offset.saturating_add(len);
        let first = self.segments.partition_point(|segment| segment.end() <= offset);
        self.segments[first..].iter().take_while(move |segment| segment.start < end).map(move |segment| {
            let start = segment.start.max(offset);
            let skipped = start - segment.start;
            let origin = match segment.origin {
                Origin::Made(at) => Origin::Made(at + skipped as usize),
                Origin::Source(at) => Origin::Source(at + skipped),
                Origin::Offsets(offsets) => Origin::Offsets(offsets.skip(skipped)),
                Origin::OggPages(pages) => Origin::OggPages(pages.skip(skipped)),
                Origin::OggChecksum(checksum) => Origin::OggChecksum(checksum.skip(skipped)),
            };
            Segment { start, len: segment.end().min(end) - start, origin }
        })
    }

    /// Heap bytes that it occupies.
    pub fn heap_bytes(&self) -> usize {
        self.made.len() + std::mem::size_of_val(&*self.segments)
    }
}

/// Appends segments; neighbours of one origin that touch become one.
#[derive(Debug, Default)]
pub struct SpliceBuilder {
    made: Vec<u8>,
    segments: Vec<Segment>,
}

impl SpliceBuilder {
    /// Appends made bytes.
    pub fn made(&mut self, bytes: &[u8]) {
        let at = self.made.len();
        self.made.extend_from_slice(bytes);
        self.push(bytes.len() as u64, Origin::Made(at));
    }

    /// Appends a range of the source.
    pub fn source(&mut self, offset: u64, len: u64) {
        self.push(len, Origin::Source(offset));
    }

    /// Appends a range of the source in which offsets into the file stand.
    pub fn offsets(&mut self, offsets: Offsets, len: u64) {
        self.push(len, Origin::Offsets(offsets));
    }

    /// Appends a range of the source in which pages of an Ogg stream get other numbers.
    pub fn ogg_pages(&mut self, pages: Renumbered, len: u64) {
        self.push(len, Origin::OggPages(pages));
    }

    /// Appends the checksum of a page of Ogg.
    pub fn ogg_checksum(&mut self, checksum: PageChecksum) {
        self.push(4, Origin::OggChecksum(checksum));
    }

    /// Length so far, in bytes.
    pub fn len(&self) -> u64 {
        self.segments.last().map_or(0, Segment::end)
    }

    /// Whether nothing was appended yet.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// The splice of what was appended.
    pub fn finish(self) -> Splice {
        Splice { made: self.made.into_boxed_slice(), segments: self.segments.into_boxed_slice() }
    }

    fn push(&mut self, len: u64, origin: Origin) {
        if len == 0 {
            return;
        }
        let start = self.len();
        if let Some(last) = self.segments.last_mut() {
            let joins = match (last.origin, origin) {
                (Origin::Made(a), Origin::Made(b)) => a as u64 + last.len == b as u64,
                (Origin::Source(a), Origin::Source(b)) => a + last.len == b,
                _ => false,
            };
            if joins {
                last.len += len;
                return;
            }
        }
        self.segments.push(Segment { start, len, origin });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Splice {
        let mut builder = SpliceBuilder::default();
        builder.made(b"abc");
        builder.made(b"de");
        builder.source(100, 10);
        builder.source(110, 5);
        builder.made(b"z");
        builder.finish()
    }

    #[test]
    fn neighbours_join_and_lengths_add_up() {
        let splice = sample();
        assert_eq!(splice.segments().len(), 3);
        assert_eq!(splice.len(), 21);
        assert_eq!(Splice::whole(0).len(), 0);
    }

    #[test]
    fn a_range_is_clipped_to_segments() {
        let splice = sample();
        let parts: Vec<_> = splice.range(4, 3).collect();
        assert_eq!(
            parts,
            [
                Segment { start: 4, len: 1, origin: Origin::Made(4) },
                Segment { start: 5, len: 2, origin: Origin::Source(100) },
            ]
        );
        assert_eq!(splice.range(21, 5).count(), 0);
        assert_eq!(splice.range(20, u64::MAX).count(), 1);
    }
}
