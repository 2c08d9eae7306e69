//! The functions of templates: what each takes, and what it does to a text.

use unicode_segmentation::UnicodeSegmentation;

use super::ast::Change;

/// A kind of argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A template of its own.
    Template,
    /// Plain text.
    Plain,
    /// A count, in digits.
    Number,
    /// The name of a field.
    Field,
    /// Names of fields with blanks between.
    Fields,
}

/// The functions that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    If,
    IfDef,
    Left,
    Right,
    Upper,
    Lower,
    Capitalize,
    Title,
    First,
    Pad,
    Year,
    The,
    Replace,
    Aunique,
}

/// A function as the parser sees it.
#[derive(Debug)]
pub(super) struct Signature {
    pub(super) function: Function,
    pub(super) name: &'static str,
    pub(super) arguments: &'static [Kind],
    /// How many must be there.
    pub(super) required: usize,
    /// How it is written.
    pub(super) usage: &'static str,
}

use Kind::{Field, Fields, Number, Plain, Template};

pub(super) const FUNCTIONS: &[Signature] = &[
    signature(
        Function::If,
        "if",
        &[Template, Template, Template],
        2,
        "%if{condition,text} or %if{condition,text,otherwise}",
    ),
    signature(
        Function::IfDef,
        "ifdef",
        &[Field, Template, Template],
        1,
        "%ifdef{field}, %ifdef{field,text} or %ifdef{field,text,otherwise}",
    ),
    signature(Function::Left, "left", &[Template, Number], 2, "%left{text,count}"),
    signature(Function::Right, "right", &[Template, Number], 2, "%right{text,count}"),
    signature(Function::Upper, "upper", &[Template], 1, "%upper{text}"),
    signature(Function::Lower, "lower", &[Template], 1, "%lower{text}"),
    signature(Function::Capitalize, "capitalize", &[Template], 1, "%capitalize{text}"),
    signature(Function::Title, "title", &[Template], 1, "%title{text}"),
    signature(
        Function::First,
        "first",
        &[Template, Number, Number, Plain, Plain],
        1,
        "%first{text,count,skip,separator,join}",
    ),
    signature(Function::Pad, "pad", &[Template, Number, Plain], 2, "%pad{text,width} or %pad{text,width,fill}"),
    signature(Function::Year, "year", &[Template], 1, "%year{text}"),
    signature(Function::The, "the", &[Template], 1, "%the{text}"),
    signature(Function::Replace, "replace", &[Template, Plain, Plain], 3, "%replace{text,from,to}"),
    signature(
        Function::Aunique,
        "aunique",
        &[Fields, Fields, Plain],
        0,
        "%aunique{} or %aunique{identifiers,disambiguators,brackets}",
    ),
];

const fn signature(
    function: Function,
    name: &'static str,
    arguments: &'static [Kind],
    required: usize,
    usage: &'static str,
) -> Signature {
    Signature { function, name, arguments, required, usage }
}

/// Names of all functions.
pub fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|function| function.name)
}

impl Change {
    /// The changed text.
    pub(super) fn apply(&self, text: &str) -> String {
        match self {
            Self::Left(count) => text.graphemes(true).take(*count).collect(),
            Self::Right(count) => {
                let skipped = text.graphemes(true).count().saturating_sub(*count);
                text.graphemes(true).skip(skipped).collect()
            }
            Self::Upper => text.to_uppercase(),
            Self::Lower => text.to_lowercase(),
            Self::Capitalize => capitalized(text),
            Self::Title => text.split(' ').map(capitalized).collect::<Vec<_>>().join(" "),
            Self::First { count, skip, separator, join } => {
                text.split(&**separator).skip(*skip).take(*count).map(str::trim).collect::<Vec<_>>().join(join)
            }
            Self::Pad { width, fill } => {
                let missing = width.saturating_sub(text.chars().count());
                std::iter::repeat_n(*fill, missing).chain(text.chars()).collect()
            }
            Self::Year => first_year(text).unwrap_or_default().to_owned(),
            Self::The => match split_article(text) {
                ("", rest) => rest.to_owned(),
                (article, rest) => format!("{rest}, {article}"),
            },
            Self::Replace { from, to } => replaced(text, from, to),
        }
    }
}

/// `text` with its first letter in upper case and the rest in lower case.
fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars.as_str().to_lowercase().chars()).collect(),
        None => String::new(),
    }
}

/// Replaces while the result is short enough to matter: nested calls could multiply it without end.
fn replaced(text: &str, from: &str, to: &str) -> String {
    let mut result = String::new();
    let mut parts = text.split(from);
    result.push_str(parts.next().unwrap_or_default());
    for part in parts {
        if result.len() > crate::limits::TEMPLATE_OUTPUT_BYTES_MAX {
            break;
        }
        result.push_str(to);
        result.push_str(part);
    }
    result
}

/// The first four of the first run of at least four digits; "0000" is no year.
pub(super) fn first_year(text: &str) -> Option<&str> {
    let run = text.split(|c: char| !c.is_ascii_digit()).find(|run| run.len() >= 4)?;
    run.get(..4).filter(|year| *year != "0000")
}

/// An English article at the beginning, and the rest. An article alone is no article.
pub(super) fn split_article(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let is_article = ["the", "a", "an"].iter().any(|article| word.eq_ignore_ascii_case(article));
    if is_article && !rest.trim().is_empty() { (word, rest.trim_start()) } else { ("", text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years() {
        for (text, year) in [
            ("1999", Some("1999")),
            ("1999-05-01", Some("1999")),
            ("19990501", Some("1999")),
            ("5 May 1999", Some("1999")),
            ("0000-00-00", None),
            ("99", None),
            ("", None),
            ("१९९९", None),
        ] {
            assert_eq!(first_year(text), year, "{text}");
        }
    }

    #[test]
    fn articles() {
        for (text, parts) in [
            ("The Beatles", ("The", "Beatles")),
            ("the the", ("the", "the")),
            ("The", ("", "The")),
            ("Theatre of Tragedy", ("", "Theatre of Tragedy")),
            ("A ", ("", "A ")),
            ("", ("", "")),
        ] {
            assert_eq!(split_article(text), parts, "{text}");
        }
    }

    #[test]
    fn changes() {
        let first = |count, skip| Change::First { count, skip, separator: "; ".into(), join: " & ".into() };
        let replace = |from: &str, to: &str| Change::Replace { from: from.into(), to: to.into() };
        for (change, text, expected) in [
            (Change::Left(2), "e\u{301}a\u{308}o", "e\u{301}a\u{308}"),
            (Change::Left(0), "abc", ""),
            (Change::Left(9), "abc", "abc"),
            (Change::Right(2), "abc", "bc"),
            (Change::Right(9), "abc", "abc"),
            (Change::Upper, "straße", "STRASSE"),
            (Change::Title, "the BIG  sleep", "The Big  Sleep"),
            (Change::Capitalize, "the BIG sleep", "The big sleep"),
            (first(1, 0), "a; b; c", "a"),
            (first(2, 1), "a; b; c", "b & c"),
            (Change::Pad { width: 4, fill: '0' }, "é7", "00é7"),
            (Change::Pad { width: 1, fill: '0' }, "12", "12"),
            (Change::The, "The Beatles", "Beatles, The"),
            (replace("b", ""), "abab", "aa"),
        ] {
            assert_eq!(change.apply(text), expected, "{change:?} {text}");
        }
    }

    #[test]
    fn replacing_stops_growing() {
        let change = Change::Replace { from: "a".into(), to: "b".repeat(1000).into() };
        let limit = crate::limits::TEMPLATE_OUTPUT_BYTES_MAX;
        assert!(change.apply(&"a".repeat(1000)).len() <= limit + 2000);
    }
}
