//! TAK: metadata blocks, frames, and an APE tag behind them.

mod properties;

use crate::Format;
use crate::carrier::{Carrier, Home, behind_tags};

/// The container of TAK.
pub const TAK: Carrier = Carrier {
    format: Format::Tak,
    name: "TAK",
    home: Home::Ape,
    begin: behind_tags,
    properties: properties::properties,
};
