//! Why a template was refused, with the place.

use std::fmt;
use std::ops::Range;

use crate::limits::TEMPLATE_EXCERPT_CHARS;

/// A template that cannot be used. Its `Display` has the place with carets below it, in lines of their own, and no hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    template: String,
    span: Range<usize>,
    message: String,
    hint: Option<String>,
}

impl TemplateError {
    pub(super) fn new(template: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        Self { template: template.to_owned(), span, message: message.into(), hint: None }
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What is wrong, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do now: often "did you mean".
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The bytes of the template that are wrong.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The part of the template around the place, and how many characters of it precede the carets and are below them.
    fn excerpt(&self) -> (String, usize, usize) {
        let before = self.template.get(..self.span.start).unwrap_or_default().chars().count();
        let marked = self.template.get(self.span.clone()).unwrap_or_default().chars().count();
        let skipped = before.saturating_sub(TEMPLATE_EXCERPT_CHARS / 2);
        let mut line: String =
            self.template.chars().skip(skipped).take(TEMPLATE_EXCERPT_CHARS).map(printable).collect();
        if self.template.chars().nth(skipped + TEMPLATE_EXCERPT_CHARS).is_some() {
            line.push('…');
        }
        let room = TEMPLATE_EXCERPT_CHARS.saturating_sub(before - skipped).max(1);
        if skipped == 0 {
            return (line, before, marked.clamp(1, room));
        }
        (format!("…{line}"), before - skipped + 1, marked.clamp(1, room))
    }
}

/// One column for one character, so that the caret stands where it should.
fn printable(c: char) -> char {
    if c.is_control() { '\u{fffd}' } else { c }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, indent, width) = self.excerpt();
        write!(f, "{}\n  {line}\n  {:indent$}{}", self.message, "", "^".repeat(width))
    }
}

impl std::error::Error for TemplateError {}

/// The candidate that `word` is most likely a slip of: at most a third of its letters differ.
pub(crate) fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (word.chars().count() / 3).max(1);
    candidates
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut older = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(older[j - 2] + 1);
            }
        }
        older = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in
            [("", "", 0), ("abc", "abc", 0), ("abc", "acb", 1), ("artst", "artist", 1), ("a", "bcd", 3)]
        {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn far_words_are_not_suggested() {
        assert_eq!(nearest("albumartst", ["album", "albumartist"].into_iter()), Some("albumartist"));
        assert_eq!(nearest("xyz", ["album", "albumartist"].into_iter()), None);
    }

    #[test]
    fn the_caret_stands_under_the_place_of_a_long_template() {
        let template = format!("{}$oops{}", "é".repeat(200), "x".repeat(200));
        let error = TemplateError::new(&template, 400..405, "bad");
        let text = error.to_string();
        let lines: Vec<&str> = text.lines().collect();
        let column = lines[2].chars().position(|c| c == '^').expect("a caret");
        assert_eq!(lines[1].chars().nth(column), Some('$'), "{text}");
        assert!(lines[1].chars().count() <= TEMPLATE_EXCERPT_CHARS + 4);
    }
}
