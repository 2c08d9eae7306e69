//! One module a command: its arguments, whose comments are the help text, and its `run`.

pub(crate) mod completions;
pub(crate) mod edit;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod mount;
pub(crate) mod scan;
pub(crate) mod show;
pub(crate) mod template;
pub(crate) mod undo;

use crate::{
    cli::{Cli, Command},
    exit::Exit,
};

/// Runs what was asked.
///
/// # Errors
/// Whatever stops the command; [`crate::exit::report`] tells it.
pub(crate) fn run(cli: &Cli) -> anyhow::Result<Exit> {
    match &cli.command {
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
        Command::Scan(command) => command.run(&cli.globals),
        Command::Mount(command) => command.run(&cli.globals),
        Command::Template(command) => command.run(&cli.globals),
        Command::List(command) => command.run(&cli.globals),
        Command::Show(command) => command.run(&cli.globals),
        Command::Edit(command) => command.run(&cli.globals),
        Command::Undo(command) => command.run(&cli.globals),
        Command::Log(command) => command.run(&cli.globals),
    }
}
