//! WAVE in RIFF, RIFX, RF64, BW64 and Wave64.
//!
//! A source is read from chunk to chunk, never through the samples. Tags stand in an `id3 ` chunk and in a LIST chunk of type
//! INFO; where both have a key, the former counts, as it does for TagLib (mutagen looks at nothing else). An edit rewrites them and
//! mends lengths that are wrong; all other chunks (bext, iXML, cue, smpl, PEAK, fact…) are taken as they are.

mod properties;

use std::io;

use crate::chunks::{self, Dialect, Form, Kind};
use crate::{Container, Edits, Facts, Format, ReadAt, Refusal, Splice, Structure};

/// The container of WAVE.
#[derive(Clone, Copy, Debug)]
pub struct Wav;

const KIND: Kind = Kind { format: Format::Wav, dialect, describe: properties::describe };

impl Container for Wav {
    fn splice_version(&self) -> u32 {
        1
    }

    fn read(&self, source: &dyn ReadAt) -> io::Result<Facts> {
        chunks::read(source, &KIND)
    }

    fn splice(&self, structure: &Structure, edits: &Edits) -> Result<Splice, Refusal> {
        chunks::splice(&Form::decode(structure)?, edits)
    }
}

fn dialect(head: &[u8]) -> Option<Dialect> {
    let dialect = match head.first_chunk()? {
        b"RIFF" => Dialect::Riff,
        b"RIFX" => Dialect::Rifx,
        b"RF64" | b"BW64" => Dialect::Rf64,
        b"riff" => return (head.get(24..28)? == b"wave").then_some(Dialect::Wave64),
        _ => return None,
    };
    (head.get(8..12)? == b"WAVE").then_some(dialect)
}
