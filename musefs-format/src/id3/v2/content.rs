//! What a frame says, as canonical keys and values.

use std::io;

use super::dates;
use super::kind::{Kind, is_genre};
use super::payload::Payload;
use super::{Frame, Version};
use crate::facts::{ByteRange, Picture};
use crate::found::Found;
use crate::id3::genres;
use crate::id3::text::Encoding;
use crate::limits::{KEY_BYTES_MAX, LIST_VALUES_MAX, VALUE_BYTES_MAX};
use crate::table::{self, Column, Part, Place, Slot};
use crate::{ReadAt, numbers, picture};

/// Rank of places that another version, or nobody, defined: behind all of the tag's own version.
const RANK_FOREIGN: u8 = 32;
/// Rank of a `TXXX` frame named like a key that has a frame of its own.
const RANK_ALIAS: u8 = 128;
/// Rank of dates in parts, which are only as exact as year, day and minute allow.
const RANK_DATE_PARTS: u8 = 16;

/// Reads frames into a [`Found`], and keeps what only makes sense together.
pub(super) struct Reader<'a> {
    pub(super) found: Found,
    source: &'a dyn ReadAt,
    version: Version,
    date: [Option<String>; 3],
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: &'a dyn ReadAt, version: Version) -> Self {
        Self { found: Found::default(), source, version, date: Default::default() }
    }

    /// Reads a frame; without a readable payload, only which keys its name means.
    pub(super) fn frame(&mut self, name: &str, payload: Option<&Payload>) -> io::Result<Frame> {
        let mut frame = Frame { name: name.to_owned(), ..Frame::default() };
        let bytes = payload.map_or(&[][..], |payload| &payload.bytes);
        let (encoding, text) =
            bytes.split_first().map_or((Encoding::Latin1, bytes), |(first, text)| encoded(*first, text, bytes));
        match Kind::of(name) {
            Kind::Text => self.values(&mut frame, encoding.decode_list(text)),
            Kind::UserText => {
                let (detail, value) = encoding.split_first(text);
                frame.detail = payload.map(|_| encoding.decode(detail));
                self.values(&mut frame, encoding.decode_list(value.unwrap_or_default()));
            }
            Kind::Url => {
                let url = if bytes.first().is_some_and(|&byte| byte <= 3) { text } else { bytes };
                self.values(&mut frame, Encoding::Latin1.decode_list(url));
            }
            Kind::UserUrl => {
                let (detail, url) = encoding.split_first(text);
                frame.detail = payload.map(|_| encoding.decode(detail));
                self.values(&mut frame, Encoding::Latin1.decode_list(url.unwrap_or_default()));
            }
            Kind::Comment => self.comment(&mut frame, encoding, text),
            Kind::UniqueId => {
                let (owner, id) = Encoding::Latin1.split_first(bytes);
                frame.detail = payload.map(|_| Encoding::Latin1.decode(owner));
                let id = id.and_then(|id| std::str::from_utf8(id).ok()).filter(|id| !id.contains('\0'));
                self.values(&mut frame, id.map(str::to_owned).into_iter().collect());
            }
            Kind::People => self.people(&mut frame, &pairs(encoding, text)),
            Kind::Mark => self.values(&mut frame, payload.map(|_| "1".to_owned()).into_iter().collect()),
            Kind::Picture => {
                let picture = payload.and_then(|payload| parse_picture(self.version, payload));
                match picture {
                    Some((picture, head)) => {
                        let picture = self.look(picture, head)?;
                        self.found.pictures.push(picture);
                    }
                    None => self.found.problem(format!("the picture of an ID3v2 frame {name} is not seen; it is kept")),
                }
            }
            Kind::Owned | Kind::Binary => {
                let owner = Encoding::Latin1.split_first(bytes).0;
                let owner =
                    (Kind::of(name) == Kind::Owned && payload.is_some()).then(|| Encoding::Latin1.decode(owner));
                frame.detail = owner.filter(|owner| owner.len() <= KEY_BYTES_MAX && name.starts_with("PRIV"));
                frame.keys.push(table::native_key(self.version.column(), name, frame.detail.as_deref()));
            }
        }
        Ok(frame)
    }

    /// Believes the bytes of a picture rather than what the frame claims.
    fn look(&self, picture: Picture, head: Vec<u8>) -> io::Result<Picture> {
        let look = match picture.range.len {
            0 => picture::look(&head, ByteRange { offset: 0, len: head.len() as u64 })?,
            _ => picture::look(self.source, picture.range)?,
        };
        Ok(match look {
            Some(look) => Picture { mime: look.mime.to_owned(), width: look.width, height: look.height, ..picture },
            None => picture,
        })
    }

    /// What was found, when all frames were read.
    pub(super) fn finish(mut self) -> Found {
        if let Some(year) = self.date[0].take() {
            let date = dates::join(&year, self.date[1].as_deref(), self.date[2].as_deref());
            self.found.add("date", RANK_DATE_PARTS, date);
        }
        self.found
    }

    fn comment(&mut self, frame: &mut Frame, encoding: Encoding, text: &[u8]) {
        let Some((language, text)) = text.split_first_chunk::<3>() else { return self.values(frame, Vec::new()) };
        let (detail, value) = encoding.split_first(text);
        // Without a second string the only one is the text: writers that forget the description.
        let (detail, value) = value.map_or((&[][..], detail), |value| (detail, value));
        frame.language = Some(*language);
        frame.detail = Some(encoding.decode(detail));
        self.values(frame, encoding.decode_list(value));
    }

    /// `TIPL`, `TMCL`, `IPLS`: each role may be a key of its own.
    fn people(&mut self, frame: &mut Frame, pairs: &[(String, String)]) {
        let places_of_frame = self.places(&frame.name, Some("*"));
        if pairs.is_empty() {
            frame.keys.extend(places_of_frame.first().map(|(place, _)| place.key.to_owned()));
        }
        for (role, name) in pairs.iter().filter(|(_, name)| !name.is_empty()) {
            let Some((place, rank)) = self.places(&frame.name, Some(role)).first().copied() else { continue };
            let general = role.is_empty() || place.key != "performer";
            let value = if general { name.clone() } else { format!("{name} ({role})") };
            add_key(frame, place.key);
            self.add(place.key, rank, value);
        }
    }

    /// Gives the values of a frame to the keys that its name and detail mean.
    fn values(&mut self, frame: &mut Frame, values: Vec<String>) {
        let values = if is_genre(&frame.name) {
            values.iter().flat_map(|value| genres::resolve(value)).collect()
        } else {
            values
        };
        let places = self.places(&frame.name, frame.detail.as_deref());
        if places.is_empty()
            && let Some(key) = self.own_key(frame)
        {
            values.iter().for_each(|value| self.add(&key, 0, value.clone()));
            frame.keys.push(key);
        }
        for (place, rank) in places {
            add_key(frame, place.key);
            for value in &values {
                self.placed(&frame.name, place, rank, value);
            }
        }
    }

    fn placed(&mut self, name: &str, place: Place, rank: u8, value: &str) {
        if let Some(part) = date_part(place.key, name) {
            self.date[part].get_or_insert_with(|| value.to_owned());
            return;
        }
        let value = match place.part {
            None => value,
            Some(Part::Number) => numbers::split(value).0,
            Some(Part::Total) => numbers::split(value).1,
        };
        if !value.is_empty() {
            self.add(place.key, rank, value.to_owned());
        }
    }

    fn add(&mut self, key: &str, rank: u8, mut value: String) {
        if value.len() > VALUE_BYTES_MAX {
            self.found.problem(format!("{key} has {} bytes; the first {VALUE_BYTES_MAX} are read", value.len()));
            value.truncate(value.floor_char_boundary(VALUE_BYTES_MAX));
        }
        self.found.add(key, rank, value);
    }

    /// The key of a frame that the table does not know.
    fn own_key(&mut self, frame: &Frame) -> Option<String> {
        let column = self.version.column();
        let key = match frame.detail.as_deref().filter(|detail| !detail.is_empty()) {
            Some(detail) if Kind::of(&frame.name) == Kind::UserText => table::free_key(column, detail),
            detail => table::native_key(column, &frame.name, detail),
        };
        if key.len() > KEY_BYTES_MAX || key.contains('\0') {
            self.found.problem(format!("a description of {} bytes is kept unread", key.len()));
            return None;
        }
        Some(key)
    }

    /// The places that a frame is, with their ranks in this tag.
    fn places(&self, name: &str, detail: Option<&str>) -> Vec<(Place, u8)> {
        let own = self.version.column();
        let columns = [own, Column::Id3v24, Column::Id3v23, Column::Id3v22];
        for column in columns {
            let places = table::places(column, name, detail);
            if !places.is_empty() {
                return places.iter().map(|&place| (place, self.rank(column, name, detail, place))).collect();
            }
        }
        Vec::new()
    }

    fn rank(&self, column: Column, name: &str, detail: Option<&str>, place: Place) -> u8 {
        let is_user_text = Kind::of(name) == Kind::UserText;
        let in_column = table::slots(place.key, column).iter().any(|slot| match slot {
            Slot::Detail(other, known) => {
                *other == name && detail.is_some_and(|detail| known.eq_ignore_ascii_case(detail))
            }
            _ => false,
        });
        match place.key {
            "date" | "originaldate" if matches!(name, "TDRC" | "TDOR") => 0,
            // The whole date, where ID3v2.2 has frames for parts only.
            "date" | "originaldate" if name == "TXX" => 0,
            "date" | "originaldate" if !is_user_text => RANK_DATE_PARTS,
            _ if is_user_text && !in_column => RANK_ALIAS,
            _ if column != self.version.column() => RANK_FOREIGN.saturating_add(place.rank),
            _ => place.rank,
        }
    }
}

/// Encoding and text of a payload; without a known encoding byte, all of it is text.
fn encoded<'a>(first: u8, text: &'a [u8], all: &'a [u8]) -> (Encoding, &'a [u8]) {
    if first > 3 { (Encoding::Latin1, all) } else { (Encoding::of(first), text) }
}

fn add_key(frame: &mut Frame, key: &str) {
    if !frame.keys.iter().any(|known| known == key) {
        frame.keys.push(key.to_owned());
    }
}

/// Which part of a date a frame holds: year, day and month, or time.
fn date_part(key: &str, name: &str) -> Option<usize> {
    let parts = [Column::Id3v23, Column::Id3v22].into_iter().flat_map(|column| table::slots(key, column));
    parts
        .filter_map(
            |slot| if let Slot::Date(names) = slot { names.iter().position(|part| *part == name) } else { None },
        )
        .next()
}

/// Role and name alternate, separated by NULs; empty strings count.
fn pairs(encoding: Encoding, text: &[u8]) -> Vec<(String, String)> {
    let mut strings = Vec::new();
    let mut rest = Some(text);
    while let Some(bytes) = rest.filter(|bytes| !bytes.is_empty() && strings.len() < LIST_VALUES_MAX) {
        let (string, behind) = encoding.split_first(bytes);
        strings.push(encoding.decode(string));
        rest = behind;
    }
    let mut strings = strings.into_iter();
    let mut pairs = Vec::new();
    while let Some(role) = strings.next() {
        pairs.push(match strings.next() {
            Some(name) => (role, name),
            None => (String::new(), role),
        });
    }
    pairs
}

/// `APIC` (ID3v2.4 section 4.14), or `PIC` with a three-letter kind instead of the MIME type (ID3v2.2 section 4.15);
/// with its first bytes.
fn parse_picture(version: Version, payload: &Payload) -> Option<(Picture, Vec<u8>)> {
    let (&encoding, bytes) = payload.bytes.split_first()?;
    let encoding = Encoding::of(encoding);
    let (mime, bytes) = match version {
        Version::V22 => bytes.split_at_checked(3)?,
        _ => {
            let (mime, bytes) = Encoding::Latin1.split_first(bytes);
            (mime, bytes?)
        }
    };
    let mime = match mime {
        b"JPG" => "image/jpeg".to_owned(),
        b"PNG" => "image/png".to_owned(),
        mime => Encoding::Latin1.decode(mime),
    };
    let (&kind, bytes) = bytes.split_first()?;
    let (description, bytes) = encoding.split_first(bytes);
    let bytes = bytes?;
    let skipped = (payload.bytes.len() - bytes.len()) as u64;
    let range = payload.range.map(|range| ByteRange::between(range.offset + skipped, range.end()));
    let description = encoding.decode(description);
    let range = range.unwrap_or_default();
    Some((Picture { kind, mime, width: 0, height: 0, description, range }, bytes.to_vec()))
}
