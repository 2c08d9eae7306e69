//! Items of the tags, read one by one.

use std::io;

use super::boxes::{Boxed, HEADER_BYTES, Walker, be};
use super::names::{self, Name};
use super::structure::{Form, Item};
use super::text;
use super::values::{self, DATA_HEAD_BYTES, Native, Value};
use crate::found::Found;
use crate::limits::{KEY_BYTES_MAX, MP4_TEXT_BYTES_MAX, VALUE_BYTES_MAX};
use crate::table::{Part, Place};
use crate::{ByteRange, Picture, picture};

/// Types of pictures: JPEG, PNG, BMP.
const PICTURE_CODES: [u32; 3] = [13, 14, 27];

/// Reads items into a [`Found`] for each of the tags that a file may have.
pub(super) struct Reader<'a> {
    pub(super) walker: &'a Walker<'a>,
    /// iTunes' items.
    pub(super) items: Found,
    /// Items that are named by a list of keys.
    pub(super) keyed: Found,
    /// Texts in the user data.
    pub(super) user_data: Found,
    text_bytes: u64,
}

/// A `data` box.
struct Data {
    type_code: u32,
    payload: ByteRange,
}

impl<'a> Reader<'a> {
    pub(super) fn new(walker: &'a Walker<'a>) -> Self {
        let (items, keyed, user_data) = Default::default();
        Self { walker, items, keyed, user_data, text_bytes: 0 }
    }

    /// An item of iTunes' list.
    pub(super) fn item(&mut self, boxed: Boxed) -> io::Result<Item> {
        let children = self.walker.children(boxed.content())?;
        let free = if &boxed.kind == b"----" { self.free_name(&children.boxes)? } else { None };
        let mut item =
            Item { len: boxed.end - boxed.offset, kind: boxed.kind, free, form: Form::Data, keys: Vec::new() };
        let name = Name::of(&item);
        let native = if item.free.is_some() { Native::Text } else { Native::of(boxed.kind) };
        let is_named = &boxed.kind != b"----" || item.free.is_some();
        let places = if is_named { names::places(&name) } else { Vec::new() };
        if places.is_empty() && native != Native::Picture && is_named {
            item.keys.push(names::own_key(&name));
        }
        item.keys.extend(places.iter().map(|(place, _)| place.key.to_owned()));
        for data in self.data(&children.boxes)? {
            if native == Native::Picture {
                self.picture(data.payload)?;
            } else if let Some(value) = self.value(native, &data, &item.keys)? {
                add(&mut self.items, &item.keys, &places, value);
            }
        }
        Ok(item)
    }

    /// An item whose kind is its number in a list of keys, from 1 on.
    pub(super) fn keyed_item(&mut self, boxed: Boxed, keys: &[String]) -> io::Result<Item> {
        let children = self.walker.children(boxed.content())?;
        let mut item =
            Item { len: boxed.end - boxed.offset, kind: boxed.kind, free: None, form: Form::Data, keys: Vec::new() };
        let number = u32::from_be_bytes(boxed.kind).checked_sub(1);
        let Some(name) = number.and_then(|at| keys.get(at as usize)).filter(|name| !name.is_empty()) else {
            return Ok(item);
        };
        let places = names::keyed_places(name);
        item.keys.extend(places.iter().map(|(place, _)| place.key.to_owned()));
        if places.is_empty() {
            item.keys.push(names::own_key(&Name::Free(names::ITUNES.to_owned(), name.clone())));
        }
        for data in self.data(&children.boxes)? {
            if PICTURE_CODES.contains(&data.type_code) {
                self.picture(data.payload)?;
            } else if let Some(value) = self.value(Native::Text, &data, &item.keys)? {
                add(&mut self.keyed, &item.keys, &places, value);
            }
        }
        Ok(item)
    }

    /// A box of user data; `None` if it holds no text that is known.
    pub(super) fn user_data(&mut self, boxed: Boxed) -> io::Result<Option<Item>> {
        let places = text::places(boxed.kind);
        if places.is_empty() || !self.may_read("user data", boxed.content().len) {
            return Ok(None);
        }
        let content = boxed.content();
        let bytes = self.walker.source.bytes(content.offset, content.len, VALUE_BYTES_MAX)?;
        if bytes.get(4..8) == Some(b"data") {
            return self.item(boxed).map(Some);
        }
        let Some(text) = text::read(boxed.kind, &bytes) else { return Ok(None) };
        for value in &text.values {
            places.iter().for_each(|(key, rank)| self.user_data.add(key, *rank, value.clone()));
        }
        let keys = places.into_iter().map(|(key, _)| key).collect();
        Ok(Some(Item { len: boxed.end - boxed.offset, kind: boxed.kind, free: None, form: text.form, keys }))
    }

    /// Who named a free-form item, and the name: `mean` and `name` boxes, version and flags and the text.
    fn free_name(&mut self, children: &[Boxed]) -> io::Result<Option<(String, String)>> {
        let (Some(mean), Some(name)) = (self.name_part(children, b"mean")?, self.name_part(children, b"name")?) else {
            self.items.problem("a free-form item has no name; it is kept unread");
            return Ok(None);
        };
        Ok(Some((mean, name)))
    }

    fn name_part(&self, children: &[Boxed], kind: &[u8; 4]) -> io::Result<Option<String>> {
        let Some(child) = children.iter().find(|child| &child.kind == kind) else { return Ok(None) };
        let content = child.content();
        let bytes = self.walker.source.bytes(content.offset, content.len, 4 + KEY_BYTES_MAX + 1)?;
        let text = bytes.get(4..).and_then(|bytes| std::str::from_utf8(bytes).ok());
        let text = text.map(|text| text.trim_end_matches('\0'));
        Ok(text
            .filter(|text| !text.is_empty() && text.len() <= KEY_BYTES_MAX && !text.contains('\0'))
            .map(str::to_owned))
    }

    fn data(&self, children: &[Boxed]) -> io::Result<Vec<Data>> {
        let mut all = Vec::new();
        for child in children.iter().filter(|child| &child.kind == b"data") {
            let content = child.content();
            let head = self.walker.source.bytes(content.offset, content.len, DATA_HEAD_BYTES as usize)?;
            if let Some(type_code) = be(&head, 0, 4).filter(|_| head.len() as u64 == DATA_HEAD_BYTES) {
                // The highest byte tells the set of types, of which there is one.
                let type_code = type_code as u32 & 0x00ff_ffff;
                all.push(Data {
                    type_code,
                    payload: ByteRange::between(content.offset + DATA_HEAD_BYTES, content.end()),
                });
            }
        }
        Ok(all)
    }

    fn value(&mut self, native: Native, data: &Data, keys: &[String]) -> io::Result<Option<Value>> {
        let name = keys.first().map_or("an item", String::as_str);
        if !self.may_read(name, data.payload.len) {
            return Ok(None);
        }
        let payload = self.walker.source.bytes(data.payload.offset, data.payload.len, VALUE_BYTES_MAX)?;
        Ok(values::decode(native, data.type_code, &payload))
    }

    /// Whether so many more bytes of text may be read.
    fn may_read(&mut self, name: &str, bytes: u64) -> bool {
        let total = self.text_bytes.saturating_add(bytes);
        if bytes > VALUE_BYTES_MAX as u64 || total > MP4_TEXT_BYTES_MAX {
            self.items.problem(format!("{name} has {bytes} bytes; it is kept unread"));
            return false;
        }
        self.text_bytes = total;
        true
    }

    fn picture(&mut self, range: ByteRange) -> io::Result<()> {
        if range.len == 0 {
            return Ok(());
        }
        // The format has no kinds of pictures: the first is what players show.
        let kind = if self.items.pictures.is_empty() { 3 } else { 0 };
        let mut picture = Picture { kind, range, ..Picture::default() };
        if let Some(look) = picture::look(self.walker.source, range)? {
            picture.adopt(look);
        }
        self.items.pictures.push(picture);
        Ok(())
    }
}

/// Gives a value to the keys of an item: to `places`, or to the one key that is its own.
fn add(found: &mut Found, keys: &[String], places: &[(Place, u8)], value: Value) {
    let texts = match value {
        Value::Texts(texts) => texts,
        Value::Pair(number, total) => {
            for (place, rank) in places {
                let side = if place.part == Some(Part::Total) { &total } else { &number };
                if !side.is_empty() {
                    found.add(place.key, *rank, side.clone());
                }
            }
            return;
        }
    };
    for text in texts {
        if let (Some(key), true) = (keys.first(), places.is_empty()) {
            found.add(key, 0, text.clone());
        }
        for (place, rank) in places {
            let side = match place.part {
                None => &text,
                Some(Part::Number) => crate::numbers::split(&text).0,
                Some(Part::Total) => crate::numbers::split(&text).1,
            };
            if !side.is_empty() {
                found.add(place.key, *rank, side);
            }
        }
    }
}

/// The names in a `keys` box (QuickTime File Format, "Metadata item keys atom"), in order.
pub(super) fn key_names(walker: &Walker<'_>, boxed: Boxed) -> io::Result<Vec<String>> {
    let content = boxed.content();
    // Behind version, flags and count.
    let list = ByteRange::between(content.offset + 8, content.end());
    let mut names = Vec::new();
    for key in walker.children(list)?.boxes {
        let name = walker.source.bytes(key.offset + HEADER_BYTES, key.content().len, KEY_BYTES_MAX + 1)?;
        let name = String::from_utf8(name).ok().filter(|name| name.len() <= KEY_BYTES_MAX && !name.contains('\0'));
        names.push(name.unwrap_or_default());
    }
    Ok(names)
}
