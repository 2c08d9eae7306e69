//! Values in `data` boxes: text, numbers, pairs (iTunes metadata; QuickTime File Format, "Well-known types").

use super::boxes::{Kind, be, boxed};
use crate::id3::genres;
use crate::id3::text::Encoding;

/// Well-known types.
mod code {
    pub(super) const IMPLICIT: u32 = 0;
    pub(super) const UTF8: u32 = 1;
    pub(super) const UTF16: u32 = 2;
    pub(super) const SIGNED: u32 = 21;
    pub(super) const UNSIGNED: u32 = 22;
    pub(super) const FLOAT32: u32 = 23;
    pub(super) const FLOAT64: u32 = 24;
}

/// Bytes of type and locale in front of a value.
pub(super) const DATA_HEAD_BYTES: u64 = 8;

/// What an item of a kind holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Native {
    Text,
    /// Yes or no.
    Flag,
    /// A signed number of that many bytes.
    Integer(u8),
    /// Number and total in a box of that many bytes.
    Pair(u8),
    /// A genre by its number in ID3v1's list, from 1 on.
    GenreNumber,
    Picture,
}

/// Kinds that hold no text.
const NATIVES: [(&Kind, Native); 24] = [
    (b"trkn", Native::Pair(8)),
    (b"disk", Native::Pair(6)),
    (b"gnre", Native::GenreNumber),
    (b"covr", Native::Picture),
    (b"cpil", Native::Flag),
    (b"pgap", Native::Flag),
    (b"pcst", Native::Flag),
    (b"shwm", Native::Flag),
    (b"tmpo", Native::Integer(2)),
    (b"\xa9mvi", Native::Integer(2)),
    (b"\xa9mvc", Native::Integer(2)),
    (b"rtng", Native::Integer(1)),
    (b"stik", Native::Integer(1)),
    (b"hdvd", Native::Integer(1)),
    (b"akID", Native::Integer(1)),
    (b"rate", Native::Integer(1)),
    (b"sfID", Native::Integer(4)),
    (b"cnID", Native::Integer(4)),
    (b"atID", Native::Integer(4)),
    (b"geID", Native::Integer(4)),
    (b"cmID", Native::Integer(4)),
    (b"plID", Native::Integer(8)),
    (b"tvsn", Native::Integer(4)),
    (b"tves", Native::Integer(4)),
];

impl Native {
    pub(super) fn of(kind: Kind) -> Self {
        NATIVES.iter().find(|(known, _)| **known == kind).map_or(Self::Text, |(_, native)| *native)
    }

    /// Kinds of numbers.
    pub(super) fn kinds() -> impl Iterator<Item = Kind> {
        NATIVES.iter().filter(|(_, native)| matches!(native, Self::Integer(_))).map(|(kind, _)| **kind)
    }
}

/// What a value says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// One value, or several with NULs between them.
    Texts(Vec<String>),
    /// Number and total; empty where they are unknown.
    Pair(String, String),
}

/// Reads a value of a type; `None` if it is nothing that can be told in words.
pub(super) fn decode(native: Native, type_code: u32, payload: &[u8]) -> Option<Value> {
    let number = || integer(type_code, payload);
    let one = |text: String| Some(Value::Texts(vec![text]));
    match native {
        Native::Picture => None,
        Native::Pair(_) => {
            let side = |at| be(payload, at, 2).filter(|number| *number > 0).map_or(String::new(), |n| n.to_string());
            Some(Value::Pair(side(2), side(4)))
        }
        Native::GenreNumber => one(genres::name(usize::try_from(be(payload, 0, 2)?).ok()?.checked_sub(1)?)?.to_owned()),
        _ if matches!(type_code, code::UTF8 | code::UTF16) => Some(Value::Texts(text(type_code, payload))),
        Native::Flag => one(if number()? == 0 { "0" } else { "1" }.to_owned()),
        // Unknown, as iTunes writes it.
        Native::Integer(_) if payload == [0, 0] => None,
        Native::Integer(_) => one(number()?.to_string()),
        Native::Text => match type_code {
            code::SIGNED | code::UNSIGNED => one(number()?.to_string()),
            code::FLOAT32 => one(f32::from_be_bytes(*payload.first_chunk()?).to_string()),
            code::FLOAT64 => one(f64::from_be_bytes(*payload.first_chunk()?).to_string()),
            code::IMPLICIT if is_text(payload) => Some(Value::Texts(text(code::UTF8, payload))),
            _ => None,
        },
    }
}

fn text(type_code: u32, payload: &[u8]) -> Vec<String> {
    let encoding = if type_code == code::UTF16 { Encoding::Utf16Be } else { Encoding::Utf8 };
    encoding.decode_list(payload)
}

/// Whether bytes of no told type are text.
fn is_text(payload: &[u8]) -> bool {
    let is_plain = |letter: char| !letter.is_control() || matches!(letter, '\n' | '\r' | '\t');
    std::str::from_utf8(payload).is_ok_and(|text| text.trim_end_matches('\0').chars().all(is_plain))
}

fn integer(type_code: u32, payload: &[u8]) -> Option<i64> {
    let width = Some(payload.len()).filter(|width| (1..=8).contains(width))?;
    let unsigned = be(payload, 0, width)?;
    if type_code == code::UNSIGNED {
        return i64::try_from(unsigned).ok();
    }
    let unused = 64 - 8 * width as u32;
    Some((unsigned << unused).cast_signed() >> unused)
}

/// The `data` box of a value; `None` if the item cannot hold it, so that it would not be read again.
pub(super) fn encode(native: Native, value: &str) -> Option<Vec<u8>> {
    let (type_code, payload) = match native {
        Native::Text => (code::UTF8, value.as_bytes().to_vec()),
        Native::Flag => match value {
            "0" => (code::SIGNED, vec![0]),
            "1" => (code::SIGNED, vec![1]),
            _ => return None,
        },
        Native::Integer(width) => {
            let bytes = digits(value)?.parse::<i64>().ok()?.to_be_bytes();
            let payload = bytes[bytes.len() - usize::from(width)..].to_vec();
            let again = decode(native, code::SIGNED, &payload)?;
            if again != Value::Texts(vec![value.parse::<i64>().ok()?.to_string()]) {
                return None;
            }
            (code::SIGNED, payload)
        }
        Native::Pair(_) | Native::GenreNumber | Native::Picture => return None,
    };
    Some(data(type_code, &payload))
}

/// The `data` box of a number and its total, 0 for unknown.
pub(super) fn encode_pair(bytes: u8, number: u16, total: u16) -> Vec<u8> {
    let mut payload = [&[0, 0], &number.to_be_bytes()[..], &total.to_be_bytes()].concat();
    payload.resize(usize::from(bytes), 0);
    data(code::IMPLICIT, &payload)
}

/// A side of a pair as it is stored; `None` for what is no number that fits.
pub(super) fn side(value: &str) -> Option<u16> {
    digits(value)?.parse().ok().filter(|number| *number > 0)
}

/// Numbers as people write them: digits, perhaps with zeros in front.
fn digits(value: &str) -> Option<&str> {
    let digits = value.strip_prefix('-').unwrap_or(value);
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(value)
}

fn data(type_code: u32, payload: &[u8]) -> Vec<u8> {
    boxed(*b"data", &[&type_code.to_be_bytes()[..], &[0; 4], payload].concat())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
    use super::*;

    #[test]
    fn values_are_told() {
        let texts = |texts: &[&str]| Some(Value::Texts(texts.iter().map(ToString::to_string).collect()));
        let table: [(Native, u32, &[u8], Option<Value>); 21] = [
            (Native::Text, 1, "Zwölf".as_bytes(), texts(&["Zwölf"])),
            (Native::Text, 1, b"a\0b\0", texts(&["a", "b"])),
            (Native::Text, 1, b"caf\xe9", texts(&["caf\u{e9}"])),
            (Native::Text, 2, b"\0a\x26\x6b", texts(&["a♫"])),
            (Native::Text, 2, b"\xff\xfea\0", texts(&["a"])),
            (Native::Text, 0, b"plain\0", texts(&["plain"])),
            (Native::Text, 0, b"\x01\x02", None),
            (Native::Text, 21, &[0xff, 0xfe], texts(&["-2"])),
            (Native::Text, 22, &[0xff, 0xfe], texts(&["65534"])),
            (Native::Text, 23, &[0x3f, 0xc0, 0, 0], texts(&["1.5"])),
            (Native::Text, 13, b"\xff\xd8", None),
            (Native::Flag, 21, &[1], texts(&["1"])),
            (Native::Flag, 0, &[0], texts(&["0"])),
            (Native::Flag, 1, b"1", texts(&["1"])),
            (Native::Flag, 21, &[], None),
            (Native::Integer(2), 21, &[0, 128], texts(&["128"])),
            (Native::Integer(2), 0, &[0, 0], None),
            (Native::Pair(8), 0, &[0, 0, 0, 3, 0, 12, 0, 0], Some(Value::Pair("3".to_owned(), "12".to_owned()))),
            (Native::Pair(6), 0, &[0, 0, 0, 3], Some(Value::Pair("3".to_owned(), String::new()))),
            (Native::GenreNumber, 0, &[0, 18], texts(&["Rock"])),
            (Native::GenreNumber, 0, &[0, 0], None),
        ];
        for (native, type_code, payload, value) in table {
            assert_eq!(decode(native, type_code, payload), value, "{native:?} {type_code} {payload:?}");
        }
    }

    #[test]
    fn what_fits_is_read_again() {
        for (native, value, again) in [
            (Native::Text, "x", Some("x")),
            (Native::Flag, "1", Some("1")),
            (Native::Flag, "yes", None),
            (Native::Integer(2), "0128", Some("128")),
            (Native::Integer(2), "-1", Some("-1")),
            (Native::Integer(2), "0", None),
            (Native::Integer(2), "32767", Some("32767")),
            (Native::Integer(2), "32768", None),
            (Native::Integer(2), "128.5", None),
            (Native::Integer(8), "9223372036854775808", None),
            (Native::GenreNumber, "Rock", None),
        ] {
            let read =
                encode(native, value).and_then(|data| decode(native, be(&data, 8, 4).unwrap() as u32, &data[16..]));
            assert_eq!(read, again.map(|again| Value::Texts(vec![again.to_owned()])), "{native:?} {value}");
        }
        assert_eq!((side("007"), side("0"), side("65536"), side("A1"), side("")), (Some(7), None, None, None, None));
        assert_eq!(encode_pair(6, 1, 2)[16..], [0, 0, 0, 1, 0, 2]);
    }
}
