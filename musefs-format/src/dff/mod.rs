//! DSDIFF: DSD in chunks with 64-bit lengths.
//!
//! Tags stand in an `ID3 ` chunk. All other chunks, the edited master information in DIIN included, are taken as they are.

mod properties;

use std::io;

use crate::chunks::{self, Dialect, Form, Kind};
use crate::{Container, Edits, Facts, Format, ReadAt, Refusal, Splice, Structure};

/// The container of DSDIFF.
#[derive(Clone, Copy, Debug)]
pub struct Dff;

const KIND: Kind = Kind { format: Format::Dff, dialect, describe: properties::describe };

impl Container for Dff {
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
    (head.starts_with(b"FRM8") && head.get(12..16)? == b"DSD ").then_some(Dialect::Dsdiff)
}
