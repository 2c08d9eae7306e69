//! DSF: DSD with an ID3v2 tag at its end, where a pointer in the header finds it.

mod read;
mod structure;

use std::io;

use structure::DsfStructure;

use crate::id3::v2::{Pieces, Room, Version, can_hold, create};
use crate::{Container, Edits, Facts, ReadAt, Refusal, Splice, SpliceBuilder, Structure};

/// The container of DSF.
#[derive(Clone, Copy, Debug)]
pub struct Dsf;

impl Container for Dsf {
    fn splice_version(&self) -> u32 {
        1
    }

    fn read(&self, source: &dyn ReadAt) -> io::Result<Facts> {
        read::read(source)
    }

    fn splice(&self, structure: &Structure, edits: &Edits) -> Result<Splice, Refusal> {
        splice(&DsfStructure::decode(structure)?, edits)
    }
}

/// Everything up to the tag stays, but for the two numbers that tell of it: length of the file and place of the tag.
fn splice(structure: &DsfStructure, edits: &Edits) -> Result<Splice, Refusal> {
    let leading = structure.tags.leading_id3v2();
    let version = leading.unwrap_or(Version::V24);
    for key in edits.changed() {
        let values = edits.effective().get(key);
        let refuse = |reason: &str| Err(Refusal::Value { key: key.to_owned(), reason: reason.to_owned() });
        if values.iter().any(|value| value.contains('\0')) {
            return refuse("ID3 tags cannot hold a NUL in a value");
        }
        if !values.is_empty() && !can_hold(version, key) {
            return refuse("ID3 tags have no place for it");
        }
    }
    let mut tags = Pieces::default();
    if leading.is_none() {
        if !edits.changed().any(|key| !edits.effective().get(key).is_empty()) {
            return Ok(Splice::whole(structure.len));
        }
        tags = create(version, edits, Room::Tight)?;
    }
    tags.append(structure.tags.rewrite_in(edits, leading.map(|_| 0), Room::Tight)?);
    let mut builder = SpliceBuilder::default();
    builder.source(0, structure::NUMBERS_AT);
    builder.made(&[structure.end + tags.len(), structure.end].map(u64::to_le_bytes).concat());
    builder.source(structure::HEADER_BYTES, structure.end - structure::HEADER_BYTES);
    tags.append_to(&mut builder);
    Ok(builder.finish())
}

#[cfg(test)]
mod tests;
