//! The rendered tree: every name, id and attribute that clients see, in memory and in columns.
//!
//! A tree is a function of the set of its files: [`TreeBuilder`] makes it from all of them, [`Tree::apply`] edits it
//! to what it would be with some of them changed, and tells which names and directories mean something else now. In
//! what order files came or went makes no difference, but for the times of directories (see [`Tree::departures`]).
//!
//! * Several files of one name are numbered in the order of their track ids: `a.mp3`, `a (2).mp3` … A name that some
//!   file or directory has by itself is never given to another; a directory comes before files.
//! * Where the tree folds case, names that differ by case only are one directory, spelled as most files below it spell
//!   it (of equally many the last in byte order), and files are numbered.
//! * Names are found in any normal form of Unicode.
//! * A directory exists as long as there is a file below.
//!
//! The tree knows neither the catalogue, templates nor clocks. It never blocks; whoever holds it guards it by a lock.

mod ask;
mod build;
mod columns;
mod edit;
mod ids;
mod index;
mod lists;
mod place;
mod settle;
mod storage;
mod tell;

pub use build::TreeBuilder;
pub use ids::{View, track as track_of};

use crate::vfs::{NodeId, Time, Totals};
use columns::Columns;
use index::Tables;

/// How names are compared and ids derived.
#[derive(Clone, Copy, Debug)]
pub struct TreeOptions {
    /// Names that differ by case only are the same.
    pub fold_case: bool,
    /// Which view it is.
    pub view: View,
    hash_bits: u32,
}

impl TreeOptions {
    /// Of the unnamed view.
    pub fn new(fold_case: bool) -> Self {
        Self { fold_case, view: View::default(), hash_bits: ids::HASH_BITS }
    }

    fn ids(self) -> ids::IdSpace {
        ids::IdSpace { view: self.view, hash_bits: self.hash_bits }
    }
}

/// A file that is to stand in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeFile<'a> {
    /// Its track: [`TRACK_MIN`](crate::limits::TRACK_MIN) to [`TRACK_MAX`](crate::limits::TRACK_MAX).
    pub track: i64,
    /// Of the served bytes.
    pub revision: u64,
    /// The levels that the template wrote, between `/`, without the extension. They are cleaned here.
    pub path: &'a str,
    /// Without a dot; empty for none.
    pub extension: &'a str,
    /// Served bytes.
    pub size: u64,
    /// Of the file.
    pub mtime: Time,
    /// The index of its root.
    pub root: u16,
    /// When it was added or last changed, in milliseconds since 1970. For one track it never falls.
    pub changed_ms: i64,
}

/// The tree of one view.
pub struct Tree {
    columns: Columns,
    tables: Tables,
    totals: Totals,
}

impl Tree {
    fn new(options: TreeOptions) -> Self {
        let totals = Totals { bytes: 0, files: 0, directories: 1 };
        Self { columns: Columns::new(options), tables: Tables::default(), totals }
    }

    /// Files, directories (the root is one) and bytes of all files.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Files and directories.
    pub fn node_count(&self) -> u64 {
        self.totals.files + self.totals.directories
    }

    /// Heap bytes that the tree holds.
    pub fn heap_bytes(&self) -> usize {
        self.columns.heap_bytes() + self.tables.heap_bytes()
    }

    /// Directories whose modification time is that of a departure, with this time in milliseconds since 1970.
    ///
    /// A child that went left no trace but this: who wants a directory's time to be equal after a restart keeps these
    /// and gives them to [`TreeBuilder::finish`].
    pub fn departures(&self) -> impl Iterator<Item = (NodeId, i64)> {
        let departed = self.columns.directories.iter().filter(|(_, directory)| directory.departed);
        departed.map(|(_, directory)| (directory.id, directory.mtime_ms))
    }
}

#[cfg(test)]
mod tests;
