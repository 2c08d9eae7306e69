//! Where a file stands: cleaning its path, and making the directories on the way.

use super::{
    Tree, TreeFile,
    columns::{Directory, FileRow, NONE, ROOT, ROWS_MAX, Slot},
    ids::MovedIds,
};
use crate::{
    limits::{LEVELS_MAX, NAME_BYTES_MAX, TRACK_MAX, TRACK_MIN},
    names,
    vfs::{Generation, NodeId},
};

/// The clean names of a file and the directories above it. One is used for many files.
#[derive(Default)]
pub(super) struct CleanPath {
    text: String,
    /// Where the directories' names end.
    ends: Vec<usize>,
}

impl CleanPath {
    pub(super) fn set(&mut self, file: &TreeFile<'_>) {
        self.text.clear();
        self.ends.clear();
        let (above, stem) = file.path.rsplit_once('/').unwrap_or(("", file.path));
        if stem.len() < file.path.len() {
            for level in above.split('/').take(LEVELS_MAX - 1) {
                names::component(level, &mut self.text);
                self.avoid_metrics();
                self.ends.push(self.text.len());
            }
        }
        names::file(stem, file.extension, &mut self.text);
        self.avoid_metrics();
    }

    /// If this is the first level and named as the directory of metrics: its dot becomes another character.
    fn avoid_metrics(&mut self) {
        if self.ends.is_empty() && self.text.eq_ignore_ascii_case(names::METRICS_DIRECTORY) {
            self.text.replace_range(..1, "_");
        }
    }

    fn directories(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }

    /// The name of the file, which is not numbered yet.
    pub(super) fn name(&self) -> &str {
        &self.text[self.ends.last().copied().unwrap_or(0)..]
    }

    /// Most bytes that the tree's text can grow by for this file: its name twice, once numbered.
    pub(super) fn bytes_max(&self) -> usize {
        self.text.len() + self.name().len() + NAME_BYTES_MAX
    }
}

impl Tree {
    /// Whether the file can be held. It is left out if not, with a warning: no catalogue is that big.
    pub(super) fn has_room_for(&self, file: &TreeFile<'_>, path: &CleanPath, waiting_bytes: usize) -> bool {
        let columns = &self.columns;
        let rows = columns.files.len().max(columns.spellings.len() + LEVELS_MAX);
        let fits = (TRACK_MIN..=TRACK_MAX).contains(&file.track)
            && rows < ROWS_MAX
            && columns.room() >= path.bytes_max().saturating_add(waiting_bytes);
        if !fits {
            tracing::warn!(track = file.track, "the tree has no room for a file");
        }
        fits
    }

    /// The spelling of a file's directory, if it exists.
    pub(super) fn find_spelling(&self, path: &CleanPath) -> Option<u32> {
        path.directories().try_fold(ROOT, |above, name| self.find_spelling_below(above, name))
    }

    fn find_spelling_below(&self, above: u32, name: &str) -> Option<u32> {
        let columns = &self.columns;
        let directory = self.find_directory(columns.spellings[above].directory, name)?;
        columns
            .spellings_of(directory)
            .find(|&spelling| columns.spellings[spelling].parent == above && columns.spelled(spelling) == name)
    }

    /// The spelling of a file's directory. Directories that did not exist are made; they are in no list of children yet.
    pub(super) fn make_spelling(&mut self, path: &CleanPath, made: &mut Vec<u32>, moved: &mut MovedIds) -> u32 {
        let mut spelling = ROOT;
        for name in path.directories() {
            spelling = match self.find_spelling_below(spelling, name) {
                Some(found) => found,
                None => self.add_spelling(spelling, name, made, moved),
            };
        }
        spelling
    }

    fn add_spelling(&mut self, above: u32, name: &str, made: &mut Vec<u32>, moved: &mut MovedIds) -> u32 {
        let parent = self.columns.spellings[above].directory;
        let found = self.find_directory(parent, name);
        let spelling = self.columns.add_spelling(found.unwrap_or(NONE), above, name);
        match found {
            Some(directory) => {
                let first = std::mem::replace(&mut self.columns.directories[directory].spellings, spelling);
                self.columns.spellings[spelling].next = first;
            }
            None => {
                let directory = self.add_directory(parent, spelling);
                self.columns.spellings[spelling].directory = directory;
                self.insert_name(Slot::directory(directory));
                self.claim_id(directory, moved);
                made.push(directory);
            }
        }
        spelling
    }

    fn add_directory(&mut self, parent: u32, spelling: u32) -> u32 {
        self.totals.directories += 1;
        self.columns.directories.add(Directory {
            id: NodeId(0),
            mtime_ms: i64::MIN,
            children: Vec::new(),
            parent,
            spellings: spelling,
            shown: spelling,
            subdirectories: 0,
            departed: false,
        })
    }

    /// Counts a file that came below a spelling.
    pub(super) fn count_in(&mut self, mut spelling: u32) {
        while spelling != NONE {
            let row = &mut self.columns.spellings[spelling];
            row.files += 1;
            spelling = row.parent;
        }
    }

    /// Counts a file that went; tells the spellings that are left without any.
    pub(super) fn count_out(&mut self, mut spelling: u32, empty: &mut Vec<u32>) {
        while spelling != NONE {
            let row = &mut self.columns.spellings[spelling];
            row.files -= 1;
            if row.files == 0 {
                empty.push(spelling);
            }
            spelling = row.parent;
        }
    }

    /// Shows a directory as most of its files spell it.
    pub(super) fn choose_spelling(&mut self, directory: u32) {
        let columns = &self.columns;
        let mut spelled: Vec<_> =
            columns.spellings_of(directory).map(|index| (columns.spelled(index), index)).collect();
        spelled.sort_unstable();
        let files =
            |group: &[(&str, u32)]| -> u32 { group.iter().map(|&(_, index)| columns.spellings[index].files).sum() };
        let most = spelled.chunk_by(|a, b| a.0 == b.0).max_by_key(|group| files(group));
        if let Some(&[(_, index), ..]) = most {
            self.columns.directories[directory].shown = index;
        }
    }

    /// A row for a new track, without a name.
    pub(super) fn add_file(&mut self, track: i64) -> u32 {
        let mut row = FileRow::default();
        row.set_track(track);
        self.totals.files += 1;
        self.columns.files.add(row)
    }

    /// Everything of a file but its place.
    pub(super) fn set_facts(&mut self, index: u32, file: &TreeFile<'_>) {
        let row = &mut self.columns.files[index];
        self.totals.bytes = self.totals.bytes.saturating_sub(row.size).saturating_add(file.size);
        row.size = file.size;
        row.set_mtime(file.mtime);
        row.generation = Generation::of(file.revision);
        row.root = file.root;
    }
}
