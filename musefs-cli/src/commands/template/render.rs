//! `musefs template render`: where tracks would go.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::Args;
use musefs_core::{
    library::RowFields,
    names,
    template::{Fact, Fields as _, RenderOptions, Rendered, Template, UniqueIndex},
};
use musefs_db::{Access, Catalog, Keys, TrackId, TrackRow, Which};
use serde::Serialize;

use super::made_up::MadeUp;
use crate::{
    catalog,
    cli::Globals,
    exit::{Exit, Failure},
    output,
    view::PathArgs,
};

/// Show the paths of tracks: those of the catalogue, or one made up
///
/// Names that would collide in a mount get a number there; here they do not.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  musefs template render --template '$genre/$title' 17 ~/Music/song.flac
  musefs template render --preset original
  musefs template render --template '$artist/$title' --set artist=Low --set title=Lullaby")]
pub(super) struct Render {
    /// Tracks by number, or by the path of their source; without any, all tracks
    #[arg(value_name = "TRACK|PATH")]
    tracks: Vec<PathBuf>,
    /// A tag of a made-up track, or a fact such as filename or ext; a key again adds a value
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "tracks")]
    set: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    paths: PathArgs,
}

/// A line of `render`.
#[derive(Serialize)]
struct Line {
    /// Absent for a made-up track.
    #[serde(skip_serializing_if = "Option::is_none")]
    track: Option<i64>,
    /// Absent when the track is left out.
    path: Option<String>,
    /// The field for lack of which it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
}

impl Line {
    fn new(track: Option<i64>, rendered: Rendered<'_>, path: &str, extension: &str) -> Self {
        match rendered {
            Rendered::Path => Self { track, path: Some(clean(path, extension)), missing: None },
            Rendered::Skipped { missing } => Self { track, path: None, missing: Some(missing.to_owned()) },
        }
    }

    fn print(&self) -> anyhow::Result<()> {
        let track = self.track.map(|track| format!("{track}\t")).unwrap_or_default();
        match (&self.path, &self.missing) {
            (Some(path), _) => writeln!(io::stdout(), "{track}{}", output::safe(path))?,
            (None, missing) => eprintln!("{track}left out: no {}", missing.as_deref().unwrap_or_default()),
        }
        Ok(())
    }
}

/// The path with the names that its levels have in a mount.
fn clean(path: &str, extension: &str) -> String {
    let mut clean = String::new();
    let (directories, stem) = path.rsplit_once('/').map_or((None, path), |(above, stem)| (Some(above), stem));
    for level in directories.iter().flat_map(|above| above.split('/')) {
        names::component(level, &mut clean);
        clean.push('/');
    }
    names::file(stem, extension, &mut clean);
    clean
}

impl Render {
    pub(super) fn run(&self, globals: &Globals) -> anyhow::Result<Exit> {
        let (template, options) = self.paths.template()?;
        let mut lines = Vec::new();
        let mut take = |line: Line| {
            if self.json {
                lines.push(line);
                return Ok(());
            }
            line.print()
        };
        if self.set.is_empty() {
            let catalog = catalog::open(globals, Access::ReadOnly)?;
            let tracks = self.asked(&catalog)?;
            render(&catalog, &tracks, &template, &options, &mut take)?;
        } else {
            let track = MadeUp::new(&self.set)?;
            let mut path = String::new();
            let rendered = template.render(&track, &options, &mut path);
            take(Line::new(None, rendered, &path, &track.fact(Fact::Ext).unwrap_or_default()))?;
        }
        if self.json {
            output::json(&lines)?;
        }
        Ok(Exit::Success)
    }

    /// The tracks that were asked for.
    fn asked(&self, catalog: &Catalog) -> anyhow::Result<Vec<Which>> {
        if self.tracks.is_empty() {
            return Ok(vec![Which::All]);
        }
        self.tracks.iter().map(|track| find(track, catalog).map(Which::One)).collect()
    }
}

/// The track of a number or of a source's path.
fn find(track: &Path, catalog: &Catalog) -> anyhow::Result<TrackId> {
    let number = track.to_str().and_then(|text| text.parse().ok()).map(TrackId);
    let found = match number {
        Some(id) => catalog.read(|reader| reader.track(id))?.map(|_| id),
        None => {
            let given = std::path::absolute(track).with_context(|| format!("finding {}", track.display()))?;
            let real = given.canonicalize().unwrap_or_else(|_| given.clone());
            catalog.read(|reader| Ok(reader.find_source(&given)?.or(reader.find_source(&real)?)))?
        }
    };
    found.ok_or_else(|| {
        let name = output::safe(track.as_os_str().as_encoded_bytes());
        Failure::new(Exit::NotFound, format!("no track {name}")).hint("musefs list shows all tracks").into()
    })
}

/// Renders tracks of the catalogue one after the other.
fn render(
    catalog: &Catalog,
    tracks: &[Which],
    template: &Template,
    options: &RenderOptions,
    take: &mut dyn FnMut(Line) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let keys: Vec<&str> = template.tag_keys().collect();
    let keys = Keys::Only(&keys);
    let mut index = UniqueIndex::new();
    let mut path = String::new();
    // Output that fails is no error of the catalogue: it is kept aside.
    let mut taken = Ok(());
    catalog.read(|reader| {
        if template.needs_uniqueness() {
            reader.visit_tracks(Which::All, &keys, &mut |row| {
                template.observe(&RowFields::new(row), options, &mut index);
                Ok(())
            })?;
        }
        let mut visit = |row: &TrackRow<'_>| {
            let fields = RowFields::new(row);
            path.clear();
            let rendered = template.render_unique(&fields, options, &index, &mut path);
            if taken.is_ok() {
                taken = take(Line::new(Some(row.id.0), rendered, &path, &fields.extension()));
            }
            Ok(())
        };
        tracks.iter().try_for_each(|which| reader.visit_tracks(*which, &keys, &mut visit))
    })?;
    taken
}
