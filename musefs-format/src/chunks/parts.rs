//! What a splice needs to know of a file of chunks.

use serde::{Deserialize, Serialize};

use super::dialect::Dialect;
use super::texts::Entry;
use crate::envelope::Parts;
use crate::{Refusal, Structure};

/// Version of the stored layout: the first byte of a structure.
const VERSION: u8 = 1;

/// A file of chunks, in the order of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Form {
    pub(super) dialect: Dialect,
    /// Tags in front of the header.
    pub(super) head: Parts,
    /// Of the header.
    pub(super) offset: u64,
    /// Without gaps, from the end of the header on.
    pub(super) chunks: Vec<Chunk>,
    /// Whether a `bext` chunk is there. ffmpeg then takes what that says, and texts of a list, but no ID3v2 tag.
    pub(super) is_broadcast: bool,
    /// What follows the chunks and is none.
    pub(super) tail: Parts,
}

/// A chunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chunk {
    /// Bytes of its content.
    pub(super) len: u64,
    /// Bytes between its content and the next chunk.
    pub(super) padding: u8,
    /// Whether the length in its header is to be mended.
    pub(super) mended: bool,
    pub(super) role: Role,
}

/// What a chunk is to a splice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Role {
    /// Taken as it is.
    Kept,
    /// Takes room only.
    Filler,
    /// The first with audio.
    Audio,
    /// `ds64`.
    Sizes,
    /// An ID3v2 tag, and what may stand behind it. Empty if the chunk is.
    Id3(Parts),
    /// A list of texts behind its type.
    Info(Vec<Entry>),
    /// One text.
    Text(Entry),
}

impl Form {
    pub(crate) fn encode(&self) -> Structure {
        Structure::of(VERSION, self)
    }

    pub(crate) fn decode(structure: &Structure) -> Result<Self, Refusal> {
        structure.parts(VERSION, Self::is_sound)
    }

    /// Whether the parts lie one behind the other, so that what is computed with them stays within the source.
    fn is_sound(&self) -> bool {
        let start = self.head.sound_end(0).filter(|end| *end == self.offset);
        let mut end = start.and_then(|end| end.checked_add(self.dialect.form_bytes()));
        for chunk in &self.chunks {
            let begin = end.and_then(|end| end.checked_add(self.dialect.header_bytes()));
            let content_end = begin.and_then(|begin| begin.checked_add(chunk.len));
            let fits = match (&chunk.role, begin, content_end) {
                (Role::Id3(parts), Some(begin), Some(_)) if !parts.0.is_empty() => {
                    parts.sound_end(begin) == content_end
                }
                (Role::Info(entries), ..) => {
                    let lens = entries.iter().try_fold(4_u64, |sum, entry| sum.checked_add(entry.len));
                    lens.is_some_and(|sum| sum <= chunk.len)
                }
                (Role::Sizes, ..) => chunk.len >= 16,
                _ => true,
            };
            end = content_end.filter(|_| fits).and_then(|end| end.checked_add(chunk.padding.into()));
        }
        let has_audio = self.chunks.iter().any(|chunk| chunk.role == Role::Audio);
        has_audio && end.and_then(|end| self.tail.sound_end(end)).is_some()
    }

    /// Of the first byte behind the chunks.
    pub(super) fn end(&self) -> u64 {
        self.offset + self.dialect.form_bytes() + self.chunks.iter().map(|chunk| self.total(chunk)).sum::<u64>()
    }

    /// Bytes of a chunk with its header and what fills it up.
    pub(super) fn total(&self, chunk: &Chunk) -> u64 {
        self.dialect.header_bytes() + chunk.len + u64::from(chunk.padding)
    }
}
