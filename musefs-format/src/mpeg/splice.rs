//! The file to serve: tags rewritten, frames taken from the source.

use super::structure::MpegStructure;
use crate::id3::v2::{Room, Version, can_hold, create};
use crate::{Edits, Refusal, Splice, SpliceBuilder};

/// New keys go to the ID3v2 tag that the file begins with. Where it does not, a new one is made, with all effective
/// tags: many readers look at no other once they have met it. It is of version 2.4, whose UTF-8 every reader of today knows.
pub(super) fn splice(structure: &MpegStructure, edits: &Edits) -> Result<Splice, Refusal> {
    let leading = structure.head.leading_id3v2();
    let version = leading.unwrap_or(Version::V24);
    check(structure, edits, version)?;
    let mut builder = SpliceBuilder::default();
    if leading.is_none() && edits.changed().any(|key| !edits.effective().get(key).is_empty()) {
        create(version, edits, Room::Aligned)?.append_to(&mut builder);
    }
    structure.head.rewrite(edits, leading.map(|_| 0))?.append_to(&mut builder);
    builder.source(structure.audio.offset, structure.audio.len);
    structure.tail.rewrite(edits, None)?.append_to(&mut builder);
    Ok(builder.finish())
}

/// Each value must find a place, and come back as it is.
fn check(structure: &MpegStructure, edits: &Edits, version: Version) -> Result<(), Refusal> {
    for key in edits.changed() {
        let values = edits.effective().get(key);
        let refuse = |reason: &str| Err(Refusal::Value { key: key.to_owned(), reason: reason.to_owned() });
        if values.iter().any(|value| value.contains('\0')) {
            return refuse("ID3 tags cannot hold a NUL in a value");
        }
        if !values.is_empty() && !can_hold(version, key) && !structure.tail.carry(key) {
            return refuse("ID3 tags have no place for it");
        }
    }
    Ok(())
}
