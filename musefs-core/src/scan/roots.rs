//! Which places a scan looks at.

use std::{
    io,
    path::{Path, PathBuf},
};

use musefs_db as db;

/// One place that is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scope {
    /// Absolute, without links.
    pub(super) path: PathBuf,
    pub(super) kind: ScopeKind,
}

/// What is at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopeKind {
    Directory,
    File,
    /// Nothing, or nothing that can be looked at.
    Gone,
}

impl Scope {
    /// The directory that becomes a root if no root covers it: that of a file is its directory.
    pub(super) fn root(&self) -> Option<&Path> {
        match self.kind {
            ScopeKind::Directory => Some(&self.path),
            ScopeKind::File => self.path.parent(),
            ScopeKind::Gone => None,
        }
    }

    /// Shows what the catalogue has of it.
    ///
    /// # Errors
    /// Those of the catalogue.
    pub(super) fn known(
        &self,
        catalog: &db::Reader<'_>,
        visit: &mut dyn FnMut(&db::Known<'_>),
    ) -> Result<(), db::Error> {
        if self.kind != ScopeKind::File {
            catalog.known(&self.path, &mut |file| {
                visit(file);
                Ok(())
            })?;
        }
        if self.kind == ScopeKind::Directory {
            return Ok(());
        }
        let (Some(dir), Some(name)) = (self.path.parent(), self.path.file_name()) else { return Ok(()) };
        catalog.known_in(dir, &mut |file| {
            if file.name == name.as_encoded_bytes() {
                visit(file);
            }
            Ok(())
        })
    }
}

/// Orders what was asked for: the same place twice, or one inside another, is looked at once.
pub(super) fn scopes(asked: &[PathBuf]) -> Vec<Scope> {
    let mut all: Vec<Scope> = asked.iter().map(|path| scope(path)).collect();
    all.sort_by(|a, b| a.path.cmp(&b.path));
    let mut scopes: Vec<Scope> = Vec::new();
    for scope in all {
        if !scopes.iter().any(|outer| scope.path.starts_with(&outer.path)) {
            scopes.push(scope);
        }
    }
    scopes
}

fn scope(path: &Path) -> Scope {
    let path = without_links(path).unwrap_or_else(|_| path.to_owned());
    let kind = match std::fs::metadata(&path) {
        Ok(metadata) if metadata.is_dir() => ScopeKind::Directory,
        Ok(metadata) if metadata.is_file() => ScopeKind::File,
        _ => ScopeKind::Gone,
    };
    Scope { path, kind }
}

/// The absolute path without links, as far as it exists: what is gone keeps the name that it was scanned under.
fn without_links(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let Err(error) = std::fs::canonicalize(&path) else { return std::fs::canonicalize(&path) };
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(without_links(parent)?.join(name)),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn places_are_looked_at_once() {
        let guard = tempfile::tempdir().unwrap();
        let base = guard.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("music/jazz")).unwrap();
        std::fs::create_dir_all(base.join("other")).unwrap();
        std::fs::write(base.join("other/song.mp3"), b"").unwrap();
        symlink(base.join("music"), base.join("link")).unwrap();
        // asked → scopes, root of the first
        let table: [(&[&str], &[&str], Option<&str>); 6] = [
            (&["music", "music"], &["music"], Some("music")),
            (&["music/jazz", "music", "music/./jazz/.."], &["music"], Some("music")),
            (&["link"], &["music"], Some("music")),
            (&["other/song.mp3", "music"], &["music", "other/song.mp3"], Some("music")),
            (&["other/song.mp3"], &["other/song.mp3"], Some("other")),
            (&["link/gone/deep"], &["music/gone/deep"], None),
        ];
        for (asked, expected, root) in table {
            let scopes = scopes(&asked.iter().map(|path| base.join(path)).collect::<Vec<_>>());
            let found: Vec<_> = scopes.iter().map(|scope| scope.path.clone()).collect();
            assert_eq!(found, expected.iter().map(|path| base.join(path)).collect::<Vec<_>>(), "{asked:?}");
            assert_eq!(scopes[0].root().map(Path::to_owned), root.map(|root| base.join(root)), "{asked:?}");
        }
    }
}
