//! The file to serve: tags rewritten, the stream taken from the source.

use std::borrow::Cow;

use super::Home;
use super::structure::CarrierStructure;
use crate::envelope::{Part, Parts};
use crate::id3::v2::{self, Room, Version};
use crate::{Edits, Refusal, Splice, SpliceBuilder, ape};

/// The served file; `home` is the tag that gets new keys.
pub(crate) fn splice(structure: &CarrierStructure, home: Home, edits: &Edits) -> Result<Splice, Refusal> {
    let has_ape = structure.tail.0.iter().any(|part| matches!(part, Part::Ape(_)));
    let leads = structure.head.leading_id3v2().is_some();
    match home {
        Home::Ape => with_ape(structure, edits),
        Home::Either if has_ape && !leads => with_ape(structure, edits),
        Home::Id3v2 | Home::Either => with_id3v2(structure, edits),
    }
}

/// New keys go to the ID3v2 tag that the file begins with. Where it does not, a new one is made, with all effective
/// tags: many readers look at no other once they have met it. It is of version 2.4, whose UTF-8 every reader of today knows.
fn with_id3v2(structure: &CarrierStructure, edits: &Edits) -> Result<Splice, Refusal> {
    let leading = structure.head.leading_id3v2();
    let version = leading.unwrap_or(Version::V24);
    check(edits, "ID3", |key| v2::can_hold(version, key) || structure.tail.carry(key))?;
    let mut builder = SpliceBuilder::default();
    if leading.is_none() && gives_values(edits) {
        v2::create(version, edits, Room::Aligned)?.append_to(&mut builder);
    }
    structure.head.rewrite(edits, leading.map(|_| 0))?.append_to(&mut builder);
    builder.source(structure.audio.offset, structure.audio.len);
    structure.tail.rewrite(edits, None)?.append_to(&mut builder);
    Ok(builder.finish())
}

/// New keys go to the last APE tag behind the stream; where there is none, a new one is made.
fn with_ape(structure: &CarrierStructure, edits: &Edits) -> Result<Splice, Refusal> {
    let carries = |key: &str| structure.head.carry(key) || structure.tail.carry(key);
    check(edits, "APE", |key| ape::can_hold(key) || carries(key))?;
    let (tail, adds) = match gives_values(edits) {
        true => {
            let (tail, at) = ape_tag(structure);
            (tail, Some(at))
        }
        false => (Cow::Borrowed(&structure.tail), None),
    };
    let mut builder = SpliceBuilder::default();
    structure.head.rewrite(edits, None)?.append_to(&mut builder);
    builder.source(structure.audio.offset, structure.audio.len);
    tail.rewrite(edits, adds)?.append_to(&mut builder);
    Ok(builder.finish())
}

/// The tail with an APE tag, which is empty if it had none, and its place. An ID3v1 tag is found only at the very end
/// and an APE tag only directly before it.
fn ape_tag(structure: &CarrierStructure) -> (Cow<'_, Parts>, usize) {
    let parts = &structure.tail.0;
    if let Some(at) = parts.iter().rposition(|part| matches!(part, Part::Ape(_))) {
        return (Cow::Borrowed(&structure.tail), at);
    }
    let at = parts.len() - usize::from(matches!(parts.last(), Some(Part::Id3v1(_))));
    let offset = parts.get(at).map_or(0, |part| part.range().offset);
    let mut tail = structure.tail.clone();
    tail.0.insert(at, Part::Ape(ape::Tag::empty(offset)));
    (Cow::Owned(tail), at)
}

fn gives_values(edits: &Edits) -> bool {
    edits.changed().any(|key| !edits.effective().get(key).is_empty())
}

/// Each value must find a place, and come back as it is.
fn check(edits: &Edits, tags: &str, has_place: impl Fn(&str) -> bool) -> Result<(), Refusal> {
    for key in edits.changed() {
        let values = edits.effective().get(key);
        let refuse =
            |reason: &str| Err(Refusal::Value { key: key.to_owned(), reason: format!("{tags} tags {reason}") });
        if values.iter().any(|value| value.contains('\0')) {
            return refuse("cannot hold a NUL in a value");
        }
        if !values.is_empty() && !has_place(key) {
            return refuse("have no place for it");
        }
    }
    Ok(())
}
