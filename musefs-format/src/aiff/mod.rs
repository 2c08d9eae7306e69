//! AIFF and AIFF-C.
//!
//! Tags stand in an `ID3 ` chunk and in the text chunks NAME, AUTH, `(c) ` and ANNO; where both have a key, the former counts
//! (TagLib and mutagen look at nothing else). An edit rewrites them; all other chunks (COMM, MARK, INST, COMT, APPL…) are taken
//! as they are.

mod properties;

use std::io;

use crate::chunks::{self, Dialect, Form, Kind};
use crate::{Container, Edits, Facts, Format, ReadAt, Refusal, Splice, Structure};

/// The container of AIFF.
#[derive(Clone, Copy, Debug)]
pub struct Aiff;

const KIND: Kind = Kind { format: Format::Aiff, dialect, describe: properties::describe };

impl Container for Aiff {
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
    let is_aiff = head.starts_with(b"FORM") && matches!(head.get(8..12)?, b"AIFF" | b"AIFC");
    is_aiff.then_some(Dialect::Iff)
}
