//! `musefs list`: all tracks.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    io::{self, BufWriter, Write},
    os::unix::ffi::OsStrExt as _,
    path::Path,
};

use clap::Args;
use musefs_db::{Access, Keys, TrackRow, Which};
use serde_json::{Value, json};

use crate::{catalog, cli::Globals, exit::Exit, output::safe, tell};

/// List all tracks: number, state, a star if edited, source
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  musefs list
  musefs list --json | jq -r '.[] | select(.tags.albumartist == null) | .path'

States: ok; opaque, always served as its source is; missing, not there at the last scan; unreadable.")]
pub(crate) struct List {
    /// Print a JSON array with a line for each track, tags included
    #[arg(long)]
    json: bool,
}

impl List {
    pub(crate) fn run(&self, globals: &Globals) -> anyhow::Result<Exit> {
        let catalog = catalog::open(globals, Access::ReadOnly)?;
        let mut out = BufWriter::new(io::stdout().lock());
        let keys = if self.json { Keys::All } else { Keys::Only(&[]) };
        let mut written = Ok(());
        let mut count = 0_u64;
        catalog.read(|reader| {
            reader.visit_tracks(Which::All, &keys, &mut |row| {
                if written.is_ok() {
                    written = if self.json { json_line(&mut out, row, count == 0) } else { line(&mut out, row) };
                }
                count += 1;
                Ok(())
            })
        })?;
        written?;
        if self.json {
            out.write_all(if count == 0 { b"[]\n" } else { b"\n]\n" })?;
        }
        out.flush()?;
        if count == 0 && !globals.quiet {
            eprintln!("no tracks yet: `musefs scan PATH` takes music in");
        }
        Ok(Exit::Success)
    }
}

fn line(out: &mut impl Write, row: &TrackRow<'_>) -> io::Result<()> {
    let edited = if row.edit.is_some() { '*' } else { ' ' };
    writeln!(out, "{:>7}  {:<10} {edited} {}", row.id.0, row.state.as_str(), safe(path(row).as_os_str().as_bytes()))
}

fn json_line(out: &mut impl Write, row: &TrackRow<'_>, first: bool) -> io::Result<()> {
    out.write_all(if first { b"[\n" } else { b",\n" })?;
    serde_json::to_writer(out, &as_json(row)).map_err(io::Error::from)
}

fn as_json(row: &TrackRow<'_>) -> Value {
    let mut tags = BTreeMap::<&str, Vec<&str>>::new();
    for tag in row.tags {
        tags.entry(&tag.key).or_default().push(&tag.value);
    }
    json!({
        "track": row.id.0,
        "path": tell::path_json(&path(row)),
        "state": row.state.as_str(),
        "format": row.format,
        "revision": row.revision,
        "edited": row.edit.is_some(),
        "tags": tags,
    })
}

fn path(row: &TrackRow<'_>) -> std::path::PathBuf {
    Path::new(OsStr::from_bytes(row.dir)).join(OsStr::from_bytes(row.name))
}
