//! A tag with other values: new frames for what the edits touch, ranges of the source for everything else.
//!
//! An unsynchronised ID3v2.2 or 2.3 tag is written without unsynchronisation: its untouched frames are the ranges
//! between their stuffed bytes, whose places the structure holds. So no source byte is needed, every untouched
//! frame is what it was when decoded, and readers that mistake such tags (which many do) need not. A tag
//! whose frame sizes count the stuffing cannot be told from one that was never stuffed, and keeps its form.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::write::Home;
use super::{
    FLAG_EXTENDED, FLAG_FOOTER, FLAG_UNSYNCHRONISED, Frame, FrameSizes, HEADER_BYTES, Tag, Version, to_syncsafe,
};
use crate::Edits;
use crate::container::Refusal;
use crate::limits::{ID3_TAG_BYTES_MAX, PADDING_UNIT_BYTES};
use crate::splice::SpliceBuilder;

/// What may become of the length of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// What follows moves by a multiple of 4096 bytes, or not at all.
    Aligned,
    /// No more padding than there was.
    Tight,
}

/// Runs of made bytes and of ranges of the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pieces(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Made(Vec<u8>),
    Source(u64, u64),
}

impl Pieces {
    /// Appends made bytes.
    pub fn made(&mut self, bytes: Vec<u8>) {
        self.0.push(Piece::Made(bytes));
    }

    /// Appends a range of the source.
    pub fn source(&mut self, offset: u64, len: u64) {
        self.0.push(Piece::Source(offset, len));
    }

    /// Appends all of `others`.
    pub fn append(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Bytes of all.
    pub fn len(&self) -> u64 {
        let len = |piece: &Piece| match piece {
            Piece::Made(bytes) => bytes.len() as u64,
            Piece::Source(_, len) => *len,
        };
        self.0.iter().map(len).sum()
    }

    /// Whether there is not one byte.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends all to a splice.
    pub fn append_to(&self, builder: &mut SpliceBuilder) {
        for piece in &self.0 {
            match piece {
                Piece::Made(bytes) => builder.made(bytes),
                Piece::Source(offset, len) => builder.source(*offset, *len),
            }
        }
    }
}

/// Whether a tag of `version` can hold a key.
pub fn can_hold(version: Version, key: &str) -> bool {
    Home::of(version, key).is_some()
}

/// The tag with the edits; exactly the source's bytes if they touch nothing of it and `adds` is false.
///
/// With `adds`, edited keys that the tag did not have are added, and a tag that said nothing gets all
/// effective tags: readers that met nothing in it read others behind it, and now will not.
///
/// # Errors
/// A value is too large for the tag.
pub fn rewrite(tag: &Tag, edits: &Edits, adds: bool, room: Room) -> Result<Pieces, Refusal> {
    let mut keys: BTreeSet<String> = edits.changed().map(str::to_owned).collect();
    if adds && !tag.speaks {
        keys.extend(edits.effective().iter().map(|(key, _)| key.to_owned()));
    }
    if !adds {
        keys.retain(|key| tag.frames.iter().any(|frame| frame.keys.contains(key)));
    }
    if keys.is_empty() {
        let mut whole = Pieces::default();
        whole.source(tag.offset, tag.len);
        return Ok(whole);
    }
    let frames = Plan::new(tag, keys, edits).pieces(edits)?;
    assemble(tag, frames, room, edits)
}

/// A new tag with all effective tags that it can hold.
///
/// # Errors
/// A value is too large for the tag.
pub fn create(version: Version, edits: &Edits, room: Room) -> Result<Pieces, Refusal> {
    let tag = Tag {
        offset: 0,
        len: 0,
        version,
        revision: 0,
        flags: 0,
        sizes: FrameSizes::Standard,
        extended: 0,
        frames: Vec::new(),
        padding: 0,
        rest: 0,
        speaks: false,
    };
    rewrite(&tag, edits, true, room)
}

/// Which frames go, and which come in their places.
struct Plan<'a> {
    tag: &'a Tag,
    /// All keys that are written anew or removed.
    keys: BTreeSet<String>,
    /// New frames, with the index of the frame before which each stands, by which they are sorted.
    homes: Vec<(usize, Home)>,
}

/// Name and lower-case detail of a place.
type Place = (String, String);

fn place(name: &str, detail: Option<&str>) -> Place {
    (name.to_owned(), detail.unwrap_or_default().to_lowercase())
}

impl<'a> Plan<'a> {
    fn new(tag: &'a Tag, keys: BTreeSet<String>, edits: &Edits) -> Self {
        let mut plan = Self { tag, keys, homes: Vec::new() };
        plan.close();
        // Readers stop at what is no frame: new ones stand before it.
        let last = tag.frames.iter().position(|frame| frame.name.is_empty()).unwrap_or(tag.frames.len());
        let (mut frames, mut carriers) = (HashMap::new(), HashMap::new());
        for (at, frame) in tag.frames.iter().enumerate() {
            frames.entry(place(&frame.name, frame.detail.as_deref())).or_insert(frame);
            for key in frame.keys.iter().filter(|_| at < last) {
                carriers.entry(key.as_str()).or_insert(at);
            }
        }
        let mut known: HashMap<Place, usize> = HashMap::new();
        for key in plan.keys.iter().filter(|key| !edits.effective().get(key).is_empty()) {
            let Some(mut home) = Home::of(tag.version, key) else { continue };
            let place = place(&home.name, home.detail.as_deref());
            if let Some(&at) = known.get(&place) {
                plan.homes[at].1.keys.append(&mut home.keys);
                continue;
            }
            if let Some(frame) = frames.get(&place) {
                home.detail.clone_from(&frame.detail);
                home.language = frame.language;
            }
            known.insert(place, plan.homes.len());
            plan.homes.push((carriers.get(key.as_str()).copied().unwrap_or(last), home));
        }
        plan.homes.sort_by_key(|(before, _)| *before);
        plan
    }

    /// A touched frame is written anew whole, so that all its keys are, and then all frames that carry one of those.
    fn close(&mut self) {
        loop {
            let home =
                |key: &String| Home::of(self.tag.version, key).map(|home| place(&home.name, home.detail.as_deref()));
            let homes: HashSet<_> = self.keys.iter().filter_map(home).collect();
            let is_home = |frame: &Frame| homes.contains(&place(&frame.name, frame.detail.as_deref()));
            let touched = self.tag.frames.iter().filter(|frame| self.touches(frame) || is_home(frame));
            let more: Vec<_> =
                touched.flat_map(|frame| &frame.keys).filter(|key| !self.keys.contains(*key)).cloned().collect();
            if more.is_empty() {
                return;
            }
            self.keys.extend(more);
        }
    }

    fn touches(&self, frame: &Frame) -> bool {
        frame.keys.iter().any(|key| self.keys.contains(key))
    }

    fn pieces(&self, edits: &Edits) -> Result<Pieces, Refusal> {
        let tag = self.tag;
        let mut pieces = Pieces::default();
        let mut offset = tag.offset + HEADER_BYTES + tag.extended;
        for (at, frame) in tag.frames.iter().enumerate() {
            self.new_frames(at, edits, &mut pieces)?;
            // A frame with a wrong size, which is no frame here, can become one where more follows it.
            if !self.touches(frame) && !frame.name.is_empty() {
                untouched(frame, offset, &mut pieces);
            }
            offset += frame.len;
        }
        self.new_frames(tag.frames.len(), edits, &mut pieces)?;
        Ok(pieces)
    }

    fn new_frames(&self, at: usize, edits: &Edits, pieces: &mut Pieces) -> Result<(), Refusal> {
        let first = self.homes.partition_point(|(before, _)| *before < at);
        for (_, home) in self.homes[first..].iter().take_while(|(before, _)| *before == at) {
            pieces.made(home.frames(self.tag.version, self.tag.sizes, edits)?);
        }
        Ok(())
    }
}

/// The frame without its stuffing.
fn untouched(frame: &Frame, offset: u64, pieces: &mut Pieces) {
    let mut from = 0;
    for &dropped in &frame.stuffing {
        pieces.source(offset + from, u64::from(dropped).saturating_sub(from));
        from = u64::from(dropped) + 1;
    }
    pieces.source(offset + from, frame.len.saturating_sub(from));
}

/// Header, frames, padding, what else there was, footer.
///
/// The extended header goes: it holds a checksum and a length of padding that no longer hold, and
/// restrictions that bind writers only.
fn assemble(tag: &Tag, frames: Pieces, room: Room, edits: &Edits) -> Result<Pieces, Refusal> {
    let footer = if tag.has_footer() { HEADER_BYTES } else { 0 };
    let needed = HEADER_BYTES + frames.len() + tag.rest + footer;
    let len = match room {
        // ID3v2.4 section 3.4: a tag with a footer has no padding.
        _ if tag.has_footer() => needed,
        _ if needed <= tag.len => tag.len,
        Room::Tight => needed,
        Room::Aligned => tag.len + (needed - tag.len).next_multiple_of(PADDING_UNIT_BYTES),
    };
    let content = len - HEADER_BYTES - footer;
    if content > ID3_TAG_BYTES_MAX {
        return Err(Refusal::TooLarge {
            key: edits.changed().next().unwrap_or_default().to_owned(),
            bytes: content,
            what: "an ID3v2 tag",
            limit: ID3_TAG_BYTES_MAX,
        });
    }
    let mut whole = Pieces::default();
    whole.made(header(tag, b"ID3", content));
    whole.append(frames);
    whole.made(vec![0; (len - needed) as usize]);
    whole.source(tag.end() - footer - tag.rest, tag.rest);
    if tag.has_footer() {
        whole.made(header(tag, b"3DI", content));
    }
    Ok(whole)
}

fn header(tag: &Tag, mark: &[u8; 3], content: u64) -> Vec<u8> {
    let is_resolved = tag.version != Version::V24 && tag.sizes != FrameSizes::Stuffed;
    let cleared = FLAG_EXTENDED | if is_resolved { FLAG_UNSYNCHRONISED } else { 0 };
    let flags = tag.flags & !cleared;
    debug_assert!(flags & FLAG_FOOTER == 0 || tag.has_footer() || tag.version != Version::V24, "cut tags lose it");
    let size = to_syncsafe(content as u32);
    [&mark[..], &[tag.version.major(), tag.revision, flags], &size].concat()
}
