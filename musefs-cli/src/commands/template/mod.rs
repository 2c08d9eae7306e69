//! `musefs template`: path templates checked and tried without a mount.

mod made_up;
mod render;

use std::io::{self, Write as _};

use clap::{Args, Subcommand};
use musefs_core::template::{Listed, Origin, list_presets};
use serde::Serialize;

use crate::{catalog, cli::Globals, exit::Exit, output, view};

/// Check a path template, or try it on tracks
///
/// The language is described in docs/TEMPLATES.md.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  musefs template list
  musefs template check '$albumartist/$album[ ($year)]/$track $title'")]
pub(crate) struct TemplateCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Check(Check),
    Render(render::Render),
    List(List),
}

/// Say whether a template is right, or show the place where it is not
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  musefs template check '$albumartist/$album[ ($year)]/$track $title'
  musefs template check '${label|\"No Label\"}/$album/$title'")]
struct Check {
    /// The template
    template: String,
}

/// List the presets
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  musefs template list
  musefs template list --json")]
struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl TemplateCommand {
    pub(crate) fn run(&self, globals: &Globals) -> anyhow::Result<Exit> {
        match &self.action {
            Action::Check(check) => check.run(),
            Action::Render(render) => render.run(globals),
            Action::List(list) => list.run(),
        }
    }
}

impl Check {
    fn run(&self) -> anyhow::Result<Exit> {
        view::parse(&self.template)?;
        writeln!(io::stdout(), "ok")?;
        Ok(Exit::Success)
    }
}

/// A preset as `list` shows it.
#[derive(Serialize)]
struct Shown {
    name: String,
    /// Absent for the presets of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(flatten)]
    content: Content,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content {
    Good { description: String, template: String },
    Bad { error: String },
}

impl Shown {
    fn new(listed: Listed) -> Self {
        let Listed { name, origin, preset } = listed;
        let file = match origin {
            Origin::Embedded => None,
            Origin::File(path) => Some(output::safe(path.as_os_str().as_encoded_bytes())),
        };
        let content = match preset {
            Ok(preset) => {
                Content::Good { description: preset.description, template: preset.template.text().to_owned() }
            }
            Err(error) => Content::Bad { error: error.to_string() },
        };
        Self { name, file, content }
    }

    fn print(&self, out: &mut impl io::Write) -> io::Result<()> {
        let from = self.file.as_ref().map(|file| format!(" ({file})")).unwrap_or_default();
        match &self.content {
            Content::Good { description, template } => {
                writeln!(out, "{}{from}: {}\n    {template}", self.name, output::safe(description))
            }
            Content::Bad { error } => writeln!(out, "{}: cannot be used: {error}", self.name),
        }
    }
}

impl List {
    fn run(&self) -> anyhow::Result<Exit> {
        let presets = list_presets(&catalog::preset_directories()?).map_err(view::preset_failure)?;
        let presets: Vec<Shown> = presets.into_iter().map(Shown::new).collect();
        if self.json {
            output::json(&presets)?;
        } else {
            let mut out = io::stdout().lock();
            presets.iter().try_for_each(|preset| preset.print(&mut out))?;
        }
        Ok(Exit::Success)
    }
}
