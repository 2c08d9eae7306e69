//! Text to template, or the place where it is wrong.
//!
//! One pass, recursive. `$` before one of `$ % [ ] } , | "` stands for that character. What stands inside
//! something ends at that thing's own closing sign: `,` and `}` in arguments, `]` in brackets; elsewhere they are text.

use std::ops::Range;

use super::ast::{Call, Node, Value, fields, walk};
use super::error::TemplateError;
use super::field::Field;
use crate::limits::{TEMPLATE_BYTES_MAX, TEMPLATE_DEPTH_MAX};

const ESCAPABLE: &[char] = &['$', '%', '[', ']', '}', ',', '|', '"'];

/// What a parsed template consists of.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) nodes: Vec<Node>,
    pub(super) aunique_calls: usize,
}

/// Parses a whole template.
pub(super) fn parse(text: &str) -> Result<Parsed, TemplateError> {
    if text.len() > TEMPLATE_BYTES_MAX {
        let place = text.floor_char_boundary(TEMPLATE_BYTES_MAX)..text.len();
        return Err(TemplateError::new(text, place, format!("the template is longer than {TEMPLATE_BYTES_MAX} bytes")));
    }
    if let Some((at, c)) = text.char_indices().find(|(_, c)| c.is_control()) {
        return Err(TemplateError::new(text, at..at + c.len_utf8(), "control characters cannot be in a path"));
    }
    let mut parser = Parser { text, at: 0, depth: 0, aunique_calls: 0 };
    let nodes = parser.nodes(Inside::Nothing)?;
    parser.check_ends(&nodes)?;
    Ok(Parsed { nodes, aunique_calls: parser.aunique_calls })
}

/// Which closing sign ends the text that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    Nothing,
    Brackets,
    Argument,
}

pub(super) struct Parser<'t> {
    text: &'t str,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) aunique_calls: usize,
}

impl<'t> Parser<'t> {
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn take(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    /// Takes the longest run of letters, digits and `_`.
    pub(super) fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    pub(super) fn error(&self, span: Range<usize>, message: impl Into<String>) -> TemplateError {
        TemplateError::new(self.text, span, message)
    }

    /// Reads up to the closing sign, which is left.
    pub(super) fn nodes(&mut self, inside: Inside) -> Result<Vec<Node>, TemplateError> {
        let mut nodes = Vec::new();
        let mut plain = String::new();
        while let Some(c) = self.peek() {
            match (c, inside) {
                (']', Inside::Brackets) | (',' | '}', Inside::Argument) => break,
                (']', _) => {
                    let error = self.error(self.at..self.at + 1, "a closing bracket without an opening one");
                    return Err(error.with_hint("write $] for a bracket in a name"));
                }
                _ => {}
            }
            match self.special(c)? {
                Some(node) => {
                    flush(&mut plain, &mut nodes);
                    nodes.push(node);
                }
                None => plain.push_str(self.literal(c)),
            }
        }
        flush(&mut plain, &mut nodes);
        Ok(nodes)
    }

    /// Reads a field, brackets or a function, if one begins here.
    fn special(&mut self, c: char) -> Result<Option<Node>, TemplateError> {
        let start = self.at;
        match c {
            '[' => self.group(start).map(Some),
            '%' => self.call(start),
            '$' if self.take("$!{") => self.braced(start, true).map(Some),
            '$' if self.take("${") => self.braced(start, false).map(Some),
            '$' => self.bare_field(start),
            _ => Ok(None),
        }
    }

    /// Takes one character of text, or the one that `$` protects.
    pub(super) fn literal(&mut self, c: char) -> &'t str {
        let protected = if c == '$' { self.rest()[1..].chars().next().filter(|c| ESCAPABLE.contains(c)) } else { None };
        let start = if protected.is_some() { self.at + 1 } else { self.at };
        self.at = start + protected.unwrap_or(c).len_utf8();
        &self.text[start..self.at]
    }

    fn bare_field(&mut self, start: usize) -> Result<Option<Node>, TemplateError> {
        self.at += 1;
        let name = self.word();
        if name.is_empty() {
            self.at = start;
            return Ok(None);
        }
        let field = self.field(name, start..self.at)?;
        Ok(Some(Node::Value(Value { fields: vec![field], text: None, levels: false })))
    }

    pub(super) fn field(&self, name: &str, span: Range<usize>) -> Result<Field, TemplateError> {
        Field::resolve(name).map_err(|unknown| self.error(span, unknown.to_string()).with_hint(unknown.hint()))
    }

    /// Reads the alternatives behind `${`.
    fn braced(&mut self, start: usize, levels: bool) -> Result<Node, TemplateError> {
        let opening = start..self.at;
        let mut value = Value { fields: Vec::new(), text: None, levels };
        loop {
            self.skip_blanks();
            let place = self.at;
            if self.take("\"") {
                value.text = Some(self.quoted(place)?.into());
            } else {
                let rest = self.rest();
                let end = rest.find(['|', '}']).ok_or_else(|| self.unclosed(&opening, "}"))?;
                let name = rest[..end].trim();
                self.at += end;
                if name.is_empty() {
                    return Err(self.error(start..self.at + 1, "the name of a field is missing"));
                }
                value.fields.push(self.field(name, place..place + name.len())?);
            }
            self.skip_blanks();
            if self.take("}") {
                break;
            }
            if value.text.is_some() || !self.take("|") {
                return Err(match self.peek() {
                    None => self.unclosed(&opening, "}"),
                    Some(c) => {
                        self.error(self.at..self.at + c.len_utf8(), "a text ends the alternatives: only } follows")
                    }
                });
            }
        }
        if value.fields.is_empty() {
            return Err(self.error(start..self.at, "there is no field before the text"));
        }
        Ok(Node::Value(value))
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches(' ').len();
    }

    /// Reads up to the closing quotation mark, behind it.
    fn quoted(&mut self, start: usize) -> Result<String, TemplateError> {
        let mut text = String::new();
        while let Some(c) = self.peek() {
            if self.take("\"") {
                return Ok(text);
            }
            text.push_str(self.literal(c));
        }
        Err(self.unclosed(&(start..start + 1), "\""))
    }

    pub(super) fn unclosed(&self, opening: &Range<usize>, sign: &str) -> TemplateError {
        self.error(opening.clone(), format!("the closing {sign} is missing"))
    }

    pub(super) fn deeper(&mut self, span: Range<usize>) -> Result<(), TemplateError> {
        self.depth += 1;
        if self.depth > TEMPLATE_DEPTH_MAX {
            return Err(
                self.error(span, format!("more than {TEMPLATE_DEPTH_MAX} functions and brackets inside each other"))
            );
        }
        Ok(())
    }

    fn group(&mut self, start: usize) -> Result<Node, TemplateError> {
        self.at += 1;
        let opening = start..self.at;
        self.deeper(opening.clone())?;
        let nodes = self.nodes(Inside::Brackets)?;
        if !self.take("]") {
            return Err(self.unclosed(&opening, "]").with_hint("write $[ for a bracket in a name"));
        }
        self.depth -= 1;
        let mut has_field = false;
        walk(&nodes, &mut |node| {
            has_field |= !matches!(node, Node::Call(Call::Aunique(_))) && fields(node).next().is_some()
        });
        if !has_field {
            let error = self.error(start..self.at, "no field inside: this would never be shown");
            return Err(error.with_hint("write $[ and $] for brackets in a name"));
        }
        Ok(Node::Group(nodes))
    }

    /// The path is relative and ends with a file's name, to which the extension is added later.
    fn check_ends(&self, nodes: &[Node]) -> Result<(), TemplateError> {
        let end = self.text.len();
        if self.text.trim().is_empty() {
            return Err(self
                .error(0..end, "the template is empty")
                .with_hint("for example: $albumartist/$album/$title"));
        }
        if self.text.starts_with('/') {
            return Err(self.error(0..1, "paths begin at the mount point, without a slash"));
        }
        if self.text.ends_with('/') {
            return Err(self.error(end - 1..end, "the file's name is missing behind the last slash"));
        }
        let extension =
            matches!(nodes.last(), Some(Node::Value(value)) if value.fields.iter().any(|f| &*f.name == "ext"));
        if extension && matches!(nodes.iter().rev().nth(1), Some(Node::Text(text)) if text.ends_with('.')) {
            let start = self.text.rfind('$').unwrap_or(0).saturating_sub(1);
            return Err(self.error(start..end, "the extension is added by itself").with_hint("leave this out"));
        }
        Ok(())
    }
}

fn flush(plain: &mut String, nodes: &mut Vec<Node>) {
    if !plain.is_empty() {
        nodes.push(Node::Text(std::mem::take(plain).into()));
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;
    use crate::limits::TEMPLATE_NUMBER_MAX;
    use crate::template::functions::{FUNCTIONS, Kind};

    fn refused(text: &str) -> TemplateError {
        parse(text).expect_err(text)
    }

    #[test]
    fn the_place_is_marked() {
        for (text, marked, message) in [
            ("$albumartst/$title", "$albumartst", "unknown field"),
            ("${ album | tilte }/$title", "tilte", "unknown field"),
            ("${}", "${}", "name of a field is missing"),
            ("${album|}", "${album|}", "name of a field is missing"),
            ("${album", "${", "closing } is missing"),
            ("${album|\"x", "\"", "closing \" is missing"),
            ("${album|\"x\"|title}", "|", "ends the alternatives"),
            ("${\"x\"}", "${\"x\"}", "no field before"),
            ("%uper{$title}", "%uper", "unknown function"),
            ("%upper $title", "%upper", "no arguments"),
            ("%upper{$title", "%upper", "closing } is missing"),
            ("%upper{$title,$album}", "$", "too many arguments"),
            ("%left{$title}", "%left{$title}", "too few arguments"),
            ("%left{$title,x}", "x", "number from 0 to 255"),
            ("%left{$title,-1}", "-1", "number from 0 to 255"),
            ("%replace{$title,,x}", ",", "this text is empty"),
            ("%replace{$title,$album,x}", "$", "must be plain text"),
            ("%pad{$title,3,ab}", "ab", "one character"),
            ("%ifdef{titel}", "titel", "unknown field"),
            ("%aunique{,,<}", "<", "two characters"),
            ("%aunique{nope}", "nope", "unknown field"),
            ("$title[ ($year)", "[", "closing ] is missing"),
            ("$title]", "]", "without an opening one"),
            ("$title [live]", "[live]", "no field inside"),
            ("/$title", "/", "begin at the mount point"),
            ("$album/", "/", "file's name is missing"),
            ("$title.$ext", ".$ext", "added by itself"),
            ("$ti\u{7}tle", "\u{7}", "control characters"),
            ("  ", "  ", "is empty"),
        ] {
            let error = refused(text);
            assert_eq!(&text[error.span()], marked, "{error}");
            assert!(error.message().contains(message), "{error}");
        }
    }

    #[test]
    fn slips_are_told() {
        for (text, hint) in [
            ("$albumartst/$title", "did you mean \"albumartist\"? any tag can be named as ${tag:albumartst}"),
            ("%uper{$title}", "did you mean %upper?"),
            ("${my key}", "any tag can be named as ${tag:my key}"),
            ("$title [live]", "write $[ and $] for brackets in a name"),
        ] {
            assert_eq!(refused(text).hint(), Some(hint));
        }
    }

    #[test]
    fn whole_message() {
        insta::assert_snapshot!(refused("$albumartst/$album"), @r#"
        unknown field "albumartst"
          $albumartst/$album
          ^^^^^^^^^^^
        "#);
    }

    #[test]
    fn every_function_can_be_built() {
        for function in FUNCTIONS {
            let arguments: Vec<&str> = function
                .arguments
                .iter()
                .map(|kind| match kind {
                    Kind::Template => "$title",
                    Kind::Plain if function.name == "aunique" => "()",
                    Kind::Plain => "x",
                    Kind::Number => "2",
                    Kind::Field | Kind::Fields => "album",
                })
                .collect();
            for count in function.required..=arguments.len() {
                let text = format!("%{}{{{}}}", function.name, arguments[..count].join(","));
                parse(&text).unwrap_or_else(|error| panic!("{error}"));
            }
        }
    }

    #[test]
    fn length_and_depth_have_limits() {
        assert!(parse(&"x".repeat(TEMPLATE_BYTES_MAX)).is_ok());
        assert!(refused(&"x".repeat(TEMPLATE_BYTES_MAX + 1)).message().contains("longer than"));
        let nested = |depth: usize| format!("{}$title{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&nested(TEMPLATE_DEPTH_MAX)).is_ok());
        assert!(refused(&nested(TEMPLATE_DEPTH_MAX + 1)).message().contains("inside each other"));
        let number = |number: usize| format!("%left{{$title,{number}}}");
        assert!(parse(&number(TEMPLATE_NUMBER_MAX)).is_ok());
        assert!(parse(&number(TEMPLATE_NUMBER_MAX + 1)).is_err());
    }

    #[test]
    fn signs_stand_for_themselves_where_nothing_else_is_meant() {
        for (text, plain) in [
            ("100% pure, {a} | \"b\"", "100% pure, {a} | \"b\""),
            ("US$ 5 $$ $% $[x$] $} $, $\"", "US$ 5 $ % [x] } , \""),
            ("50%", "50%"),
            ("5 $", "5 $"),
        ] {
            assert_eq!(parse(text).unwrap().nodes, [Node::Text(plain.into())], "{text}");
        }
    }
}
