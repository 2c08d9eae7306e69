//! What the tree stores: rows of files and directories in columns, all names in one text.
//!
//! Rows are addressed by their index, for as long as they live. An index is free again after its row went.

use std::hash::{BuildHasher, RandomState};

use super::{
    TreeOptions,
    ids::{self, IdSpace},
    storage::{Row, Rows, Text},
};
use crate::{
    names,
    vfs::{Generation, NodeId, Time},
};

/// The index of the root among directories and among spellings.
pub(super) const ROOT: u32 = 0;
/// No index.
pub(super) const NONE: u32 = u32::MAX;
/// Rows of a kind: an index has to leave room for the bit that tells files from directories.
pub(super) const ROWS_MAX: usize = (Slot::DIRECTORY - 1) as usize;

/// A file's or a directory's index in four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Slot(u32);

/// A [`Slot`], taken apart.
pub(super) enum Entry {
    File(u32),
    Directory(u32),
}

impl Slot {
    const DIRECTORY: u32 = 1 << 31;

    pub(super) fn file(index: u32) -> Self {
        Self(index)
    }

    pub(super) fn directory(index: u32) -> Self {
        Self(index | Self::DIRECTORY)
    }

    pub(super) fn entry(self) -> Entry {
        if self.0 & Self::DIRECTORY == 0 { Entry::File(self.0) } else { Entry::Directory(self.0 & !Self::DIRECTORY) }
    }

    pub(super) fn is_directory(self) -> bool {
        self.0 & Self::DIRECTORY != 0
    }
}

/// A file. Its name lies in the text; where others have the same one, its numbered name follows there.
#[derive(Clone, Copy, Default)]
pub(super) struct FileRow {
    pub(super) size: u64,
    mtime_secs: i64,
    mtime_nanos: u32,
    pub(super) spelling: u32,
    name: u32,
    track_low: u32,
    track_high: u8,
    /// 0 in a free row.
    natural_len: u8,
    /// 0: shown by its natural name.
    numbered_len: u8,
    pub(super) generation: Generation,
    pub(super) root: u16,
}

impl FileRow {
    pub(super) fn track(&self) -> i64 {
        i64::from(self.track_high) << 32 | i64::from(self.track_low)
    }

    pub(super) fn set_track(&mut self, track: i64) {
        self.track_low = track as u32;
        self.track_high = (track >> 32) as u8;
    }

    pub(super) fn mtime(&self) -> Time {
        Time { secs: self.mtime_secs, nanos: self.mtime_nanos }
    }

    pub(super) fn set_mtime(&mut self, mtime: Time) {
        self.mtime_secs = mtime.secs;
        self.mtime_nanos = mtime.nanos;
    }

    pub(super) fn is_numbered(&self) -> bool {
        self.numbered_len > 0
    }
}

/// A directory. Its name is that of the spelling that most of its files use.
pub(super) struct Directory {
    pub(super) id: NodeId,
    /// `i64::MIN` before the first file came.
    pub(super) mtime_ms: i64,
    /// In order of their node ids.
    pub(super) children: Vec<Slot>,
    pub(super) parent: u32,
    /// The first of a chain; [`NONE`] in a free row.
    pub(super) spellings: u32,
    pub(super) shown: u32,
    pub(super) subdirectories: u32,
    /// Whether `mtime_ms` is the time of a departure and of no child.
    pub(super) departed: bool,
}

/// A directory as written in paths: one for each directory, and more only where the tree folds case.
pub(super) struct Spelling {
    pub(super) directory: u32,
    pub(super) parent: u32,
    /// The next of the same directory.
    pub(super) next: u32,
    /// Files below, at any depth; 0 in a free row.
    pub(super) files: u32,
    name: u32,
    name_len: u8,
}

impl Row for FileRow {
    fn is_free(&self) -> bool {
        self.natural_len == 0
    }
}

impl Row for Directory {
    fn is_free(&self) -> bool {
        self.spellings == NONE
    }
}

impl Row for Spelling {
    fn is_free(&self) -> bool {
        self.files == 0
    }
}

/// All rows and names.
pub(super) struct Columns {
    text: Text,
    pub(super) files: Rows<FileRow>,
    pub(super) directories: Rows<Directory>,
    pub(super) spellings: Rows<Spelling>,
    pub(super) fold_case: bool,
    pub(super) ids: IdSpace,
    /// Names come from files: nobody shall choose them so that they meet in the tables.
    pub(super) seed: u64,
}

impl Columns {
    /// Only the root.
    pub(super) fn new(options: TreeOptions) -> Self {
        let mut columns = Self {
            text: Text::default(),
            files: Rows::new(),
            directories: Rows::new(),
            spellings: Rows::new(),
            fold_case: options.fold_case,
            ids: options.ids(),
            seed: RandomState::new().hash_one(0),
        };
        // The root's spelling counts one more than its files, so that it stays.
        columns.spellings.add(Spelling { directory: ROOT, parent: NONE, next: NONE, files: 1, name: 0, name_len: 0 });
        columns.directories.add(Directory {
            id: NodeId::ROOT,
            mtime_ms: i64::MIN,
            children: Vec::new(),
            parent: NONE,
            spellings: ROOT,
            shown: ROOT,
            subdirectories: 0,
            departed: false,
        });
        columns
    }

    pub(super) fn id(&self, slot: Slot) -> NodeId {
        match slot.entry() {
            Entry::File(file) => ids::file(self.ids.view, self.files[file].track()),
            Entry::Directory(directory) => self.directories[directory].id,
        }
    }

    /// The directory in which a node stands; [`NONE`] for the root.
    pub(super) fn parent(&self, slot: Slot) -> u32 {
        match slot.entry() {
            Entry::File(file) => self.directory_of(file),
            Entry::Directory(directory) => self.directories[directory].parent,
        }
    }

    pub(super) fn directory_of(&self, file: u32) -> u32 {
        self.spellings[self.files[file].spelling].directory
    }

    /// The name under which a node is listed.
    pub(super) fn name(&self, slot: Slot) -> &str {
        match slot.entry() {
            Entry::File(file) => {
                let row = &self.files[file];
                if row.is_numbered() {
                    self.text.get(row.name + u32::from(row.natural_len), row.numbered_len)
                } else {
                    self.text.get(row.name, row.natural_len)
                }
            }
            Entry::Directory(directory) => self.spelled(self.directories[directory].shown),
        }
    }

    /// The name of a file without its number.
    pub(super) fn natural(&self, file: u32) -> &str {
        let row = &self.files[file];
        self.text.get(row.name, row.natural_len)
    }

    pub(super) fn spelled(&self, spelling: u32) -> &str {
        let row = &self.spellings[spelling];
        self.text.get(row.name, row.name_len)
    }

    /// Names a file, without a number.
    pub(super) fn set_natural(&mut self, file: u32, natural: &str) {
        self.drop_names(file);
        let at = self.text.add(&[natural]);
        let row = &mut self.files[file];
        (row.name, row.natural_len, row.numbered_len) = (at, natural.len() as u8, 0);
    }

    /// Names a file with a number, or without one again.
    pub(super) fn set_numbered(&mut self, file: u32, numbered: Option<&str>) {
        let row = &mut self.files[file];
        let Some(numbered) = numbered else {
            self.text.drop(usize::from(row.numbered_len));
            row.numbered_len = 0;
            return;
        };
        let natural = self.natural(file).to_owned();
        self.drop_names(file);
        let at = self.text.add(&[&natural, numbered]);
        let row = &mut self.files[file];
        (row.name, row.numbered_len) = (at, numbered.len() as u8);
    }

    fn drop_names(&mut self, file: u32) {
        let row = &self.files[file];
        self.text.drop(usize::from(row.natural_len) + usize::from(row.numbered_len));
    }

    pub(super) fn add_spelling(&mut self, directory: u32, parent: u32, name: &str) -> u32 {
        let at = self.text.add(&[name]);
        let row = Spelling { directory, parent, next: NONE, files: 0, name: at, name_len: name.len() as u8 };
        self.spellings.add(row)
    }

    pub(super) fn remove_file(&mut self, file: u32) {
        self.drop_names(file);
        self.files.remove(file, FileRow::default());
    }

    pub(super) fn remove_spelling(&mut self, spelling: u32) {
        self.text.drop(usize::from(self.spellings[spelling].name_len));
        let free = Spelling { directory: NONE, parent: NONE, next: NONE, files: 0, name: 0, name_len: 0 };
        self.spellings.remove(spelling, free);
    }

    pub(super) fn remove_directory(&mut self, directory: u32) {
        let free = Directory {
            id: NodeId(0),
            mtime_ms: i64::MIN,
            children: Vec::new(),
            parent: NONE,
            spellings: NONE,
            shown: NONE,
            subdirectories: 0,
            departed: false,
        };
        self.directories.remove(directory, free);
    }

    /// The spellings of a directory.
    pub(super) fn spellings_of(&self, directory: u32) -> impl Iterator<Item = u32> {
        let first = self.directories[directory].spellings;
        std::iter::successors((first != NONE).then_some(first), |&spelling| {
            let next = self.spellings[spelling].next;
            (next != NONE).then_some(next)
        })
    }

    /// What decides about a directory's id and about the order in which equal ids are resolved.
    pub(super) fn path_key(&self, mut directory: u32) -> String {
        let mut levels = Vec::new();
        while directory != ROOT {
            levels.push(names::key(self.name(Slot::directory(directory)), self.fold_case));
            directory = self.directories[directory].parent;
        }
        levels.reverse();
        levels.join("/")
    }

    /// Bytes that further names may use.
    pub(super) fn room(&self) -> usize {
        self.text.room()
    }

    /// Copies the names that are in use, when a quarter of the text is not.
    pub(super) fn compact(&mut self) {
        if !self.text.is_wasteful() {
            return;
        }
        let mut text = self.text.successor();
        for row in self.files.iter_mut() {
            let numbered = self.text.get(row.name + u32::from(row.natural_len), row.numbered_len);
            row.name = text.add(&[self.text.get(row.name, row.natural_len), numbered]);
        }
        for row in self.spellings.iter_mut() {
            row.name = text.add(&[self.text.get(row.name, row.name_len)]);
        }
        self.text = text;
    }

    /// Gives back what building kept for growing.
    pub(super) fn shrink(&mut self) {
        self.text.shrink();
        self.files.shrink();
        self.directories.shrink();
        self.spellings.shrink();
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let children: usize = self.directories.iter().map(|(_, row)| row.children.capacity()).sum();
        self.text.heap_bytes()
            + self.files.heap_bytes()
            + self.directories.heap_bytes()
            + self.spellings.heap_bytes()
            + children * size_of::<Slot>()
    }
}
