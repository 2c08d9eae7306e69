//! OptimFROG: blocks with an id and a size each, and an APE tag behind them.

mod properties;

use crate::Format;
use crate::carrier::{Carrier, Home, behind_tags};

/// The container of OptimFROG.
pub const OPTIMFROG: Carrier = Carrier {
    format: Format::OptimFrog,
    name: "OptimFROG",
    home: Home::Ape,
    begin: behind_tags,
    properties: properties::properties,
};
