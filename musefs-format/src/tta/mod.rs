//! True Audio: a header, frames, and ID3v2 in front.
//!
//! APE tags behind the frames are seen too, but TagLib and mutagen read ID3v2 only: new keys go there.

mod properties;

use crate::Format;
use crate::carrier::{Carrier, Home, behind_tags};

/// The container of True Audio.
pub const TRUE_AUDIO: Carrier = Carrier {
    format: Format::TrueAudio,
    name: "True Audio",
    home: Home::Id3v2,
    begin: behind_tags,
    properties: properties::properties,
};
