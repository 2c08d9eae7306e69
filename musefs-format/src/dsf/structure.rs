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
        let mut bytes = vec![VERSION];
        bytes.extend(postcard::to_stdvec(self).expect("plain data is always encoded"));
        Structure(bytes)
    }

    pub(super) fn decode(structure: &Structure) -> Result<Self, Refusal> {
        match structure.0.split_first() {
            Some((&VERSION, bytes)) => {
                let structure: Self =
                    postcard::from_bytes(bytes).map_err(|error| Refusal::Structure(error.to_string()))?;
                let is_sound =
                    structure.end >= HEADER_BYTES && structure.tags.sound_end(structure.end) == Some(structure.len);
                match is_sound {
                    true => Ok(structure),
                    false => Err(Refusal::Structure("its parts do not add up".to_owned())),
                }
            }
            Some((version, _)) => Err(Refusal::Structure(format!("it has version {version}, not {VERSION}"))),
            None => Err(Refusal::Structure("it is empty".to_owned())),
        }
    }
}
