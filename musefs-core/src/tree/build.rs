//! A tree from all its files.

use std::collections::HashMap;

use super::{
    Tree, TreeFile, TreeOptions,
    columns::{NONE, ROOT, Slot},
    ids,
    place::CleanPath,
};
use crate::vfs::NodeId;

/// Takes the files one by one, in any order; in the order of their tracks it is quickest.
pub struct TreeBuilder {
    tree: Tree,
    path: CleanPath,
}

impl TreeBuilder {
    /// An empty tree.
    pub fn new(options: TreeOptions) -> Self {
        Self { tree: Tree::new(options), path: CleanPath::default() }
    }

    /// Adds a file. A track has one file in a tree: a second one is left out.
    pub fn file(&mut self, file: &TreeFile<'_>) {
        let tree = &mut self.tree;
        self.path.set(file);
        let id = ids::file(tree.columns.ids.view, file.track);
        if tree.slot(id).is_some() || !tree.has_room_for(file, &self.path, 0) {
            return;
        }
        let spelling = tree.make_spelling(&self.path, &mut Vec::new(), &mut Vec::new());
        tree.count_in(spelling);
        let index = tree.add_file(file.track);
        tree.set_facts(index, file);
        tree.columns.files[index].spelling = spelling;
        tree.columns.set_natural(index, self.path.name());
        tree.insert_id(Slot::file(index));
        tree.insert_contest(index);
        let directory = tree.columns.directory_of(index);
        tree.raise(directory, file.changed_ms);
    }

    /// The tree. `departures` are what [`Tree::departures`] told before, of any directories.
    pub fn finish(mut self, departures: &HashMap<NodeId, i64>) -> Tree {
        let tree = &mut self.tree;
        tree.list_children();
        tree.columns.shrink();
        tree.reserve_names();
        let mut files: Vec<u32> = tree.columns.files.indexes().collect();
        tree.settle(&mut files);
        drop(files);
        if tree.columns.fold_case {
            for directory in tree.columns.directories.indexes() {
                tree.choose_spelling(directory);
            }
        }
        tree.date_directories(departures);
        self.tree
    }
}

impl Tree {
    fn raise(&mut self, directory: u32, changed_ms: i64) {
        let row = &mut self.columns.directories[directory];
        row.mtime_ms = row.mtime_ms.max(changed_ms);
    }

    fn list_children(&mut self) {
        let slots = || {
            let directories = self.columns.directories.indexes().filter(|&directory| directory != ROOT);
            directories.map(Slot::directory).chain(self.columns.files.indexes().map(Slot::file))
        };
        let mut counts = vec![0; self.columns.directories.len()];
        for slot in slots() {
            counts[self.columns.parent(slot) as usize] += 1;
        }
        let mut lists: Vec<Vec<Slot>> = counts.into_iter().map(Vec::with_capacity).collect();
        for slot in slots() {
            lists[self.columns.parent(slot) as usize].push(slot);
        }
        for (directory, mut list) in (0..).zip(lists) {
            list.sort_unstable_by_key(|&slot| self.columns.id(slot));
            let row = &mut self.columns.directories[directory];
            row.subdirectories = list.iter().filter(|slot| slot.is_directory()).count() as u32;
            row.children = list;
        }
    }

    /// Directories are made after those above them: backwards, each is final before it is passed on.
    fn date_directories(&mut self, departures: &HashMap<NodeId, i64>) {
        for directory in (0..self.columns.directories.len() as u32).rev() {
            let row = &mut self.columns.directories[directory];
            if let Some(&departure) = departures.get(&row.id).filter(|&&departure| departure > row.mtime_ms) {
                (row.mtime_ms, row.departed) = (departure, true);
            }
            let (parent, newest) = (row.parent, row.mtime_ms);
            if parent != NONE {
                self.raise(parent, newest);
            }
        }
    }
}
