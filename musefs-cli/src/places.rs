//! Where a track appears in mounts that stand.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::DirEntryExt as _,
    path::{Path, PathBuf},
};

use clap::Parser as _;
use musefs_core::library;
use musefs_db::{Catalog, TrackId};

use crate::{
    cli::{Cli, Command},
    registry::{Record, Registry},
    target::track_of_inode,
};

/// The paths of a track in our mounts of its catalogue. What cannot be found out is left out.
pub(crate) fn of(catalog: &Catalog, track: TrackId) -> Vec<PathBuf> {
    let Ok(registry) = Registry::of_this_user() else { return Vec::new() };
    let real = fs::canonicalize(catalog.path()).unwrap_or_else(|_| catalog.path().to_owned());
    let mounts = registry.records().into_iter().filter(|record| record.catalog == real);
    mounts.filter_map(|record| place_in(&record, catalog, track)).collect()
}

fn place_in(record: &Record, catalog: &Catalog, track: TrackId) -> Option<PathBuf> {
    let words = std::iter::once("musefs").chain(record.options.iter().map(String::as_str)).map(OsString::from);
    let Command::Mount(mount) = Cli::try_parse_from(words).ok()?.command else { return None };
    let (view, fold_case) = mount.look().ok()?;
    let below = library::place(catalog, &view, fold_case, track).ok()??;
    let path = record.mount_point.join(below.trim_start_matches('/'));
    // Another track may have taken the name: the file's number tells.
    find_in(path.parent()?, track)
}

fn find_in(folder: &Path, track: TrackId) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?;
    entries.flatten().find(|entry| track_of_inode(entry.ino()) == Some(track)).map(|entry| entry.path())
}
