//! APE tags, versions 1 and 2 (Hydrogenaudio wiki, "APEv2 specification"): items at the end of a file.
//!
//! A tag is taken apart into items; an edit makes new items for the keys that it touches and takes all others
//! as ranges of the source. Nothing follows the tag but ID3v1, so that it may grow and shrink freely.

mod names;
mod read;
mod rewrite;

use serde::{Deserialize, Serialize};

pub use read::{Read, read};
pub use rewrite::{can_hold, rewrite};

/// Bytes of a header, and of a footer.
pub const FOOTER_BYTES: u64 = 32;

const MARK: &[u8; 8] = b"APETAGEX";
const FLAG_HAS_HEADER: u32 = 1 << 31;
const FLAG_IS_HEADER: u32 = 1 << 29;
/// Version whose texts are UTF-8.
const VERSION_2: u32 = 2000;

/// A tag of a source, as much as a rewrite needs. Its parts lie one behind the other: header, items, rest, footer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// Of its first byte in the source.
    pub offset: u64,
    /// Bytes of the whole tag.
    pub len: u64,
    /// 1000 or 2000.
    pub version: u32,
    /// Of the footer, as stored.
    pub flags: u32,
    /// How many items a rewritten tag claims to have, edits apart.
    pub count: u32,
    /// In order, without gaps.
    pub items: Vec<Item>,
    /// Bytes behind the items that could not be read as such.
    pub rest: u64,
}

impl Tag {
    /// A tag without items that is still to be written, with a header.
    pub(crate) fn empty(offset: u64) -> Self {
        Self { offset, len: 0, version: VERSION_2, flags: FLAG_HAS_HEADER, count: 0, items: Vec::new(), rest: 0 }
    }

    /// Whether it has any value: other readers then look at no other tag.
    fn speaks(&self) -> bool {
        self.items.iter().any(|item| !item.keys.is_empty())
    }

    /// Of the first byte behind it in the source.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }

    /// Whether the parts add up: nothing else is to be believed of a stored tag.
    pub(crate) fn is_sound(&self) -> bool {
        let header = if self.has_header() { FOOTER_BYTES } else { 0 };
        let items = self.items.iter().map(|item| item.len);
        [header, self.rest, FOOTER_BYTES].into_iter().chain(items).try_fold(0_u64, u64::checked_add) == Some(self.len)
    }

    fn has_header(&self) -> bool {
        self.flags & FLAG_HAS_HEADER != 0
    }
}

/// An item of a tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Its key in the file's own spelling.
    pub name: String,
    /// The keys whose values it carries.
    pub keys: Vec<String>,
    /// Bytes in the source, with sizes, flags and name.
    pub len: u64,
}

#[cfg(test)]
mod tests;
