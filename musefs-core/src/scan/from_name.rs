//! What the name of a file tells of a track whose tags cannot be read.
//!
//! Title, and track and disc number where the name begins with them. Folders are not taken for artist
//! and album: they are as often `Downloads` or `CD2`.

use std::{ffi::OsStr, path::Path};

use musefs_format::Tags;

/// Tags guessed from a file name.
pub(super) fn tags(name: &OsStr) -> Tags {
    let stem = Path::new(name).file_stem().unwrap_or(name).to_string_lossy();
    let stem = stem.trim();
    let (numbers, title) = split_numbers(stem).unwrap_or((Numbers::default(), stem));
    let mut tags = Tags::new();
    let known = [("title", Some(title)), ("tracknumber", numbers.track), ("discnumber", numbers.disc)];
    for (key, value) in known {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            tags.push(key, value);
        }
    }
    tags
}

#[derive(Default)]
struct Numbers<'a> {
    disc: Option<&'a str>,
    track: Option<&'a str>,
}

/// `02 - Title`, `02. Title`, `1-02 Title`, `1.02. Title`. A number that only a blank follows counts as
/// one when it has a leading zero: "99 Luftballons" is a title.
fn split_numbers(stem: &str) -> Option<(Numbers<'_>, &str)> {
    let (first, rest) = leading_number(stem)?;
    let (separator, rest) = separator(rest)?;
    if matches!(separator, "-" | ".")
        && let Some((second, behind)) = leading_number(rest)
        && let Some((_, title)) = self::separator(behind)
    {
        return Some((Numbers { disc: Some(plain(first)), track: Some(plain(second)) }, title));
    }
    if separator.trim().is_empty() && !first.starts_with('0') {
        return None;
    }
    Some((Numbers { disc: None, track: Some(plain(first)) }, rest))
}

fn leading_number(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=3).contains(&digits).then(|| text.split_at(digits))
}

fn separator(text: &str) -> Option<(&str, &str)> {
    let rest = text.trim_start_matches([' ', '.', '-', '_']);
    let separator = &text[..text.len() - rest.len()];
    (!separator.is_empty() && !rest.is_empty()).then_some((separator, rest))
}

fn plain(number: &str) -> &str {
    let plain = number.trim_start_matches('0');
    if plain.is_empty() { "0" } else { plain }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn numbers_and_titles_are_told_apart() {
        let table: [(&[u8], &str, &str, &str); 12] = [
            (b"02 - Two.mp3", "Two", "2", ""),
            (b"02. Two.mp3", "Two", "2", ""),
            (b"02_Two.mp3", "Two", "2", ""),
            (b"02 Two.mp3", "Two", "2", ""),
            (b"1-02 Two.mp3", "Two", "2", "1"),
            (b"1.10. Ten.mp3", "Ten", "10", "1"),
            (b"99 Luftballons.mp3", "99 Luftballons", "", ""),
            (b"1979.mp3", "1979", "", ""),
            (b"07.mp3", "07", "", ""),
            (b".hidden", ".hidden", "", ""),
            (b"bad \xff.mp3", "bad \u{fffd}", "", ""),
            (b" .mp3", "", "", ""),
        ];
        for (name, title, track, disc) in table {
            let tags = tags(OsStr::from_bytes(name));
            let found = ["title", "tracknumber", "discnumber"].map(|key| tags.first(key).unwrap_or(""));
            assert_eq!(found, [title, track, disc], "{}", name.escape_ascii());
        }
    }
}
