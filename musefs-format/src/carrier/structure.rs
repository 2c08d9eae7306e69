//! What a splice needs to know of a stream between tags.

use serde::{Deserialize, Serialize};

use crate::envelope::Parts;
use crate::{ByteRange, Refusal, Structure};

/// Version of the stored layout: the first byte of a structure.
const VERSION: u8 = 1;

/// A file as parts, in the order of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CarrierStructure {
    /// Tags, and junk behind them.
    pub(crate) head: Parts,
    /// The stream.
    pub(crate) audio: ByteRange,
    /// Tags.
    pub(crate) tail: Parts,
}

impl CarrierStructure {
    pub(crate) fn encode(&self) -> Structure {
        Structure::of(VERSION, self)
    }

    pub(crate) fn decode(structure: &Structure) -> Result<Self, Refusal> {
        structure.parts(VERSION, Self::is_sound)
    }

    /// Whether the parts lie one behind the other, so that what is computed with them stays within the source.
    fn is_sound(&self) -> bool {
        let head = self.head.sound_end(0).filter(|end| *end == self.audio.offset);
        let audio = head.and_then(|end| end.checked_add(self.audio.len));
        audio.and_then(|end| self.tail.sound_end(end)).is_some()
    }
}
