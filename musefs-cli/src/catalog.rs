//! Which catalogue a command works on.

use std::path::PathBuf;

use anyhow::Context as _;
use etcetera::{BaseStrategy as _, choose_base_strategy};
use musefs_db::{Access, Catalog};

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

/// Opens that catalogue.
///
/// # Errors
/// When it is missing, damaged, newer than this program, or busy.
pub(crate) fn open(globals: &Globals, access: Access) -> anyhow::Result<Catalog> {
    Ok(Catalog::open(&path(globals)?, access)?)
}

/// Where presets of the user's own are: they go before the embedded ones of the same name.
///
/// # Errors
/// When no home directory is known.
pub(crate) fn preset_directories() -> anyhow::Result<Vec<PathBuf>> {
    let dirs = choose_base_strategy().context("finding the XDG configuration directory")?;
    Ok(vec![dirs.config_dir().join("musefs").join("templates"), PathBuf::from("/etc/musefs/templates")])
}

/// Where a mount keeps what must outlive it and is in no catalogue.
///
/// # Errors
/// When no home directory is known.
pub(crate) fn state_directory() -> anyhow::Result<PathBuf> {
    let dirs = choose_base_strategy().context("finding the XDG state directory")?;
    let state = dirs.state_dir().unwrap_or_else(|| dirs.data_dir().join("state"));
    Ok(state.join("musefs"))
}
