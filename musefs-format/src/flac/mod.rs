//! Native FLAC (RFC 9639): metadata blocks between leading tags and the frames.
//!
//! A source is read up to its first frame, and a little at its end where tags may stand. An edit rebuilds
//! the comment block and lets a padding block absorb the difference; everything else is taken as it is.

pub(crate) mod picture;
pub(crate) mod properties;
mod read;
mod splice;
mod structure;

use std::io;

use crate::{Container, Edits, Facts, ReadAt, Refusal, Splice, Structure};

/// The container of native FLAC.
#[derive(Clone, Copy, Debug)]
pub struct Flac;

impl Container for Flac {
    fn splice_version(&self) -> u32 {
        1
    }

    fn read(&self, source: &dyn ReadAt) -> io::Result<Facts> {
        read::read(source)
    }

    fn splice(&self, structure: &Structure, edits: &Edits) -> Result<Splice, Refusal> {
        splice::splice(&structure::FlacStructure::decode(structure)?, edits)
    }
}
#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod tests;
