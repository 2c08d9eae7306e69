//! Taking a source apart.

use std::io;

use super::structure::CarrierStructure;
use super::{Carrier, Home};
use crate::envelope::{Envelope, Part};
use crate::{ByteRange, Editing, Facts, Format, Problem, Properties, ReadAt, Structure, Tags};

pub(super) fn read(carrier: &Carrier, source: &dyn ReadAt) -> io::Result<Facts> {
    let mut head = Envelope::default();
    let leading_end = head.read_leading(source, 0)?;
    let mut tail = Envelope::default();
    let audio_end = tail.read_trailing(source, leading_end)?;
    let begin = (carrier.begin)(source, ByteRange::between(leading_end, audio_end))?;
    head.keep(leading_end, begin);
    let audio = ByteRange::between(begin, audio_end);
    let properties = (carrier.properties)(source, audio)?;
    let mut facts = facts(carrier.format, carrier.home, head, audio, tail);
    match properties {
        Some(properties) => facts.properties = properties,
        None => facts.problems.insert(0, Problem(format!("no {} stream was found", carrier.name))),
    }
    Ok(facts)
}

/// What the tags around `audio` say; properties are still empty.
pub(crate) fn facts(format: Format, home: Home, head: Envelope, audio: ByteRange, tail: Envelope) -> Facts {
    let apes = tail.parts.0.iter().filter(|part| matches!(part, Part::Ape(_))).count();
    let mut found = head.found;
    let (before, mut behind) = (if home == Home::Ape { apes } else { 0 }, tail.found);
    found.splice(0..0, behind.drain(..before));
    found.append(&mut behind);
    let mut facts = Facts {
        format,
        properties: Properties::default(),
        audio,
        tags: Tags::new(),
        pictures: Vec::new(),
        structure: Structure::default(),
        editing: Editing::Possible,
        problems: Vec::new(),
    };
    for found in found {
        found.fill(&mut facts.tags);
        facts.pictures.extend(found.pictures);
        facts.problems.extend(found.problems);
    }
    facts.structure = CarrierStructure { head: head.parts, audio, tail: tail.parts }.encode();
    facts
}

/// Offset of the first byte of `stream` that is no tag and no zero.
pub(crate) fn behind_tags(source: &dyn ReadAt, stream: ByteRange) -> io::Result<u64> {
    let next = source.bytes(stream.offset, stream.len, 8)?;
    if !next.starts_with(b"APETAGEX") && next.first() != Some(&0) {
        return Ok(stream.offset);
    }
    let end = crate::sniff::leading_tags_end(source)?;
    Ok(if end > stream.end() { stream.offset } else { end.max(stream.offset) })
}
