//! What a splice needs to know of a FLAC file.

use serde::{Deserialize, Serialize};

use crate::envelope::Parts;
use crate::vorbis::Layout;
use crate::{Refusal, Structure};

/// Version of the stored layout: the first byte of a structure.
const VERSION: u8 = 1;

/// Bytes of `fLaC`.
pub(super) const MARKER_BYTES: u64 = 4;
/// Bytes of a block header (RFC 9639, section 8.1).
pub(super) const HEADER_BYTES: u64 = 4;
/// Largest length that a block header can tell: 24 bits.
pub(super) const BLOCK_BYTES_MAX: u64 = (1 << 24) - 1;

/// A FLAC file as parts, in the order of the source: what leads, the marker, blocks, frames, what trails.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FlacStructure {
    /// Tags in front of the marker, and zeros between them.
    pub(super) head: Parts,
    /// Offset of the marker.
    pub(super) marker: u64,
    /// Metadata blocks in order.
    pub(super) blocks: Vec<Block>,
    /// Offset of the first byte behind the frames.
    pub(super) audio_end: u64,
    /// Tags behind the frames.
    pub(super) tail: Parts,
}

/// A metadata block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Block {
    /// As stored: kind and last-block flag.
    pub(super) head: u8,
    /// Bytes behind its header.
    pub(super) len: u32,
    /// The parts of a comment block.
    pub(super) comments: Option<Layout>,
}

/// Kinds of blocks that matter here (RFC 9639, section 8.1, table 1).
pub(super) mod kind {
    pub(in crate::flac) const STREAMINFO: u8 = 0;
    pub(in crate::flac) const PADDING: u8 = 1;
    pub(in crate::flac) const COMMENTS: u8 = 4;
    pub(in crate::flac) const PICTURE: u8 = 6;
    pub(in crate::flac) const FORBIDDEN: u8 = 127;
}

impl Block {
    /// What the block is.
    pub(super) fn kind(&self) -> u8 {
        self.head & 0x7f
    }

    /// Whether it says that frames follow.
    pub(super) fn is_last(&self) -> bool {
        self.head & 0x80 != 0
    }

    /// Bytes of content if it is of comments.
    pub(super) fn comment_bytes(&self) -> u64 {
        if self.kind() == kind::COMMENTS { u64::from(self.len) } else { 0 }
    }

    /// Bytes of header and content.
    pub(super) fn total(&self) -> u64 {
        HEADER_BYTES + u64::from(self.len)
    }
}

impl FlacStructure {
    /// Offset of the first frame.
    pub(super) fn audio(&self) -> u64 {
        self.marker + MARKER_BYTES + self.blocks.iter().map(Block::total).sum::<u64>()
    }

    /// Bytes of all comment blocks.
    pub(super) fn comment_bytes(&self) -> u64 {
        self.blocks.iter().map(Block::comment_bytes).sum()
    }

    /// Whether any comment has a key.
    pub(super) fn comments_speak(&self) -> bool {
        let layouts = self.blocks.iter().filter_map(|block| block.comments.as_ref());
        layouts.flat_map(|layout| &layout.fields).any(|field| !field.keys().is_empty())
    }

    pub(super) fn encode(&self) -> Structure {
        Structure::of(VERSION, self)
    }

    pub(super) fn decode(structure: &Structure) -> Result<Self, Refusal> {
        structure.parts(VERSION, |_| true)
    }
}
