//! Taking a source apart.

use std::io;

use super::header::{Sync, find_frames};
use super::properties::properties;
use crate::carrier::{self, Home};
use crate::envelope::{Envelope, Part};
use crate::facts::ByteRange;
use crate::id3::v2;
use crate::limits::{JUNK_BYTES_MAX, LEADING_TAGS_MAX, SNIFF_BYTES};
use crate::{Facts, Format, Problem, ReadAt};

pub(super) fn read(source: &dyn ReadAt) -> io::Result<Facts> {
    let mut head = Envelope::default();
    let leading_end = head.read_leading(source, 0)?;
    let mut tail = Envelope::default();
    let audio_end = tail.read_trailing(source, leading_end)?;
    let first = find_audio(source, &mut head, leading_end, audio_end)?;
    let audio = ByteRange::between(first.offset, audio_end);
    let mut facts = carrier::facts(Format::Mpeg, Home::Id3v2, head, audio, tail);
    match &first.sync {
        Some(sync) => facts.properties = properties(&first.window, sync, audio.len),
        None => facts.problems.insert(0, Problem("no MPEG audio frames were found".to_owned())),
    }
    Ok(facts)
}

/// Where the audio begins, and what shows it.
struct First {
    offset: u64,
    window: Vec<u8>,
    /// Its offset is one of the window.
    sync: Option<Sync>,
}

/// Finds the first frame behind `from`. Junk in front of it, and further tags in the junk, become parts of `head`.
///
/// A mark of a tag counts only in front of the first frame, and only with a frame of its own: a stray one in the
/// midst of audio must not move the begin of it.
fn find_audio(source: &dyn ReadAt, head: &mut Envelope, mut from: u64, end: u64) -> io::Result<First> {
    loop {
        let (window, sync) = search(source, from, end)?;
        let before = sync.map_or(window.len(), |sync| sync.offset);
        let looks_on = head.parts.0.len() < LEADING_TAGS_MAX;
        if looks_on && let Some((at, tags)) = tags_in_junk(source, from, &window[..before], end)? {
            head.keep(from, at);
            let tags_end = tags.parts.0.last().map_or(at, |part| part.range().end());
            head.parts.0.extend(tags.parts.0);
            head.found.extend(tags.found);
            from = tags_end;
            continue;
        }
        let offset = from + sync.map_or(0, |sync| sync.offset as u64);
        head.keep(from, offset);
        return Ok(First { offset, window, sync });
    }
}

/// The bytes from `from` on, as many as it takes to find a frame, up to a limit.
fn search(source: &dyn ReadAt, from: u64, end: u64) -> io::Result<(Vec<u8>, Option<Sync>)> {
    let len = end.saturating_sub(from);
    for limit in [SNIFF_BYTES, JUNK_BYTES_MAX] {
        let window = source.bytes(from, len, limit)?;
        let is_whole = window.len() as u64 == len;
        let sync = find_frames(&window, is_whole);
        if sync.is_some() || is_whole || limit == JUNK_BYTES_MAX {
            return Ok((window, sync));
        }
    }
    Ok((Vec::new(), None))
}

/// The first ID3v2 tags in `junk`, which begins at `from`.
fn tags_in_junk(source: &dyn ReadAt, from: u64, junk: &[u8], end: u64) -> io::Result<Option<(u64, Envelope)>> {
    let marks = junk.windows(v2::HEADER_BYTES as usize).enumerate();
    let headers = marks.filter(|(_, bytes)| v2::Header::parse(bytes).is_some()).take(LEADING_TAGS_MAX);
    for at in headers.map(|(at, _)| from + at as u64) {
        let mut tags = Envelope::default();
        let tags_end = tags.read_leading(source, at)?;
        let has_frames = matches!(tags.parts.0.first(), Some(Part::Id3v2(tag)) if tag.frames.iter().any(|frame| !frame.name.is_empty()));
        if has_frames && tags_end <= end {
            return Ok(Some((at, tags)));
        }
    }
    Ok(None)
}
