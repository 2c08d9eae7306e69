//! What a scan did, in numbers and words.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

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
    /// All tracks of the catalogue after the scan, by the health of their source.
    pub by_state: BTreeMap<SourceState, u64>,
    /// All tracks of the catalogue after the scan, by format.
    pub by_format: BTreeMap<String, u64>,
    /// Places that were asked for and are gone or look empty, and how many tracks the catalogue has of each.
    /// These stay as they are.
    pub gone: Vec<(PathBuf, u64)>,
    /// Files that are no audio.
    pub others: Others,
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

/// Files that are no audio, by lower-case extension.
#[derive(Clone, Debug, Default)]
pub struct Others(BTreeMap<String, u64>);

impl Others {
    /// Counts a file; rare extensions beyond a limit are counted together.
    pub(super) fn add(&mut self, extension: &str) {
        if let Some(count) = self.0.get_mut(extension) {
            *count += 1;
        } else if self.0.len() < OTHER_EXTENSIONS_MAX {
            self.0.insert(extension.to_owned(), 1);
        } else {
            *self.0.entry(BEYOND.to_owned()).or_default() += 1;
        }
    }

    pub(super) fn merge(&mut self, others: &Self) {
        for (extension, count) in &others.0 {
            *self.0.entry(extension.clone()).or_default() += count;
        }
    }

    /// Extensions, empty for names without one, and how many files have them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(extension, count)| (extension.as_str(), *count))
    }

    /// Number of files.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

/// Stands for all extensions beyond the limit; no file has it.
const BEYOND: &str = "…";

/// Something worth a word about a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Of the file or directory.
    pub path: PathBuf,
    /// In words, without the path.
    pub what: String,
}

/// The first so many problems, and how many there were.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    /// The first of them, by path.
    pub first: Vec<Problem>,
    /// All of them.
    pub count: u64,
}

impl Problems {
    /// Adds one.
    pub(super) fn add(&mut self, problem: Problem) {
        self.count += 1;
        if self.first.len() < PROBLEMS_KEPT_MAX {
            self.first.push(problem);
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
            problems.add(Problem { path: "/m".into(), what: "odd".to_owned() });
        }
        assert_eq!((problems.first.len(), problems.count), (PROBLEMS_KEPT_MAX, PROBLEMS_KEPT_MAX as u64 + 1));
    }

    #[test]
    fn extensions_beyond_the_limit_are_counted_together() {
        let mut others = Others::default();
        for i in 0..OTHER_EXTENSIONS_MAX + 2 {
            others.add(&i.to_string());
        }
        others.add("0");
        let count = |wanted: &str| others.iter().find(|(extension, _)| *extension == wanted).map(|(_, count)| count);
        assert_eq!((count("0"), count(BEYOND)), (Some(2), Some(2)));
        assert_eq!(others.total(), OTHER_EXTENSIONS_MAX as u64 + 3);
    }
}
