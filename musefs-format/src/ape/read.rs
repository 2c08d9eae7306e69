//! A tag of a source, taken apart.

use std::io;

use super::names::{is_name, own_key, places};
use super::{FLAG_HAS_HEADER, FLAG_IS_HEADER, FOOTER_BYTES, Item, MARK, Tag, VERSION_2};
use crate::facts::{ByteRange, Picture};
use crate::found::Found;
use crate::id3::text::Encoding;
use crate::limits::{APE_ITEM_HEAD_BYTES, APE_ITEMS_MAX, APE_TEXT_BYTES_MAX, VALUE_BYTES_MAX};
use crate::table::Part;
use crate::{ReadAt, numbers, picture};

/// A tag that was found.
#[derive(Debug)]
pub struct Read {
    /// Its parts.
    pub tag: Tag,
    /// What it says.
    pub found: Found,
}

struct Footer {
    version: u32,
    /// Of items and footer.
    size: u64,
    count: u32,
    flags: u32,
}

/// Sizes, flags, name and the NUL behind it.
struct ItemHead {
    name: String,
    flags: u32,
    head: u64,
    value: u64,
}

/// Takes the tag apart that ends at `end` of `source`; `None` if none does, or it would begin before `start`.
///
/// # Errors
/// Those of `source`.
pub fn read(source: &dyn ReadAt, start: u64, end: u64) -> io::Result<Option<Read>> {
    let Some(footer_at) = end.checked_sub(FOOTER_BYTES).filter(|at| *at >= start) else { return Ok(None) };
    let Some(footer) = footer(source, footer_at)? else { return Ok(None) };
    let header = if footer.flags & FLAG_HAS_HEADER != 0 { FOOTER_BYTES } else { 0 };
    let possible = start.saturating_add(header)..=footer_at;
    let Some(items_at) = end.checked_sub(footer.size).filter(|at| possible.contains(at)) else {
        return Ok(Some(unread(&footer, footer_at, end)));
    };
    let mut reader = Reader { source, found: Found::default(), text: 0, version: footer.version };
    let (items, items_end) = reader.items(items_at, footer_at, footer.count)?;
    let rest = footer_at - items_end;
    if rest > 0 || items.len() != footer.count as usize {
        reader.found.problem(format!(
            "APE tag has {} readable items of {}; the rest is kept",
            items.len(),
            footer.count
        ));
    }
    let offset = items_at - header;
    // Readers that trust the count would stumble over what is no item.
    let count = if items.len() < APE_ITEMS_MAX { items.len() as u32 } else { footer.count };
    let Footer { version, flags, .. } = footer;
    let tag = Tag { offset, len: end - offset, version, flags, count, items, rest };
    Ok(Some(Read { tag, found: reader.found }))
}

/// A footer whose size cannot be true: the footer alone is the tag, which is made anew when it is written.
fn unread(footer: &Footer, offset: u64, end: u64) -> Read {
    let mut found = Found::default();
    found.problem(format!("APE tag claims {} bytes, which are not there", footer.size));
    let flags = footer.flags & !FLAG_HAS_HEADER;
    let tag = Tag { offset, len: end - offset, version: footer.version, flags, count: 0, items: Vec::new(), rest: 0 };
    Read { tag, found }
}

fn footer(source: &dyn ReadAt, at: u64) -> io::Result<Option<Footer>> {
    let bytes = source.bytes(at, FOOTER_BYTES, FOOTER_BYTES as usize)?;
    if bytes.len() as u64 != FOOTER_BYTES || !bytes.starts_with(MARK) {
        return Ok(None);
    }
    let (version, size, count, flags) = (le32(&bytes[8..]), le32(&bytes[12..]), le32(&bytes[16..]), le32(&bytes[20..]));
    // A flag for "no footer" is contradicted by the footer itself.
    let is_footer = flags & FLAG_IS_HEADER == 0;
    // Version 1 has no flags: whatever stands there means nothing.
    let flags = if version < VERSION_2 { 0 } else { flags };
    Ok((is_footer || version < VERSION_2).then_some(Footer { version, size: u64::from(size), count, flags }))
}

struct Reader<'a> {
    source: &'a dyn ReadAt,
    found: Found,
    text: u64,
    version: u32,
}

impl Reader<'_> {
    /// The items, as far as they make sense, and where they end.
    fn items(&mut self, mut at: u64, end: u64, count: u32) -> io::Result<(Vec<Item>, u64)> {
        let mut items = Vec::new();
        while items.len() < (count as usize).min(APE_ITEMS_MAX) {
            let Some(head) = item_head(self.source, at, end)? else { break };
            let value = ByteRange { offset: at + head.head, len: head.value };
            let keys = self.item(&head, value)?;
            at = value.end();
            items.push(Item { name: head.name, keys, len: head.head + head.value });
        }
        Ok((items, at))
    }

    /// Reads an item; gives the keys that it carries.
    fn item(&mut self, head: &ItemHead, value: ByteRange) -> io::Result<Vec<String>> {
        let kind = head.flags >> 1 & 3;
        let is_text = self.version < VERSION_2 || kind != 1;
        if !is_name(head.name.as_bytes()) {
            return Ok(Vec::new());
        }
        let places = places(&head.name);
        let mut keys: Vec<_> = places.iter().map(|(place, _)| place.key.to_owned()).collect();
        if places.is_empty() {
            keys.push(own_key(&head.name, is_text));
        }
        if !is_text {
            self.picture(&head.name, value)?;
            return Ok(keys);
        }
        self.text += value.len;
        if value.len > VALUE_BYTES_MAX as u64 || self.text > APE_TEXT_BYTES_MAX {
            self.found.problem(format!("APE item {} is too large; it is kept unread", head.name));
            return Ok(keys);
        }
        let bytes = self.source.bytes(value.offset, value.len, VALUE_BYTES_MAX)?;
        for text in Encoding::Utf8.decode_list(&bytes) {
            if places.is_empty() {
                self.found.add(&keys[0], 0, text.clone());
            }
            for (place, rank) in &places {
                let side = match place.part {
                    None => &text,
                    Some(Part::Number) => numbers::split(&text).0,
                    Some(Part::Total) => numbers::split(&text).1,
                };
                if !side.is_empty() {
                    self.found.add(place.key, *rank, side);
                }
            }
        }
        Ok(keys)
    }

    /// "Cover Art (Front)" and its kin: a file name, NUL, and the picture.
    fn picture(&mut self, name: &str, value: ByteRange) -> io::Result<()> {
        let name = name.to_lowercase();
        let Some(kind) = name.strip_prefix("cover art (").and_then(|kind| kind.strip_suffix(')')) else {
            return Ok(());
        };
        let head = self.source.bytes(value.offset, value.len, APE_ITEM_HEAD_BYTES)?;
        let (file, picture) = Encoding::Utf8.split_first(&head);
        let skipped = picture.map_or(0, |_| file.len() as u64 + 1);
        let range = ByteRange::between(value.offset + skipped, value.end());
        let look = picture::look(self.source, range)?;
        self.found.pictures.push(Picture {
            kind: picture_kind(kind),
            mime: look.map_or("", |look| look.mime).to_owned(),
            width: look.map_or(0, |look| look.width),
            height: look.map_or(0, |look| look.height),
            description: picture.map_or(String::new(), |_| Encoding::Utf8.decode(file)),
            range,
        });
        Ok(())
    }
}

fn item_head(source: &dyn ReadAt, at: u64, end: u64) -> io::Result<Option<ItemHead>> {
    let bytes = source.bytes(at, end.saturating_sub(at), APE_ITEM_HEAD_BYTES)?;
    let Some(name) = bytes.get(8..).and_then(|bytes| bytes.split(|&byte| byte == 0).next()) else { return Ok(None) };
    let head = 8 + name.len() as u64 + 1;
    let value = u64::from(le32(&bytes));
    let fits = head <= bytes.len() as u64 && value <= (end - at).saturating_sub(head);
    let head = ItemHead { name: String::from_utf8_lossy(name).into_owned(), flags: le32(&bytes[4..]), head, value };
    // A name that is not allowed makes an item that is kept unread.
    let may_be_name = (1..=255).contains(&name.len()) && name.iter().all(|byte| *byte >= 0x20);
    Ok((fits && may_be_name).then_some(head))
}

/// ID3's number for the names that taggers put into the brackets.
fn picture_kind(name: &str) -> u8 {
    let kinds = ["other", "png icon", "icon", "front", "back", "leaflet", "media", "lead artist", "artist"];
    kinds.iter().position(|kind| *kind == name).map_or(0, |kind| kind as u8)
}

fn le32(bytes: &[u8]) -> u32 {
    bytes.first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}
