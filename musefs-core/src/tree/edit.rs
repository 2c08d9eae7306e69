//! Editing a tree to what it would be with some of its files changed.
//!
//! Work is proportional to what changed, to the files that compete for the same names and, where many children of a
//! directory change at once, to the length of its list.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{
    Tree, TreeFile,
    columns::{Entry, NONE, Slot},
    ids::{self, MovedIds},
    lists::ListEdit,
    place::CleanPath,
};
use crate::{
    names::{self, Contest},
    vfs::{Changes, Generation},
};

/// What is known of an edit on its way. Rows that go keep their index until its end.
pub(super) struct Edit<'t, 'f> {
    pub(super) tree: &'t mut Tree,
    path: CleanPath,
    placing: Vec<Placing<'f>>,
    placing_bytes: usize,
    /// Files that go.
    leaving: BTreeSet<u32>,
    /// Spellings that a file left, and that may have none any more.
    empty: Vec<u32>,
    contests: BTreeSet<(u32, Contest)>,
    /// Directories that come and go.
    pub(super) made: Vec<u32>,
    pub(super) vanished: BTreeSet<u32>,
    pub(super) moved: MovedIds,
    pub(super) lists: HashMap<u32, ListEdit>,
    /// Where nodes stood whose name may become another one.
    pub(super) before: BTreeMap<Slot, (u32, Box<str>)>,
    /// Files that come.
    pub(super) came: Vec<u32>,
    /// Files with other bytes, and files with other attributes only.
    pub(super) replaced: Vec<u32>,
    pub(super) altered: Vec<u32>,
    /// The newest change that came into a directory.
    pub(super) raised: HashMap<u32, i64>,
}

/// A file that gets another name or directory, or its first.
struct Placing<'f> {
    index: Option<u32>,
    spelling: u32,
    natural: String,
    file: TreeFile<'f>,
}

impl Tree {
    /// Changes, adds and removes files, and tells what means something else now.
    ///
    /// Of several changes to one track the last one counts; a removed one is removed. The result is what
    /// [`TreeBuilder`](super::TreeBuilder) would make of all files, with this tree's [`departures`](Self::departures).
    /// A directory whose listing changed gets a new time in any case, at least a second after its last: that of its
    /// newest child if that is so, else `now_ms`.
    pub fn apply<'f>(
        &mut self,
        changed: impl IntoIterator<Item = TreeFile<'f>>,
        removed: impl IntoIterator<Item = i64>,
        now_ms: i64,
    ) -> Changes {
        let removed: BTreeSet<i64> = removed.into_iter().collect();
        let changed: BTreeMap<i64, TreeFile<'f>> = changed.into_iter().map(|file| (file.track, file)).collect();
        let mut edit = Edit::new(self);
        for &track in &removed {
            edit.leave(track);
        }
        for file in changed.values().filter(|file| !removed.contains(&file.track)) {
            edit.take(file);
        }
        edit.settle();
        let changes = edit.changes(now_ms);
        edit.free();
        changes
    }

    fn file_of(&self, track: i64) -> Option<u32> {
        let file = self.file_index(ids::file(self.columns.ids.view, track))?;
        (self.columns.files[file].track() == track).then_some(file)
    }
}

impl<'t, 'f> Edit<'t, 'f> {
    fn new(tree: &'t mut Tree) -> Self {
        Self {
            tree,
            path: CleanPath::default(),
            placing: Vec::new(),
            placing_bytes: 0,
            leaving: BTreeSet::new(),
            empty: Vec::new(),
            contests: BTreeSet::new(),
            made: Vec::new(),
            vanished: BTreeSet::new(),
            moved: Vec::new(),
            lists: HashMap::new(),
            before: BTreeMap::new(),
            came: Vec::new(),
            replaced: Vec::new(),
            altered: Vec::new(),
            raised: HashMap::new(),
        }
    }

    fn leave(&mut self, track: i64) {
        if let Some(file) = self.tree.file_of(track) {
            self.leave_place(file);
            self.leaving.insert(file);
        }
    }

    fn take(&mut self, file: &TreeFile<'f>) {
        self.path.set(file);
        if !self.tree.has_room_for(file, &self.path, self.placing_bytes) {
            return self.leave(file.track);
        }
        let index = self.tree.file_of(file.track);
        if let Some(index) = index {
            self.note_facts(index, file);
            if self.is_in_place(index) {
                self.tree.set_facts(index, file);
                return self.raise(self.tree.columns.directory_of(index), file.changed_ms);
            }
            self.leave_place(index);
        }
        let spelling = self.tree.make_spelling(&self.path, &mut self.made, &mut self.moved);
        self.tree.count_in(spelling);
        self.note_spellings(spelling);
        let directory = self.tree.columns.spellings[spelling].directory;
        let natural = self.path.name().to_owned();
        self.note_contests(directory, &natural);
        self.raise(directory, file.changed_ms);
        self.placing_bytes += self.path.bytes_max();
        self.placing.push(Placing { index, spelling, natural, file: *file });
    }

    fn is_in_place(&self, file: u32) -> bool {
        let columns = &self.tree.columns;
        columns.natural(file) == self.path.name()
            && self.tree.find_spelling(&self.path) == Some(columns.files[file].spelling)
    }

    fn leave_place(&mut self, file: u32) {
        let spelling = self.tree.columns.files[file].spelling;
        self.note_spellings(spelling);
        self.tree.count_out(spelling, &mut self.empty);
        let natural = self.tree.columns.natural(file).to_owned();
        self.note_contests(self.tree.columns.directory_of(file), &natural);
    }

    fn note_facts(&mut self, index: u32, file: &TreeFile<'_>) {
        let row = &self.tree.columns.files[index];
        if row.generation != Generation::of(file.revision) {
            self.replaced.push(index);
        } else if row.size != file.size || row.mtime() != file.mtime {
            self.altered.push(index);
        }
    }

    /// A natural name comes or goes: it concerns those that have it, and those whose numbers it is in the way of.
    fn note_contests(&mut self, directory: u32, natural: &str) {
        let key = names::key(natural, self.tree.columns.fold_case);
        self.contests.insert((directory, Contest::of(&key).0));
        self.contests.extend(Contest::of_numbered(&key).map(|(contest, _)| (directory, contest)));
    }

    /// Another spelling may be that of most files now.
    fn note_spellings(&mut self, mut spelling: u32) {
        if !self.tree.columns.fold_case {
            return;
        }
        while spelling != NONE {
            let columns = &self.tree.columns;
            let row = &columns.spellings[spelling];
            let (slot, parent) = (Slot::directory(row.directory), columns.directories[row.directory].parent);
            // Without children it was made just now.
            if parent != NONE && !columns.directories[row.directory].children.is_empty() {
                self.before.entry(slot).or_insert_with(|| (parent, columns.name(slot).into()));
            }
            spelling = row.parent;
        }
    }

    fn raise(&mut self, directory: u32, changed_ms: i64) {
        let newest = self.raised.entry(directory).or_insert(changed_ms);
        *newest = changed_ms.max(*newest);
    }

    fn settle(&mut self) {
        self.unlink_spellings();
        for directory in self.made.iter().chain(&self.vanished).copied().collect::<Vec<_>>() {
            let slot = Slot::directory(directory);
            let name = self.tree.columns.name(slot).to_owned();
            self.note_contests(self.tree.columns.parent(slot), &name);
        }
        let mut competing = self.unname_contestants();
        self.remove_leaving(&mut competing);
        self.remove_vanished();
        self.place(&mut competing);
        for &directory in &self.made {
            let slot = Slot::directory(directory);
            self.lists.entry(self.tree.columns.parent(slot)).or_default().come.push(slot);
        }
        self.tree.settle(&mut competing.into_iter().collect::<Vec<_>>());
        self.edit_lists();
    }

    /// Takes spellings without files from their directories, and finds directories that are left with none.
    fn unlink_spellings(&mut self) {
        let tree = &mut *self.tree;
        self.empty.sort_unstable();
        self.empty.dedup();
        self.empty.retain(|&spelling| tree.columns.spellings[spelling].files == 0);
        for &spelling in &self.empty {
            let directory = tree.columns.spellings[spelling].directory;
            let others: Vec<_> = tree.columns.spellings_of(directory).filter(|&other| other != spelling).collect();
            let mut next = NONE;
            for other in others {
                tree.columns.spellings[other].next = next;
                next = other;
            }
            tree.columns.directories[directory].spellings = next;
            if next == NONE {
                self.vanished.insert(directory);
            }
        }
        self.choose_spellings();
    }

    fn choose_spellings(&mut self) {
        if !self.tree.columns.fold_case {
            return;
        }
        let counted = self.before.keys().filter_map(|slot| match slot.entry() {
            Entry::Directory(directory) => Some(directory),
            Entry::File(_) => None,
        });
        for directory in counted.chain(self.made.iter().copied()) {
            self.tree.choose_spelling(directory);
        }
    }

    /// Takes their names from all that compete with somebody who comes or goes.
    fn unname_contestants(&mut self) -> BTreeSet<u32> {
        let tree = &mut *self.tree;
        let mut competing = BTreeSet::new();
        for (directory, contest) in &self.contests {
            competing.extend(tree.contestants(*directory, contest));
        }
        for &file in &competing {
            let slot = Slot::file(file);
            self.before.insert(slot, (tree.columns.directory_of(file), tree.columns.name(slot).into()));
        }
        for &file in &competing {
            tree.remove_name(Slot::file(file));
        }
        competing
    }

    fn remove_leaving(&mut self, competing: &mut BTreeSet<u32>) {
        for &file in &self.leaving {
            let slot = Slot::file(file);
            competing.remove(&file);
            self.tree.remove_contest(file);
            self.tree.remove_id(slot);
            self.tree.totals.files -= 1;
            let bytes = &mut self.tree.totals.bytes;
            *bytes = bytes.saturating_sub(self.tree.columns.files[file].size);
            self.lists.entry(self.tree.columns.directory_of(file)).or_default().gone.push(slot);
        }
    }

    fn remove_vanished(&mut self) {
        for &directory in &self.vanished {
            let slot = Slot::directory(directory);
            let parent = self.tree.columns.parent(slot);
            self.before.entry(slot).or_insert_with(|| (parent, self.tree.columns.name(slot).into()));
            self.tree.remove_name(slot);
            self.tree.release_id(directory, &mut self.moved);
            self.tree.totals.directories -= 1;
            self.lists.entry(parent).or_default().gone.push(slot);
        }
    }

    fn place(&mut self, competing: &mut BTreeSet<u32>) {
        for placing in std::mem::take(&mut self.placing) {
            let file = match placing.index {
                Some(file) => {
                    self.tree.remove_contest(file);
                    file
                }
                None => self.tree.add_file(placing.file.track),
            };
            let slot = Slot::file(file);
            let old = placing.index.map(|file| self.tree.columns.directory_of(file));
            self.tree.set_facts(file, &placing.file);
            self.tree.columns.files[file].spelling = placing.spelling;
            self.tree.columns.set_natural(file, &placing.natural);
            self.tree.insert_contest(file);
            competing.insert(file);
            if old.is_none() {
                self.tree.insert_id(slot);
                self.came.push(file);
            }
            let directory = self.tree.columns.directory_of(file);
            if old != Some(directory) {
                if let Some(old) = old {
                    self.lists.entry(old).or_default().gone.push(slot);
                }
                self.lists.entry(directory).or_default().come.push(slot);
            }
        }
    }

    /// Gives the rows of what went away for others.
    fn free(&mut self) {
        let columns = &mut self.tree.columns;
        for &file in &self.leaving {
            columns.remove_file(file);
        }
        for &directory in &self.vanished {
            columns.remove_directory(directory);
        }
        for &spelling in &self.empty {
            columns.remove_spelling(spelling);
        }
        columns.compact();
    }

    /// Whether a node still stands somewhere.
    pub(super) fn lives(&self, slot: Slot) -> bool {
        match slot.entry() {
            Entry::File(file) => !self.leaving.contains(&file),
            Entry::Directory(directory) => !self.vanished.contains(&directory),
        }
    }
}
