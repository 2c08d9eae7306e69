//! Finding nodes by name and by id: two hash tables of four-byte slots, whose keys stand in the columns.

use hashbrown::HashTable;
use unicode_normalization::UnicodeNormalization;
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

use super::Tree;
use super::columns::{Columns, Entry, Slot};
use crate::{
    limits::NAME_BYTES_MAX,
    names::{self, Contest},
    vfs::NodeId,
};

/// The tables.
#[derive(Default)]
pub(super) struct Tables {
    by_name: HashTable<Slot>,
    by_id: HashTable<Slot>,
    /// Files whose name is cut when it is numbered, by their contest.
    cut: HashTable<Slot>,
}

impl Tables {
    pub(super) fn heap_bytes(&self) -> usize {
        self.by_name.allocation_size() + self.by_id.allocation_size() + self.cut.allocation_size()
    }
}

impl Columns {
    /// A name in a directory, without case where the tree folds, in any normal form.
    fn hash_name(&self, directory: u32, name: &str) -> u64 {
        let seed = self.seed ^ u64::from(directory).rotate_left(32);
        if name.is_ascii() && name.len() <= NAME_BYTES_MAX {
            if !self.fold_case {
                return xxh3_64_with_seed(name.as_bytes(), seed);
            }
            let mut small = [0; NAME_BYTES_MAX];
            let small = &mut small[..name.len()];
            small.copy_from_slice(name.as_bytes());
            small.make_ascii_lowercase();
            return xxh3_64_with_seed(small, seed);
        }
        if self.fold_case {
            hash_chars(names::folded(name), seed)
        } else if names::is_normal(name) {
            xxh3_64_with_seed(name.as_bytes(), seed)
        } else {
            hash_chars(name.nfc(), seed)
        }
    }

    /// Whether a stored name is the one that is asked for.
    fn same_name(&self, stored: &str, asked: &str) -> bool {
        if stored == asked {
            true
        } else if stored.is_ascii() && asked.is_ascii() {
            self.fold_case && stored.eq_ignore_ascii_case(asked)
        } else if self.fold_case {
            names::folded(stored).eq(names::folded(asked))
        } else {
            !names::is_normal(asked) && stored.chars().eq(asked.nfc())
        }
    }

    fn slot_name_hash(&self, slot: Slot) -> u64 {
        self.hash_name(self.parent(slot), self.name(slot))
    }

    fn hash_id(&self, id: NodeId) -> u64 {
        xxh3_64_with_seed(&id.0.to_le_bytes(), self.seed)
    }

    /// The contest of a file's name, and whether the name is cut in it.
    pub(super) fn contest(&self, file: u32) -> (Contest, bool) {
        Contest::of(&names::key(self.natural(file), self.fold_case))
    }

    fn hash_contest(&self, directory: u32, contest: &Contest) -> u64 {
        let mut name = String::new();
        contest.natural(&mut name);
        xxh3_64_with_seed(name.as_bytes(), self.seed ^ u64::from(directory))
    }

    fn slot_contest_hash(&self, slot: Slot) -> u64 {
        match slot.entry() {
            Entry::File(file) => self.hash_contest(self.directory_of(file), &self.contest(file).0),
            Entry::Directory(_) => 0,
        }
    }
}

/// Equal to the hash of the characters in one piece.
fn hash_chars(chars: impl Iterator<Item = char>, seed: u64) -> u64 {
    let mut hasher = Xxh3::with_seed(seed);
    for c in chars {
        hasher.update(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    hasher.digest()
}

impl Tree {
    /// The node of that name; without case where the tree folds.
    pub(super) fn find(&self, directory: u32, name: &str) -> Option<Slot> {
        self.find_where(directory, name, |_| true)
    }

    /// As [`Self::find`]; while the tree is edited, a directory and a file can have the same name.
    fn find_where(&self, directory: u32, name: &str, is_meant: impl Fn(Slot) -> bool) -> Option<Slot> {
        let columns = &self.columns;
        let same = |&slot: &Slot| {
            is_meant(slot) && columns.parent(slot) == directory && columns.same_name(columns.name(slot), name)
        };
        self.tables.by_name.find(columns.hash_name(directory, name), same).copied()
    }

    pub(super) fn find_directory(&self, directory: u32, name: &str) -> Option<u32> {
        match self.find_where(directory, name, Slot::is_directory)?.entry() {
            Entry::Directory(found) => Some(found),
            Entry::File(_) => None,
        }
    }

    pub(super) fn find_file(&self, directory: u32, name: &str) -> Option<u32> {
        match self.find_where(directory, name, |slot| !slot.is_directory())?.entry() {
            Entry::File(found) => Some(found),
            Entry::Directory(_) => None,
        }
    }

    /// The node of that id.
    pub(super) fn slot(&self, id: NodeId) -> Option<Slot> {
        if id == NodeId::ROOT {
            return Some(Slot::directory(super::columns::ROOT));
        }
        self.tables.by_id.find(self.columns.hash_id(id), |&slot| self.columns.id(slot) == id).copied()
    }

    pub(super) fn directory_index(&self, id: NodeId) -> Option<u32> {
        match self.slot(id)?.entry() {
            Entry::Directory(directory) => Some(directory),
            Entry::File(_) => None,
        }
    }

    pub(super) fn file_index(&self, id: NodeId) -> Option<u32> {
        match self.slot(id)?.entry() {
            Entry::File(file) => Some(file),
            Entry::Directory(_) => None,
        }
    }

    pub(super) fn insert_name(&mut self, slot: Slot) {
        let columns = &self.columns;
        let hash = columns.slot_name_hash(slot);
        self.tables.by_name.insert_unique(hash, slot, |&slot| columns.slot_name_hash(slot));
    }

    pub(super) fn remove_name(&mut self, slot: Slot) {
        remove(&mut self.tables.by_name, self.columns.slot_name_hash(slot), slot);
    }

    pub(super) fn insert_id(&mut self, slot: Slot) {
        let columns = &self.columns;
        let hash = columns.hash_id(columns.id(slot));
        self.tables.by_id.insert_unique(hash, slot, |&slot| columns.hash_id(columns.id(slot)));
    }

    pub(super) fn remove_id(&mut self, slot: Slot) {
        remove(&mut self.tables.by_id, self.columns.hash_id(self.columns.id(slot)), slot);
    }

    /// Remembers that a file's name is cut when it is numbered, if so.
    pub(super) fn insert_contest(&mut self, file: u32) {
        if self.columns.contest_is_cut(file) {
            let columns = &self.columns;
            let slot = Slot::file(file);
            let hash = columns.slot_contest_hash(slot);
            self.tables.cut.insert_unique(hash, slot, |&slot| columns.slot_contest_hash(slot));
        }
    }

    pub(super) fn remove_contest(&mut self, file: u32) {
        if self.columns.contest_is_cut(file) {
            let slot = Slot::file(file);
            remove(&mut self.tables.cut, self.columns.slot_contest_hash(slot), slot);
        }
    }

    /// Files of a contest whose name is cut in it.
    pub(super) fn cut_files(&self, directory: u32, contest: &Contest) -> impl Iterator<Item = u32> {
        self.tables.cut.iter_hash(self.columns.hash_contest(directory, contest)).filter_map(move |slot| {
            let Entry::File(file) = slot.entry() else { return None };
            (self.columns.directory_of(file) == directory && self.columns.contest(file).0 == *contest).then_some(file)
        })
    }

    /// Makes room for the names of all nodes at once.
    pub(super) fn reserve_names(&mut self) {
        let columns = &self.columns;
        let nodes = columns.files.len() + columns.directories.len();
        let more = nodes.saturating_sub(self.tables.by_name.len());
        self.tables.by_name.reserve(more, |&slot| columns.slot_name_hash(slot));
    }
}

impl Columns {
    fn contest_is_cut(&self, file: u32) -> bool {
        let natural = self.natural(file);
        // Most names are far too short, without case too: folding makes no name more than nine times as long.
        let longest = if self.fold_case && !natural.is_ascii() { 9 * natural.len() } else { natural.len() };
        longest > names::NEVER_CUT_BYTES && self.contest(file).1
    }
}

fn remove(table: &mut HashTable<Slot>, hash: u64, slot: Slot) {
    if let Ok(entry) = table.find_entry(hash, |&other| other == slot) {
        entry.remove();
    }
}
