//! Vorbis, Opus, FLAC and Speex in Ogg (RFC 3533).
//!
//! A source is read up to the end of its headers, and a little at its end where the last page tells how long
//! it plays. An edit rebuilds the packet of comments and the pages that hold it, on as many pages as before
//! whenever that can be: then everything behind them is a plain range of the source. Otherwise the pages behind
//! them are numbered anew while they are read ([`Renumbered`]). What a made page takes over from the source
//! is not known before it is read, and so neither is its checksum ([`PageChecksum`]).
//!
//! Of a chain of streams the first is edited; of streams beside each other the only one with audio.

mod checksum;
mod codec;
mod new_page;
mod page;
mod paginate;
mod properties;
mod read;
mod renumber;
mod splice;
mod structure;
mod walk;

use std::io;

pub use new_page::PageChecksum;
pub use renumber::{PageSearch, Renumbered};

use crate::{Container, Edits, Facts, ReadAt, Refusal, Splice, Structure};

/// The container of Ogg.
#[derive(Clone, Copy, Debug)]
pub struct Ogg;

impl Container for Ogg {
    fn splice_version(&self) -> u32 {
        1
    }

    fn read(&self, source: &dyn ReadAt) -> io::Result<Facts> {
        read::read(source)
    }

    fn splice(&self, structure: &Structure, edits: &Edits) -> Result<Splice, Refusal> {
        splice::splice(&structure::OggStructure::decode(structure)?, edits)
    }
}

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod tests;
