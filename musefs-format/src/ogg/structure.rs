//! What a splice needs to know of an Ogg file.

use serde::{Deserialize, Serialize};

use super::codec::Codec;
use super::page::{HEADER_BYTES, PAGE_BYTES_MAX};
use crate::envelope::Parts;
use crate::vorbis::Layout;
use crate::{Refusal, Structure};

/// Version of the stored layout: the first byte of a structure.
const VERSION: u8 = 1;

/// An Ogg file with the pages that an edit can change: those that hold the comments of the first stream with audio, and,
/// for FLAC, those up to its padding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OggStructure {
    /// Tags in front of the first page.
    pub(super) head: Parts,
    pub(super) codec: Codec,
    /// The stream that is edited.
    pub(super) serial: u32,
    /// In order. Between two of them may be pages of other streams, and junk.
    pub(super) pages: Vec<Page>,
    /// Lacing values on the first page in front of the comments.
    pub(super) before: Vec<u8>,
    /// Lengths of the packets: the comments first, the padding of FLAC last if it has any.
    pub(super) packets: Vec<u32>,
    /// Lacing values on the last page behind the last packet.
    pub(super) after: Vec<u8>,
    /// Granule position of the last page.
    pub(super) granule: u64,
    /// The comments, with offsets behind what the codec puts in front.
    pub(super) comments: Layout,
    /// Bytes behind the last comment that stay.
    pub(super) kept: u32,
    /// Bytes of padding behind those.
    pub(super) padding: u32,
    /// Offset of the first byte behind the last page that may be of the stream.
    pub(super) stream_end: u64,
    /// Offset of the first byte behind the last page.
    pub(super) end: u64,
    /// Tags behind it.
    pub(super) tail: Parts,
}

/// A page of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Page {
    pub(super) offset: u64,
    pub(super) flags: u8,
    pub(super) sequence: u32,
    /// Number of lacing values.
    pub(super) segments: u8,
    /// Bytes behind the header.
    pub(super) body: u32,
}

impl Page {
    /// Offset of the first byte behind the header.
    pub(super) fn body_offset(&self) -> u64 {
        self.offset + (HEADER_BYTES + usize::from(self.segments)) as u64
    }

    /// Offset of the first byte behind the page.
    pub(super) fn end(&self) -> u64 {
        self.body_offset() + u64::from(self.body)
    }
}

/// Lacing values of a packet (RFC 3533, section 5): a length of n · 255 bytes ends with a zero.
pub(super) fn segments_of(len: u64) -> u64 {
    len / 255 + 1
}

impl OggStructure {
    /// Offset of the first byte behind the pages.
    pub(super) fn pages_end(&self) -> u64 {
        self.pages.last().map_or(0, Page::end)
    }

    /// Whether any comment has a key.
    pub(super) fn comments_speak(&self) -> bool {
        self.comments.fields.iter().any(|field| !field.keys().is_empty())
    }

    pub(super) fn encode(&self) -> Structure {
        Structure::of(VERSION, self)
    }

    pub(super) fn decode(structure: &Structure) -> Result<Self, Refusal> {
        structure.parts(VERSION, |parts: &Self| parts.adds_up() == Some(true))
    }

    /// Whether offsets and lengths fit each other: what a splice counts on. `None` where a sum overflows.
    fn adds_up(&self) -> Option<bool> {
        let (first, last) = (self.pages.first()?, self.pages.last()?);
        let mut at = self.head.sound_end(0)?;
        let (mut segments, mut body) = (0, 0);
        for page in &self.pages {
            if page.offset < at || page.segments == 0 || u64::from(page.body) > u64::from(page.segments) * 255 {
                return Some(false);
            }
            page.offset.checked_add(PAGE_BYTES_MAX as u64)?;
            at = page.end();
            segments += u64::from(page.segments);
            body += u64::from(page.body);
        }
        let lacing = |values: &[u8]| values.iter().map(|len| u64::from(*len)).sum::<u64>();
        let packet_segments = self.packets.iter().map(|len| segments_of(u64::from(*len))).sum::<u64>();
        let packet_bytes = self.packets.iter().map(|len| u64::from(*len)).sum::<u64>();
        let comments = self.codec.prefix_bytes() as u64 + u64::from(self.comments.end);
        let behind = u64::from(self.kept) + u64::from(self.padding);
        let complete = u64::from(*self.packets.first()?) == comments + behind || !self.comments.complete;
        Some(
            self.tail.sound_end(self.end).is_some()
                && at <= self.stream_end
                && self.stream_end <= self.end
                && segments == self.before.len() as u64 + packet_segments + self.after.len() as u64
                && body == lacing(&self.before) + packet_bytes + lacing(&self.after)
                && self.before.len() < usize::from(first.segments)
                && self.after.len() < usize::from(last.segments)
                && complete
                && comments <= u64::from(self.packets[0])
                && self.comments.is_sound(),
        )
    }
}
