//! What a field is worth for one track.

use unicode_normalization::UnicodeNormalization;

use super::Fields;
use super::field::{DATES, DISC, Field, Numbering, Source};
use super::functions::{first_year, split_article};
use crate::limits::{TEMPLATE_OUTPUT_BYTES_MAX, TEMPLATE_VALUE_BYTES_MAX};

/// Who made a compilation that names no album artist.
const VARIOUS_ARTISTS: &str = "Various Artists";

/// How a value is written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Form {
    /// `/` stays and makes levels.
    pub(super) levels: bool,
    /// All values of a tag, with `; ` between, instead of the first.
    pub(super) all: bool,
}

/// Appends the value of a field; false when there is none.
pub(super) fn write(field: &Field, fields: &dyn Fields, form: Form, out: &mut String) -> bool {
    match &field.source {
        Source::Tag(key) if form.all => write_all(key, fields, form, out),
        Source::Tag(key) => write_text(fields.tag(key), form, out),
        Source::Fact(fact) => write_text(fields.fact(*fact).as_deref(), form, out),
        Source::AlbumArtist => write_text(album_artist(fields), form, out),
        Source::Year => write_text(year(fields), form, out),
        Source::Decade => year(fields).is_some_and(|year| {
            out.push_str(&year[..3]);
            out.push_str("0s");
            true
        }),
        Source::Initial => initial_of_track(fields).is_some_and(|initial| {
            out.push(initial);
            true
        }),
        Source::Number(numbering) => number_text(numbering, fields).is_some_and(|text| write_number(text, out)),
        Source::Total(numbering) => total(numbering, fields).is_some_and(|total| write_number(total, out)),
        Source::MultiDisc => {
            let multi = is_multi_disc(fields);
            if multi {
                out.push('1');
            }
            multi
        }
    }
}

/// The text without blanks around; none when nothing is left.
fn filled(text: &str) -> Option<&str> {
    Some(text.trim_matches(|c: char| c.is_whitespace() || c == '\0')).filter(|text| !text.is_empty())
}

fn write_text(text: Option<&str>, form: Form, out: &mut String) -> bool {
    let text = text.and_then(filled);
    if let Some(text) = text {
        write_clean(text, form.levels, out);
    }
    text.is_some()
}

/// Cuts what is too long for any name, and replaces what would make levels or end a C string.
fn write_clean(text: &str, levels: bool, out: &mut String) {
    let bytes_max = if levels { TEMPLATE_OUTPUT_BYTES_MAX } else { TEMPLATE_VALUE_BYTES_MAX };
    let text = &text[..text.floor_char_boundary(bytes_max)];
    let bad = |c: char| c == '\0' || (c == '/' && !levels);
    let mut parts = text.split(bad);
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        out.push('_');
        out.push_str(part);
    }
}

fn write_all(key: &str, fields: &dyn Fields, form: Form, out: &mut String) -> bool {
    let mut any = false;
    let start = out.len();
    fields.values(key, &mut |value| {
        if out.len() - start > TEMPLATE_VALUE_BYTES_MAX {
            return;
        }
        if let Some(value) = filled(value) {
            if any {
                out.push_str("; ");
            }
            write_clean(value, form.levels, out);
            any = true;
        }
    });
    any
}

fn filled_tag<'f>(key: &str, fields: &'f dyn Fields) -> Option<&'f str> {
    fields.tag(key).and_then(filled)
}

fn year(fields: &dyn Fields) -> Option<&str> {
    DATES.iter().find_map(|key| fields.tag(key).and_then(first_year))
}

fn is_compilation(fields: &dyn Fields) -> bool {
    filled_tag("compilation", fields).is_some_and(|flag| match flag.parse::<u32>() {
        Ok(number) => number != 0,
        Err(_) => flag.eq_ignore_ascii_case("true") || flag.eq_ignore_ascii_case("yes"),
    })
}

/// The album artist; "Various Artists" for a compilation without one; otherwise the artist.
fn album_artist(fields: &dyn Fields) -> Option<&str> {
    filled_tag("albumartist", fields)
        .or_else(|| is_compilation(fields).then_some(VARIOUS_ARTISTS))
        .or_else(|| filled_tag("artist", fields))
}

fn initial_of_track(fields: &dyn Fields) -> Option<char> {
    filled_tag("albumartistsort", fields).or_else(|| album_artist(fields)).map(initial)
}

/// The first letter of a name in upper case, without its accent; `#` when it begins with a digit or has none.
pub(super) fn initial(name: &str) -> char {
    let (_, name) = split_article(name);
    let first = name.chars().find(|c| c.is_alphanumeric()).filter(|c| c.is_alphabetic());
    let base = first.and_then(|c| c.nfd().next());
    base.and_then(|c| c.to_uppercase().next()).unwrap_or('#')
}

/// "3" of "3/12".
fn number_text<'f>(numbering: &Numbering, fields: &'f dyn Fields) -> Option<&'f str> {
    let text = filled_tag(numbering.number, fields)?;
    filled(text.split_once('/').map_or(text, |(number, _)| number))
}

fn total<'f>(numbering: &Numbering, fields: &'f dyn Fields) -> Option<&'f str> {
    let own = filled_tag(numbering.total, fields);
    let total =
        own.or_else(|| filled_tag(numbering.number, fields)?.split_once('/').and_then(|(_, total)| filled(total)));
    total.filter(|total| !total.trim_start_matches('0').is_empty())
}

/// Appends a number with at least two digits; what is no number, such as "A1", as it is.
fn write_number(text: &str, out: &mut String) -> bool {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        write_clean(text, false, out);
        return true;
    }
    let digits = text.trim_start_matches('0');
    for _ in digits.len()..2 {
        out.push('0');
    }
    write_clean(digits, false, out);
    true
}

fn is_multi_disc(fields: &dyn Fields) -> bool {
    let above_one = |text: &str| text.parse::<u32>().is_ok_and(|number| number > 1);
    total(&DISC, fields).is_some_and(above_one) || number_text(&DISC, fields).is_some_and(above_one)
}
