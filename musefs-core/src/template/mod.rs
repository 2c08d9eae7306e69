//! Path templates: text that turns the tags of a track into a path.
//!
//! A [`Template`] is parsed once, with errors that show the place, and rendered for each track into a string that the
//! caller keeps. The language is described in `docs/TEMPLATES.md`, whose examples a test runs. Nothing here knows of
//! disks, of the catalogue's tables, or of limits of names: levels are cleaned and cut where they become names.

mod ast;
mod call;
mod error;
mod field;
mod functions;
mod parse;
mod preset;
mod render;
mod unique;
mod value;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use ast::{Aunique, Call, Node};
use field::Field;
use render::Renderer;

pub use error::TemplateError;
pub(crate) use error::nearest;
pub use field::{Fact, UnknownField, beets_names, names as field_names};
pub use functions::names as function_names;
pub use preset::{Listed, Origin, Preset, PresetError, find as find_preset, list as list_presets};
pub use unique::UniqueIndex;

/// What is known of a track while its path is made.
pub trait Fields {
    /// The first effective value of a lower-case tag key.
    fn tag(&self, key: &str) -> Option<&str>;

    /// All effective values of a lower-case tag key, in order.
    fn values(&self, key: &str, each: &mut dyn FnMut(&str));

    /// A fact that is no tag.
    fn fact(&self, fact: Fact) -> Option<Cow<'_, str>>;
}

/// What happens where a track has no value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderOptions {
    fallbacks: BTreeMap<Box<str>, String>,
    default_fallback: Option<String>,
    skip_on_missing: bool,
}

impl RenderOptions {
    /// Texts that are built in, no track skipped.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says what stands in for one field. A `/` in it makes a level.
    pub fn set_fallback(&mut self, field: &str, text: &str) -> Result<(), UnknownField> {
        let field = Field::resolve(field)?;
        self.fallbacks.insert(field.name, text.to_owned());
        Ok(())
    }

    /// Says what stands in for every field that has no text of its own.
    pub fn set_default_fallback(&mut self, text: Option<String>) {
        self.default_fallback = text;
    }

    /// Says whether a track is left out when a field outside of brackets has neither a value nor a text of its own.
    pub fn set_skip_on_missing(&mut self, skip: bool) {
        self.skip_on_missing = skip;
    }
}

/// What became of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rendered<'t> {
    /// Its path was appended.
    Path,
    /// It is left out, and nothing was appended.
    Skipped {
        /// The first field without a value.
        missing: &'t str,
    },
}

/// A parsed template.
#[derive(Clone, Debug)]
pub struct Template {
    text: Box<str>,
    nodes: Vec<Node>,
    aunique_calls: usize,
    keys: Vec<Box<str>>,
}

impl Template {
    /// Parses a template. The error shows the place and what was probably meant.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let parsed = parse::parse(text)?;
        Ok(Self {
            text: text.into(),
            keys: keys(&parsed.nodes),
            nodes: parsed.nodes,
            aunique_calls: parsed.aunique_calls,
        })
    }

    /// The text that was parsed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The tag keys that rendering asks for, lower-case and sorted: no others need to be read.
    pub fn tag_keys(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(|key| &**key)
    }

    /// Whether a path depends on other tracks: then [`Self::observe`] all of them first, and render with the index. A
    /// change of one track can change the paths of others.
    pub fn needs_uniqueness(&self) -> bool {
        self.aunique_calls > 0
    }

    /// The first pass over all tracks, for [`Self::render_unique`].
    pub fn observe(&self, fields: &dyn Fields, options: &RenderOptions, index: &mut UniqueIndex) {
        for call in self.aunique() {
            index.add(call, fields, options);
        }
    }

    /// Appends the path of a track: levels with `/` between, without the extension of the file. No level is empty, `.`
    /// or `..`, none begins or ends with a blank, and none has a NUL.
    /// `%aunique` tells nothing apart.
    pub fn render(&self, fields: &dyn Fields, options: &RenderOptions, out: &mut String) -> Rendered<'_> {
        self.render_with(fields, options, None, out)
    }

    /// As [`Self::render`], with an index that has [observed](Self::observe) all tracks.
    pub fn render_unique(
        &self,
        fields: &dyn Fields,
        options: &RenderOptions,
        index: &UniqueIndex,
        out: &mut String,
    ) -> Rendered<'_> {
        self.render_with(fields, options, Some(index), out)
    }

    fn render_with(
        &self,
        fields: &dyn Fields,
        options: &RenderOptions,
        unique: Option<&UniqueIndex>,
        out: &mut String,
    ) -> Rendered<'_> {
        let start = out.len();
        let mut renderer = Renderer { fields, options, unique, out, start, missing: None };
        renderer.template(&self.nodes);
        match renderer.missing {
            Some(missing) if options.skip_on_missing => {
                out.truncate(start);
                Rendered::Skipped { missing }
            }
            _ => {
                renderer.finish();
                Rendered::Path
            }
        }
    }

    fn aunique(&self) -> Vec<&Aunique> {
        let mut calls = Vec::new();
        ast::walk(&self.nodes, &mut |node| {
            if let Node::Call(Call::Aunique(call)) = node {
                calls.push(call);
            }
        });
        calls
    }
}

/// The tags that the values of all fields in a template are made from.
fn keys(nodes: &[Node]) -> Vec<Box<str>> {
    let mut keys = BTreeSet::new();
    ast::walk(nodes, &mut |node| {
        for field in ast::fields(node) {
            keys.extend(field.keys().into_iter().map(Box::from));
        }
    });
    keys.into_iter().collect()
}

#[cfg(test)]
mod tests;
