//! `musefs man`: the manual pages.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::CommandFactory as _;

use crate::{cli::Cli, exit::Exit};

/// Write the manual pages into a directory
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:
  musefs man /usr/local/share/man/man1
  musefs man . && man ./musefs-mount.1")]
pub(crate) struct Man {
    /// Directory for musefs.1, musefs-scan.1 and the others; made if it is missing
    directory: PathBuf,
}

impl Man {
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        std::fs::create_dir_all(&self.directory)
            .and_then(|()| clap_mangen::generate_to(Cli::command(), &self.directory))
            .with_context(|| format!("writing manual pages to {}", self.directory.display()))?;
        Ok(Exit::Success)
    }
}
