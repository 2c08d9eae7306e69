//! Monkey's Audio: a header with a table of frames, the frames, and an APE tag behind them.

mod properties;

use crate::Format;
use crate::carrier::{Carrier, Home, behind_tags};

/// The container of Monkey's Audio.
pub const MONKEYS_AUDIO: Carrier = Carrier {
    format: Format::MonkeysAudio,
    name: "Monkey's Audio",
    home: Home::Ape,
    begin: behind_tags,
    properties: properties::properties,
};
