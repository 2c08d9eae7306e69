//! After the walk: which tracks are missing, and which of them turned up elsewhere.

use std::{
    collections::HashSet,
    ffi::OsStr,
    io,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use musefs_db::{self as db, Catalog, SourceId, TrackId};

use super::{known::KnownFiles, roots::Scope};
use crate::limits::BATCH_FILES_MAX;

/// What became of tracks that the walk did not meet.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Settled {
    pub(super) missing: u64,
    pub(super) moved: u64,
    /// Not looked for, because their place could not be seen.
    pub(super) kept: u64,
}

/// Marks tracks at `scopes` that were not met as missing, unless they lie at or below one of `unseen`, and gives
/// those that turned up elsewhere their new path.
///
/// # Errors
/// Those of the catalogue.
pub(super) fn settle(
    catalog: &Catalog,
    writer: &mut db::Writer,
    known: &KnownFiles,
    scopes: &[Scope],
    unseen: &[PathBuf],
) -> Result<Settled, db::Error> {
    let mut settled = Settled::default();
    let mut missing = Vec::new();
    for scope in scopes {
        let (more, kept) = catalog.read(|reader| not_met(reader, known, scope, unseen))?;
        missing.extend(more);
        settled.kept += kept;
    }
    missing.extend(gone_twins(writer)?);
    for part in missing.chunks(BATCH_FILES_MAX) {
        let mut batch = writer.batch()?;
        for (source, _) in part {
            batch.missing(*source)?;
        }
        batch.commit()?;
    }
    let mut batch = writer.batch()?;
    let moved: HashSet<TrackId> = batch.reunite()?.into_iter().map(|moved| moved.track).collect();
    batch.commit()?;
    settled.moved = moved.len() as u64;
    settled.missing = missing.iter().filter(|(_, track)| !moved.contains(track)).count() as u64;
    Ok(settled)
}

/// Files of a place that the walk should have met, and how many more lie where it could not see.
///
/// # Errors
/// Those of the catalogue.
pub(super) fn not_met(
    catalog: &db::Reader<'_>,
    known: &KnownFiles,
    scope: &Scope,
    unseen: &[PathBuf],
) -> Result<(Vec<(SourceId, TrackId)>, u64), db::Error> {
    let (mut missing, mut kept) = (Vec::new(), 0);
    scope.known(catalog, &mut |file| {
        if !known.is_newly_missing(file.dir, file.name) {
            return;
        }
        let path = Path::new(OsStr::from_bytes(file.dir)).join(OsStr::from_bytes(file.name));
        if unseen.iter().any(|unseen| path.starts_with(unseen)) {
            kept += 1;
        } else {
            missing.push((file.source, file.track));
        }
    })?;
    Ok((missing, kept))
}

/// Tracks of other places with the audio of a new one whose file is not there any more.
fn gone_twins(writer: &mut db::Writer) -> Result<Vec<(SourceId, TrackId)>, db::Error> {
    let twins = writer.batch()?.twins()?;
    Ok(twins.into_iter().filter(|twin| has_left(&twin.path)).map(|twin| (twin.source, twin.track)).collect())
}

/// Whether a file is gone for good, as far as one can tell: an empty directory in its place looks like a disk that
/// is not mounted, whose files did not move to where copies of them are.
fn has_left(path: &Path) -> bool {
    let absent = |path: &Path| {
        let error = std::fs::symlink_metadata(path).err();
        error.is_some_and(|error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory))
    };
    if !absent(path) {
        return false;
    }
    let place = path.ancestors().skip(1).find(|ancestor| !absent(ancestor));
    place.and_then(|place| std::fs::read_dir(place).ok()).is_some_and(|mut entries| entries.next().is_some())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

    #[test]
    fn an_empty_mount_point_is_not_left() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        std::fs::create_dir_all(path("mount")).unwrap();
        std::fs::write(path("here.mp3"), b"").unwrap();
        assert!(!has_left(&path("here.mp3")));
        assert!(has_left(&path("renamed.mp3")));
        assert!(has_left(&path("renamed folder/a/b.mp3")));
        assert!(!has_left(&path("mount/a/b.mp3")));
    }
}
