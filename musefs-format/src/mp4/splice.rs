//! The file to serve: `moov` with other tags, a free box that takes up the difference, and all else from the source.

use super::boxes::{HEADER_BYTES, WIDE_HEADER_BYTES, header};
use super::rewrite::{Inner, Node, movie};
use super::structure::{Mp4Structure, Table};
use crate::limits::{MP4_FREE_BYTES_MAX, PADDING_UNIT_BYTES};
use crate::{ByteRange, Edits, Offsets, Refusal, Splice, SpliceBuilder};

pub(super) fn splice(structure: &Mp4Structure, edits: &Edits) -> Result<Splice, Refusal> {
    let (begin, end) = (structure.moov.offset, structure.head_end());
    let mut nodes = vec![movie(&structure.moov, structure.speaks, edits)?];
    if structure.free > 0 {
        nodes.push(Node::Free(ByteRange { offset: end - structure.free, len: structure.free }, structure.free));
    }
    absorb(&mut nodes, end - begin, structure.leads);
    let delta = nodes.iter().map(Node::len).sum::<u64>().cast_signed() - (end - begin).cast_signed();
    let writer = Writer { tables: &structure.tables, past: end, delta };
    if writer.overflows(structure.len) {
        return Err(too_long(edits));
    }
    let mut builder = SpliceBuilder::default();
    writer.source(ByteRange { offset: 0, len: begin }, &mut builder);
    nodes.iter().for_each(|node| writer.node(node, &mut builder));
    writer.source(ByteRange::between(end, structure.len), &mut builder);
    Ok(builder.finish())
}

/// Names the edited key with the longest values: it is the one to shorten.
fn too_long(edits: &Edits) -> Refusal {
    let size = |key: &&str| edits.effective().get(key).iter().map(String::len).sum::<usize>();
    let key = edits.changed().max_by_key(size).unwrap_or_default().to_owned();
    Refusal::Value {
        key,
        reason: "the file would need more than the 32 bits that it has for the places of its audio".to_owned(),
    }
}

/// Lets the largest free box take up the difference to the `old_bytes` of all nodes. What it cannot take moves what
/// follows by a multiple of [`PADDING_UNIT_BYTES`] if something does (`leads`), else as little as can be.
fn absorb(nodes: &mut Vec<Node>, old_bytes: u64, leads: bool) {
    let grown = nodes.iter().map(Node::len).sum::<u64>().cast_signed() - old_bytes.cast_signed();
    let mut largest = None;
    nodes.iter_mut().for_each(|node| find_largest_free(node, &mut largest));
    match largest {
        Some(free) => *free = free_bytes(*free, free.cast_signed() - grown, leads),
        None if leads => nodes.push(Node::Free(ByteRange::default(), free_bytes(0, -grown, true))),
        None => {}
    }
}

fn find_largest_free<'a>(node: &'a mut Node, largest: &mut Option<&'a mut u64>) {
    match node {
        Node::Free(_, len) if largest.as_ref().is_none_or(|known| **known < *len) => *largest = Some(len),
        Node::Box(inner) => inner.nodes.iter_mut().for_each(|node| find_largest_free(node, largest)),
        _ => {}
    }
}

/// The length of a free box that had `old` bytes, nearest above `wanted`: 0, or at least a header's. Of one that would
/// grow beyond [`MP4_FREE_BYTES_MAX`] the nearest below.
fn free_bytes(old: u64, wanted: i64, aligned: bool) -> u64 {
    let (least, most) = (HEADER_BYTES.cast_signed(), old.max(MP4_FREE_BYTES_MAX).cast_signed());
    let unit = PADDING_UNIT_BYTES.cast_signed();
    let steps = |distance: i64| (distance + unit - 1) / unit * unit;
    let bytes = match wanted {
        0 => 0,
        _ if wanted > most => wanted - steps(wanted - most),
        _ if wanted >= least => wanted,
        _ if aligned => wanted + steps(least - wanted),
        _ if wanted < 0 => 0,
        _ => wanted + least,
    };
    bytes.unsigned_abs()
}

impl Inner {
    fn content_bytes(&self) -> u64 {
        self.nodes.iter().map(Node::len).sum()
    }

    fn header(&self) -> Vec<u8> {
        let len = self.content_bytes();
        if self.wide {
            return [&[0, 0, 0, 1][..], &self.kind, &(WIDE_HEADER_BYTES + len).to_be_bytes()].concat();
        }
        header(self.kind, len)
    }
}

impl Node {
    fn len(&self) -> u64 {
        match self {
            Self::Source(range) => range.len,
            Self::Made(bytes) => bytes.len() as u64,
            Self::Free(_, len) => *len,
            Self::Box(inner) => inner.header().len() as u64 + inner.content_bytes(),
        }
    }
}

/// Appends nodes to a splice, with what follows `past` moved by `delta`.
struct Writer<'a> {
    tables: &'a [Table],
    past: u64,
    delta: i64,
}

impl Writer<'_> {
    /// Whether an offset may not fit any more. How large they are is not known: less than the source's length.
    fn overflows(&self, source_bytes: u64) -> bool {
        let most = source_bytes.saturating_add_signed(self.delta);
        let is_full = |table: &Table| !table.wide && most > u64::from(u32::MAX) && self.past <= u64::from(u32::MAX);
        self.delta > 0 && source_bytes > self.past && self.tables.iter().any(is_full)
    }

    fn node(&self, node: &Node, builder: &mut SpliceBuilder) {
        match node {
            Node::Source(range) => self.source(*range, builder),
            Node::Made(bytes) => builder.made(bytes),
            Node::Free(range, len) if range.len == *len => builder.source(range.offset, range.len),
            Node::Free(_, 0) => {}
            Node::Free(range, len) => {
                let header = header(*b"free", len - HEADER_BYTES);
                builder.made(&header);
                let content = len - header.len() as u64;
                let kept = content.min(range.len.saturating_sub(WIDE_HEADER_BYTES));
                builder.source(range.end() - kept, kept);
                builder.made(&vec![0; (content - kept) as usize]);
            }
            Node::Box(inner) => {
                builder.made(&inner.header());
                inner.nodes.iter().for_each(|node| self.node(node, builder));
            }
        }
    }

    /// A range of the source, with the tables in it mended.
    fn source(&self, range: ByteRange, builder: &mut SpliceBuilder) {
        let mut at = range.offset;
        let tables = if self.delta == 0 { &[] } else { self.tables };
        let first = tables.partition_point(|table| table.offset < range.offset);
        for table in tables[first..].iter().take_while(|table| table.offset + table.len <= range.end()) {
            builder.source(at, table.offset - at);
            builder.offsets(self.offsets(table), table.len);
            at = table.offset + table.len;
        }
        builder.source(at, range.end() - at);
    }

    fn offsets(&self, table: &Table) -> Offsets {
        let &Table { offset, entry_bytes, field, wide, .. } = table;
        Offsets { at: offset, skipped: 0, entry_bytes, field, wide, past: self.past, delta: self.delta }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_box_takes_what_it_can() {
        let most = MP4_FREE_BYTES_MAX.cast_signed();
        for (wanted, aligned, bytes) in [
            (0, true, 0),
            (8, true, 8),
            (7, true, 4103),
            (-1, true, 4095),
            (-4088, true, 8),
            (-4089, true, 4103),
            (-1, false, 0),
            (7, false, 15),
            (most, true, most),
            (most + 1, true, most + 1 - 4096),
        ] {
            assert_eq!(free_bytes(100, wanted, aligned), bytes.unsigned_abs(), "{wanted}");
        }
        assert_eq!(free_bytes(MP4_FREE_BYTES_MAX + 9, most + 9, true), MP4_FREE_BYTES_MAX + 9);
    }
}
