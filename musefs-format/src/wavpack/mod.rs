//! WavPack: blocks, and an APE tag behind them.

mod properties;

use crate::Format;
use crate::carrier::{Carrier, Home, behind_tags};

/// The container of WavPack.
pub const WAVPACK: Carrier = Carrier {
    format: Format::WavPack,
    name: "WavPack",
    home: Home::Ape,
    begin: behind_tags,
    properties: properties::properties,
};
