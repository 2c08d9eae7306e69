//! The file to serve: comment blocks rebuilt, padding adjusted, all else taken from the source.

use super::structure::{BLOCK_BYTES_MAX, Block, FlacStructure, HEADER_BYTES, MARKER_BYTES, kind};
use crate::vorbis::{Layout, Piece, can_hold, edited};
use crate::{Edits, Refusal, Splice, SpliceBuilder};

/// Audio that has to move, moves by a multiple of this: pages of the two files stay aligned to each other.
const ALIGNMENT: i64 = 4096;

/// A block of the served file.
struct Part {
    kind: u8,
    /// The block in the source; `None` for a new one.
    old: Option<Old>,
    /// What takes the place of the content; `None` keeps it.
    new: Option<Vec<Piece>>,
}

#[derive(Clone, Copy)]
struct Old {
    /// Of the block's header in the source.
    offset: u64,
    head: u8,
    len: u32,
}

pub(super) fn splice(structure: &FlacStructure, edits: &Edits) -> Result<Splice, Refusal> {
    let mut parts = parts(structure);
    let adds = edits.changed().any(|key| !edits.effective().get(key).is_empty());
    if adds && !structure.comments_speak() {
        edit_comments(&mut parts, structure, &edits.spelt_out(can_hold))?;
    } else {
        edit_comments(&mut parts, structure, edits)?;
    }
    let audio = structure.audio();
    absorb(&mut parts, audio - structure.marker - MARKER_BYTES);
    let mut builder = SpliceBuilder::default();
    // Tags around the stream lose or change the edited keys that they hold, but get no new ones: players of FLAC
    // look for them in the comments.
    structure.head.rewrite(edits, None)?.append_to(&mut builder);
    builder.source(structure.marker, MARKER_BYTES);
    for (at, part) in (1..).zip(&parts) {
        part.append(&mut builder, at == parts.len());
    }
    builder.source(audio, structure.audio_end.saturating_sub(audio));
    structure.tail.rewrite(edits, None)?.append_to(&mut builder);
    Ok(builder.finish())
}

/// All blocks as they are.
fn parts(structure: &FlacStructure) -> Vec<Part> {
    let mut offset = structure.marker + MARKER_BYTES;
    let part = |block: &Block| {
        let old = Old { offset, head: block.head, len: block.len };
        offset += block.total();
        Part { kind: block.kind(), old: Some(old), new: None }
    };
    structure.blocks.iter().map(part).collect()
}

/// Rebuilds what comment blocks the edits touch. New keys go to the first, behind STREAMINFO if there is none.
fn edit_comments(parts: &mut Vec<Part>, structure: &FlacStructure, edits: &Edits) -> Result<(), Refusal> {
    let mut is_first = true;
    for (part, block) in parts.iter_mut().zip(&structure.blocks) {
        let Some(layout) = &block.comments else { continue };
        part.new = edited(layout, edits, is_first)?.map(|mut pieces| {
            if layout.complete {
                pieces.push(Piece::Kept(layout.end, block.len.saturating_sub(layout.end)));
            }
            pieces
        });
        is_first = false;
    }
    if is_first && let Some(pieces) = edited(&Layout::default(), edits, true)? {
        let stream_info = parts.iter().position(|part| part.kind == kind::STREAMINFO).map_or(0, |at| at + 1);
        parts.insert(stream_info, Part { kind: kind::COMMENTS, old: None, new: Some(pieces) });
    }
    match parts.iter().map(Part::content_bytes).find(|bytes| *bytes > BLOCK_BYTES_MAX) {
        Some(bytes) => Err(too_large(edits, bytes)),
        None => Ok(()),
    }
}

/// Names the edited key with the longest values: it is the one to shorten.
fn too_large(edits: &Edits, bytes: u64) -> Refusal {
    let size = |key: &&str| edits.effective().get(key).iter().map(String::len).sum::<usize>();
    let key = edits.changed().max_by_key(size).unwrap_or_default().to_owned();
    Refusal::TooLarge {
        key,
        bytes,
        what: "the comment block of a FLAC file, with all its fields,",
        limit: BLOCK_BYTES_MAX,
    }
}

/// Lets the largest padding block take up the difference to the `old_bytes` of all blocks; what it cannot take
/// moves the audio by a multiple of [`ALIGNMENT`].
fn absorb(parts: &mut Vec<Part>, old_bytes: u64) {
    let grown = parts.iter().map(Part::total).sum::<u64>().cast_signed() - old_bytes.cast_signed();
    let padding = (0..parts.len()).filter(|at| parts[*at].kind == kind::PADDING).max_by_key(|at| parts[*at].total());
    let room = padding.map_or(0, |at| parts[at].total().cast_signed());
    let total = padding_total(room - grown);
    match (padding, u64::try_from(total - HEADER_BYTES.cast_signed())) {
        (Some(at), Ok(len)) => parts[at].resize(len as u32),
        (Some(at), Err(_)) => drop(parts.remove(at)),
        (None, Ok(len)) => {
            parts.push(Part { kind: kind::PADDING, old: None, new: Some(vec![Piece::Made(vec![0; len as usize])]) });
        }
        (None, Err(_)) => {}
    }
}

/// The size of a padding block with its header that is nearest above `wanted` in steps of [`ALIGNMENT`], or below if it must;
/// 0 for no block.
fn padding_total(wanted: i64) -> i64 {
    let (least, most) = (HEADER_BYTES.cast_signed(), (HEADER_BYTES + BLOCK_BYTES_MAX).cast_signed());
    let steps = |distance: i64| (distance + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    match wanted {
        0 => 0,
        _ if wanted < least => wanted + steps(least - wanted),
        _ if wanted > most => wanted - steps(wanted - most),
        _ => wanted,
    }
}

impl Part {
    fn content_bytes(&self) -> u64 {
        match (&self.new, self.old) {
            (Some(pieces), _) => pieces.iter().map(Piece::bytes).sum(),
            (None, old) => old.map_or(0, |old| u64::from(old.len)),
        }
    }

    fn total(&self) -> u64 {
        HEADER_BYTES + self.content_bytes()
    }

    /// Makes the content `len` bytes long: cut, or filled up with zeros.
    fn resize(&mut self, len: u32) {
        let old_len = self.old.map_or(0, |old| old.len);
        if len != old_len {
            let zeros = vec![0; len.saturating_sub(old_len) as usize];
            self.new = Some(vec![Piece::Kept(0, len.min(old_len)), Piece::Made(zeros)]);
        }
    }

    fn append(&self, builder: &mut SpliceBuilder, is_last: bool) {
        let head = self.kind | if is_last { 0x80 } else { 0 };
        let content = self.old.map_or(0, |old| old.offset + HEADER_BYTES);
        match (self.old, &self.new) {
            (Some(old), None) if old.head == head => return builder.source(old.offset, self.total()),
            _ => builder.made(&(u32::from(head) << 24 | self.content_bytes() as u32).to_be_bytes()),
        }
        let kept_whole = [Piece::Kept(0, self.content_bytes() as u32)];
        for piece in self.new.as_deref().unwrap_or(&kept_whole) {
            match piece {
                Piece::Made(bytes) => builder.made(bytes),
                Piece::Kept(offset, len) => builder.source(content + u64::from(*offset), u64::from(*len)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_keeps_the_audio_in_place_or_moves_it_by_pages() {
        let most = (HEADER_BYTES + BLOCK_BYTES_MAX).cast_signed();
        for (wanted, total) in [
            (0, 0),
            (4, 4),
            (5, 5),
            (3, 4099),
            (-1, 4095),
            (-4092, 4),
            (-4093, 4099),
            (most, most),
            (most + 1, most + 1 - 4096),
        ] {
            assert_eq!(padding_total(wanted), total, "{wanted}");
        }
    }
}
