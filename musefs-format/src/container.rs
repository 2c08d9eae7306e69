//! The one shape that every format has, and the registry of those that are edited.

use std::io;

use crate::aiff::Aiff;
use crate::dff::Dff;
use crate::dsf::Dsf;
use crate::flac::Flac;
use crate::mp4::Mp4;
use crate::mpeg::Mpeg;
use crate::ogg::Ogg;
use crate::wav::Wav;
use crate::{Edits, Facts, Format, ReadAt, Splice, Structure, adts, monkey, musepack, optimfrog, tak, tta, wavpack};

/// Why a splice cannot be built.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Refusal {
    /// A value does not fit into the container.
    #[error("{key} has {bytes} bytes; {what} holds at most {limit}")]
    TooLarge {
        /// The edited key.
        key: String,
        /// Its encoded size.
        bytes: u64,
        /// The part of the container that is too small.
        what: &'static str,
        /// Most bytes that it holds.
        limit: u64,
    },
    /// A value cannot be written there.
    #[error("{key}: {reason}")]
    Value {
        /// The edited key.
        key: String,
        /// Why, in words.
        reason: String,
    },
    /// The structure was made by another version or is damaged; a rescan mends it.
    #[error("the stored structure of the file cannot be read: {0}")]
    Structure(String),
}

/// A format whose files are read and edited by this crate.
pub trait Container: Sync {
    /// The number that rises when a release builds other bytes from the same structure and edits. Starts at 1.
    fn splice_version(&self) -> u32;

    /// Takes a source apart. Damage is told in [`Facts::problems`]; reads heads and tails, never the audio between.
    ///
    /// # Errors
    /// Only those of the device behind `source`.
    fn read(&self, source: &dyn ReadAt) -> io::Result<Facts>;

    /// Builds the served file from a structure of [`Container::read`] and edits; never called with empty edits.
    ///
    /// # Errors
    /// A [`Refusal`] that names the key, or says that the structure is not readable.
    fn splice(&self, structure: &Structure, edits: &Edits) -> Result<Splice, Refusal>;
}

/// The container of a format, if files of it can be edited.
pub fn container(format: Format) -> Option<&'static dyn Container> {
    match format {
        Format::Flac => Some(&Flac),
        Format::Mp4 => Some(&Mp4),
        Format::Mpeg => Some(&Mpeg),
        Format::OggVorbis | Format::OggOpus | Format::OggFlac | Format::OggSpeex | Format::OggOther => Some(&Ogg),
        Format::Adts => Some(&adts::ADTS),
        Format::MonkeysAudio => Some(&monkey::MONKEYS_AUDIO),
        Format::WavPack => Some(&wavpack::WAVPACK),
        Format::Musepack => Some(&musepack::MUSEPACK),
        Format::TrueAudio => Some(&tta::TRUE_AUDIO),
        Format::OptimFrog => Some(&optimfrog::OPTIMFROG),
        Format::Tak => Some(&tak::TAK),
        Format::Wav => Some(&Wav),
        Format::Aiff => Some(&Aiff),
        Format::Dff => Some(&Dff),
        Format::Dsf => Some(&Dsf),
        _ => None,
    }
}
