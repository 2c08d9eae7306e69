//! What a splice needs to know of an MPEG file.

use serde::{Deserialize, Serialize};

use crate::envelope::Parts;
use crate::{ByteRange, Refusal, Structure};

/// Version of the stored layout: the first byte of a structure.
const VERSION: u8 = 1;

/// An MPEG file as parts, in the order of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MpegStructure {
    /// Tags, and junk behind them.
    pub(super) head: Parts,
    /// The frames.
    pub(super) audio: ByteRange,
    /// Tags.
    pub(super) tail: Parts,
}

impl MpegStructure {
    pub(super) fn encode(&self) -> Structure {
        let mut bytes = vec![VERSION];
        bytes.extend(postcard::to_stdvec(self).expect("plain data is always encoded"));
        Structure(bytes)
    }

    pub(super) fn decode(structure: &Structure) -> Result<Self, Refusal> {
        match structure.0.split_first() {
            Some((&VERSION, bytes)) => {
                let structure: Self =
                    postcard::from_bytes(bytes).map_err(|error| Refusal::Structure(error.to_string()))?;
                structure.check()
            }
            Some((version, _)) => Err(Refusal::Structure(format!("it has version {version}, not {VERSION}"))),
            None => Err(Refusal::Structure("it is empty".to_owned())),
        }
    }

    /// Whether the parts lie one behind the other, so that what is computed with them stays within the source.
    fn check(self) -> Result<Self, Refusal> {
        let head = self.head.sound_end(0).filter(|end| *end == self.audio.offset);
        let audio = head.and_then(|end| end.checked_add(self.audio.len));
        match audio.and_then(|end| self.tail.sound_end(end)) {
            Some(_) => Ok(self),
            None => Err(Refusal::Structure("its parts do not add up".to_owned())),
        }
    }
}
