//! The tags in front of the audio and behind it, which any format may carry.
//!
//! Readers agree on little but that the first tag with a value counts: [`Envelope`] reads so, and a
//! splice changes an edited key in each tag that has it, so that no tag contradicts another.

use std::io;

use serde::{Deserialize, Serialize};

use crate::container::Refusal;
use crate::facts::ByteRange;
use crate::found::Found;
use crate::id3::v2::{Pieces, Room, Version};
use crate::id3::{v1, v2};
use crate::limits::{LEADING_TAGS_MAX, LYRICS_BYTES_MAX, TRAILING_TAGS_MAX};
use crate::{Edits, ReadAt, ape};

/// A tag, or bytes between tags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// An ID3v2 tag.
    Id3v2(v2::Tag),
    /// An APE tag.
    Ape(ape::Tag),
    /// An ID3v1 tag.
    Id3v1(v1::Tag),
    /// Anything that stays as it is: Lyrics3, unreadable tags, junk.
    Kept(ByteRange),
}

impl Part {
    /// Where it is in the source.
    pub fn range(&self) -> ByteRange {
        match self {
            Self::Id3v2(tag) => ByteRange { offset: tag.offset, len: tag.len },
            Self::Ape(tag) => ByteRange { offset: tag.offset, len: tag.len },
            Self::Id3v1(tag) => ByteRange { offset: tag.offset, len: v1::TAG_BYTES },
            Self::Kept(range) => *range,
        }
    }

    /// Whether it has a place with values of `key`, or a place for it that is always there.
    fn carries(&self, key: &str) -> bool {
        match self {
            Self::Id3v2(tag) => tag.frames.iter().any(|frame| frame.keys.iter().any(|known| known == key)),
            Self::Ape(tag) => tag.items.iter().any(|item| item.keys.iter().any(|known| known == key)),
            Self::Id3v1(_) | Self::Kept(_) => false,
        }
    }

    fn is_sound(&self) -> bool {
        match self {
            Self::Id3v2(tag) => tag.is_sound(),
            Self::Ape(tag) => tag.is_sound(),
            Self::Id3v1(_) | Self::Kept(_) => true,
        }
    }

    fn rewrite(&self, edits: &Edits, adds: bool, room: Room) -> Result<Pieces, Refusal> {
        match self {
            Self::Id3v2(tag) => v2::rewrite(tag, edits, adds, room),
            Self::Ape(tag) => ape::rewrite(tag, edits, adds),
            Self::Id3v1(tag) => Ok(v1::rewrite(tag, edits)),
            Self::Kept(range) => {
                let mut pieces = Pieces::default();
                pieces.source(range.offset, range.len);
                Ok(pieces)
            }
        }
    }
}

/// Parts that lie one behind the other, in the order of the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts(pub Vec<Part>);

impl Parts {
    /// Whether any part has values of `key`.
    pub fn carry(&self, key: &str) -> bool {
        self.0.iter().any(|part| part.carries(key))
    }

    /// The end of the parts, if they lie one behind the other from `start` on, and each adds up.
    pub fn sound_end(&self, start: u64) -> Option<u64> {
        self.0.iter().try_fold(start, |at, part| {
            let range = part.range();
            (range.offset == at && part.is_sound()).then(|| at.checked_add(range.len))?
        })
    }

    /// Version of the ID3v2 tag that stands first of all: the only one that every reader sees.
    pub fn leading_id3v2(&self) -> Option<Version> {
        match self.0.first() {
            Some(Part::Id3v2(tag)) => Some(tag.version),
            _ => None,
        }
    }

    /// All parts with the edits in each that has the edited keys; new keys go to the part `adds`.
    ///
    /// # Errors
    /// A value is too large.
    pub fn rewrite(&self, edits: &Edits, adds: Option<usize>) -> Result<Pieces, Refusal> {
        self.rewrite_in(edits, adds, Room::Aligned)
    }

    /// [`Self::rewrite`] where other padding than usual is wanted.
    ///
    /// # Errors
    /// A value is too large.
    pub fn rewrite_in(&self, edits: &Edits, adds: Option<usize>, room: Room) -> Result<Pieces, Refusal> {
        let mut pieces = Pieces::default();
        for (at, part) in self.0.iter().enumerate() {
            pieces.append(part.rewrite(edits, adds == Some(at), room)?);
        }
        Ok(pieces)
    }
}

/// The tags at one end of a source.
#[derive(Debug, Default)]
pub struct Envelope {
    /// In the order of the source.
    pub parts: Parts,
    /// What they say, in the order in which they count.
    pub found: Vec<Found>,
}

impl Envelope {
    /// Appends bytes that stay as they are.
    pub fn keep(&mut self, offset: u64, end: u64) {
        if end > offset {
            self.parts.0.push(Part::Kept(ByteRange::between(offset, end)));
        }
    }

    /// Reads the ID3v2 tags that stand one behind the other from `offset` on, perhaps with zeros between them;
    /// gives the end of the last.
    ///
    /// # Errors
    /// Those of `source`.
    pub fn read_leading(&mut self, source: &dyn ReadAt, offset: u64) -> io::Result<u64> {
        let mut end = offset;
        while self.parts.0.len() < LEADING_TAGS_MAX {
            let Some(read) = v2::read(source, end)? else { break };
            self.add_id3v2(end, read);
            end = self.parts.0.last().map_or(end, |part| part.range().end());
        }
        Ok(end)
    }

    fn add_id3v2(&mut self, offset: u64, read: v2::Read) {
        self.parts.0.push(match read.tag {
            Some(tag) => Part::Id3v2(tag),
            None => Part::Kept(ByteRange { offset, len: read.len }),
        });
        self.found.push(read.found);
    }

    /// Reads the tags that stand one before the other up to the end of `source`, but not in front of `start`.
    /// Of the values, those of APE tags count before ID3v2, and ID3v1 last; gives the begin of the first.
    ///
    /// # Errors
    /// Those of `source`.
    pub fn read_trailing(&mut self, source: &dyn ReadAt, start: u64) -> io::Result<u64> {
        let mut begin = source.len();
        let mut ranked: Vec<(u8, Found)> = Vec::new();
        for _ in 0..TRAILING_TAGS_MAX {
            let Some((part, rank, found)) = trailing(source, start, begin)? else { break };
            begin = part.range().offset;
            self.parts.0.push(part);
            ranked.push((rank, found));
        }
        self.parts.0.reverse();
        ranked.reverse();
        ranked.sort_by_key(|(rank, _)| *rank);
        self.found.extend(ranked.into_iter().map(|(_, found)| found));
        Ok(begin)
    }
}

/// The tag that ends at `end`, with its rank among others.
fn trailing(source: &dyn ReadAt, start: u64, end: u64) -> io::Result<Option<(Part, u8, Found)>> {
    if let Some(offset) = end.checked_sub(v1::TAG_BYTES).filter(|offset| *offset >= start) {
        let bytes = source.bytes(offset, v1::TAG_BYTES, v1::TAG_BYTES as usize)?;
        if let Some((tag, found)) = v1::read(&bytes, offset) {
            return Ok(Some((Part::Id3v1(tag), 2, found)));
        }
    }
    if let Some(read) = ape::read(source, start, end)? {
        return Ok(Some((Part::Ape(read.tag), 0, read.found)));
    }
    if let Some(range) = lyrics(source, start, end)? {
        return Ok(Some((Part::Kept(range), 3, Found::default())));
    }
    appended_id3v2(source, start, end)
}

/// An ID3v2.4 tag that ends with its footer (section 3.4).
fn appended_id3v2(source: &dyn ReadAt, start: u64, end: u64) -> io::Result<Option<(Part, u8, Found)>> {
    let Some(footer_at) = end.checked_sub(v2::HEADER_BYTES).filter(|at| *at >= start) else { return Ok(None) };
    let footer = v2::Header::parse_footer(&source.bytes(footer_at, v2::HEADER_BYTES, v2::HEADER_BYTES as usize)?);
    let offset = footer.and_then(|footer| end.checked_sub(footer.tag_bytes())).filter(|offset| *offset >= start);
    let Some(offset) = offset else { return Ok(None) };
    let read = v2::read(source, offset)?.filter(|read| read.len == end - offset);
    Ok(read.and_then(|read| Some((Part::Id3v2(read.tag?), 1, read.found))))
}

/// A Lyrics3 tag (id3.org, "Lyrics3" and "Lyrics3v2"): the first version is searched for its begin, the second has a size.
fn lyrics(source: &dyn ReadAt, start: u64, end: u64) -> io::Result<Option<ByteRange>> {
    const BEGIN: &[u8] = b"LYRICSBEGIN";
    let from = end.saturating_sub(LYRICS_BYTES_MAX).max(start);
    let tail = source.bytes(end.saturating_sub(15).max(start), 15, 15)?;
    if let Some(size) = tail.strip_suffix(b"LYRICS200").and_then(|size| std::str::from_utf8(size).ok()?.parse().ok()) {
        let offset = end.checked_sub(15).and_then(|end| end.checked_sub(size)).filter(|offset| *offset >= start);
        let Some(offset) = offset else { return Ok(None) };
        let begins = source.bytes(offset, 11, 11)? == BEGIN;
        return Ok(begins.then(|| ByteRange::between(offset, end)));
    }
    if !tail.ends_with(b"LYRICSEND") {
        return Ok(None);
    }
    let bytes = source.bytes(from, end - from, LYRICS_BYTES_MAX as usize)?;
    let begin = bytes.windows(BEGIN.len()).rposition(|window| window == BEGIN);
    Ok(begin.map(|begin| ByteRange::between(from + begin as u64, end)))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
    use super::*;

    const TAG: &[u8] = b"ID3\x03\0\0\0\0\0\x0d\0\0\0\0\0\0\0\0\0\0\0\0\0";

    fn trailing_begin(source: &[u8]) -> u64 {
        Envelope::default().read_trailing(&source.to_vec(), 1).unwrap()
    }

    #[test]
    fn no_more_tags_than_the_limits() {
        for (count, read) in [(LEADING_TAGS_MAX, LEADING_TAGS_MAX), (LEADING_TAGS_MAX + 1, LEADING_TAGS_MAX)] {
            let end = Envelope::default().read_leading(&TAG.repeat(count), 0).unwrap();
            assert_eq!(end, (read * TAG.len()) as u64);
        }
        let v1 = [&b"TAG"[..], &[0; 125]].concat();
        for (count, left) in [(TRAILING_TAGS_MAX, 1), (TRAILING_TAGS_MAX + 1, 129)] {
            assert_eq!(trailing_begin(&[b"x".to_vec(), v1.repeat(count)].concat()), left);
        }
    }

    #[test]
    fn lyrics_are_recognised() {
        let first = |len: usize| [&b"audioLYRICSBEGIN"[..], &vec![b'x'; len], b"LYRICSEND"].concat();
        for (source, begin) in [
            (b"audioLYRICSBEGININD0000310000021LYRICS200".to_vec(), 5),
            (b"audioLYRICSBEGIN000099LYRICS200".to_vec(), 31),
            (b"audioLYRICSBEGIN00000xLYRICS200".to_vec(), 31),
            (first(10), 5),
            (first(5100), 5),
            (first(5101), 5 + 20 + 5101),
            (b"LYRICSEND".to_vec(), 9),
        ] {
            assert_eq!(trailing_begin(&source), begin, "{} bytes", source.len());
        }
    }
}
