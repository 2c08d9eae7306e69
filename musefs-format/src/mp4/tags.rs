//! The boxes in `moov` that hold tags, taken apart.

use std::io;

use super::boxes::{Boxed, Children, HEADER_BYTES, Kind, WIDE_HEADER_BYTES};
use super::items::{Reader, key_names};
use super::structure::{Container, Part, Role};
use crate::ByteRange;

/// The kind of metadata that iTunes writes.
const ITUNES_HANDLER: Kind = *b"mdir";

/// Why a file cannot be edited.
pub(super) type Reason = &'static str;

/// Takes `moov` apart. The error in words is why the tags in it cannot be edited.
pub(super) fn movie(reader: &mut Reader<'_>, moov: Boxed) -> io::Result<Result<Container, Reason>> {
    let mut parts = Parts::new(Role::Movie, moov, 0);
    let children = reader.walker.children(moov.content())?;
    for &child in &children.boxes {
        let part = match &child.kind {
            b"udta" => user_data(reader, child)?.map(Part::Container),
            b"meta" => meta(reader, child)?.map(Part::Container),
            _ => Ok(plain(child)),
        };
        match part {
            Ok(part) => parts.push(part),
            Err(reason) => return Ok(Err(reason)),
        }
    }
    parts.finish(reader, &children)
}

fn user_data(reader: &mut Reader<'_>, udta: Boxed) -> io::Result<Result<Container, Reason>> {
    let mut parts = Parts::new(Role::UserData, udta, 0);
    let children = reader.walker.children(udta.content())?;
    for &child in &children.boxes {
        let part = match &child.kind {
            b"meta" => match meta(reader, child)? {
                Ok(meta) => Part::Container(meta),
                Err(reason) => return Ok(Err(reason)),
            },
            _ => reader.user_data(child)?.map_or_else(|| plain(child), Part::Item),
        };
        parts.push(part);
    }
    parts.finish(reader, &children)
}

fn meta(reader: &mut Reader<'_>, meta: Boxed) -> io::Result<Result<Container, Reason>> {
    let content = meta.content();
    let head = reader.walker.source.bytes(content.offset, content.len, 8)?;
    // QuickTime's has neither version nor flags: the kind of its first child shows it.
    let is_plain = [b"hdlr", b"keys", b"ilst", b"free", b"mhdr"].iter().any(|kind| head.get(4..8) == Some(&kind[..]));
    let preface = if is_plain { 0 } else { content.len.min(4) };
    let children = reader.walker.children(ByteRange::between(content.offset + preface, content.end()))?;
    if children.boxes.iter().any(|child| &child.kind == b"iloc") {
        return Ok(Err("its metadata points to other places of the file (iloc)"));
    }
    let handler = handler(reader, &children)?;
    let keys = children.boxes.iter().find(|child| &child.kind == b"keys");
    let role = match (handler, keys) {
        (Some(ITUNES_HANDLER), _) | (None, None) => Role::Meta,
        _ => Role::OtherMeta,
    };
    let names = keys.map(|keys| key_names(reader.walker, *keys)).transpose()?;
    let mut parts = Parts::new(role, meta, preface);
    for &child in &children.boxes {
        let part = match (&child.kind, role, &names) {
            (b"ilst", Role::Meta, _) => items(reader, child, None)?.map(Part::Container),
            (b"ilst", _, Some(names)) => items(reader, child, Some(names.as_slice()))?.map(Part::Container),
            _ => Ok(plain(child)),
        };
        match part {
            Ok(part) => parts.push(part),
            Err(reason) => return Ok(Err(reason)),
        }
    }
    parts.finish(reader, &children)
}

/// What kind of metadata a `meta` box has (section 8.4.3: behind version, flags and four bytes).
fn handler(reader: &Reader<'_>, children: &Children) -> io::Result<Option<[u8; 4]>> {
    let Some(hdlr) = children.boxes.iter().find(|child| &child.kind == b"hdlr") else { return Ok(None) };
    let content = hdlr.content();
    let bytes = reader.walker.source.bytes(content.offset, content.len, 12)?;
    Ok(bytes.get(8..).and_then(|kind| kind.first_chunk()).copied())
}

fn items(reader: &mut Reader<'_>, ilst: Boxed, keys: Option<&[String]>) -> io::Result<Result<Container, Reason>> {
    let role = if keys.is_some() { Role::KeyedItems } else { Role::Items };
    let mut parts = Parts::new(role, ilst, 0);
    let children = reader.walker.children(ilst.content())?;
    for &child in &children.boxes {
        let part = match (plain(child), keys) {
            (Part::Free(len), _) => Part::Free(len),
            (_, Some(keys)) => Part::Item(reader.keyed_item(child, keys)?),
            (_, None) => Part::Item(reader.item(child)?),
        };
        parts.push(part);
    }
    if children.end < ilst.end {
        reader.items.problem("the list of tags ends in bytes that are no item; they are kept");
    }
    parts.finish(reader, &children)
}

/// A box that is not looked into.
fn plain(child: Boxed) -> Part {
    let len = child.end - child.offset;
    if matches!(&child.kind, b"free" | b"skip") { Part::Free(len) } else { Part::Kept(len) }
}

/// The parts of a container as they are found.
struct Parts {
    container: Container,
    end: u64,
}

impl Parts {
    fn new(role: Role, boxed: Boxed, preface: u64) -> Self {
        debug_assert!(boxed.head == HEADER_BYTES || boxed.head == WIDE_HEADER_BYTES);
        let wide = boxed.head == WIDE_HEADER_BYTES;
        Self { container: Container { role, offset: boxed.offset, wide, preface, parts: Vec::new() }, end: boxed.end }
    }

    /// Boxes that stay, one behind the other, are one part.
    fn push(&mut self, part: Part) {
        match (self.container.parts.last_mut(), part) {
            (Some(Part::Kept(before)), Part::Kept(len)) => *before += len,
            (_, part) => self.container.parts.push(part),
        }
    }

    /// Adds what is no box at the end. If that looks like the very boxes that an edit is to change, readers that are less
    /// strict would find two of them.
    fn finish(mut self, reader: &Reader<'_>, children: &Children) -> io::Result<Result<Container, Reason>> {
        let rest = ByteRange::between(children.end, self.end);
        let head = reader.walker.source.bytes(rest.offset, rest.len, HEADER_BYTES as usize)?;
        if matches!(head.get(4..8), Some(b"udta" | b"meta" | b"ilst")) {
            return Ok(Err("a box of its tags runs past the end of the box around it"));
        }
        if rest.len > 0 {
            self.container.parts.push(Part::Rest(rest.len));
        }
        Ok(Ok(self.container))
    }
}
