//! MP4 and QuickTime (ISO/IEC 14496-12, QuickTime File Format): boxes in boxes, tags in `moov`, media in `mdat`.
//!
//! A source is read box by box: headers of everything, the content of tags, of sample descriptions and of fragments'
//! heads; never media. An edit rewrites items of the tags and lets a `free` box take up the difference in length; where none
//! can, all tables of offsets into the file are mended while they are read ([`Offsets`](crate::Offsets)), so that
//! they are neither stored nor rebuilt. Everything else, chapters of any kind among it, is taken as it is.

mod boxes;
mod fragments;
mod items;
mod names;
mod properties;
mod read;
mod rewrite;
mod sound;
mod splice;
mod structure;
mod tags;
mod text;
mod track;
mod values;

use std::io;

use crate::{Container, Edits, Facts, ReadAt, Refusal, Splice, Structure};

/// The container of MP4.
#[derive(Clone, Copy, Debug)]
pub struct Mp4;

impl Container for Mp4 {
    fn splice_version(&self) -> u32 {
        1
    }

    fn read(&self, source: &dyn ReadAt) -> io::Result<Facts> {
        read::read(source)
    }

    fn splice(&self, structure: &Structure, edits: &Edits) -> Result<Splice, Refusal> {
        splice::splice(&structure::Mp4Structure::decode(structure)?, edits)
    }
}

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod tests;
