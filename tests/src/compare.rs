//! Trees and files compared as a client sees them.

use std::{
    collections::BTreeMap,
    fs::{self, File, Metadata},
    io::{self, Read as _},
    os::unix::fs::{DirEntryExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

/// The part of an inode number that is the track.
const TRACK_BITS: u64 = (1 << 38) - 1;

/// What a walk saw of one file or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// By `readdir`.
    pub listed_inode: u64,
    /// By `stat`.
    pub inode: u64,
    /// By `stat`, in bytes.
    pub size: u64,
    /// By `stat`, in ns since 1970.
    pub mtime_ns: i128,
    /// By `stat`.
    pub links: u64,
    /// Whether it is a directory.
    pub is_dir: bool,
}

impl Seen {
    fn new(listed_inode: u64, meta: &Metadata) -> Self {
        Self {
            listed_inode,
            inode: meta.ino(),
            size: meta.size(),
            mtime_ns: mtime_ns(meta),
            links: meta.nlink(),
            is_dir: meta.is_dir(),
        }
    }

    /// The track that a served file belongs to.
    pub fn track(&self) -> u64 {
        self.inode & TRACK_BITS
    }
}

/// The modification time in ns since 1970.
pub fn mtime_ns(meta: &Metadata) -> i128 {
    i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec())
}

/// Everything below `root` except the metrics folder, by path relative to it. Every entry is listed and stat-ed.
///
/// # Panics
/// When an entry cannot be listed or stat-ed, or is listed twice.
#[track_caller]
pub fn walk(root: &Path) -> BTreeMap<PathBuf, Seen> {
    try_walk(root).unwrap_or_else(|error| panic!("walking {}: {error}", root.display()))
}

/// The same of a tree that may be changing meanwhile: names that move can be seen twice or not at all.
///
/// # Errors
/// When an entry cannot be listed or stat-ed, or is listed twice.
pub fn try_walk(root: &Path) -> io::Result<BTreeMap<PathBuf, Seen>> {
    let mut found = BTreeMap::new();
    let mut todo = vec![PathBuf::new()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(root.join(&dir))? {
            let entry = entry?;
            if entry.file_name() == ".musefs-metrics" {
                continue;
            }
            let path = dir.join(entry.file_name());
            let of_path = |error: io::Error| io::Error::new(error.kind(), format!("{path:?}: {error}"));
            let seen = Seen::new(entry.ino(), &fs::symlink_metadata(root.join(&path)).map_err(of_path)?);
            if seen.is_dir {
                todo.push(path.clone());
            }
            if found.insert(path.clone(), seen).is_some() {
                return Err(io::Error::other(format!("{path:?} is listed twice")));
            }
        }
    }
    Ok(found)
}

/// The files of a walk.
pub fn files(tree: &BTreeMap<PathBuf, Seen>) -> impl Iterator<Item = (&PathBuf, &Seen)> {
    tree.iter().filter(|(_, seen)| !seen.is_dir)
}

/// The paths of the files below `root`, as text.
///
/// # Panics
/// When an entry cannot be listed or stat-ed, or has a name that is not UTF-8.
#[track_caller]
pub fn paths(root: &Path) -> Vec<String> {
    files(&walk(root)).map(|(path, _)| path.to_str().expect("served names are UTF-8").to_owned()).collect()
}

/// Whether two files have the same bytes.
///
/// # Errors
/// When one cannot be read.
pub fn same_bytes(a: &Path, b: &Path) -> io::Result<bool> {
    let (mut a, mut b) = (File::open(a)?, File::open(b)?);
    let (mut left, mut right) = (vec![0; 1 << 17], vec![0; 1 << 17]);
    loop {
        let (n, m) = (fill(&mut a, &mut left)?, fill(&mut b, &mut right)?);
        if left[..n] != right[..m] {
            return Ok(false);
        }
        if n == 0 {
            return Ok(true);
        }
    }
}

fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..])? {
            0 => break,
            n => filled += n,
        }
    }
    Ok(filled)
}
