//! What a scan did, in numbers and words.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use musefs_db::SourceState;

use crate::limits::{OTHER_EXTENSIONS_MAX, PROBLEMS_KEPT_MAX};

/// What a scan did.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Tracks that the catalogue did not have.
    pub new: u64,
    /// Tracks whose file changed.
    pub changed: u64,
    /// Tracks whose file turned up under another path.
    pub moved: u64,
    /// Tracks that were missing and are back where they were.
    pub returned: u64,
    /// Tracks whose file is as it was.
    pub unchanged: u64,
    /// Tracks that were there before and are missing now.
    pub missing: u64,
    /// Tracks that could not be looked for, and stay as they were.
    pub kept: u64,
    /// All tracks of the scanned places after the scan.
    pub by_state: BTreeMap<SourceState, u64>,
    /// All tracks of the scanned places after the scan, by format.
    pub by_format: BTreeMap<String, u64>,
    /// Files that are no audio, by lower-case extension; empty for names without one.
    pub others: BTreeMap<String, u64>,
    /// Symbolic links that were not followed.
    pub links: u64,
    /// What is worth a word.
    pub problems: Problems,
    /// Files and directories that could not be read, and places that are gone: the scan is not complete.
    pub unreadable: u64,
    /// Files that were opened.
    pub opened: u64,
    /// Bytes that were read of files.
    pub bytes_read: u64,
    /// Whether it was stopped before it was done.
    pub interrupted: bool,
    /// How long it took.
    pub elapsed: Duration,
}

impl Report {
    /// Counts a file that is no audio.
    pub(super) fn other(&mut self, extension: &str) {
        if let Some(count) = self.others.get_mut(extension) {
            *count += 1;
        } else if self.others.len() < OTHER_EXTENSIONS_MAX {
            self.others.insert(extension.to_owned(), 1);
        } else {
            *self.others.entry("…".to_owned()).or_default() += 1;
        }
    }
}

/// Something worth a word about a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Of the file or directory.
    pub path: PathBuf,
    /// In words, without the path.
    pub what: String,
}

/// The first so many problems, and how many there were.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    /// The first of them.
    pub first: Vec<Problem>,
    /// All of them.
    pub count: u64,
}

impl Problems {
    /// Adds one.
    pub(super) fn add(&mut self, path: &Path, what: impl Into<String>) {
        self.count += 1;
        if self.first.len() < PROBLEMS_KEPT_MAX {
            self.first.push(Problem { path: path.to_owned(), what: what.into() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_all_counted_and_some_kept() {
        let mut problems = Problems::default();
        for _ in 0..=PROBLEMS_KEPT_MAX {
            problems.add(Path::new("/m"), "odd");
        }
        assert_eq!((problems.first.len(), problems.count), (PROBLEMS_KEPT_MAX, PROBLEMS_KEPT_MAX as u64 + 1));
    }

    #[test]
    fn extensions_beyond_the_limit_are_counted_together() {
        let mut report = Report::default();
        for i in 0..OTHER_EXTENSIONS_MAX + 2 {
            report.other(&i.to_string());
        }
        report.other("0");
        assert_eq!((report.others["0"], report.others["…"]), (2, 2));
    }
}
