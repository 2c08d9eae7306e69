//! Text to template, or the place where it is wrong.
//!
//! One pass, recursive. `$` before one of `$ % [ ] { } , | "` stands for that character. What stands inside
//! something ends at that thing's own closing sign: `,` and `}` in arguments, `]` in brackets; elsewhere they are text.

use std::ops::Range;

use super::ast::{Aunique, Call, Change, Node, Value, fields, walk};
use super::error::{TemplateError, nearest};
use super::field::Field;
use super::functions::{self, FUNCTIONS, Function, Kind, Signature};
use crate::limits::{TEMPLATE_BYTES_MAX, TEMPLATE_DEPTH_MAX, TEMPLATE_NUMBER_MAX};

const ESCAPABLE: &[char] = &['$', '%', '[', ']', '{', '}', ',', '|', '"'];
const AUNIQUE_IDENTIFIERS: &str = "albumartist album";
const AUNIQUE_DISAMBIGUATORS: &str = "releasetype year label catalognumber media";

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
enum Inside {
    Nothing,
    Brackets,
    Argument,
}

/// An argument of a function.
struct Argument {
    span: Range<usize>,
    value: ArgumentValue,
}

enum ArgumentValue {
    Template(Vec<Node>),
    Plain(String),
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    aunique_calls: usize,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    /// Takes the longest run of letters, digits and `_`.
    fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn error(&self, span: Range<usize>, message: impl Into<String>) -> TemplateError {
        TemplateError::new(self.text, span, message)
    }

    /// Reads up to the closing sign, which is left.
    fn nodes(&mut self, inside: Inside) -> Result<Vec<Node>, TemplateError> {
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
    fn literal(&mut self, c: char) -> &'t str {
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

    fn field(&self, name: &str, span: Range<usize>) -> Result<Field, TemplateError> {
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

    fn unclosed(&self, opening: &Range<usize>, sign: &str) -> TemplateError {
        self.error(opening.clone(), format!("the closing {sign} is missing"))
    }

    fn deeper(&mut self, span: Range<usize>) -> Result<(), TemplateError> {
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

    /// Reads a function; a percent sign that begins none is text.
    fn call(&mut self, start: usize) -> Result<Option<Node>, TemplateError> {
        self.at += 1;
        let name = self.word();
        let signature = FUNCTIONS.iter().find(|function| function.name.eq_ignore_ascii_case(name));
        let span = start..self.at;
        if name.is_empty() || (signature.is_none() && self.peek() != Some('{')) {
            self.at = start;
            return Ok(None);
        }
        let Some(signature) = signature else {
            let error = self.error(span, format!("unknown function %{name}"));
            let known = || functions::names().map(|name| format!("%{name}")).collect::<Vec<_>>().join(" ");
            return Err(error.with_hint(match nearest(name, functions::names()) {
                Some(near) => format!("did you mean %{near}?"),
                None => format!("the functions are {}", known()),
            }));
        };
        if !self.take("{") {
            let error = self.error(span, format!("%{name} has no arguments"));
            return Err(error.with_hint(format!("write {}, or $% for a percent sign", signature.usage)));
        }
        self.deeper(span.clone())?;
        let arguments = self.arguments(signature, &span)?;
        self.depth -= 1;
        self.build(signature, arguments, start..self.at).map(|call| Some(Node::Call(call)))
    }

    fn arguments(&mut self, signature: &Signature, opening: &Range<usize>) -> Result<Vec<Argument>, TemplateError> {
        let mut arguments = Vec::new();
        loop {
            let start = self.at;
            let value = match signature.arguments.get(arguments.len()) {
                Some(Kind::Template) => ArgumentValue::Template(self.nodes(Inside::Argument)?),
                Some(_) => ArgumentValue::Plain(self.plain()?),
                None => {
                    let error = self.error(start..self.at + 1, format!("too many arguments for %{}", signature.name));
                    return Err(error.with_hint(format!("write {}, and $, for a comma in a text", signature.usage)));
                }
            };
            arguments.push(Argument { span: start..self.at, value });
            if self.take("}") {
                break;
            }
            if !self.take(",") {
                return Err(self.unclosed(opening, "}"));
            }
        }
        if arguments.len() < signature.required {
            let error = self.error(opening.start..self.at, format!("too few arguments for %{}", signature.name));
            return Err(error.with_hint(format!("write {}", signature.usage)));
        }
        Ok(arguments)
    }

    /// Reads plain text up to the end of an argument.
    fn plain(&mut self) -> Result<String, TemplateError> {
        let mut text = String::new();
        while let Some(c) = self.peek() {
            match c {
                ',' | '}' => break,
                '$' if self.rest().starts_with("${") && self.rest().contains('}') => return Err(self.not_plain(2)),
                '$' if self.rest()[1..].starts_with(|c: char| c.is_alphanumeric()) => return Err(self.not_plain(1)),
                _ => text.push_str(self.literal(c)),
            }
        }
        Ok(text)
    }

    fn not_plain(&self, len: usize) -> TemplateError {
        let error = self.error(self.at..self.at + len, "this argument must be plain text");
        error.with_hint("write $$ for a dollar sign")
    }

    fn build(
        &mut self,
        signature: &Signature,
        arguments: Vec<Argument>,
        span: Range<usize>,
    ) -> Result<Call, TemplateError> {
        let mut arguments = Arguments { parser: self, span, values: arguments.into_iter() };
        let changed = |text, change| Call::Change { text, change };
        Ok(match signature.function {
            Function::If => Call::If {
                condition: arguments.template(),
                then: arguments.template(),
                otherwise: arguments.template(),
            },
            Function::IfDef => Call::IfDef {
                field: arguments.field()?,
                then: Some(arguments.template()).filter(|nodes| !nodes.is_empty()),
                otherwise: arguments.template(),
            },
            Function::Aunique => Call::Aunique(arguments.aunique()?),
            Function::Left => changed(arguments.template(), Change::Left(arguments.number_or(0)?)),
            Function::Right => changed(arguments.template(), Change::Right(arguments.number_or(0)?)),
            Function::Upper => changed(arguments.template(), Change::Upper),
            Function::Lower => changed(arguments.template(), Change::Lower),
            Function::Capitalize => changed(arguments.template(), Change::Capitalize),
            Function::Title => changed(arguments.template(), Change::Title),
            Function::First => changed(arguments.template(), arguments.first()?),
            Function::Pad => changed(arguments.template(), arguments.pad()?),
            Function::Year => changed(arguments.template(), Change::Year),
            Function::The => changed(arguments.template(), Change::The),
            Function::Replace => changed(arguments.template(), arguments.replace()?),
        })
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

/// Arguments of one call, taken one by one; what is left out is empty.
struct Arguments<'p, 't> {
    parser: &'p mut Parser<'t>,
    span: Range<usize>,
    values: std::vec::IntoIter<Argument>,
}

impl Arguments<'_, '_> {
    fn template(&mut self) -> Vec<Node> {
        match self.values.next() {
            Some(Argument { value: ArgumentValue::Template(nodes), .. }) => nodes,
            _ => Vec::new(),
        }
    }

    /// The next plain argument, with its place.
    fn plain(&mut self) -> Option<(String, Range<usize>)> {
        match self.values.next() {
            Some(Argument { value: ArgumentValue::Plain(text), span }) => Some((text, span)),
            _ => None,
        }
    }

    fn plain_or(&mut self, default: &str) -> Box<str> {
        self.plain().map_or(default.into(), |(text, _)| text.into())
    }

    fn number_or(&mut self, default: usize) -> Result<usize, TemplateError> {
        let Some((text, span)) = self.plain() else { return Ok(default) };
        match text.trim().parse() {
            Ok(number) if number <= TEMPLATE_NUMBER_MAX => Ok(number),
            _ => {
                Err(self.parser.error(span, format!("this argument must be a number from 0 to {TEMPLATE_NUMBER_MAX}")))
            }
        }
    }

    fn field(&mut self) -> Result<Field, TemplateError> {
        let (name, span) = self.plain().unwrap_or_else(|| (String::new(), self.span.clone()));
        self.parser.field(name.trim(), span)
    }

    fn fields_or(&mut self, default: &str) -> Result<Vec<Field>, TemplateError> {
        let (text, span) = self.plain().unwrap_or_else(|| (String::new(), self.span.clone()));
        let text = if text.trim().is_empty() { default } else { text.as_str() };
        text.split_whitespace().map(|name| self.parser.field(name, span.clone())).collect()
    }

    fn first(&mut self) -> Result<Change, TemplateError> {
        Ok(Change::First {
            count: self.number_or(1)?,
            skip: self.number_or(0)?,
            separator: self.separator()?,
            join: self.plain_or("; "),
        })
    }

    fn pad(&mut self) -> Result<Change, TemplateError> {
        Ok(Change::Pad { width: self.number_or(0)?, fill: self.fill()? })
    }

    fn replace(&mut self) -> Result<Change, TemplateError> {
        Ok(Change::Replace { from: self.separator()?, to: self.plain_or("") })
    }

    /// A text that something is split at.
    fn separator(&mut self) -> Result<Box<str>, TemplateError> {
        match self.plain() {
            Some((text, span)) if text.is_empty() => {
                Err(self.parser.error(span.start..span.end + 1, "this text is empty"))
            }
            Some((text, _)) => Ok(text.into()),
            None => Ok("; ".into()),
        }
    }

    fn fill(&mut self) -> Result<char, TemplateError> {
        let Some((text, span)) = self.plain() else { return Ok('0') };
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(fill), None) if fill != '/' => Ok(fill),
            _ => Err(self.parser.error(span.start..span.end.max(span.start + 1), "the fill must be one character")),
        }
    }

    fn aunique(&mut self) -> Result<Aunique, TemplateError> {
        let identifiers = self.fields_or(AUNIQUE_IDENTIFIERS)?;
        let disambiguators = self.fields_or(AUNIQUE_DISAMBIGUATORS)?;
        let (brackets, span) = self.plain().unwrap_or_else(|| ("[]".to_owned(), self.span.clone()));
        let brackets = match brackets.char_indices().nth(1) {
            None if brackets.is_empty() => Default::default(),
            Some((second, _)) if brackets.chars().count() == 2 => {
                (brackets[..second].into(), brackets[second..].into())
            }
            _ => return Err(self.parser.error(span, "the brackets must be two characters, or none")),
        };
        let index = self.parser.aunique_calls;
        self.parser.aunique_calls += 1;
        Ok(Aunique { index, identifiers, disambiguators, brackets })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

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
        did you mean "albumartist"? any tag can be named as ${tag:albumartst}
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
