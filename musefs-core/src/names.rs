//! Names of the tree's files and directories: clean, short enough, and numbered where several are equal.
//!
//! One normal form: names are NFC; `/`, NUL and control characters are `_`; blanks at both ends are dropped, for they
//! cannot be seen and some clients cannot open them. A name has 1 to 255 bytes and is neither `.` nor `..`. What is too
//! long is cut between graphemes, before the extension.
//!
//! Nothing here knows the tree: it decides which names are equal ([`key`]) and what the second one is called
//! ([`numbered`]), and tells the tree which names compete ([`Contest`]).

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfc};
use unicode_segmentation::UnicodeSegmentation;

use crate::limits::{EXTENSION_BYTES_MAX, NAME_BYTES_MAX};

/// Room that is kept for the number of a cut name: ` (4294967295)`.
const NUMBER_BYTES_MAX: usize = 13;

/// Names up to this length have room for a number behind them, whatever their extension.
pub const NEVER_CUT_BYTES: usize = NAME_BYTES_MAX - NUMBER_BYTES_MAX - 1 - EXTENSION_BYTES_MAX;

/// The name at the top of the tree that belongs to the directory of metrics.
pub const METRICS_DIRECTORY: &str = ".musefs-metrics";

/// Appends one clean level of a path, a directory's name.
pub fn component(raw: &str, out: &mut String) {
    let start = out.len();
    clean(raw, out);
    finish(out, start, NAME_BYTES_MAX);
}

/// Appends a file's clean name: `stem`, and behind a dot `extension`, unless that is empty.
pub fn file(stem: &str, extension: &str, out: &mut String) {
    let start = out.len();
    clean(stem, out);
    let mut tail: String =
        extension.nfc().map(|c| if c == '.' || c.is_whitespace() { '_' } else { permitted(c) }).collect();
    tail.truncate(cut(&tail, EXTENSION_BYTES_MAX).len());
    if tail.is_empty() {
        finish(out, start, NAME_BYTES_MAX);
    } else {
        finish(out, start, NAME_BYTES_MAX - 1 - tail.len());
        out.push('.');
        out.push_str(&tail);
    }
}

fn clean(raw: &str, out: &mut String) {
    let raw = raw.trim();
    // Most names are clean already, and normalising takes longer than everything else.
    if raw.bytes().all(|byte| byte == b' ' || byte != b'/' && byte.is_ascii_graphic()) {
        out.push_str(raw);
    } else {
        out.extend(raw.nfc().map(permitted));
    }
}

fn permitted(c: char) -> char {
    if c == '/' || c.is_control() { '_' } else { c }
}

/// Cuts what begins at `start` to `room` bytes and replaces names that mean something else.
fn finish(out: &mut String, start: usize, room: usize) {
    let kept = cut(&out[start..], room).len();
    out.truncate(start + kept);
    match &out[start..] {
        "" | "." => out.replace_range(start.., "_"),
        ".." => out.replace_range(start.., "__"),
        _ => {}
    }
}

/// The longest beginning of at most `room` bytes that ends between graphemes, without blanks at its end.
fn cut(text: &str, room: usize) -> &str {
    if text.len() <= room {
        return text;
    }
    let fits = |(at, part): (usize, &str)| (at + part.len() <= room).then_some(at + part.len());
    // A single grapheme can be longer than a name: it is cut between characters then.
    let end = text.grapheme_indices(true).map_while(fits).last().unwrap_or_else(|| text.floor_char_boundary(room));
    text[..end].trim_end()
}

/// The name without its extension, and the extension, empty if there is none.
fn split(name: &str) -> (&str, &str) {
    match name.rsplit_once('.') {
        Some((stem, tail))
            if !stem.is_empty()
                && (1..=EXTENSION_BYTES_MAX).contains(&tail.len())
                && !tail.contains(char::is_whitespace) =>
        {
            (stem, tail)
        }
        _ => (name, ""),
    }
}

/// The characters of a name without case: small, capital and small again, in normal form.
///
/// Folding twice changes nothing; with one turn less it would, for `ẞ` is small as `ß`, and that is `SS`.
pub fn folded(name: &str) -> impl Iterator<Item = char> + '_ {
    name.nfc().flat_map(char::to_lowercase).flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfc()
}

/// What two names that cannot stand side by side have in common.
pub fn key(name: &str, fold_case: bool) -> Cow<'_, str> {
    if !fold_case {
        Cow::Borrowed(name)
    } else if name.is_ascii() {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Owned(folded(name).collect())
    }
}

/// Whether a name is in the one normal form of this module, as far as Unicode goes.
pub fn is_normal(name: &str) -> bool {
    name.is_ascii() || is_nfc(name)
}

/// The files of one directory that compete for the names `base (2).extension`, `base (3).extension` …
///
/// Mostly these are the files of one natural name. Long names are cut to make room for the number, and compete with all
/// that are cut alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Contest {
    base: Box<str>,
    extension: Box<str>,
}

impl Contest {
    /// The contest in which files of that key take part, and whether their name was cut for it.
    pub fn of(key: &str) -> (Self, bool) {
        let (stem, extension) = split(key);
        let base = cut(stem, number_room(extension));
        (Self { base: base.into(), extension: extension.into() }, base.len() < stem.len())
    }

    /// The contest and the number to which a key belongs that looks numbered.
    pub fn of_numbered(key: &str) -> Option<(Self, u32)> {
        let (stem, extension) = split(key);
        let (base, digits) = stem.strip_suffix(')')?.rsplit_once(" (")?;
        let number = digits.parse().ok().filter(|&n: &u32| n >= 2 && n.to_string() == digits)?;
        Some((Self { base: base.into(), extension: extension.into() }, number))
    }

    /// The key of the name without a number.
    pub fn natural(&self, out: &mut String) {
        self.write(None, out);
    }

    /// The key of the name with that number.
    pub fn candidate(&self, number: u32, out: &mut String) {
        self.write(Some(number), out);
    }

    fn write(&self, number: Option<u32>, out: &mut String) {
        write_parts(&self.base, number, &self.extension, out);
    }
}

fn number_room(extension: &str) -> usize {
    NAME_BYTES_MAX - NUMBER_BYTES_MAX - if extension.is_empty() { 0 } else { extension.len() + 1 }
}

/// The name that a file called `natural` by itself gets as the `number`th of its contest; `key` is [`key`] of it.
///
/// A name keeps its own spelling, unless it has to be cut: equal keys must be cut alike, so the key is cut.
pub fn numbered(natural: &str, key: &str, number: u32) -> String {
    let (contest, is_cut) = Contest::of(key);
    let (stem, extension) = split(natural);
    let same = |own: &str, part: &str| own == part || folded(own).eq(part.chars());
    let own = !is_cut
        && stem.len() <= number_room(extension)
        && same(stem, &contest.base)
        && same(extension, &contest.extension);
    let mut out = String::new();
    if own {
        write_parts(stem, Some(number), extension, &mut out);
    } else {
        contest.candidate(number, &mut out);
    }
    out
}

fn write_parts(stem: &str, number: Option<u32>, extension: &str, out: &mut String) {
    out.clear();
    out.push_str(stem);
    if let Some(number) = number {
        out.push_str(" (");
        out.push_str(&number.to_string());
        out.push(')');
    }
    if !extension.is_empty() {
        out.push('.');
        out.push_str(extension);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use proptest::prelude::*;

    use super::*;

    fn level(raw: &str) -> String {
        let mut out = String::new();
        component(raw, &mut out);
        out
    }

    fn named(stem: &str, extension: &str) -> String {
        let mut out = String::new();
        file(stem, extension, &mut out);
        out
    }

    #[test]
    fn cleans_levels() {
        for (raw, name) in [
            ("", "_"),
            ("   ", "_"),
            (".", "_"),
            ("..", "__"),
            ("...", "..."),
            (".hidden", ".hidden"),
            (" a b ", "a b"),
            ("AC/DC", "AC_DC"),
            ("a\0b\tc\u{85}d", "a_b_c_d"),
            ("T.N.T.", "T.N.T."),
            ("Rose\u{301}", "Ros\u{e9}"),
            ("ra[ven]*?", "ra[ven]*?"),
        ] {
            assert_eq!(level(raw), name, "{raw:?}");
        }
    }

    #[test]
    fn keeps_extensions() {
        for (stem, extension, name) in [
            ("a", "mp3", "a.mp3"),
            ("a ", "FLAC", "a.FLAC"),
            ("", "mp3", "_.mp3"),
            (".", "mp3", "_.mp3"),
            ("a.b", "", "a.b"),
            ("a", "m p.3/", "a.m_p_3_"),
        ] {
            assert_eq!(named(stem, extension), name);
        }
    }

    #[test]
    fn cuts_at_the_limit() {
        assert_eq!(level(&"a".repeat(255)).len(), 255);
        assert_eq!(level(&"a".repeat(256)), "a".repeat(255));
        assert_eq!(named(&"a".repeat(251), "mp3").len(), 255);
        assert_eq!(named(&"a".repeat(252), "mp3"), format!("{}.mp3", "a".repeat(251)));
        assert_eq!(level(&"ж".repeat(120)).len(), 240);
        assert_eq!(level(&"ж".repeat(150)), "ж".repeat(127));
        let family = "👩‍👩‍👧"; // 18 bytes, one grapheme
        assert_eq!(named(&family.repeat(90), "flac"), format!("{}.flac", family.repeat(13)));
        assert_eq!(level(&format!("{} {}", "a".repeat(254), "b")), "a".repeat(254));
        let zalgo = format!("e{}", "\u{301}\u{302}".repeat(200));
        assert!((250..=255).contains(&level(&zalgo).len()));
        assert_eq!(level(&format!(". {zalgo}")), "_");
        assert_eq!(named("a", &"x".repeat(32)).len(), 34);
        assert_eq!(named("a", &"x".repeat(33)).len(), 34);
    }

    #[test]
    fn numbers_stand_before_the_extension() {
        let number = |name: &str, n| numbered(name, name, n);
        assert_eq!(number("a.mp3", 2), "a (2).mp3");
        assert_eq!(number("a (2).mp3", 10), "a (2) (10).mp3");
        assert_eq!(number("a. b", 2), "a. b (2)");
        assert_eq!(number(".a", 2), ".a (2)");
        let long = format!("{}.flac", "x".repeat(250));
        assert_eq!(number(&long, 2), format!("{} (2).flac", "x".repeat(237)));
        assert_eq!(number(&long, u32::MAX).len(), 255);
        assert_eq!(numbered("Ab.MP3", "ab.mp3", 2), "Ab (2).MP3");
    }

    #[test]
    fn numbered_names_are_recognised() {
        let of = |name| Contest::of_numbered(name).map(|(contest, number)| (contest.base.to_string(), number));
        assert_eq!(of("a (2).mp3"), Some(("a".to_owned(), 2)));
        assert_eq!(of("a (10)"), Some(("a".to_owned(), 10)));
        for name in ["a.mp3", "a (1).mp3", "a (02).mp3", "a(2).mp3", "a (2)x.mp3", "a (4294967296).mp3"] {
            assert_eq!(of(name), None, "{name}");
        }
    }

    #[test]
    fn folding_twice_changes_nothing() {
        for c in '\0'..=char::MAX {
            let once: String = folded(c.encode_utf8(&mut [0; 4])).collect();
            assert!(folded(&once).eq(once.chars()), "{c:?}");
        }
        assert_eq!(key("Straße ΣΑΣ K", true), key("STRASSE σας k", true));
    }

    proptest! {
        #[test]
        fn names_are_valid(raw in "\\PC{0,300}|.{0,300}", extension in "[a-z]{0,4}|.{0,40}") {
            for name in [level(&raw), named(&raw, &extension)] {
                prop_assert!((1..=NAME_BYTES_MAX).contains(&name.len()) && name != "." && name != "..");
                prop_assert!(is_normal(&name) && !name.contains(|c: char| c == '/' || c.is_control()), "{name:?}");
                prop_assert_eq!(&level(&name), &name);
                for fold_case in [false, true] {
                    let key = key(&name, fold_case);
                    let shown = numbered(&name, &key, 17);
                    prop_assert!(shown.len() <= NAME_BYTES_MAX && is_normal(&shown));
                    let mut candidate = String::new();
                    let contest = Contest::of(&key).0;
                    contest.candidate(17, &mut candidate);
                    prop_assert_eq!(super::key(&shown, fold_case), &candidate[..]);
                    prop_assert_eq!(Contest::of_numbered(&candidate).unwrap(), (contest, 17));
                }
            }
        }
    }
}
