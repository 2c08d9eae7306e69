//! A tag with other values.

use std::collections::BTreeSet;

use super::names::home;
use super::{FLAG_IS_HEADER, FOOTER_BYTES, Item, MARK, Tag};
use crate::container::Refusal;
use crate::id3::v2::Pieces;
use crate::limits::APE_TAG_BYTES_MAX;
use crate::table::Part;
use crate::{Edits, Tags, numbers};

/// A new item: its name, the key of its value or number, and that of the total.
struct Home {
    name: String,
    before: usize,
    keys: Vec<(String, Option<Part>)>,
}

/// Whether a tag can hold a key.
pub fn can_hold(key: &str) -> bool {
    home(key).is_some()
}

/// The tag with the edits; exactly the source's bytes if they touch nothing of it and `adds` is false.
/// With `adds`, edited keys that the tag did not have are added, and a tag that said nothing gets all effective
/// tags: readers that met nothing in it read others, and now will not.
///
/// # Errors
/// A value is too large for the tag.
pub fn rewrite(tag: &Tag, edits: &Edits, adds: bool) -> Result<Pieces, Refusal> {
    let carries = |key: &str| tag.items.iter().any(|item| item.keys.iter().any(|known| known == key));
    let mut keys: BTreeSet<String> = edits.changed().filter(|key| adds || carries(key)).map(str::to_owned).collect();
    if adds && !tag.speaks() {
        keys.extend(edits.effective().iter().map(|(key, _)| key.to_owned()));
    }
    if keys.is_empty() {
        let mut whole = Pieces::default();
        whole.source(tag.offset, tag.len);
        return Ok(whole);
    }
    close(tag, &mut keys);
    let homes = homes(tag, &keys, edits.effective());
    let header = if tag.has_header() { FOOTER_BYTES } else { 0 };
    let mut offset = tag.offset + header;
    let (mut items, mut removed) = (Pieces::default(), 0);
    for (at, item) in tag.items.iter().enumerate() {
        new_items(&homes, at, edits.effective(), &mut items);
        match touches(item, &keys) {
            true => removed += 1,
            false => items.source(offset, item.len),
        }
        offset += item.len;
    }
    new_items(&homes, tag.items.len(), edits.effective(), &mut items);
    items.source(offset, tag.rest);
    let count = tag.count.saturating_sub(removed).saturating_add(homes.len() as u32);
    assemble(tag, items, count, edits)
}

fn touches(item: &Item, keys: &BTreeSet<String>) -> bool {
    item.keys.iter().any(|key| keys.contains(key))
}

/// A touched item is written anew whole, so that all its keys are, and then all items that carry one of those.
fn close(tag: &Tag, keys: &mut BTreeSet<String>) {
    loop {
        let homes: Vec<_> = keys.iter().filter_map(|key| home(key)).collect();
        let is_home = |item: &Item| homes.iter().any(|(name, _)| name.eq_ignore_ascii_case(&item.name));
        let touched = tag.items.iter().filter(|item| touches(item, keys) || is_home(item));
        let more: Vec<_> = touched.flat_map(|item| &item.keys).filter(|key| !keys.contains(*key)).cloned().collect();
        if more.is_empty() {
            return;
        }
        keys.extend(more);
    }
}

/// The new items, each in the place of the first that carried one of its keys, and in its spelling.
fn homes(tag: &Tag, keys: &BTreeSet<String>, tags: &Tags) -> Vec<Home> {
    let mut homes: Vec<Home> = Vec::new();
    for key in keys.iter().filter(|key| !tags.get(key).is_empty()) {
        let Some((name, part)) = home(key) else { continue };
        if let Some(known) = homes.iter_mut().find(|home| home.name.eq_ignore_ascii_case(&name)) {
            known.keys.push((key.clone(), part));
            continue;
        }
        let before = tag.items.iter().position(|item| item.keys.contains(key)).unwrap_or(tag.items.len());
        let spelt = tag.items.iter().find(|item| item.name.eq_ignore_ascii_case(&name)).map(|item| item.name.clone());
        homes.push(Home { name: spelt.unwrap_or(name), before, keys: vec![(key.clone(), part)] });
    }
    homes
}

fn new_items(homes: &[Home], at: usize, tags: &Tags, pieces: &mut Pieces) {
    for home in homes.iter().filter(|home| home.before == at) {
        let value = value(home, tags);
        let mut item = Vec::new();
        item.extend((value.len() as u32).to_le_bytes());
        item.extend([0; 4]);
        item.extend(home.name.as_bytes());
        item.push(0);
        item.extend(value.as_bytes());
        pieces.made(item);
    }
}

/// The values with NULs between them.
fn value(home: &Home, tags: &Tags) -> String {
    let side = |part| home.keys.iter().find(|(_, side)| *side == Some(part)).map_or(&[][..], |(key, _)| tags.get(key));
    let (number, total) = (side(Part::Number), side(Part::Total));
    if number.is_empty() && total.is_empty() {
        let values: Vec<_> = home.keys.iter().flat_map(|(key, _)| tags.get(key)).map(String::as_str).collect();
        return values.join("\0");
    }
    numbers::join(number, total).join("\0")
}

/// Header, items and footer with their new size and count.
fn assemble(tag: &Tag, items: Pieces, count: u32, edits: &Edits) -> Result<Pieces, Refusal> {
    let size = items.len() + FOOTER_BYTES;
    if size > APE_TAG_BYTES_MAX {
        return Err(Refusal::TooLarge {
            key: edits.changed().next().unwrap_or_default().to_owned(),
            bytes: size,
            what: "an APE tag",
            limit: APE_TAG_BYTES_MAX,
        });
    }
    let frame = |flags: u32| {
        let numbers = [tag.version, size as u32, count, flags].map(u32::to_le_bytes).concat();
        [&MARK[..], &numbers, &[0; 8]].concat()
    };
    let mut whole = Pieces::default();
    if tag.has_header() {
        whole.made(frame(tag.flags | FLAG_IS_HEADER));
    }
    whole.append(items);
    whole.made(frame(tag.flags));
    Ok(whole)
}
