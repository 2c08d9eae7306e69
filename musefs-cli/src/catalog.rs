//! Which catalogue a command works on.

use std::path::PathBuf;

use anyhow::Context as _;
use etcetera::{BaseStrategy as _, choose_base_strategy};

use crate::cli::Globals;

/// The catalogue that `--db`, `MUSEFS_DB` or the XDG data directory names.
///
/// # Errors
/// When no home directory is known.
pub(crate) fn path(globals: &Globals) -> anyhow::Result<PathBuf> {
    if let Some(path) = &globals.db {
        return Ok(path.clone());
    }
    let dirs = choose_base_strategy().context("finding the XDG data directory")?;
    Ok(dirs.data_dir().join("musefs").join("catalog.db"))
}
