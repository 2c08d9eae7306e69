//! Texts with names of four letters: entries of a LIST chunk of type INFO, and the text chunks of AIFF.
//!
//! RIFF has texts end with a NUL and means some code page. What is valid UTF-8 is read as that, which is what other
//! taggers write; other bytes as Latin-1. Several values stand in one text, as RIFF says of its keywords: "separate multiple
//! keywords with a semicolon and a blank". They are not split when read: who knows what else has a semicolon.

use std::collections::BTreeSet;
use std::io;

use serde::{Deserialize, Serialize};

use super::dialect::{Dialect, Name};
use super::walk::Spot;
use crate::facts::ByteRange;
use crate::found::Found;
use crate::id3::text::Encoding;
use crate::id3::v2::Pieces;
use crate::limits::{CHUNK_TEXT_BYTES_MAX, INFO_ENTRIES_MAX, VALUE_BYTES_MAX};
use crate::table::{self, Column, Part};
use crate::{Edits, ReadAt, numbers};

/// Type of the LIST chunk with texts.
pub(super) const INFO: &[u8; 4] = b"INFO";

/// A text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) name: Name,
    /// The keys whose values it holds.
    pub(super) keys: Vec<String>,
    /// Bytes in the source, header and padding included.
    pub(super) len: u64,
}

impl Entry {
    pub(super) fn is_touched(&self, edits: &Edits) -> bool {
        self.keys.iter().any(|key| edits.touches(key))
    }
}

/// Reads texts of one file, as many as the limits allow.
pub(super) struct Texts<'a> {
    source: &'a dyn ReadAt,
    column: Column,
    /// Bytes read.
    bytes: u64,
    pub(super) found: Found,
}

impl<'a> Texts<'a> {
    pub(super) fn new(source: &'a dyn ReadAt, column: Column) -> Self {
        Self { source, column, bytes: 0, found: Found::default() }
    }

    /// The entries of an INFO list in `content`, up to something that is none.
    pub(super) fn list(&mut self, dialect: Dialect, content: ByteRange) -> io::Result<Vec<Entry>> {
        // Also in Wave64 entries are as in RIFF.
        let dialect = if dialect == Dialect::Rifx { dialect } else { Dialect::Riff };
        let header_bytes = dialect.header_bytes();
        let mut entries = Vec::new();
        let mut at = content.offset + 4;
        while let Some((name, len)) = dialect.header(&self.source.bytes(at, content.end() - at, 8)?) {
            let begin = at + header_bytes;
            if begin + len > content.end() || entries.len() == INFO_ENTRIES_MAX {
                self.found.problem("INFO list has entries that are too long or too many; they are kept unread");
                break;
            }
            let padding = dialect.padding(len).min(content.end() - begin - len);
            let keys = self.text(name, ByteRange { offset: begin, len })?;
            entries.push(Entry { name, keys, len: header_bytes + len + padding });
            at = begin + len + padding;
        }
        Ok(entries)
    }

    /// The text of a chunk of its own.
    pub(super) fn chunk(&mut self, spot: &Spot, content: ByteRange) -> io::Result<Entry> {
        Ok(Entry { name: spot.name, keys: self.text(spot.name, content)?, len: spot.len })
    }

    /// Reads one text; gives the keys that it holds.
    fn text(&mut self, name: Name, range: ByteRange) -> io::Result<Vec<String>> {
        let places = places(self.column, name);
        self.bytes = self.bytes.saturating_add(range.len);
        if range.len > VALUE_BYTES_MAX as u64 || self.bytes > CHUNK_TEXT_BYTES_MAX {
            self.found.problem(format!("text {} is too large; it is not read", String::from_utf8_lossy(&name)));
        } else {
            let bytes = self.source.bytes(range.offset, range.len, VALUE_BYTES_MAX)?;
            let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
            self.add(&places, Encoding::Latin1.decode(text).trim_end());
        }
        Ok(places.into_iter().map(|place| place.key).collect())
    }

    fn add(&mut self, places: &[Held], value: &str) {
        let (number, total) = numbers::split(value);
        for place in places {
            let side = match place.part {
                None => value,
                Some(Part::Number) => number,
                Some(Part::Total) => total,
            };
            if !side.is_empty() {
                self.found.add(&place.key, place.rank, side);
            }
        }
    }
}

/// A key that a text holds.
struct Held {
    key: String,
    rank: u8,
    part: Option<Part>,
}

fn places(column: Column, name: Name) -> Vec<Held> {
    let name = String::from_utf8_lossy(&name);
    let name = name.trim_end();
    let known = table::places(column, name, None);
    if known.is_empty() {
        return vec![Held { key: table::native_key(column, name, None), rank: 0, part: None }];
    }
    known.iter().map(|place| Held { key: place.key.to_owned(), rank: place.rank, part: place.part }).collect()
}

/// The name of the INFO entry that a key is written to, if there is one.
pub(super) fn info_name(key: &str) -> Option<Name> {
    let name = match table::slots(key, Column::RiffInfo).first() {
        Some(table::Slot::Whole(name) | table::Slot::Part(name, _)) => (*name).to_owned(),
        Some(_) => return None,
        None => key.strip_prefix(Column::RiffInfo.prefix())?.to_uppercase(),
    };
    let name: Name = name.as_bytes().try_into().ok()?;
    let is_name = name.iter().all(|byte| byte.is_ascii_alphanumeric());
    (is_name && places(Column::RiffInfo, name).iter().any(|held| held.key == key)).then_some(name)
}

/// The bytes of a text with the effective values; `None` if there are none.
pub(super) fn text(column: Column, name: Name, edits: &Edits) -> Option<Vec<u8>> {
    let places = places(column, name);
    let side = |part| {
        let place = places.iter().find(|place| place.part == part)?;
        Some(edits.effective().get(&place.key))
    };
    let values = match (side(Some(Part::Number)), side(Some(Part::Total)), side(None)) {
        (Some(number), Some(total), _) => numbers::join(number, total),
        (.., whole) => whole.unwrap_or_default().to_vec(),
    };
    let text = values.join("; ");
    (!text.is_empty()).then(|| text.into_bytes())
}

/// An INFO list with the edits; `None` if they leave it as it is. `adds` says that it gets the edited keys that it lacks.
///
/// `content` is empty for a new list, which gets all effective tags that it can hold.
pub(super) fn rewrite(
    dialect: Dialect,
    entries: &[Entry],
    content: ByteRange,
    edits: &Edits,
    adds: bool,
) -> Option<Pieces> {
    let speaks = entries.iter().any(|entry| entry.keys.iter().any(|key| !edits.effective().get(key).is_empty()));
    let all = (adds && !speaks).then(|| edits.spelt_out(|key| info_name(key).is_some()));
    let edits = all.as_ref().unwrap_or(edits);
    let new_names: BTreeSet<Name> = match adds {
        true => edits.changed().filter(|key| !edits.effective().get(key).is_empty()).filter_map(info_name).collect(),
        false => BTreeSet::new(),
    };
    let carried = |name: &Name| entries.iter().any(|entry| entry.name == *name);
    if !entries.iter().any(|entry| entry.is_touched(edits)) && new_names.iter().all(carried) {
        return None;
    }
    let mut list = List { dialect, pieces: Pieces::default(), written: BTreeSet::new() };
    list.pieces.made(INFO.to_vec());
    let mut at = content.offset + 4;
    for entry in entries {
        match entry.is_touched(edits) {
            true => list.write(entry.name, edits),
            false => list.pieces.source(at, entry.len),
        }
        at += entry.len;
    }
    for name in new_names.into_iter().filter(|name| !carried(name)) {
        list.write(name, edits);
    }
    let rest = ByteRange::between(at, content.end());
    list.pieces.source(rest.offset, rest.len);
    let is_empty = list.pieces.len() == 4;
    Some(if is_empty { Pieces::default() } else { list.pieces })
}

/// A list that is being written.
struct List {
    dialect: Dialect,
    pieces: Pieces,
    written: BTreeSet<Name>,
}

impl List {
    fn write(&mut self, name: Name, edits: &Edits) {
        let dialect = if self.dialect == Dialect::Rifx { Dialect::Rifx } else { Dialect::Riff };
        let Some(mut text) = text(Column::RiffInfo, name, edits).filter(|_| self.written.insert(name)) else { return };
        text.push(0);
        let len = text.len() as u64;
        text.resize(text.len() + dialect.padding(len) as usize, 0);
        // A text of 4 GiB is refused with the file that would have it.
        let Some(header) = dialect.new_header(name, len) else { return };
        self.pieces.made([header, text].concat());
    }
}
