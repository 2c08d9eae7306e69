//! The musefs program: a catalogue of audio files, served as a tidy read-only tree.
//!
//! One file a command under [`commands`]. Data goes to stdout, talk to stderr; every error is turned
//! into a message, a hint and an exit code in one place, [`exit`].

mod allocator;
mod author;
mod catalog;
mod cli;
mod commands;
mod exit;
mod logging;
mod output;
mod places;
mod progress;
mod registry;
mod target;
mod tell;
mod view;

use std::process::ExitCode;

use clap::Parser;

use crate::{cli::Cli, exit::Exit};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(message) => {
            // A closed pipe while printing help is nobody's fault.
            let _ = message.print();
            return if message.use_stderr() { Exit::Usage.into() } else { Exit::Success.into() };
        }
    };
    logging::start(&cli.globals);
    commands::run(&cli).unwrap_or_else(|error| exit::report(&error)).into()
}
