//! What a splice needs to know of an MP4 file.

use serde::{Deserialize, Serialize};

use super::boxes::{HEADER_BYTES, Kind, WIDE_HEADER_BYTES};
use crate::{Refusal, Structure};

/// Version of the stored layout: the first byte of a structure.
const VERSION: u8 = 1;

/// An MP4 file: what precedes `moov`, that, perhaps a `free` box, what follows; and where offsets into the file stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mp4Structure {
    /// Bytes of the source.
    pub(super) len: u64,
    /// The box with all tags.
    pub(super) moov: Container,
    /// Bytes of a free box right behind it.
    pub(super) free: u64,
    /// Whether media, or anything else that should keep its place, follow.
    pub(super) leads: bool,
    /// Whether the items of iTunes had any value: readers then look at no other tags.
    pub(super) speaks: bool,
    /// In the order of the source.
    pub(super) tables: Vec<Table>,
}

/// A box whose parts are known. They lie one behind the other behind its head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Container {
    /// What it is for.
    pub(super) role: Role,
    /// Of its header.
    pub(super) offset: u64,
    /// Whether its size has 64 bits.
    pub(super) wide: bool,
    /// Bytes between header and first part: version and flags.
    pub(super) preface: u64,
    /// In order.
    pub(super) parts: Vec<Part>,
}

/// What a container is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Role {
    /// `moov`.
    Movie,
    /// `udta` in `moov`.
    UserData,
    /// A `meta` box as iTunes has it.
    Meta,
    /// `ilst` in it.
    Items,
    /// A `meta` box whose items are named by a list of keys, or one of another kind.
    OtherMeta,
    /// `ilst` in it.
    KeyedItems,
}

/// A part of a container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Part {
    /// Boxes that stay as they are: how many bytes.
    Kept(u64),
    /// A box that nobody misses.
    Free(u64),
    /// Bytes at the end that are no box. New boxes stand before them.
    Rest(u64),
    /// A box with parts of its own.
    Container(Container),
    /// A box with values of tags.
    Item(Item),
}

/// A box with values of tags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Item {
    /// Bytes in the source, header included.
    pub(super) len: u64,
    /// Its kind.
    pub(super) kind: Kind,
    /// Who named it, and the name, if it is free-form.
    pub(super) free: Option<(String, String)>,
    /// How values are laid out in it.
    pub(super) form: Form,
    /// The keys whose values it carries; an edit of one of them touches it.
    pub(super) keys: Vec<String>,
}

/// How values are laid out in an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Form {
    /// In `data` boxes.
    Data,
    /// QuickTime's user data text: length, language, text.
    QuickTime(u16),
    /// 3GPP's: version and flags, language, text with a NUL; and what follows.
    Text3gpp(u16, u8),
    /// 3GPP's year: version and flags, 16 bits.
    Year3gpp,
}

/// Offsets into the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Table {
    /// Of its first entry.
    pub(super) offset: u64,
    /// Bytes of all entries.
    pub(super) len: u64,
    /// Bytes of one.
    pub(super) entry_bytes: u8,
    /// Where in an entry the offset stands.
    pub(super) field: u8,
    /// Whether it has 64 bits; else 32.
    pub(super) wide: bool,
}

impl Role {
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Movie => *b"moov",
            Self::UserData => *b"udta",
            Self::Meta | Self::OtherMeta => *b"meta",
            Self::Items | Self::KeyedItems => *b"ilst",
        }
    }
}

impl Container {
    /// Bytes in front of its first part.
    pub(super) fn head(&self) -> u64 {
        self.preface + if self.wide { WIDE_HEADER_BYTES } else { HEADER_BYTES }
    }

    /// Bytes of all; `None` if no file is that long.
    fn len(&self) -> Option<u64> {
        let head = HEADER_BYTES.checked_add(if self.wide { 8 } else { 0 })?.checked_add(self.preface)?;
        self.parts.iter().try_fold(head, |len, part| len.checked_add(part.len()?))
    }

    /// Whether inner containers stand where their parts begin to.
    fn is_sound(&self) -> bool {
        let mut offset = self.offset.saturating_add(self.head());
        self.parts.iter().all(|part| {
            let stands = match part {
                Part::Container(inner) => inner.offset == offset && inner.is_sound(),
                _ => true,
            };
            offset = offset.saturating_add(part.len().unwrap_or(0));
            stands
        })
    }
}

impl Part {
    /// Bytes in the source.
    pub(super) fn len(&self) -> Option<u64> {
        match self {
            Self::Kept(len) | Self::Free(len) | Self::Rest(len) => Some(*len),
            Self::Container(container) => container.len(),
            Self::Item(item) => Some(item.len),
        }
    }
}

impl Mp4Structure {
    /// Of the first byte behind `moov` and the free box.
    pub(super) fn head_end(&self) -> u64 {
        self.moov.offset + self.moov.len().unwrap_or(0) + self.free
    }

    pub(super) fn encode(&self) -> Structure {
        Structure::of(VERSION, self)
    }

    pub(super) fn decode(structure: &Structure) -> Result<Self, Refusal> {
        structure.parts(VERSION, Self::is_sound)
    }

    /// Whether all parts lie in the source, so that what is computed with them does.
    fn is_sound(&self) -> bool {
        let end = self.moov.len().and_then(|len| self.moov.offset.checked_add(len)?.checked_add(self.free));
        let mut behind = 0;
        let tables_fit = self.tables.iter().all(|table| {
            let fits = table.offset >= behind && table.entry_bytes > 0;
            behind = table.offset.saturating_add(table.len);
            fits && behind <= self.len
        });
        end.is_some_and(|end| end <= self.len) && tables_fit && self.moov.is_sound()
    }
}
