//! Finds files: every directory once, by several threads, with what could not be read told by name.
//!
//! Directories are opened once and their entries looked up relative to them, so a file costs one
//! `fstatat` of its name. The queue holds directories, not files: memory follows the depth and width
//! of the tree, not its size. `ignore` was considered: it does not say in which directory a listing
//! broke off, and without that a scan cannot tell missing files from unseen ones.
//!
//! What symbolic links lead to is scanned once. A link into a scanned tree adds nothing; links that
//! lead out of it are followed after the tree itself, in the order of their paths, so that the result
//! does not depend on which thread came first.

use std::{
    collections::BTreeMap,
    ffi::{CStr, OsStr, OsString},
    io,
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use musefs_db::Stamp;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};

use super::{file::stamp_of, retry::retried};
use crate::limits::DEPTH_MAX;

/// A regular file that was found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) dir: Arc<Path>,
    pub(super) name: OsString,
    pub(super) stamp: Stamp,
}

impl Found {
    pub(super) fn path(&self) -> PathBuf {
        self.dir.join(&self.name)
    }

    pub(super) fn dir_bytes(&self) -> &[u8] {
        self.dir.as_os_str().as_bytes()
    }

    pub(super) fn name_bytes(&self) -> &[u8] {
        self.name.as_bytes()
    }
}

/// Who is told what a walk finds; by several threads at once.
pub(super) trait Visitor: Sync {
    /// A regular file.
    fn file(&self, found: Found);
    /// What lies at or below `path` could not be seen.
    fn unreadable(&self, path: &Path, error: &io::Error);
    /// Something that is passed over, and why.
    fn passed(&self, path: &Path, why: Passed);
    /// Whether to stop.
    fn stopped(&self) -> bool;
}

/// Why something found is not looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passed {
    /// A symbolic link, and links are not followed.
    Link,
    /// A symbolic link to what is scanned where it is.
    LinkInside,
    /// A symbolic link to a directory that contains it.
    Loop,
    /// A symbolic link to nothing.
    Dangling,
    /// A pipe, socket or device.
    Special,
    /// A directory that the caller excluded.
    Excluded,
}

/// Where to walk, and how.
pub(super) struct Walk<'a> {
    /// Absolute paths of directories without links in them, none inside another.
    pub(super) roots: &'a [PathBuf],
    /// Directories that are not entered.
    pub(super) excluded: &'a [PathBuf],
    pub(super) follow_links: bool,
    pub(super) threads: usize,
}

/// A directory to read.
struct Job {
    /// As files in it are named.
    path: Arc<Path>,
    /// Without links; another one than `path` below a followed link only.
    real: Arc<Path>,
    depth: usize,
}

/// What the threads of a walk share.
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Taken from the end: depth first, so that the queue stays short.
    jobs: Vec<Job>,
    busy: usize,
    /// Links that lead out of the scanned trees: path of the link → what it leads to.
    outside: BTreeMap<PathBuf, PathBuf>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next directory; `None` when all are done. Whoever got one calls [`Self::done`] after it.
    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop() {
                state.busy += 1;
                return Some(job);
            }
            if state.busy == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn push(&self, job: Job) {
        self.lock().jobs.push(job);
        self.changed.notify_one();
    }

    fn done(&self) {
        let mut state = self.lock();
        state.busy -= 1;
        if state.busy == 0 && state.jobs.is_empty() {
            self.changed.notify_all();
        }
    }
}

impl Walk<'_> {
    /// Walks all roots and tells `visitor`; returns when everything was told.
    pub(super) fn run(&self, visitor: &dyn Visitor) {
        let jobs = self.roots.iter().map(|root| job(root, root)).collect();
        let mut outside = self.tree(jobs, visitor);
        let mut followed: Vec<PathBuf> = Vec::new();
        while let Some((link, target)) = outside.pop_first() {
            if followed.iter().any(|known| target.starts_with(known)) {
                visitor.passed(&link, Passed::LinkInside);
                continue;
            }
            let more = match file_behind(&link) {
                Some(found) => {
                    visitor.file(found);
                    BTreeMap::new()
                }
                None => self.tree(vec![job(&link, &target)], visitor),
            };
            followed.push(target);
            outside.extend(more);
        }
    }

    /// Walks some trees; returns the links that lead out of them.
    fn tree(&self, jobs: Vec<Job>, visitor: &dyn Visitor) -> BTreeMap<PathBuf, PathBuf> {
        let queue = Queue { state: Mutex::new(State { jobs, ..State::default() }), changed: Condvar::new() };
        std::thread::scope(|scope| {
            for _ in 0..self.threads.max(1) {
                scope.spawn(|| {
                    while let Some(job) = queue.next() {
                        if !visitor.stopped() {
                            self.directory(&job, &queue, visitor);
                        }
                        queue.done();
                    }
                });
            }
        });
        queue.state.into_inner().unwrap_or_else(PoisonError::into_inner).outside
    }

    fn directory(&self, job: &Job, queue: &Queue, visitor: &dyn Visitor) {
        if job.depth > DEPTH_MAX {
            let error = io::Error::other(format!("more than {DEPTH_MAX} levels deep"));
            return visitor.unreadable(&job.path, &error);
        }
        let opened = retried(|| open(&job.path)).and_then(|dir| {
            let listing = Dir::read_from(&dir)?;
            Ok((dir, listing))
        });
        let (dir, listing) = match opened {
            Ok(opened) => opened,
            // Removed since it was listed.
            Err(error) if job.depth > 0 && error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return visitor.unreadable(&job.path, &error),
        };
        for entry in listing {
            if visitor.stopped() {
                return;
            }
            match entry {
                Ok(entry) => self.entry(job, &dir, entry.file_name(), entry.file_type(), queue, visitor),
                Err(error) => return visitor.unreadable(&job.path, &error.into()),
            }
        }
    }

    fn entry(&self, job: &Job, dir: &OwnedFd, name: &CStr, kind: FileType, queue: &Queue, visitor: &dyn Visitor) {
        if matches!(name.to_bytes(), b"." | b"..") {
            return;
        }
        let path = || job.path.join(os_str(name));
        match kind {
            FileType::Directory => return self.subdirectory(job, path(), os_str(name), queue, visitor),
            FileType::Symlink => return self.link(job, path(), queue, visitor),
            _ => {}
        }
        let stat = match retried(|| Ok(rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?)) {
            Ok(stat) => stat,
            // Removed since the directory was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return visitor.unreadable(&path(), &error),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {
                let name = os_str(name).to_owned();
                visitor.file(Found { dir: Arc::clone(&job.path), name, stamp: stamp_of(&stat) });
            }
            // File systems that do not tell kinds in listings.
            FileType::Directory => self.subdirectory(job, path(), os_str(name), queue, visitor),
            FileType::Symlink => self.link(job, path(), queue, visitor),
            _ => visitor.passed(&path(), Passed::Special),
        }
    }

    fn subdirectory(&self, job: &Job, path: PathBuf, name: &OsStr, queue: &Queue, visitor: &dyn Visitor) {
        let (path, real): (Arc<Path>, Arc<Path>) = if job.path == job.real {
            let path: Arc<Path> = path.into();
            (Arc::clone(&path), path)
        } else {
            (path.into(), job.real.join(name).into())
        };
        if self.excluded.iter().any(|excluded| **excluded == *real) {
            return visitor.passed(&path, Passed::Excluded);
        }
        if path != real && self.roots.iter().any(|root| **root == *real) {
            // A followed link came back to a root from above.
            return visitor.passed(&path, Passed::LinkInside);
        }
        queue.push(Job { path, real, depth: job.depth + 1 });
    }

    fn link(&self, job: &Job, path: PathBuf, queue: &Queue, visitor: &dyn Visitor) {
        if !self.follow_links {
            return visitor.passed(&path, Passed::Link);
        }
        let target = match retried(|| std::fs::canonicalize(&path)) {
            Ok(target) => target,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return visitor.passed(&path, Passed::Dangling),
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                return visitor.passed(&path, Passed::Loop);
            }
            Err(error) => return visitor.unreadable(&path, &error),
        };
        if job.real.starts_with(&target) {
            visitor.passed(&path, Passed::Loop);
        } else if self.roots.iter().any(|root| target.starts_with(root)) {
            visitor.passed(&path, Passed::LinkInside);
        } else if self.excluded.iter().any(|excluded| target.starts_with(excluded)) {
            visitor.passed(&path, Passed::Excluded);
        } else {
            queue.lock().outside.insert(path, target);
        }
    }
}

fn job(path: &Path, real: &Path) -> Job {
    Job { path: path.into(), real: real.into(), depth: 0 }
}

fn open(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    Ok(rustix::fs::openat(CWD, path, flags, Mode::empty())?)
}

/// The regular file that a path leads to, through links, under the name of the path.
pub(super) fn file_behind(path: &Path) -> Option<Found> {
    let stat = retried(|| Ok(rustix::fs::stat(path)?)).ok()?;
    let (dir, name) = (path.parent()?, path.file_name()?);
    FileType::from_raw_mode(stat.st_mode).is_file().then(|| Found {
        dir: dir.into(),
        name: name.to_owned(),
        stamp: stamp_of(&stat),
    })
}

fn os_str(name: &CStr) -> &OsStr {
    OsStr::from_bytes(name.to_bytes())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[derive(Default)]
    struct Seen(Mutex<Vec<String>>);

    impl Seen {
        fn add(&self, path: &Path, what: &str) {
            self.0.lock().unwrap().push(format!("{what} {}", path.to_string_lossy()));
        }
    }

    impl Visitor for Seen {
        fn file(&self, found: Found) {
            self.add(&found.path(), "file");
        }
        fn unreadable(&self, path: &Path, _: &io::Error) {
            self.add(path, "unreadable");
        }
        fn passed(&self, path: &Path, why: Passed) {
            self.add(path, &format!("{why:?}"));
        }
        fn stopped(&self) -> bool {
            false
        }
    }

    /// What a walk of `root/music` tells, with `root` cut off.
    fn walked(root: &Path, follow_links: bool) -> Vec<String> {
        let seen = Seen::default();
        let excluded = [root.join("music/mount")];
        Walk { roots: &[root.join("music")], excluded: &excluded, follow_links, threads: 3 }.run(&seen);
        let prefix = format!("{}/", root.display());
        let mut lines: Vec<_> = seen.0.into_inner().unwrap().iter().map(|line| line.replace(&prefix, "")).collect();
        lines.sort();
        lines
    }

    fn touch(path: PathBuf) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"x").unwrap();
    }

    fn temporary() -> (tempfile::TempDir, PathBuf) {
        let guard = tempfile::tempdir().unwrap();
        let root = guard.path().canonicalize().unwrap();
        (guard, root)
    }

    #[test]
    fn files_are_found_whatever_their_names() {
        let (_guard, root) = temporary();
        touch(root.join("music/.hidden/a.mp3"));
        touch(root.join("music/[x]*?/b c.ogg"));
        touch(root.join("music/.gitignore"));
        touch(root.join("music").join(OsStr::from_bytes(b"\xff.wav")));
        touch(root.join("music/mount/not me.mp3"));
        rustix::fs::mknodat(CWD, root.join("music/pipe.mp3"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert_eq!(
            walked(&root, false),
            [
                "Excluded music/mount",
                "Special music/pipe.mp3",
                "file music/.gitignore",
                "file music/.hidden/a.mp3",
                "file music/[x]*?/b c.ogg",
                "file music/\u{fffd}.wav",
            ]
        );
    }

    #[test]
    fn links_are_followed_only_when_asked() {
        let (_guard, root) = temporary();
        touch(root.join("music/a.mp3"));
        touch(root.join("else/b.mp3"));
        symlink(root.join("else"), root.join("music/link")).unwrap();
        assert_eq!(walked(&root, false), ["Link music/link", "file music/a.mp3"]);
        assert_eq!(walked(&root, true), ["file music/a.mp3", "file music/link/b.mp3"]);
    }

    #[test]
    fn what_links_lead_to_is_scanned_once_and_loops_end() {
        let (_guard, root) = temporary();
        touch(root.join("music/a/x.mp3"));
        touch(root.join("else/deep/y.mp3"));
        symlink(root.join("music/a"), root.join("music/inside")).unwrap();
        symlink(root.join("music"), root.join("music/a/loop")).unwrap();
        symlink("self", root.join("music/self")).unwrap();
        symlink("gone", root.join("music/dangling")).unwrap();
        symlink(root.join("else"), root.join("music/l1")).unwrap();
        symlink(root.join("else/deep"), root.join("music/l2")).unwrap();
        symlink(&root, root.join("else/up")).unwrap();
        symlink(root.join("else/deep/y.mp3"), root.join("music/one.mp3")).unwrap();
        assert_eq!(
            walked(&root, true),
            [
                "Dangling music/dangling",
                "LinkInside music/inside",
                "LinkInside music/l2",
                "LinkInside music/one.mp3",
                "Loop music/a/loop",
                "Loop music/l1/up",
                "Loop music/self",
                "file music/a/x.mp3",
                "file music/l1/deep/y.mp3",
            ]
        );
    }

    #[test]
    fn a_directory_that_cannot_be_read_is_told() {
        let (_guard, root) = temporary();
        assert_eq!(walked(&root, false), ["unreadable music"]);
    }

    #[test]
    fn depth_has_a_limit() {
        for (levels, readable) in [(DEPTH_MAX, true), (DEPTH_MAX + 1, false)] {
            let (_guard, root) = temporary();
            let deep: PathBuf = std::iter::repeat_n("d", levels).collect();
            touch(root.join("music").join(&deep).join("x"));
            assert_eq!(walked(&root, false)[0].starts_with("file"), readable);
        }
    }
}
