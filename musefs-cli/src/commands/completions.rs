//! `musefs completions`: completions for a shell.

use clap::CommandFactory as _;

use crate::{cli::Cli, exit::Exit};

/// Print completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:
  musefs completions bash > /usr/share/bash-completion/completions/musefs
  musefs completions fish > ~/.config/fish/completions/musefs.fish")]
pub(crate) struct Completions {
    /// Which shell
    shell: clap_complete::Shell,
}

impl Completions {
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        clap_complete::generate(self.shell, &mut Cli::command(), "musefs", &mut std::io::stdout());
        Ok(Exit::Success)
    }
}
