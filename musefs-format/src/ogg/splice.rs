//! The file to serve: the comments' packet rebuilt, on as many pages as before if it can be.

use std::ops::Range;

use super::codec::Codec;
use super::page::HEADER_BYTES;
use super::paginate::{Pages, plan};
use super::structure::{OggStructure, segments_of};
use crate::limits::PADDING_UNIT_BYTES;
use crate::vorbis::{Piece, can_hold, edited};
use crate::{Edits, Refusal, Splice, SpliceBuilder};

/// Largest content of a block of FLAC: its length has 24 bits (RFC 9639, section 8.1).
const FLAC_BLOCK_BYTES_MAX: u64 = (1 << 24) - 1;
/// Longest packet of comments that is written: what follows every limit of readers (RFC 7845, section 5.2).
const COMMENT_BYTES_MAX: u64 = 125_829_120;

/// A packet of the served file.
pub(super) struct NewPacket {
    /// Made bytes, and ranges of what the source's pages hold.
    pub(super) pieces: Vec<Piece>,
    pub(super) len: u64,
}

impl NewPacket {
    fn kept(offset: u64, len: u64) -> Self {
        Self { pieces: vec![Piece::Kept(offset as u32, len as u32)], len }
    }

    fn new(pieces: Vec<Piece>) -> Self {
        let len = pieces.iter().map(Piece::bytes).sum();
        Self { pieces, len }
    }
}

pub(super) fn splice(structure: &OggStructure, edits: &Edits) -> Result<Splice, Refusal> {
    let adds = edits.changed().any(|key| !edits.effective().get(key).is_empty());
    let spelt_out = (adds && !structure.comments_speak()).then(|| edits.spelt_out(can_hold));
    let comments = comments(structure, spelt_out.as_ref().unwrap_or(edits))?;
    let mut builder = SpliceBuilder::default();
    // Tags around the pages lose or change the edited keys that they hold, but get no new ones.
    let head_end = structure.head.sound_end(0).unwrap_or(0);
    structure.head.rewrite(edits, None)?.append_to(&mut builder);
    let Some(comments) = comments else {
        builder.source(head_end, structure.end - head_end);
        structure.tail.rewrite(edits, None)?.append_to(&mut builder);
        return Ok(builder.finish());
    };
    builder.source(head_end, structure.pages[0].offset - head_end);
    let packets = packets(structure, comments);
    let lens: Vec<_> = packets.iter().map(|packet| packet.len).collect();
    Pages { structure, packets: &packets, plan: plan(structure, &lens) }.append_to(&mut builder);
    structure.tail.rewrite(edits, None)?.append_to(&mut builder);
    Ok(builder.finish())
}

/// The comments' packet without its padding; `None` if nothing changes.
fn comments(structure: &OggStructure, edits: &Edits) -> Result<Option<Vec<Piece>>, Refusal> {
    let Some(body) = edited(&structure.comments, edits, true)? else { return Ok(None) };
    let start = structure.before.iter().map(|len| u32::from(*len)).sum::<u32>();
    let prefix = structure.codec.prefix_bytes() as u32;
    let shifted = |piece| match piece {
        Piece::Kept(offset, len) => Piece::Kept(start + prefix + offset, len),
        made @ Piece::Made(_) => made,
    };
    let mut pieces = vec![Piece::Kept(start, prefix)];
    pieces.extend(body.into_iter().map(shifted));
    if structure.comments.complete {
        pieces.push(Piece::Kept(start + prefix + structure.comments.end, structure.kept));
    } else if structure.codec == Codec::Vorbis {
        // The framing bit (Vorbis I specification, section 5.2.1).
        pieces.push(Piece::Made(vec![1]));
    }
    let bytes = pieces.iter().map(Piece::bytes).sum::<u64>();
    let limit = match structure.codec {
        Codec::Flac => FLAC_BLOCK_BYTES_MAX + 4,
        Codec::Vorbis | Codec::Opus | Codec::Speex => COMMENT_BYTES_MAX,
    };
    if bytes > limit {
        return Err(too_large(edits, bytes, limit));
    }
    if structure.codec == Codec::Flac {
        let head = Piece::Kept(start, 1);
        let len = (bytes as u32 - prefix).to_be_bytes();
        pieces.splice(0..1, [head, Piece::Made(len[1..].to_vec())]);
    }
    Ok(Some(pieces))
}

/// Names the edited key with the longest values: it is the one to shorten.
fn too_large(edits: &Edits, bytes: u64, limit: u64) -> Refusal {
    let size = |key: &&str| edits.effective().get(key).iter().map(String::len).sum::<usize>();
    let key = edits.changed().max_by_key(size).unwrap_or_default().to_owned();
    Refusal::TooLarge { key, bytes, what: "the packet of comments of an Ogg file, with all its fields,", limit }
}

/// All packets, with padding that takes up the difference where there can be any.
fn packets(structure: &OggStructure, comments: Vec<Piece>) -> Vec<NewPacket> {
    let start = structure.before.iter().map(|len| u64::from(*len)).sum::<u64>();
    let mut ends = Vec::new();
    let mut packets = Vec::new();
    let mut offset = start;
    for len in structure.packets.iter().map(|len| u64::from(*len)) {
        packets.push(NewPacket::kept(offset, len));
        offset += len;
        ends.push(offset);
    }
    packets[0] = NewPacket::new(comments);
    let last = packets.len() - 1;
    let padding = u64::from(structure.padding);
    match structure.codec {
        Codec::Opus if structure.kept == 0 => pad(structure, &mut packets, 0, ends[0] - padding..ends[0]),
        Codec::Vorbis | Codec::Speex if padding > 0 => pad(structure, &mut packets, 0, ends[0] - padding..ends[0]),
        Codec::Flac if last > 0 => {
            let begin = ends[last] - u64::from(structure.packets[last]);
            packets[last] = NewPacket::new(vec![Piece::Kept(begin as u32, 1), Piece::Made(vec![0; 3])]);
            pad(structure, &mut packets, last, begin + 4..ends[last]);
            let content = (packets[last].len - 4) as u32;
            packets[last].pieces[1] = Piece::Made(content.to_be_bytes()[1..].to_vec());
        }
        _ => {}
    }
    packets
}

/// Appends padding to a packet, so that the pages take as many bytes as before, or a multiple of
/// [`PADDING_UNIT_BYTES`] more. `old` is where the padding was among what the source's pages hold.
fn pad(structure: &OggStructure, packets: &mut [NewPacket], index: usize, old: Range<u64>) {
    let lens: Vec<_> = packets.iter().map(|packet| packet.len).collect();
    let padding = padded_len(structure, &lens, index).unwrap_or(lens[index]) - lens[index];
    let kept = padding.min(old.end - old.start);
    let packet = &mut packets[index];
    packet.pieces.push(Piece::Kept(old.start as u32, kept as u32));
    packet.pieces.push(Piece::Made(vec![0; (padding - kept) as usize]));
    packet.len += padding;
}

/// The length of a packet for which all pages together have the length that is wanted.
fn padded_len(structure: &OggStructure, lens: &[u64], index: usize) -> Option<u64> {
    let old_bytes: u64 = structure.pages.iter().map(|page| page.end() - page.offset).sum();
    let all_pages = |lens: &[u64]| {
        let pages = plan(structure, lens).len() as u64;
        (pages, pages * HEADER_BYTES as u64 + laced_bytes(structure, lens))
    };
    let (pages, least) = all_pages(lens);
    let steps = least.saturating_sub(old_bytes).div_ceil(PADDING_UNIT_BYTES);
    let mut tries = (steps..steps + 3).flat_map(|steps| (pages..pages + 3).map(move |pages| (steps, pages)));
    tries.find_map(|(steps, pages)| {
        let wanted = old_bytes + steps * PADDING_UNIT_BYTES;
        let room = room_of(wanted, pages, structure, lens, index)?;
        let len = len_of_laced(room)?;
        let mut tried = lens.to_vec();
        tried[index] = len;
        let fits = len >= lens[index] && (structure.codec != Codec::Flac || len <= FLAC_BLOCK_BYTES_MAX + 4);
        (fits && all_pages(&tried) == (pages, wanted)).then_some(len)
    })
}

/// What of `wanted` bytes on so many pages is left for one packet with its lacing values.
fn room_of(wanted: u64, pages: u64, structure: &OggStructure, lens: &[u64], index: usize) -> Option<u64> {
    let others = laced_bytes(structure, lens) - lens[index] - segments_of(lens[index]);
    wanted.checked_sub(pages * HEADER_BYTES as u64)?.checked_sub(others)
}

/// Bytes of all packets, whole and cut ones, with their lacing values.
fn laced_bytes(structure: &OggStructure, lens: &[u64]) -> u64 {
    let cut = structure.before.iter().chain(&structure.after).map(|len| u64::from(*len) + 1).sum::<u64>();
    cut + lens.iter().map(|len| len + segments_of(*len)).sum::<u64>()
}

/// The length of a packet that takes so many bytes with its lacing values; `None` if none does.
fn len_of_laced(bytes: u64) -> Option<u64> {
    let without_last = bytes.checked_sub(1)?;
    (without_last % 256 != 255).then(|| without_last / 256 * 255 + without_last % 256)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_with_lacing_values_are_resolved() {
        for len in (0..2000).chain(65_000..65_100) {
            assert_eq!(len_of_laced(len + segments_of(len)), Some(len));
        }
        assert_eq!((len_of_laced(0), len_of_laced(256), len_of_laced(257)), (None, None, Some(255)));
    }
}
