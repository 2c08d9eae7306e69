//! MPEG audio layer I, II and III: frames between tags.
//!
//! A source is read from its begin to a little behind its first frame, and at its end where tags may stand. An
//! edit rewrites tags; the frames, the first of which may tell of the others (Xing, Info, VBRI, LAME), and
//! whatever stands between the tags and them are taken as they are.

pub mod header;
mod properties;
mod read;
mod summary;

use std::io;

use crate::carrier::{self, CarrierStructure, Home};
use crate::{Container, Edits, Facts, ReadAt, Refusal, Splice, Structure};

/// The container of MPEG audio.
#[derive(Clone, Copy, Debug)]
pub struct Mpeg;

impl Container for Mpeg {
    fn splice_version(&self) -> u32 {
        1
    }

    fn read(&self, source: &dyn ReadAt) -> io::Result<Facts> {
        read::read(source)
    }

    fn splice(&self, structure: &Structure, edits: &Edits) -> Result<Splice, Refusal> {
        carrier::splice(&CarrierStructure::decode(structure)?, Home::Id3v2, edits)
    }
}

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod tests;
