//! Boxes: a size, a kind, and what follows (ISO/IEC 14496-12, section 4.2).

use std::cell::Cell;
use std::io;

use crate::limits::MP4_BOXES_MAX;
use crate::{ByteRange, ReadAt};

/// Four letters, of Latin-1 where they are any.
pub(super) type Kind = [u8; 4];

/// Bytes of size and kind.
pub(super) const HEADER_BYTES: u64 = 8;
/// Bytes of a header with a 64-bit size.
pub(super) const WIDE_HEADER_BYTES: u64 = 16;

/// A box of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Boxed {
    pub(super) kind: Kind,
    /// Of its header.
    pub(super) offset: u64,
    /// Bytes of its header: 8 or 16.
    pub(super) head: u64,
    /// Of the first byte behind it. May lie behind its parent's end if the file lies or is cut.
    pub(super) end: u64,
}

impl Boxed {
    /// What follows its header.
    pub(super) fn content(&self) -> ByteRange {
        ByteRange::between(self.offset + self.head, self.end)
    }
}

/// Boxes one behind the other.
#[derive(Debug, Default)]
pub(super) struct Children {
    pub(super) boxes: Vec<Boxed>,
    /// Where the last of them ends; what follows is no box.
    pub(super) end: u64,
}

/// Reads headers, as many as one file may have.
pub(super) struct Walker<'a> {
    pub(super) source: &'a dyn ReadAt,
    left: Cell<usize>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(source: &'a dyn ReadAt) -> Self {
        Self { source, left: Cell::new(MP4_BOXES_MAX) }
    }

    /// Whether the file has more boxes than are read.
    pub(super) fn is_exhausted(&self) -> bool {
        self.left.get() == 0
    }

    /// The boxes in `range`, up to what is no box that lies in it.
    pub(super) fn children(&self, range: ByteRange) -> io::Result<Children> {
        let mut children = Children { boxes: Vec::new(), end: range.offset };
        while let Some(child) = self.header(children.end, range.end())?.filter(|child| child.end <= range.end()) {
            children.end = child.end;
            children.boxes.push(child);
        }
        Ok(children)
    }

    /// The boxes that make up the file: the last may reach to its end without saying where that is, or be cut.
    pub(super) fn top(&self) -> io::Result<Children> {
        let whole = ByteRange { offset: 0, len: self.source.len() };
        let mut children = self.children(whole)?;
        let next = self.source.bytes(children.end, HEADER_BYTES, HEADER_BYTES as usize)?;
        let last = match next.first_chunk::<8>() {
            Some(&[0, 0, 0, 0, kind @ ..]) => {
                Some(Boxed { kind, offset: children.end, head: HEADER_BYTES, end: whole.len })
            }
            Some(_) => self.header(children.end, whole.len)?,
            None => None,
        };
        if let Some(last) = last {
            children.end = last.end.min(whole.len);
            children.boxes.push(last);
        }
        Ok(children)
    }

    /// The header at `at`; `None` if there is none before `end`, or its size cannot be true.
    fn header(&self, at: u64, end: u64) -> io::Result<Option<Boxed>> {
        let bytes = self.source.bytes(at, end.saturating_sub(at), WIDE_HEADER_BYTES as usize)?;
        let (Some(size), Some(&kind)) = (be(&bytes, 0, 4), bytes.get(4..).and_then(|kind| kind.first_chunk::<4>()))
        else {
            return Ok(None);
        };
        let (head, size) = match size {
            1 => (WIDE_HEADER_BYTES, be(&bytes, 8, 8).unwrap_or(0)),
            _ => (HEADER_BYTES, size),
        };
        let Some(end) = at.checked_add(size).filter(|_| size >= head && self.left.get() > 0) else { return Ok(None) };
        self.left.set(self.left.get() - 1);
        Ok(Some(Boxed { kind, offset: at, head, end }))
    }
}

/// The big-endian number of `width` bytes, at most 8, at `at`.
pub(super) fn be(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(width)?)?;
    Some(bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

/// A new box.
pub(super) fn boxed(kind: Kind, content: &[u8]) -> Vec<u8> {
    let mut bytes = header(kind, content.len() as u64);
    bytes.extend_from_slice(content);
    bytes
}

/// The header of a new box with `len` bytes of content.
pub(super) fn header(kind: Kind, len: u64) -> Vec<u8> {
    match u32::try_from(HEADER_BYTES.saturating_add(len)) {
        Ok(size) => [size.to_be_bytes(), kind].concat(),
        Err(_) => [&[0, 0, 0, 1][..], &kind, &(WIDE_HEADER_BYTES.saturating_add(len)).to_be_bytes()].concat(),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
    use super::*;

    type Seen = (Vec<(&'static [u8; 4], u64, u64, u64)>, u64);

    fn seen(children: &Children) -> (Vec<(Kind, u64, u64, u64)>, u64) {
        (children.boxes.iter().map(|one| (one.kind, one.offset, one.head, one.end)).collect(), children.end)
    }

    #[test]
    fn sizes_are_told() {
        let wide = b"\0\0\0\x01wide\0\0\0\0\0\0\0\x12AB";
        let table: [(&[u8], Seen); 7] = [
            (b"\0\0\0\x09freeA", (vec![(b"free", 0, 8, 9)], 9)),
            (wide, (vec![(b"wide", 0, 16, 18)], 18)),
            (b"\0\0\0\x08free\0\0\0\0mdatABC", (vec![(b"free", 0, 8, 8), (b"mdat", 8, 8, 19)], 19)),
            (b"\0\0\0\x20mdatABC", (vec![(b"mdat", 0, 8, 32)], 11)),
            (b"\0\0\0\x07mdatABC", (vec![], 0)),
            (b"\0\0\0\x01mdat\0\0\0\0\0\0\0\x0f", (vec![], 0)),
            (b"\0\0\0", (vec![], 0)),
        ];
        for (bytes, (boxes, end)) in table {
            let bytes = bytes.to_vec();
            let boxes = boxes.into_iter().map(|(kind, offset, head, end)| (*kind, offset, head, end)).collect();
            assert_eq!(seen(&Walker::new(&bytes).top().unwrap()), (boxes, end), "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn a_child_stays_in_its_parent() {
        let bytes = b"\0\0\0\x09freeA\0\0\0\x09freeB\0\0\0\0".to_vec();
        let whole = ByteRange { offset: 0, len: bytes.len() as u64 };
        assert_eq!(Walker::new(&bytes).children(whole).unwrap().end, 18);
        assert_eq!(Walker::new(&bytes).children(ByteRange { len: 17, ..whole }).unwrap().end, 9);
    }

    #[test]
    fn boxes_are_counted() {
        for (count, is_exhausted) in [(MP4_BOXES_MAX - 1, false), (MP4_BOXES_MAX, true), (MP4_BOXES_MAX + 1, true)] {
            let bytes = b"\0\0\0\x08free".repeat(count);
            let walker = Walker::new(&bytes);
            assert_eq!(walker.top().unwrap().boxes.len(), count.min(MP4_BOXES_MAX));
            assert_eq!(walker.is_exhausted(), is_exhausted);
        }
    }

    #[test]
    fn a_large_box_has_a_wide_size() {
        assert_eq!(boxed(*b"free", b"A"), b"\0\0\0\x09freeA");
        assert_eq!(header(*b"free", u64::from(u32::MAX) - 8), b"\xff\xff\xff\xfffree");
        assert_eq!(header(*b"free", u64::from(u32::MAX) - 7), b"\0\0\0\x01free\0\0\0\x01\0\0\0\x08");
    }
}
