//! Where the vendor and the fields of a packet of comments are, and what they say.

use serde::{Deserialize, Serialize};

use super::picture::field_picture;
use crate::found::Found;
use crate::limits::{VALUE_BYTES_MAX, VORBIS_FIELDS_MAX};
use crate::table::{Column, Part, Place, free_key, places, split_number};

/// The parts of a packet of comments. Offsets count from its first byte.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Length of the vendor string, which begins behind its own length of 4 bytes. `None` if it runs past the end.
    pub vendor_len: Option<u32>,
    /// In the packet's order.
    pub fields: Vec<Field>,
    /// Of the first byte behind the last whole field.
    pub end: u32,
    /// Whether the packet was read to the last field that it announces.
    pub complete: bool,
}

/// One field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Of the field's length, which is 4 bytes in front of its text.
    pub offset: u32,
    /// Length of name, `=` and value in bytes.
    pub len: u32,
    /// The name as it stands there; empty if the field has no `=`.
    pub name: String,
    /// Whether the value is "number/total", so that the field holds two keys if its name can.
    pub paired: bool,
}

/// The names of fields that hold pictures, coded as text.
const PICTURE_FIELDS: [&str; 2] = ["METADATA_BLOCK_PICTURE", "COVERART"];

impl Field {
    /// Offset of the first byte behind the field.
    pub fn end(&self) -> u32 {
        self.offset + 4 + self.len
    }

    /// The keys that the field holds: none for pictures and malformed fields, two for some numbers.
    pub fn keys(&self) -> Vec<String> {
        self.ranked_keys().into_iter().map(|(key, _)| key).collect()
    }

    /// [`Field::keys`] with the rank of the field among the places of each key.
    pub(super) fn ranked_keys(&self) -> Vec<(String, u8)> {
        let known = self.places();
        match (known.is_empty(), self.is_text()) {
            (false, _) => known.iter().map(|place| (place.key.to_owned(), place.rank)).collect(),
            (true, true) => vec![(free_key(Column::Vorbis, &self.name), 0)],
            (true, false) => Vec::new(),
        }
    }

    /// The places of the table that the field fills.
    fn places(&self) -> &'static [Place] {
        let places = places(Column::Vorbis, &self.name, None);
        match places {
            [number, _] if !self.paired => std::slice::from_ref(number),
            _ => places,
        }
    }

    fn is_text(&self) -> bool {
        !self.name.is_empty() && !self.is_picture()
    }

    fn is_picture(&self) -> bool {
        is_picture_name(&self.name)
    }
}

impl Layout {
    /// Whether there are more fields than are read: an edit would lose them.
    pub fn overflows(&self) -> bool {
        !self.complete && self.fields.len() == VORBIS_FIELDS_MAX
    }

    /// Whether the vendor and the fields lie one behind the other up to the end, as they were read.
    pub fn is_sound(&self) -> bool {
        let vendor_end = self.vendor_len.map_or(Some(0), |len| len.checked_add(4));
        let fields_end = self.fields.iter().try_fold(vendor_end, |at, field| {
            let end = field.offset.checked_add(4)?.checked_add(field.len)?;
            (at? <= field.offset).then_some(Some(end))
        });
        fields_end.flatten().is_some_and(|end| end <= self.end)
    }
}

/// Whether fields of that name hold pictures.
pub(super) fn is_picture_name(name: &str) -> bool {
    PICTURE_FIELDS.iter().any(|picture| picture.eq_ignore_ascii_case(name))
}

/// Takes a packet of comments apart. Whatever is broken loses that part at most, and is told in [`Found::problems`].
pub fn read(packet: &[u8]) -> (Layout, Found) {
    let mut found = Found::default();
    let mut layout = Layout::default();
    let Some(vendor) = counted(packet, 0) else {
        found.problem("the vendor string of the comments runs past their end");
        return (layout, found);
    };
    layout.vendor_len = Some(vendor.len() as u32);
    layout.end = 4 + vendor.len() as u32;
    let Some(count) = le32(packet, layout.end as usize) else {
        found.problem("the comments end behind the vendor string");
        return (layout, found);
    };
    layout.end += 4;
    let wanted = (count as usize).min(VORBIS_FIELDS_MAX);
    while layout.fields.len() < wanted
        && let Some(text) = counted(packet, layout.end as usize)
    {
        let field = field(layout.end, text, &mut found);
        layout.end = field.end();
        layout.fields.push(field);
    }
    layout.complete = layout.fields.len() == count as usize;
    if !layout.complete {
        found.problem(format!("{count} comment fields are announced, {} could be read", layout.fields.len()));
    }
    (layout, found)
}

fn field(offset: u32, text: &[u8], found: &mut Found) -> Field {
    let mut field = Field { offset, len: text.len() as u32, name: String::new(), paired: false };
    let Some(equals) = text.iter().position(|byte| *byte == b'=') else {
        found.problem("a comment field has no =");
        return field;
    };
    field.name = String::from_utf8_lossy(&text[..equals]).into_owned();
    let value = &text[equals + 1..];
    if field.is_picture() {
        found.pictures.extend(field_picture(&field.name, value));
    } else if field.is_text() {
        add_value(&mut field, value, found);
    }
    field
}

fn add_value(field: &mut Field, bytes: &[u8], found: &mut Found) {
    let name = field.name.clone();
    let cut = &bytes[..bytes.len().min(VALUE_BYTES_MAX)];
    let value = String::from_utf8_lossy(cut);
    if cut.len() < bytes.len() {
        found.problem(format!("the comment {name} has {} bytes, of which {VALUE_BYTES_MAX} are read", bytes.len()));
    } else if std::str::from_utf8(bytes).is_err() {
        found.problem(format!("the comment {name} is not valid UTF-8"));
    }
    let sides = split_number(&value);
    field.paired = sides.is_some();
    for place in field.places() {
        let value = match (place.part, sides) {
            (Some(Part::Number), Some((number, _))) => number,
            (Some(Part::Total), Some((_, total))) => total,
            _ => &value,
        };
        found.add(place.key, place.rank, value);
    }
    if field.places().is_empty() {
        found.add(&free_key(Column::Vorbis, &name), 0, value);
    }
}

/// The bytes behind a 32-bit length at `offset`, if all of them are there.
fn counted(packet: &[u8], offset: usize) -> Option<&[u8]> {
    let len = le32(packet, offset)? as usize;
    packet.get(offset + 4..)?.get(..len)
}

fn le32(packet: &[u8], offset: usize) -> Option<u32> {
    packet.get(offset..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}
