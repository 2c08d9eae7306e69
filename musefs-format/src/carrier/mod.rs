//! Streams that know nothing of tags, which stand in front of them and behind them.
//!
//! One container serves all formats that are no more than that. What a format adds is how its stream is
//! recognised, what its first bytes tell, and which tag its readers look at.

mod read;
mod splice;
mod structure;

use std::io;

use crate::{ByteRange, Container, Edits, Facts, Format, Properties, ReadAt, Refusal, Splice, Structure};

pub(crate) use read::{behind_tags, facts};
pub(crate) use splice::splice;
pub(crate) use structure::CarrierStructure;

/// Which tag gets new keys: the one that readers of the format look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// An ID3v2 tag in front.
    Id3v2,
    /// An APE tag behind the stream: audio never moves. What it says counts before what others say.
    Ape,
    /// The APE tag if there is one and no ID3v2 tag in front; else as [`Home::Id3v2`].
    Either,
}

/// A format whose files are a stream between tags.
#[derive(Clone, Copy, Debug)]
pub struct Carrier {
    pub(crate) format: Format,
    /// For people.
    pub(crate) name: &'static str,
    pub(crate) home: Home,
    /// Offset of the stream in the range that is left between the tags.
    pub(crate) begin: fn(&dyn ReadAt, ByteRange) -> io::Result<u64>,
    /// What the stream in the range tells; `None` if it is no stream of the format.
    pub(crate) properties: fn(&dyn ReadAt, ByteRange) -> io::Result<Option<Properties>>,
}

impl Container for Carrier {
    fn splice_version(&self) -> u32 {
        1
    }

    fn read(&self, source: &dyn ReadAt) -> io::Result<Facts> {
        read::read(self, source)
    }

    fn splice(&self, structure: &Structure, edits: &Edits) -> Result<Splice, Refusal> {
        splice(&CarrierStructure::decode(structure)?, self.home, edits)
    }
}

/// The little-endian number of `len` bytes at `at`, at most eight; bytes that are not there count as zeros.
pub(crate) fn le(bytes: &[u8], at: usize, len: usize) -> u64 {
    let number = bytes.iter().skip(at).take(len.min(8));
    number.rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod tests;
