//! Which tracks, and which catalogue, the words `TRACK|PATH` of a command line mean.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use musefs_core::{tree::track_of, vfs::NodeId};
use musefs_db::{Access, Catalog, Reader, TrackId};

use crate::{
    catalog,
    cli::Globals,
    exit::{Exit, Failure},
    output::safe,
    registry::Registry,
};

/// The tracks that a command is about, in their catalogue.
pub(crate) struct Targets {
    pub(crate) catalog: Catalog,
    pub(crate) tracks: Vec<TrackId>,
}

/// One word of a command line.
enum Target {
    /// A number. A file with a number for a name is `./17`.
    Track(TrackId),
    /// A file that may be a source.
    Source(PathBuf),
    /// A file of a mount.
    Mounted { path: PathBuf, inode: u64, catalog: PathBuf },
}

/// Finds out what the words mean. A path in a mount names the mount's catalogue, unless `--db` does.
///
/// # Errors
/// A failure with code 6 for what is no track, with code 2 when the words name several catalogues.
pub(crate) fn resolve(globals: &Globals, words: &[PathBuf], access: Access) -> anyhow::Result<Targets> {
    let registry = Registry::of_this_user()?;
    let targets = words.iter().map(|word| Target::of(word, &registry)).collect::<anyhow::Result<Vec<_>>>()?;
    let catalog = Catalog::open(&catalog_of(globals, &targets)?, access)?;
    let mut tracks = Vec::new();
    for target in &targets {
        let track = catalog.read(|reader| target.track(reader))?.ok_or_else(|| target.unknown())?;
        if !tracks.contains(&track) {
            tracks.push(track);
        }
    }
    Ok(Targets { catalog, tracks })
}

fn catalog_of(globals: &Globals, targets: &[Target]) -> anyhow::Result<PathBuf> {
    let mut chosen = globals.db.as_deref().map(real);
    for target in targets {
        if let Target::Mounted { path, catalog, .. } = target {
            let catalog = real(catalog);
            if chosen.get_or_insert_with(|| catalog.clone()) != &catalog {
                let message = format!("{} is a mount of another catalogue, {}", show(path), show(&catalog));
                return Err(Failure::new(Exit::Usage, message).hint("name tracks of one catalogue at a time").into());
            }
        }
    }
    chosen.map_or_else(|| catalog::path(globals), Ok)
}

impl Target {
    fn of(word: &Path, registry: &Registry) -> anyhow::Result<Self> {
        if let Some(track) = word.to_str().and_then(|text| text.parse().ok()) {
            return Ok(Self::Track(TrackId(track)));
        }
        let Some((record, _)) = registry.find_by_mount_path(word) else { return Ok(Self::Source(word.to_owned())) };
        let metadata = fs::metadata(word)
            .map_err(|error| Failure::new(Exit::NotFound, format!("looking at {}: {error}", show(word))))?;
        Ok(Self::Mounted { path: word.to_owned(), inode: metadata.ino(), catalog: record.catalog })
    }

    fn track(&self, reader: &Reader<'_>) -> musefs_db::Result<Option<TrackId>> {
        match self {
            Self::Track(track) => Ok(reader.track(*track)?.map(|detail| detail.id)),
            Self::Source(path) => {
                let written = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                match reader.find_source(&written)? {
                    Some(track) => Ok(Some(track)),
                    None => reader.find_source(&real(path)),
                }
            }
            Self::Mounted { inode, .. } => match track_of_inode(*inode) {
                Some(track) => Ok(reader.track(track)?.map(|detail| detail.id)),
                None => Ok(None),
            },
        }
    }

    fn unknown(&self) -> Failure {
        let (message, hint) = match self {
            Self::Track(track) => (format!("there is no track {}", track.0), "`musefs list` shows all"),
            Self::Source(path) | Self::Mounted { path, .. } if path.is_dir() => {
                (format!("{} is a folder", show(path)), "name the files in it, for example FOLDER/*")
            }
            Self::Source(path) => {
                let hint = "`musefs scan` takes new files in; `musefs list` shows what is there";
                (format!("{} is not in the catalogue", show(path)), hint)
            }
            Self::Mounted { path, .. } => (format!("{} is not a track", show(path)), "`musefs list` shows all"),
        };
        Failure::new(Exit::NotFound, message).hint(hint)
    }
}

/// The track behind an inode of a mount: the revision stands above the node id.
pub(crate) fn track_of_inode(inode: u64) -> Option<TrackId> {
    track_of(NodeId(inode & ((1 << NodeId::BITS) - 1))).map(TrackId)
}

fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

fn show(path: &Path) -> String {
    safe(path.as_os_str().as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inodes_tell_tracks_whatever_their_revision() {
        for (inode, track) in [
            (16, Some(16)),
            (5 << 53 | 16, Some(16)),
            (1, None),
            (1 << 52 | 16, None),
            (3 << 46 | 2 << 38 | 77, Some(77)),
        ] {
            assert_eq!(track_of_inode(inode), track.map(TrackId), "{inode:#x}");
        }
    }
}
