//! The options that say what a tree looks like, for every command that renders one.

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use musefs_core::{
    library::{Mode, View},
    template::{PresetError, RenderOptions, Template, find_preset},
};

use crate::{
    catalog,
    exit::{Exit, Failure},
};

/// What the tree looks like.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tree")]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    paths: PathArgs,
    /// Whether edits reach the bytes, or only the places of tracks in the tree
    #[arg(long, value_enum, env = "MUSEFS_MODE", default_value = "overlay")]
    mode: ModeArg,
}

/// Where tracks go.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tree")]
pub(crate) struct PathArgs {
    /// Where tracks go, for example '$albumartist/$album/$track $title'
    #[arg(long, value_name = "TEXT", env = "MUSEFS_TEMPLATE")]
    template: Option<String>,
    /// A named template; 'musefs template list' shows them
    #[arg(long, value_name = "NAME", env = "MUSEFS_PRESET", default_value = "default")]
    preset: String,
    /// What stands in for a field without a value; may be repeated, in the environment one a line
    #[arg(long, value_name = "KEY=VALUE", env = "MUSEFS_FALLBACK", value_delimiter = '\n')]
    fallback: Vec<String>,
    /// What stands in for every other field without a value
    #[arg(long, value_name = "TEXT", env = "MUSEFS_DEFAULT_FALLBACK")]
    default_fallback: Option<String>,
    /// Leave out tracks that lack a field, instead of putting something in its place
    #[arg(long, env = "MUSEFS_SKIP_ON_MISSING")]
    skip_on_missing: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ModeArg {
    /// Edited tracks carry their edits
    Overlay,
    /// Every byte is the source's
    StructureOnly,
}

impl ViewArgs {
    /// The view that was asked for.
    ///
    /// # Errors
    /// Those of [`PathArgs::template`].
    pub(crate) fn view(&self) -> anyhow::Result<View> {
        let (template, options) = self.paths.template()?;
        let mode = match self.mode {
            ModeArg::Overlay => Mode::Overlay,
            ModeArg::StructureOnly => Mode::StructureOnly,
        };
        Ok(View { template, options, mode })
    }
}

impl PathArgs {
    /// The template that was asked for, with what stands in for missing values.
    ///
    /// # Errors
    /// A usage failure that shows the place in a wrong template, or names what is wrong with a fallback or preset.
    pub(crate) fn template(&self) -> anyhow::Result<(Template, RenderOptions)> {
        let (template, mut options) = match &self.template {
            Some(text) => (parse(text)?, RenderOptions::new()),
            None => {
                let preset = find_preset(&self.preset, &catalog::preset_directories()?).map_err(preset_failure)?;
                (preset.template, preset.options)
            }
        };
        for fallback in &self.fallback {
            set_fallback(&mut options, fallback)?;
        }
        if self.default_fallback.is_some() {
            options.set_default_fallback(self.default_fallback.clone());
        }
        options.set_skip_on_missing(self.skip_on_missing);
        Ok((template, options))
    }
}

/// Parses a template.
///
/// # Errors
/// A usage failure that shows the place.
pub(crate) fn parse(text: &str) -> anyhow::Result<Template> {
    Ok(Template::parse(text).map_err(|error| {
        let failure = Failure::new(Exit::Usage, error.to_string());
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    })?)
}

/// A usage failure for a preset that cannot be used.
pub(crate) fn preset_failure(error: PresetError) -> Failure {
    let failure = Failure::new(Exit::Usage, error.to_string());
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn set_fallback(options: &mut RenderOptions, fallback: &str) -> anyhow::Result<()> {
    let usage = |message: String| Failure::new(Exit::Usage, message);
    let (field, text) =
        fallback.split_once('=').ok_or_else(|| usage(format!("--fallback {fallback}: not of the form KEY=VALUE")))?;
    options
        .set_fallback(field, text)
        .map_err(|error| usage(format!("--fallback {fallback}: {error}")).hint(error.hint()))
        .context("reading the options")
}
