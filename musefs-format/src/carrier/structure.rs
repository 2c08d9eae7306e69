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
        let mut bytes = vec![VERSION];
        bytes.extend(postcard::to_stdvec(self).expect("plain data is always encoded"));
        Structure(bytes)
    }

    pub(crate) fn decode(structure: &Structure) -> Result<Self, Refusal> {
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
