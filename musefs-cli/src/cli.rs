//! The command line: what can be said. Doing happens in [`crate::commands`].

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::{commands, exit::EXIT_CODES_HELP};

/// A read-only tree of your music with corrected tags, around the original audio, byte for byte.
#[derive(Debug, Parser)]
#[command(name = "musefs", version, after_long_help = EXIT_CODES_HELP, propagate_version = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
pub(crate) struct Globals {
    /// Catalogue file [default: musefs/catalog.db in the XDG data directory]
    #[arg(long, global = true, value_name = "FILE", env = "MUSEFS_DB", help_heading = "Global options")]
    pub(crate) db: Option<PathBuf>,
    /// Print only data and errors
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Global options")]
    pub(crate) quiet: bool,
    /// Say more of what is done; twice for details of each request
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Global options")]
    pub(crate) verbose: u8,
}

/// The commands, in the order in which a person needs them.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Scan(commands::scan::Scan),
    Mount(Box<commands::mount::Mount>),
    Template(Box<commands::template::TemplateCommand>),
    List(commands::list::List),
    Show(commands::show::Show),
    Edit(commands::edit::Edit),
    Undo(commands::undo::Undo),
    Log(commands::log::Log),
    Completions(commands::completions::Completions),
    Man(commands::man::Man),
}
