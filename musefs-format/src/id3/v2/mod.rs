//! ID3v2.2, 2.3 and 2.4 tags: taken apart into frames, and put together again.
//!
//! [`read()`] gives a [`Tag`]: where everything is and which keys each frame carries, which is all that
//! [`rewrite()`] needs; and a [`Found`](crate::found::Found): what the frames say.

mod body;
mod content;
mod dates;
mod kind;
mod payload;
mod read;
mod rewrite;
mod walk;
mod write;

use serde::{Deserialize, Serialize};

pub use read::{Read, read};
pub use rewrite::{Pieces, Room, can_hold, create, rewrite};

use crate::table::Column;

/// A version of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Version {
    /// ID3v2.2: three-letter frames.
    V22,
    /// ID3v2.3.
    V23,
    /// ID3v2.4.
    V24,
}

impl Version {
    /// The column of the tag table that names its frames.
    pub fn column(self) -> Column {
        match self {
            Self::V22 => Column::Id3v22,
            Self::V23 => Column::Id3v23,
            Self::V24 => Column::Id3v24,
        }
    }

    fn of(major: u8) -> Option<Self> {
        match major {
            2 => Some(Self::V22),
            3 => Some(Self::V23),
            4 => Some(Self::V24),
            _ => None,
        }
    }

    fn major(self) -> u8 {
        match self {
            Self::V22 => 2,
            Self::V23 => 3,
            Self::V24 => 4,
        }
    }

    fn name_bytes(self) -> usize {
        if self == Self::V22 { 3 } else { 4 }
    }

    fn frame_header_bytes(self) -> usize {
        match self {
            Self::V22 => 6,
            Self::V23 | Self::V24 => 10,
        }
    }
}

/// Unsynchronisation of the whole tag (ID3v2.4: of all its frames).
const FLAG_UNSYNCHRONISED: u8 = 0x80;
/// An extended header follows; in ID3v2.2: the tag is compressed, by no known method.
const FLAG_EXTENDED: u8 = 0x40;
/// A footer ends the tag (ID3v2.4).
const FLAG_FOOTER: u8 = 0x10;

/// Bytes of a tag's header, and of its footer.
pub const HEADER_BYTES: u64 = 10;

/// The first ten bytes of a tag, or its footer (ID3v2.4 sections 3.1 and 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Major version; 2, 3 and 4 are known.
    pub major: u8,
    /// Revision, which changes nothing.
    pub revision: u8,
    /// As stored.
    pub flags: u8,
    /// Bytes between header and end of the tag or footer.
    pub content_bytes: u64,
}

impl Header {
    /// Decodes a header at the start of `bytes`.
    ///
    /// A size with high bits is the plain integer that careless writers put there.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        Self::parse_marked(bytes, b"ID3")
    }

    /// Decodes a footer.
    pub fn parse_footer(bytes: &[u8]) -> Option<Self> {
        Self::parse_marked(bytes, b"3DI").filter(|footer| footer.major == 4)
    }

    /// Bytes of the whole tag.
    pub fn tag_bytes(&self) -> u64 {
        let footer = if self.has_footer() { HEADER_BYTES } else { 0 };
        HEADER_BYTES + self.content_bytes + footer
    }

    fn has_footer(&self) -> bool {
        self.major == 4 && self.flags & FLAG_FOOTER != 0
    }

    fn parse_marked(bytes: &[u8], mark: &[u8; 3]) -> Option<Self> {
        let &[a, b, c, major, revision, flags, d, e, f, g, ..] = bytes else { return None };
        if [a, b, c] != *mark || !(2..=4).contains(&major) || revision == 0xff || flags & 0x0f != 0 {
            return None;
        }
        let size = u32::from_be_bytes([d, e, f, g]);
        let content = syncsafe(size).unwrap_or(size);
        Some(Self { major, revision, flags, content_bytes: u64::from(content) })
    }
}

/// A tag of a source, as much as a rewrite needs. Its parts lie one behind the other:
/// header, extended header, frames, padding, rest, footer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// Of the header in the source.
    pub offset: u64,
    /// Bytes of the whole tag.
    pub len: u64,
    /// Its version.
    pub version: Version,
    /// As stored.
    pub revision: u8,
    /// Header flags, as stored.
    pub flags: u8,
    /// How frame sizes are to be written.
    pub sizes: FrameSizes,
    /// Bytes of the extended header.
    pub extended: u64,
    /// In order, without gaps.
    pub frames: Vec<Frame>,
    /// Bytes behind the frames that nobody misses.
    pub padding: u64,
    /// Bytes behind the padding that are neither frames nor zeros.
    pub rest: u64,
    /// Whether any frame had a value that could be read: players then look at no other tag.
    pub speaks: bool,
}

impl Tag {
    /// Of the first byte behind it in the source.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }

    /// Whether the parts add up: nothing else is to be believed of a stored tag.
    pub(crate) fn is_sound(&self) -> bool {
        let footer = if self.has_footer() { HEADER_BYTES } else { 0 };
        let others = [HEADER_BYTES, self.extended, self.padding, self.rest, footer];
        let frames = self.frames.iter().map(|frame| frame.len);
        let sum = others.into_iter().chain(frames).try_fold(0_u64, u64::checked_add);
        let stuffing = |frame: &Frame| {
            frame.stuffing.is_sorted_by(|a, b| a < b)
                && frame.stuffing.last().is_none_or(|last| u64::from(*last) < frame.len)
        };
        sum == Some(self.len) && self.frames.iter().all(stuffing)
    }

    fn has_footer(&self) -> bool {
        self.version == Version::V24 && self.flags & FLAG_FOOTER != 0
    }
}

/// A frame of a tag, or bytes among the frames that are none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Native name; empty for bytes that are no frame, at which many readers stop.
    pub name: String,
    /// Description, owner or role where frames of the name have one.
    pub detail: Option<String>,
    /// Of comments and lyrics.
    pub language: Option<[u8; 3]>,
    /// The keys whose values it carries; an edit of one of them touches the frame.
    pub keys: Vec<String>,
    /// Bytes in the source, header included.
    pub len: u64,
    /// Which of them are stuffing, to be left out, counted from the frame's first.
    pub stuffing: Vec<u32>,
}

/// How a tag writes the sizes of its frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FrameSizes {
    /// As the standard says.
    Standard,
    /// ID3v2.4 with plain integers, or 2.3 with seven bits a byte: what old iTunes and others did.
    Swapped,
    /// The tag is unsynchronised and its sizes count the stuffing.
    Stuffed,
}

/// Seven bits a byte, as sizes are stored; `None` if a high bit is set.
fn syncsafe(stored: u32) -> Option<u32> {
    let [a, b, c, d] = stored.to_be_bytes();
    let plain = u32::from(a) << 21 | u32::from(b) << 14 | u32::from(c) << 7 | u32::from(d);
    (stored & 0x8080_8080 == 0).then_some(plain)
}

/// The inverse of [`syncsafe`] for sizes below 2^28.
fn to_syncsafe(size: u32) -> [u8; 4] {
    [21, 14, 7, 0].map(|shift| (size >> shift & 0x7f) as u8)
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod header_tests {
    use super::*;

    #[test]
    fn seven_bits_a_byte() {
        assert_eq!(syncsafe(0x0000_0201), Some(257));
        assert_eq!(syncsafe(0x0000_0080), None);
        for size in [0, 127, 128, 300_000, (1 << 28) - 1] {
            assert_eq!(syncsafe(u32::from_be_bytes(to_syncsafe(size))), Some(size));
        }
    }

    #[test]
    fn headers_are_told_from_stray_marks() {
        let header = Header::parse(b"ID3\x04\x00\x10\x00\x00\x01\x00").map(|header| header.tag_bytes());
        assert_eq!(header, Some(148));
        for stray in [&b"ID3\xbf\x00\x00\x00\x00\x01\x00"[..], b"ID3\x04\xff\x00\x00\x00\x01\x00", b"ID3\x04\x00"] {
            assert_eq!(Header::parse(stray), None);
        }
    }
}
