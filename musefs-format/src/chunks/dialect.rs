//! How the dialects write names and lengths.

use serde::{Deserialize, Serialize};

/// Name of a chunk; zeros for one whose name is a GUID of its own.
pub(crate) type Name = [u8; 4];

/// Of a 32-bit length: not known, or told elsewhere.
pub(super) const OPEN: u64 = u32::MAX as u64;

/// Behind the four letters of a Wave64 name that RIFF has too ("Sony Pictures Digital Wave 64", section 4).
const GUID_TAIL: [u8; 12] = [0xf3, 0xac, 0xd3, 0x11, 0x8c, 0xd1, 0x00, 0xc0, 0x4f, 0x8e, 0xdb, 0x8a];

/// A way to write chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Dialect {
    /// RIFF (Multimedia Programming Interface and Data Specifications 1.0, chapter 2).
    Riff,
    /// RIFF with big-endian numbers.
    Rifx,
    /// RF64 (EBU Tech 3306) and BW64 (ITU-R BS.2088): long lengths stand in a `ds64` chunk.
    Rf64,
    /// Sony Wave64: GUIDs for names, 64-bit lengths that count the header, chunks at multiples of 8.
    Wave64,
    /// EA IFF 85, as AIFF uses it.
    Iff,
    /// DSDIFF 1.5: IFF with 64-bit lengths.
    Dsdiff,
}

/// What a chunk is to a splice, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Audio,
    Id3,
    /// Perhaps of type INFO.
    List,
    /// One text, whole.
    Text,
    Filler,
    /// `ds64`.
    Sizes,
    Other,
}

impl Dialect {
    /// Whether numbers begin with their most significant byte.
    pub(crate) fn is_big_endian(self) -> bool {
        matches!(self, Self::Rifx | Self::Iff | Self::Dsdiff)
    }

    fn name_bytes(self) -> usize {
        if self == Self::Wave64 { 16 } else { 4 }
    }

    fn size_bytes(self) -> usize {
        if self.is_wide() { 8 } else { 4 }
    }

    fn is_wide(self) -> bool {
        matches!(self, Self::Wave64 | Self::Dsdiff)
    }

    /// Bytes of a chunk's name and length.
    pub(super) fn header_bytes(self) -> u64 {
        (self.name_bytes() + self.size_bytes()) as u64
    }

    /// Bytes of the file's header: like a chunk's, with the type of the file behind it.
    pub(super) fn form_bytes(self) -> u64 {
        self.header_bytes() + self.name_bytes() as u64
    }

    /// Chunks begin at multiples of it.
    pub(super) fn align(self) -> u64 {
        if self == Self::Wave64 { 8 } else { 2 }
    }

    /// Bytes between a content of `len` and the next chunk.
    pub(super) fn padding(self, len: u64) -> u64 {
        len.wrapping_neg() % self.align()
    }

    /// Name and length of the content at the start of `bytes`; `None` if they are none.
    pub(super) fn header(self, bytes: &[u8]) -> Option<(Name, u64)> {
        let (name, rest) = bytes.split_at_checked(self.name_bytes())?;
        let size = rest.get(..self.size_bytes())?;
        let fold = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        let size = if self.is_big_endian() { size.iter().fold(0, fold) } else { size.iter().rev().fold(0, fold) };
        if self != Self::Wave64 {
            let name = *name.first_chunk().filter(|name| name.iter().all(|byte| (b' '..=b'~').contains(byte)))?;
            return Some((name, size));
        }
        let name = name.strip_suffix(&GUID_TAIL).and_then(|name| name.first_chunk()).copied();
        Some((name.unwrap_or_default(), size.checked_sub(self.header_bytes())?))
    }

    /// A header; `None` if the length does not fit into it.
    pub(super) fn new_header(self, name: Name, len: u64) -> Option<Vec<u8>> {
        let mut bytes = name.to_vec();
        if self == Self::Wave64 {
            bytes.extend(GUID_TAIL);
        }
        bytes.extend(self.number(self.size(len)?)?);
        Some(bytes)
    }

    /// The bytes of a [`Self::size`]; `None` if it is too large.
    pub(super) fn number(self, size: u64) -> Option<Vec<u8>> {
        let bytes =
            if self.is_wide() { size.to_be_bytes().to_vec() } else { u32::try_from(size).ok()?.to_be_bytes().to_vec() };
        Some(if self.is_big_endian() { bytes } else { bytes.into_iter().rev().collect() })
    }

    /// What a header says of a content of `len`: Wave64 counts the header too.
    pub(super) fn size(self, len: u64) -> Option<u64> {
        if self == Self::Wave64 { len.checked_add(self.header_bytes()) } else { Some(len) }
    }

    pub(super) fn class(self, name: Name) -> Class {
        match (self, &name) {
            (Self::Iff, b"SSND") | (Self::Dsdiff, b"DSD " | b"DST ") => Class::Audio,
            (_, b"ID3 " | b"id3 ") => Class::Id3,
            (Self::Iff, b"NAME" | b"AUTH" | b"(c) " | b"ANNO") => Class::Text,
            (Self::Rf64, b"ds64") => Class::Sizes,
            (Self::Iff, b"FLLR" | b"JUNK" | b"PAD ") => Class::Filler,
            (Self::Iff | Self::Dsdiff, _) => Class::Other,
            (_, b"data") => Class::Audio,
            (_, b"LIST" | b"list") => Class::List,
            (_, b"JUNK" | b"junk" | b"FLLR" | b"PAD ") => Class::Filler,
            _ => Class::Other,
        }
    }

    /// The name of new chunks with an ID3v2 tag.
    pub(super) fn id3_name(self) -> Name {
        match self {
            Self::Iff | Self::Dsdiff => *b"ID3 ",
            _ => *b"id3 ",
        }
    }

    /// The name of new chunks with texts.
    pub(super) fn list_name(self) -> Name {
        if self == Self::Wave64 { *b"list" } else { *b"LIST" }
    }

    /// The name of new chunks that only take room.
    pub(super) fn filler_name(self) -> Name {
        match self {
            Self::Iff => *b"FLLR",
            Self::Wave64 => *b"junk",
            _ => *b"JUNK",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_written() {
        for dialect in [Dialect::Riff, Dialect::Rifx, Dialect::Rf64, Dialect::Wave64, Dialect::Iff, Dialect::Dsdiff] {
            for len in [0, 1, 0x1234_5678, OPEN] {
                let header = dialect.new_header(*b"data", len);
                let header = header.as_deref().and_then(|header| dialect.header(header));
                assert_eq!(header, Some((*b"data", len)), "{dialect:?}");
            }
            assert_eq!(dialect.new_header(*b"data", 1 << 32).is_some(), dialect.is_wide());
            assert_eq!([0, 1, 7, 8].map(|len| (len + dialect.padding(len)) % dialect.align()), [0; 4]);
        }
        assert_eq!(Dialect::Riff.header(b"\0ata\0\0\0\0"), None);
        assert_eq!(Dialect::Riff.header(b"data\0\0\0"), None);
        assert_eq!(Dialect::Wave64.header(&[[9; 16], [0; 16]].concat()), None);
        assert_eq!(Dialect::Wave64.header(&[&[9; 16][..], &[24, 0, 0, 0, 0, 0, 0, 0]].concat()), Some(([0; 4], 0)));
    }
}
