//! Reading of functions and their arguments.

use std::ops::Range;

use super::ast::{Aunique, Call, Change, Node};
use super::error::{TemplateError, nearest};
use super::field::Field;
use super::functions::{self, FUNCTIONS, Function, Kind, Signature};
use super::parse::{Inside, Parser};
use crate::limits::TEMPLATE_NUMBER_MAX;

const AUNIQUE_IDENTIFIERS: &str = "albumartist album";
const AUNIQUE_DISAMBIGUATORS: &str = "releasetype year label catalognumber media";

/// An argument of a function.
struct Argument {
    span: Range<usize>,
    value: ArgumentValue,
}

enum ArgumentValue {
    Template(Vec<Node>),
    Plain(String),
}

impl<'t> Parser<'t> {
    /// Reads a function; a percent sign that begins none is text.
    pub(super) fn call(&mut self, start: usize) -> Result<Option<Node>, TemplateError> {
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
