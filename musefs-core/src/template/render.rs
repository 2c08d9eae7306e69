//! Template and tags to path.

use super::ast::{Call, Node, Value};
use super::field::{Field, Source};
use super::unique::UniqueIndex;
use super::value::{self, Form};
use super::{Fact, Fields, RenderOptions};
use crate::limits::{LEVELS_MAX, TEMPLATE_OUTPUT_BYTES_MAX};

/// What is shown for a field without a value, when nothing else was said.
pub(super) const DEFAULTS: &[(&str, &str)] = &[
    ("album", "Unknown Album"),
    ("albumartist", "Unknown Artist"),
    ("artist", "Unknown Artist"),
    ("genre", "Unknown Genre"),
    ("track", "00"),
    ("disc", "01"),
    ("tracktotal", "00"),
    ("disctotal", "01"),
    ("year", "0000"),
    ("decade", "0000s"),
];
/// For every other field.
pub(super) const DEFAULT: &str = "Unknown";

/// How fields are written at some place of a template.
#[derive(Clone, Copy)]
struct Mode {
    /// What stands in for fields without a value: nothing inside brackets and conditions.
    fallbacks: bool,
    /// All values of a tag: inside `%first`.
    all: bool,
}

/// One rendering of one track.
pub(super) struct Renderer<'t, 'r> {
    pub(super) fields: &'r dyn Fields,
    pub(super) options: &'r RenderOptions,
    /// Without it `%aunique` writes nothing.
    pub(super) unique: Option<&'r UniqueIndex>,
    /// The path is appended.
    pub(super) out: &'r mut String,
    /// Where the path begins.
    pub(super) start: usize,
    /// The first field that had neither a value nor a fallback of its own.
    pub(super) missing: Option<&'t str>,
}

impl<'t> Renderer<'t, '_> {
    /// Renders a whole template.
    pub(super) fn template(&mut self, nodes: &'t [Node]) {
        self.nodes(nodes, Mode { fallbacks: true, all: false });
    }

    /// Renders the nodes; whether a field among them had a value.
    fn nodes(&mut self, nodes: &'t [Node], mode: Mode) -> bool {
        let mut any = false;
        for node in nodes {
            // Longer paths cannot be opened: what is too long is cut, and the work with it.
            if self.out.len() - self.start > 2 * TEMPLATE_OUTPUT_BYTES_MAX {
                break;
            }
            any |= match node {
                Node::Text(text) => {
                    self.out.push_str(text);
                    false
                }
                Node::Value(value) => self.value(value, mode),
                Node::Group(nodes) => self.group(nodes, mode),
                Node::Call(call) => self.call(call, mode),
            };
        }
        any
    }

    fn group(&mut self, nodes: &'t [Node], mode: Mode) -> bool {
        let start = self.out.len();
        let any = self.nodes(nodes, Mode { fallbacks: false, ..mode });
        if !any {
            self.out.truncate(start);
        }
        any
    }

    fn value(&mut self, value: &'t Value, mode: Mode) -> bool {
        let form = Form { levels: value.levels, all: mode.all };
        if value.fields.iter().any(|field| value::write(field, self.fields, form, self.out)) {
            return true;
        }
        match (&value.text, value.fields.first()) {
            (Some(text), _) => self.out.push_str(text),
            (None, Some(field)) if mode.fallbacks => self.fallback(field),
            _ => {}
        }
        false
    }

    /// Writes what stands in for a field without a value.
    fn fallback(&mut self, field: &'t Field) {
        let options = self.options;
        if let Some(text) = options.fallbacks.get(&field.name) {
            return self.out.push_str(text);
        }
        self.missing.get_or_insert(&field.name);
        match &field.source {
            Source::Tag(key) if **key == *"title" && self.stem() => {}
            Source::Initial => {
                let artist =
                    options.fallbacks.get("albumartist").map_or(default_of("albumartist", options), |text| text);
                self.out.push(value::initial(artist));
            }
            _ => self.out.push_str(default_of(&field.name, options)),
        }
    }

    /// Writes the source's name.
    fn stem(&mut self) -> bool {
        let stem = Field { name: "filename".into(), source: Source::Fact(Fact::Filename) };
        value::write(&stem, self.fields, Form::default(), self.out)
    }

    fn call(&mut self, call: &'t Call, mode: Mode) -> bool {
        match call {
            Call::If { condition, then, otherwise } => {
                let (holds, any) = self.condition(condition, mode);
                any | self.nodes(if holds { then } else { otherwise }, mode)
            }
            Call::IfDef { field, then, otherwise } => {
                let start = self.out.len();
                let form = Form { levels: false, all: mode.all };
                let defined = value::write(field, self.fields, form, self.out);
                match (defined, then) {
                    (true, None) => {}
                    (true, Some(then)) => {
                        self.out.truncate(start);
                        self.nodes(then, mode);
                    }
                    (false, _) => return self.nodes(otherwise, mode),
                }
                true
            }
            Call::Change { text, change } => {
                let start = self.out.len();
                let all = mode.all || matches!(change, super::ast::Change::First { .. });
                let any = self.nodes(text, Mode { all, ..mode });
                let changed = change.apply(&self.out[start..]);
                self.out.truncate(start);
                self.out.push_str(&changed);
                any
            }
            Call::Aunique(aunique) => {
                if let Some(unique) = self.unique {
                    unique.write(aunique, self.fields, self.options, self.out);
                }
                false
            }
        }
    }

    /// Whether a condition holds (it is neither empty, nor zero, nor "false"), and whether a field in it has a value.
    fn condition(&mut self, nodes: &'t [Node], mode: Mode) -> (bool, bool) {
        let start = self.out.len();
        let any = self.nodes(nodes, Mode { fallbacks: false, ..mode });
        let text = self.out[start..].trim();
        let holds = match text.parse::<i64>() {
            Ok(number) => number != 0,
            Err(_) => !text.is_empty() && !text.eq_ignore_ascii_case("false"),
        };
        self.out.truncate(start);
        (holds, any)
    }

    /// Makes valid levels of what was rendered.
    pub(super) fn finish(&mut self) {
        let start = self.start;
        let end = self.out.floor_char_boundary(start + TEMPLATE_OUTPUT_BYTES_MAX);
        self.out.truncate(end);
        if !are_levels(&self.out.as_bytes()[start..]) {
            let raw = self.out.split_off(start);
            write_levels(&raw, self.out);
        }
        if self.out.len() == start || self.out.ends_with('/') {
            self.file_name();
        }
    }

    /// Adds a last level where the template gave none: the source's own name.
    fn file_name(&mut self) {
        let before = self.out.len();
        if !self.stem() {
            self.out.push_str(DEFAULT);
        }
        let raw = self.out.split_off(before);
        write_levels(&raw, self.out);
    }
}

/// The text for a field without a value and without a text of its own.
fn default_of<'o>(name: &str, options: &'o RenderOptions) -> &'o str {
    let built_in = || DEFAULTS.iter().find(|(field, _)| *field == name).map_or(DEFAULT, |(_, text)| text);
    options.default_fallback.as_deref().unwrap_or_else(built_in)
}

/// Whether `write_levels` would change nothing: the usual case, found in one pass.
fn are_levels(path: &[u8]) -> bool {
    let good = |level: &[u8]| !matches!(level, [] | b"." | b".." | [b' ', ..] | [.., b' ']);
    path.split(|byte| *byte == b'/').enumerate().all(|(at, level)| at < LEVELS_MAX && good(level))
}

/// Appends the levels of a raw path: empty ones are dropped, except that an empty last one leaves its slash.
fn write_levels(raw: &str, out: &mut String) {
    let start = out.len();
    let mut count = 0;
    let mut last_is_empty = false;
    for level in raw.split('/') {
        let level = level.trim_matches(' ');
        last_is_empty = level.is_empty();
        if last_is_empty {
            continue;
        }
        if out.len() > start {
            out.push(if count < LEVELS_MAX { '/' } else { '_' });
        }
        count += 1;
        out.push_str(match level {
            "." => "_",
            ".." => "__",
            level => level,
        });
    }
    if last_is_empty && out.len() > start && count < LEVELS_MAX {
        out.push('/');
    }
}
