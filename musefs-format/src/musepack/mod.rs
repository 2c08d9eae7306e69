//! Musepack of stream versions 7 and 8, with an APE tag behind the stream.

mod properties;

use crate::Format;
use crate::carrier::{Carrier, Home, behind_tags};

/// The container of Musepack.
pub const MUSEPACK: Carrier = Carrier {
    format: Format::Musepack,
    name: "Musepack",
    home: Home::Ape,
    begin: behind_tags,
    properties: properties::properties,
};
