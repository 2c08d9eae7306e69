//! What a splice needs to know of a DSF file.

use serde::{Deserialize, Serialize};

use crate::envelope::Parts;
use crate::{Refusal, Structure};

/// Version of the stored layout: the first byte of a structure.
const VERSION: u8 = 1;

/// Of the first of two numbers in the header: length of the file, and place of the tag (DSF 1.01, "DSD chunk").
pub(super) const NUMBERS_AT: u64 = 12;
/// Bytes of the header.
pub(super) const HEADER_BYTES: u64 = 28;

/// A DSF file as parts, in the order of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DsfStructure {
    /// Of the first byte behind the audio.
    pub(super) end: u64,
    /// Of the file.
    pub(super) len: u64,
    /// Up to the end of the file.
    pub(super) tags: Parts,
}

impl DsfStructure {
    pub(super) fn encode(&self) -> Structure {
        Structure::of(VERSION, self)
    }

    pub(super) fn decode(structure: &Structure) -> Result<Self, Refusal> {
        structure.parts(VERSION, |parts: &Self| {
            parts.end >= HEADER_BYTES && parts.tags.sound_end(parts.end) == Some(parts.len)
        })
    }
}
