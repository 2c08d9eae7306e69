//! What an edit means to those who remember the tree: names, listings and times of directories.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
};

use super::{
    columns::{Columns, NONE, Slot},
    edit::Edit,
};
use crate::vfs::{Changes, NodeId};

/// Changes of names and listings, in terms of rows.
struct Told {
    changes: Changes,
    /// Directories in which a name came, went or means another inode.
    relisted: BTreeSet<u32>,
    /// Ids before the edit of directories that have another one now.
    old_ids: HashMap<u32, NodeId>,
}

impl Edit<'_, '_> {
    /// Tells what changed, and gives directories their times.
    pub(super) fn changes(&mut self, now_ms: i64) -> Changes {
        let mut told = Told { changes: Changes::default(), relisted: BTreeSet::new(), old_ids: self.old_ids() };
        self.tell_names(&mut told);
        self.tell_facts(&mut told);
        self.tell_moved_ids(&mut told);
        self.date(&mut told, now_ms);
        let mut changes = told.changes;
        changes.names.sort_unstable();
        changes.names.dedup();
        changes.directories.sort_unstable();
        changes.directories.dedup();
        changes
    }

    fn old_ids(&self) -> HashMap<u32, NodeId> {
        let mut old_ids = HashMap::new();
        for &(directory, old) in &self.moved {
            old_ids.entry(directory).or_insert(old);
        }
        // What had no id before was made just now.
        old_ids.retain(|_, old| old.0 != 0);
        old_ids
    }

    fn tell_names(&self, told: &mut Told) {
        let columns = &self.tree.columns;
        for (&slot, (parent, name)) in &self.before {
            let lives = self.lives(slot);
            if !(lives && columns.parent(slot) == *parent && columns.name(slot) == &**name) {
                told.old_name(columns, *parent, name);
                if lives {
                    told.name(columns, slot);
                }
            }
        }
        let came = self.came.iter().map(|&file| Slot::file(file));
        for slot in came.chain(self.made.iter().map(|&directory| Slot::directory(directory))) {
            told.name(columns, slot);
        }
    }

    fn tell_facts(&self, told: &mut Told) {
        let columns = &self.tree.columns;
        for &file in &self.replaced {
            told.name(columns, Slot::file(file));
        }
        for &file in &self.altered {
            let slot = Slot::file(file);
            let parent = columns.directories[columns.parent(slot)].id;
            told.changes.names.push((parent, columns.name(slot).as_bytes().into()));
        }
    }

    /// An id that moved from one directory to another: everything in both is something else.
    fn tell_moved_ids(&self, told: &mut Told) {
        let columns = &self.tree.columns;
        let moved: Vec<_> = told.old_ids.iter().map(|(&directory, &id)| (directory, id)).collect();
        for (directory, old) in moved.into_iter().filter(|&(directory, _)| self.lives(Slot::directory(directory))) {
            let slot = Slot::directory(directory);
            told.old_name(columns, columns.parent(slot), columns.name(slot));
            told.name(columns, slot);
            let id = columns.id(slot);
            told.changes.directories.extend([old, id]);
            for &child in &columns.directories[directory].children {
                let name = columns.name(child).as_bytes();
                told.changes.names.extend([(old, name.into()), (id, name.into())]);
            }
        }
    }

    /// Passes times up, the deepest directories first.
    fn date(&mut self, told: &mut Told, now_ms: i64) {
        let columns = &mut self.tree.columns;
        let mut waiting = BTreeMap::new();
        for &directory in &told.relisted {
            told.changes.directories.push(told.old_id(columns, directory));
            waiting.insert((Reverse(depth(columns, directory)), directory), i64::MIN);
        }
        for (&directory, &newest) in &self.raised {
            waiting.insert((Reverse(depth(columns, directory)), directory), newest);
        }
        while let Some(((Reverse(depth), directory), newest)) = waiting.pop_first() {
            if self.vanished.contains(&directory) {
                continue;
            }
            let row = &mut columns.directories[directory];
            let before = row.mtime_ms;
            let next = before.saturating_add(1000);
            if newest > before {
                (row.mtime_ms, row.departed) = (newest, false);
            }
            if row.mtime_ms < next && before != i64::MIN && told.relisted.contains(&directory) {
                (row.mtime_ms, row.departed) = (now_ms.max(next), true);
            }
            if row.mtime_ms != before {
                told.changes.directories.push(row.id);
                if row.parent != NONE {
                    let above = waiting.entry((Reverse(depth - 1), row.parent)).or_insert(i64::MIN);
                    *above = row.mtime_ms.max(*above);
                }
            }
        }
    }
}

impl Told {
    fn old_id(&self, columns: &Columns, directory: u32) -> NodeId {
        self.old_ids.get(&directory).copied().unwrap_or(columns.directories[directory].id)
    }

    /// A name as it was before the edit.
    fn old_name(&mut self, columns: &Columns, parent: u32, name: &str) {
        self.changes.names.push((self.old_id(columns, parent), name.as_bytes().into()));
        self.relisted.insert(parent);
    }

    /// A name as it is now.
    fn name(&mut self, columns: &Columns, slot: Slot) {
        let parent = columns.parent(slot);
        self.changes.names.push((columns.directories[parent].id, columns.name(slot).as_bytes().into()));
        self.relisted.insert(parent);
    }
}

fn depth(columns: &Columns, mut directory: u32) -> u32 {
    let mut depth = 0;
    while columns.directories[directory].parent != NONE {
        directory = columns.directories[directory].parent;
        depth += 1;
    }
    depth
}
