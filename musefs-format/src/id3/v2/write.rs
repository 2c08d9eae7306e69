//! New frames.

use super::dates;
use super::kind::{Kind, is_genre, is_name};
use super::{FrameSizes, Version, to_syncsafe};
use crate::container::Refusal;
use crate::id3::text::Encoding;
use crate::id3::{genres, unsync};
use crate::table::{self, Part, Slot};
use crate::{Edits, Tags, numbers};

/// A frame to be written: its place, and the keys that it is to carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Home {
    /// Native name; of dates in parts, that of the year.
    pub(super) name: String,
    /// Description or owner where frames of the name have one.
    pub(super) detail: Option<String>,
    /// Of comments and lyrics.
    pub(super) language: Option<[u8; 3]>,
    /// In order.
    pub(super) keys: Vec<String>,
}

impl Home {
    /// Where a tag of `version` keeps a key; `None` if it cannot.
    pub(super) fn of(version: Version, key: &str) -> Option<Self> {
        let column = version.column();
        let home = |name: &str, detail: Option<&str>| {
            let (name, detail) = (name.to_owned(), detail.map(str::to_owned));
            Some(Self { name, detail, language: None, keys: vec![key.to_owned()] })
        };
        if let Some(slot) = table::slots(key, column).first() {
            return match *slot {
                Slot::Whole(name) | Slot::Part(name, _) => home(name, None),
                Slot::Detail(name, _) if Kind::of(name) == Kind::People => home(name, None),
                Slot::Detail(name, detail) => home(name, Some(detail)),
                Slot::Date([year, ..]) => home(year, None),
            };
        }
        match native(version, key) {
            Native::Frame(name, detail) => home(&name, detail.as_deref()),
            Native::Unwritable => None,
            Native::Free => home(user_text(version), Some(&table::free_name(column, key)?)),
        }
    }

    /// The finished frames; none if no value is left.
    pub(super) fn frames(&self, version: Version, sizes: FrameSizes, edits: &Edits) -> Result<Vec<u8>, Refusal> {
        let is_copy = !self.keys.iter().any(|key| edits.touches(key));
        let style = Style { version, is_copy };
        let mut frames = Vec::new();
        for (name, payload) in self.payloads(style, edits.effective()) {
            self.append(version, sizes, &name, payload, &mut frames)?;
        }
        Ok(frames)
    }

    fn append(
        &self,
        version: Version,
        sizes: FrameSizes,
        name: &str,
        payload: Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let payload = if sizes == FrameSizes::Stuffed { unsync::protect(&payload) } else { payload };
        let limit: u32 = if version == Version::V22 { 0xff_ffff } else { 0x0fff_ffff };
        let size = u32::try_from(payload.len()).ok().filter(|size| *size <= limit);
        let size = size.ok_or_else(|| Refusal::TooLarge {
            key: self.keys.first().cloned().unwrap_or_default(),
            bytes: payload.len() as u64,
            what: "an ID3v2 frame",
            limit: u64::from(limit),
        })?;
        out.extend(name.as_bytes());
        match (version, sizes) {
            (Version::V22, _) => out.extend(&size.to_be_bytes()[1..]),
            (Version::V23, FrameSizes::Swapped) | (Version::V24, FrameSizes::Standard | FrameSizes::Stuffed) => {
                out.extend(to_syncsafe(size));
            }
            (Version::V23 | Version::V24, _) => out.extend(size.to_be_bytes()),
        }
        if version != Version::V22 {
            out.extend([0; 2]);
        }
        out.extend(payload);
        Ok(())
    }

    /// Name and payload of each frame.
    fn payloads(&self, style: Style, tags: &Tags) -> Vec<(String, Vec<u8>)> {
        let values: Vec<&str> = self.keys.iter().flat_map(|key| tags.get(key)).map(String::as_str).collect();
        if values.is_empty() {
            return Vec::new();
        }
        let detail = self.detail.as_deref().unwrap_or_default();
        let named = |payload| (self.name.clone(), payload);
        match Kind::of(&self.name) {
            Kind::People => vec![named(style.texts(&self.people(style.version, tags)))],
            Kind::UserText => vec![named(style.detailed(None, detail, &values))],
            Kind::Comment => {
                vec![named(style.detailed(Some(self.language.unwrap_or(*b"eng")), detail, &values))]
            }
            // Addresses are ASCII; one that is not stays what it is rather than being lost.
            Kind::Url => values.iter().map(|url| named(url.as_bytes().to_vec())).collect(),
            Kind::UserUrl => values.iter().map(|url| named(style.user_url(detail, url))).collect(),
            Kind::UniqueId => {
                values.iter().map(|id| named([detail.as_bytes(), b"\0", id.as_bytes()].concat())).collect()
            }
            Kind::Mark => {
                if values[0] == "0" {
                    Vec::new()
                } else {
                    vec![named(vec![0; 4])]
                }
            }
            Kind::Picture | Kind::Owned | Kind::Binary => Vec::new(),
            Kind::Text => self.text(style, tags, &values),
        }
    }

    fn text(&self, style: Style, tags: &Tags, values: &[&str]) -> Vec<(String, Vec<u8>)> {
        let dates = self.keys.first().and_then(|key| dates::frames(style, key, values));
        if let Some(dates) = dates {
            return dates;
        }
        let values: Vec<String> = match is_genre(&self.name) {
            true => values.iter().map(|genre| genres::escape(genre)).collect(),
            false => {
                self.numbers(style.version, tags).unwrap_or_else(|| values.iter().map(ToString::to_string).collect())
            }
        };
        vec![(self.name.clone(), style.texts(&values))]
    }

    /// "number/total" for each number, where the frame holds both.
    fn numbers(&self, version: Version, tags: &Tags) -> Option<Vec<String>> {
        let places = table::places(version.column(), &self.name, None);
        let side = |part| {
            let place = places.iter().find(|place| place.part == Some(part))?;
            Some(if self.keys.iter().any(|key| key == place.key) { tags.get(place.key) } else { &[] })
        };
        let (number, total) = (side(Part::Number)?, side(Part::Total)?);
        Some(numbers::join(number, total))
    }

    /// Role and name, alternating.
    fn people(&self, version: Version, tags: &Tags) -> Vec<String> {
        let mut pairs = Vec::new();
        for key in &self.keys {
            let slot = table::slots(key, version.column()).first();
            for value in tags.get(key) {
                let (role, name) = match slot {
                    Some(Slot::Detail(_, role)) if *role != "*" => (*role, value.as_str()),
                    _ => role_and_name(value),
                };
                pairs.extend([role.to_owned(), name.to_owned()]);
            }
        }
        pairs
    }
}

/// "name (role)" as Vorbis comments have it.
fn role_and_name(value: &str) -> (&str, &str) {
    let parts = value.strip_suffix(')').and_then(|value| value.rsplit_once(" ("));
    match parts {
        Some((name, role)) if !name.is_empty() && !role.is_empty() => (role, name),
        _ => ("", value),
    }
}

enum Native {
    Frame(String, Option<String>),
    Unwritable,
    Free,
}

/// The frame that an `id3:` key names.
fn native(version: Version, key: &str) -> Native {
    let Some(native) = key.strip_prefix("id3:") else { return Native::Free };
    let (name, detail) = native.split_once(':').map_or((native, None), |(name, detail)| (name, Some(detail)));
    let name = name.to_uppercase();
    if !(3..=4).contains(&name.len()) || !is_name(name.as_bytes()) {
        return Native::Free;
    }
    let named = name.len() == version.name_bytes();
    match (Kind::of(&name), detail) {
        (Kind::Text | Kind::Url | Kind::Mark | Kind::UserText, None) if named => Native::Frame(name, None),
        (Kind::UserUrl | Kind::Comment | Kind::UniqueId, detail) if named => {
            Native::Frame(name, Some(detail.unwrap_or_default().to_owned()))
        }
        _ => Native::Unwritable,
    }
}

fn user_text(version: Version) -> &'static str {
    if version == Version::V22 { "TXX" } else { "TXXX" }
}

/// How texts are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) version: Version,
    /// Whether they come from elsewhere in the file, not from a user.
    pub(super) is_copy: bool,
}

impl Style {
    fn encoding<'a>(self, texts: impl Iterator<Item = &'a str> + Clone) -> Encoding {
        match self.is_copy {
            true => Encoding::for_copying(self.version, texts),
            false => Encoding::for_writing(self.version, texts),
        }
    }

    /// Encoding, then the values with NULs between them.
    pub(super) fn texts<S: AsRef<str>>(self, values: &[S]) -> Vec<u8> {
        let encoding = self.encoding(values.iter().map(AsRef::as_ref));
        let mut payload = vec![encoding.byte()];
        encode_list(encoding, values.iter().map(AsRef::as_ref), &mut payload);
        payload
    }

    /// Encoding, perhaps a language, description, and the values with NULs between them.
    pub(super) fn detailed(self, language: Option<[u8; 3]>, detail: &str, values: &[&str]) -> Vec<u8> {
        let encoding = self.encoding(values.iter().copied().chain([detail]));
        let mut payload = vec![encoding.byte()];
        payload.extend(language.into_iter().flatten());
        encoding.encode(detail, &mut payload);
        encoding.terminate(&mut payload);
        encode_list(encoding, values.iter().copied(), &mut payload);
        payload
    }

    fn user_url(self, detail: &str, url: &str) -> Vec<u8> {
        let mut payload = self.detailed(None, detail, &[]);
        payload.extend(url.as_bytes());
        payload
    }
}

fn encode_list<'a>(encoding: Encoding, values: impl Iterator<Item = &'a str>, out: &mut Vec<u8>) {
    for (at, value) in values.enumerate() {
        if at > 0 {
            encoding.terminate(out);
        }
        encoding.encode(value, out);
    }
}
