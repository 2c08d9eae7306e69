//! Text inside ID3: the encodings of the standards, and what writers made of them.
//!
//! ID3v2.4 section 4: encoding byte 0 Latin-1, 1 UTF-16 with byte order mark, 2 UTF-16 big-endian, 3 UTF-8.
//! Bytes that claim to be Latin-1 but are valid UTF-8 are UTF-8: that never happens by chance for long.
//! Any other code page is shown as the Latin-1 that it claims to be, never guessed.

use super::v2::Version;
use crate::limits::LIST_VALUES_MAX;

/// How the bytes of a text are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// ISO 8859-1.
    Latin1,
    /// UTF-16, each string with its byte order mark.
    Utf16,
    /// UTF-16, big-endian, without mark.
    Utf16Be,
    /// UTF-8.
    Utf8,
}

impl Encoding {
    /// The encoding that stands before a text; an unknown byte counts as Latin-1.
    pub fn of(byte: u8) -> Self {
        match byte {
            1 => Self::Utf16,
            2 => Self::Utf16Be,
            3 => Self::Utf8,
            _ => Self::Latin1,
        }
    }

    /// The one in which a tag of `version` gets what a user wrote: ASCII stays one byte a letter before ID3v2.4.
    pub fn for_writing<'a>(version: Version, mut texts: impl Iterator<Item = &'a str>) -> Self {
        match version {
            Version::V24 => Self::Utf8,
            _ if texts.all(str::is_ascii) => Self::Latin1,
            _ => Self::Utf16,
        }
    }

    /// The one for `texts` that were read elsewhere in the file: what was bytes of an unknown code page, shown as Latin-1,
    /// stays those bytes, for players that know better. (Not with "ÿ": its byte would need unsynchronisation.)
    pub fn for_copying<'a>(version: Version, texts: impl Iterator<Item = &'a str> + Clone) -> Self {
        let is_latin1 = |text: &str| {
            let mut bytes = Vec::new();
            Self::Latin1.encode(text, &mut bytes);
            Self::Latin1.decode(&bytes) == text && !bytes.contains(&0xff)
        };
        if texts.clone().all(is_latin1) && !texts.clone().all(str::is_ascii) {
            return Self::Latin1;
        }
        Self::for_writing(version, texts)
    }

    /// The byte that announces it.
    pub fn byte(self) -> u8 {
        self as u8
    }

    /// Appends `text`, with a byte order mark where that belongs to it.
    pub fn encode(self, text: &str, out: &mut Vec<u8>) {
        match self {
            Self::Latin1 => out.extend(text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?'))),
            Self::Utf8 => out.extend(text.as_bytes()),
            Self::Utf16Be => out.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
            Self::Utf16 => {
                out.extend([0xff, 0xfe]);
                out.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
            }
        }
    }

    /// Appends the end of a string.
    pub fn terminate(self, out: &mut Vec<u8>) {
        out.resize(out.len() + self.unit(), 0);
    }

    /// Splits behind the first end of a string: the bytes before it, and those behind it if there is one.
    pub fn split_first(self, bytes: &[u8]) -> (&[u8], Option<&[u8]>) {
        let unit = self.unit();
        let end = bytes.chunks_exact(unit).position(|chunk| chunk.iter().all(|&byte| byte == 0));
        match end {
            Some(at) => (&bytes[..at * unit], Some(&bytes[(at + 1) * unit..])),
            None => (bytes, None),
        }
    }

    /// Decodes one string.
    pub fn decode(self, bytes: &[u8]) -> String {
        self.decode_after(bytes, &mut None)
    }

    /// Decodes the strings between NULs, the first [`LIST_VALUES_MAX`] of them. Empty ones are left out: they are what
    /// writers append to others.
    pub fn decode_list(self, bytes: &[u8]) -> Vec<String> {
        let mut values = Vec::new();
        let mut order = None;
        let mut rest = Some(bytes);
        while let Some(bytes) = rest.filter(|_| values.len() < LIST_VALUES_MAX) {
            let (value, behind) = self.split_first(bytes);
            let value = self.decode_after(value, &mut order);
            if !value.is_empty() {
                values.push(value);
            }
            rest = behind;
        }
        values
    }

    fn unit(self) -> usize {
        match self {
            Self::Latin1 | Self::Utf8 => 1,
            Self::Utf16 | Self::Utf16Be => 2,
        }
    }

    /// `order` remembers the mark of an earlier string of the frame: later ones often lack theirs.
    fn decode_after(self, bytes: &[u8], order: &mut Option<ByteOrder>) -> String {
        match (self, bytes) {
            (Self::Utf16 | Self::Utf16Be, [0xff, 0xfe, text @ ..]) => utf16(text, *order.insert(ByteOrder::Little)),
            (Self::Utf16 | Self::Utf16Be, [0xfe, 0xff, text @ ..]) => utf16(text, *order.insert(ByteOrder::Big)),
            (Self::Utf16, _) => utf16(bytes, order.unwrap_or_else(|| guessed_order(bytes))),
            (Self::Utf16Be, _) => utf16(bytes, order.unwrap_or(ByteOrder::Big)),
            (Self::Latin1 | Self::Utf8, _) => narrow(bytes),
        }
    }
}

#[derive(Clone, Copy)]
enum ByteOrder {
    Little,
    Big,
}

/// An odd last byte is half a letter, and is left out.
fn utf16(bytes: &[u8], order: ByteOrder) -> String {
    let units = bytes.chunks_exact(2).map(|pair| match order {
        ByteOrder::Little => u16::from_le_bytes([pair[0], pair[1]]),
        ByteOrder::Big => u16::from_be_bytes([pair[0], pair[1]]),
    });
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Writers that forget the mark are Windows programs, so little-endian, unless the zeros say otherwise.
fn guessed_order(bytes: &[u8]) -> ByteOrder {
    let zeros = |phase: usize| bytes.iter().skip(phase).step_by(2).filter(|&&byte| byte == 0).count();
    if zeros(0) > zeros(1) { ByteOrder::Big } else { ByteOrder::Little }
}

fn narrow(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text).to_owned(),
        Err(_) => match bytes {
            [0xff, 0xfe, text @ ..] if text.contains(&0) => utf16(text, ByteOrder::Little),
            _ => bytes.iter().map(|&byte| char::from(byte)).collect(),
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn oddities_are_read() {
        let cases: [(Encoding, &[u8], &str); 10] = [
            (Encoding::Latin1, b"Caf\xe9", "Café"),
            (Encoding::Latin1, "Je čas".as_bytes(), "Je čas"),
            (Encoding::Utf8, b"bad \xe9", "bad é"),
            (Encoding::Utf8, b"\xef\xbb\xbfmark", "mark"),
            (Encoding::Utf16, b"\xff\xfea\0b\0", "ab"),
            (Encoding::Utf16, b"\xfe\xff\0a\0b", "ab"),
            (Encoding::Utf16, b"a\0b\0", "ab"),
            (Encoding::Utf16, b"\0a\0b", "ab"),
            (Encoding::Utf16, b"\xff\xfea\0b", "a"),
            (Encoding::Utf16Be, b"\xff\xfea\0", "a"),
        ];
        for (encoding, bytes, text) in cases {
            assert_eq!(encoding.decode(bytes), text, "{bytes:02x?}");
        }
    }

    #[test]
    fn lists_split_at_nul_only() {
        assert_eq!(Encoding::Latin1.decode_list(b"AC/DC\0\0Foo / Bar; Baz\0\0"), ["AC/DC", "Foo / Bar; Baz"]);
        assert_eq!(Encoding::Utf16.decode_list(b"\xfe\xff\0a\0\0\0b\0\0"), ["a", "b"], "the mark holds for the list");
        assert_eq!(Encoding::Utf16.decode_list(b"\xff\xfea\0\0\0\xff\xfe\0\x01\0"), ["a", "\u{100}"], "aligned NULs");
    }

    #[test]
    fn no_more_values_than_the_limit() {
        for (count, read) in [(LIST_VALUES_MAX, LIST_VALUES_MAX), (LIST_VALUES_MAX + 1, LIST_VALUES_MAX)] {
            assert_eq!(Encoding::Utf8.decode_list(&b"x\0".repeat(count)).len(), read);
        }
    }

    proptest! {
        #[test]
        fn written_text_is_read_again(text in "\\PC*", version in prop::sample::select(vec![Version::V22, Version::V23, Version::V24])) {
            let encoding = Encoding::for_writing(version, std::iter::once(text.as_str()));
            let mut bytes = Vec::new();
            encoding.encode(&text, &mut bytes);
            prop_assert_eq!(Encoding::of(encoding.byte()).decode(&bytes), text.strip_prefix('\u{feff}').unwrap_or(&text));
        }
    }
}
