//! Texts that stand in `udta` itself: QuickTime's user data (QuickTime File Format, "User data text strings")
//! and 3GPP's assets (3GPP TS 26.244, section 8).

use super::boxes::{Kind, be, boxed};
use super::names::text_of;
use super::structure::Form;
use crate::id3::text::Encoding;
use crate::table::{self, Column, Place};

/// First letter of QuickTime's kinds.
const COPYRIGHT_SIGN: u8 = 0xa9;
/// Language codes below this are of the old Macintosh; above, three letters of ISO 639-2.
const LANGUAGES: u16 = 0x400;
/// "und", packed.
const UNDETERMINED: u16 = 0x55c4;

/// 3GPP's kinds that mean a key.
const ASSETS: [(&Kind, &str); 8] = [
    (b"titl", "title"),
    (b"perf", "artist"),
    (b"auth", "writer"),
    (b"albm", "album"),
    (b"gnre", "genre"),
    (b"dscp", "comment"),
    (b"cprt", "copyright"),
    (b"yrrc", "date"),
];

/// What a box of user data says.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) form: Form,
    pub(super) values: Vec<String>,
}

/// The keys of a box that may hold text, with their ranks.
pub(super) fn places(kind: Kind) -> Vec<(String, u8)> {
    let asset = ASSETS.iter().find(|(known, _)| **known == kind);
    match asset {
        Some((_, key)) => vec![((*key).to_owned(), 0)],
        None if kind[0] == COPYRIGHT_SIGN => {
            let name = text_of(kind);
            let places = table::places(Column::Mp4, &name, None);
            let whole = |place: &Place| (place.key.to_owned(), place.rank);
            if places.is_empty() {
                vec![(table::native_key(Column::Mp4, &name, None), 0)]
            } else {
                places.iter().map(whole).collect()
            }
        }
        None => Vec::new(),
    }
}

/// Reads the content of a box for which there are [`places`].
pub(super) fn read(kind: Kind, content: &[u8]) -> Option<Text> {
    if kind[0] == COPYRIGHT_SIGN {
        return quick_time(content);
    }
    if kind == *b"yrrc" {
        return Some(Text { form: Form::Year3gpp, values: vec![be(content, 4, 2)?.to_string()] });
    }
    let language = be(content, 4, 2)? as u16;
    let bytes = content.get(6..)?;
    let encoding = encoding(bytes);
    let (text, behind) = encoding.split_first(bytes);
    // An album may have its track's number behind it.
    let number = behind.and_then(|behind| behind.first()).copied().unwrap_or(0);
    Some(Text { form: Form::Text3gpp(language, number), values: non_empty(encoding.decode(text)) })
}

/// The first text: others are the same in other languages.
fn quick_time(content: &[u8]) -> Option<Text> {
    let (len, language) = (be(content, 0, 2)?, be(content, 2, 2)? as u16);
    let bytes = content.get(4..)?;
    let bytes = bytes.get(..usize::try_from(len).ok()?)?;
    let text = encoding(bytes).decode(bytes).trim_end_matches('\0').to_owned();
    Some(Text { form: Form::QuickTime(language), values: non_empty(text) })
}

fn encoding(bytes: &[u8]) -> Encoding {
    if matches!(bytes, [0xfe, 0xff, ..] | [0xff, 0xfe, ..]) { Encoding::Utf16 } else { Encoding::Utf8 }
}

fn non_empty(text: String) -> Vec<String> {
    if text.is_empty() { Vec::new() } else { vec![text] }
}

/// The box with another value; `None` if it cannot hold that.
pub(super) fn write(kind: Kind, form: Form, value: &str) -> Option<Vec<u8>> {
    let content = match form {
        Form::Data => return None,
        Form::QuickTime(language) => {
            let is_safe = language >= LANGUAGES || value.is_ascii();
            let language = if is_safe { language } else { UNDETERMINED };
            [&u16::try_from(value.len()).ok()?.to_be_bytes(), &language.to_be_bytes()[..], value.as_bytes()].concat()
        }
        Form::Text3gpp(language, number) => {
            let number = if number == 0 { &[][..] } else { &[number] };
            [&[0; 4], &language.to_be_bytes()[..], value.as_bytes(), &[0], number].concat()
        }
        Form::Year3gpp => {
            let year: u16 = value.get(..4)?.parse().ok()?;
            [&[0; 4], &year.to_be_bytes()[..]].concat()
        }
    };
    Some(boxed(kind, &content))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
    use super::*;

    #[test]
    fn texts_are_read_and_written() {
        let table: [(&Kind, &[u8], Form, &[&str]); 6] = [
            (b"\xa9nam", b"\0\x03\0\0One\0\x03\x15\xc7Two", Form::QuickTime(0), &["One"]),
            (b"\xa9nam", b"\0\x09\0\0One", Form::QuickTime(0), &[]),
            (b"titl", b"\0\0\0\0\x15\xc7One\0", Form::Text3gpp(0x15c7, 0), &["One"]),
            (b"titl", b"\0\0\0\0\x15\xc7\xfe\xff\0O\0\0", Form::Text3gpp(0x15c7, 0), &["O"]),
            (b"albm", b"\0\0\0\0\x15\xc7One\0\x07", Form::Text3gpp(0x15c7, 7), &["One"]),
            (b"yrrc", b"\0\0\0\0\x07\xcf", Form::Year3gpp, &["1999"]),
        ];
        for (kind, content, form, values) in table {
            let Some(text) = read(*kind, content) else {
                assert!(values.is_empty());
                continue;
            };
            assert_eq!((text.form, text.values), (form, values.iter().map(ToString::to_string).collect()));
            let new = write(*kind, form, "2001 ♫").unwrap();
            let expected = if form == Form::Year3gpp { "2001" } else { "2001 ♫" };
            assert_eq!(read(*kind, &new[8..]).unwrap().values, [expected]);
        }
        assert_eq!(write(*b"yrrc", Form::Year3gpp, "soon"), None);
        assert_eq!(write(*b"\xa9nam", Form::QuickTime(0), &"x".repeat(1 << 16)), None);
    }

    #[test]
    fn kinds_mean_keys() {
        for (kind, key) in [(b"\xa9nam", "title"), (b"perf", "artist"), (b"\xa9xyz", "mp4:©xyz")] {
            assert_eq!(places(*kind), [(key.to_owned(), 0)]);
        }
        assert_eq!(places(*b"name"), []);
    }
}
