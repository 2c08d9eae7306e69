//! Who gets which name: the first of several equal ones keeps it, the others are numbered.

use std::collections::HashMap;

use super::{Tree, columns::Slot};
use crate::names::{self, Contest};

impl Tree {
    /// Gives the files their names. None may have one yet; whoever competes with one of them must be among them.
    ///
    /// Natural names come first, in order of track ids, then numbers in the same order. A name that somebody has by
    /// itself is left out of the numbers. Names that are given never depend on files of other contests, but for whether
    /// a natural name exists: so no more than these have to be settled again after a change.
    pub(super) fn settle(&mut self, files: &mut [u32]) {
        let columns = &self.columns;
        if !files.is_sorted_by_key(|&file| columns.files[file].track()) {
            files.sort_unstable_by_key(|&file| columns.files[file].track());
        }
        let mut waiting = Vec::new();
        for &file in &*files {
            if self.find(self.columns.directory_of(file), self.columns.natural(file)).is_some() {
                waiting.push(file);
            } else {
                self.columns.set_numbered(file, None);
                self.insert_name(Slot::file(file));
            }
        }
        let mut next: HashMap<(u32, Contest), u32> = HashMap::new();
        let mut candidate = String::new();
        for file in waiting {
            let directory = self.columns.directory_of(file);
            let (contest, _) = self.columns.contest(file);
            let number = next.get(&(directory, contest.clone())).map_or(2, |last| last + 1);
            let number = self.first_free(directory, &contest, number, &mut candidate);
            next.insert((directory, contest), number);
            self.number(file, number);
        }
    }

    fn first_free(&self, directory: u32, contest: &Contest, mut number: u32, candidate: &mut String) -> u32 {
        loop {
            contest.candidate(number, candidate);
            if self.find(directory, candidate).is_none() {
                return number;
            }
            number += 1;
        }
    }

    fn number(&mut self, file: u32, number: u32) {
        let natural = self.columns.natural(file);
        let numbered = names::numbered(natural, &names::key(natural, self.columns.fold_case), number);
        self.columns.set_numbered(file, Some(&numbered));
        self.insert_name(Slot::file(file));
    }

    /// All files of a contest, as long as everybody in it has a settled name.
    pub(super) fn contestants(&self, directory: u32, contest: &Contest) -> Vec<u32> {
        let mut files: Vec<u32> = self.cut_files(directory, contest).collect();
        let mut name = String::new();
        contest.natural(&mut name);
        let takes_part = |&file: &u32| self.columns.contest(file).0 == *contest;
        files.extend(self.find_file(directory, &name).filter(takes_part));
        for number in 2.. {
            contest.candidate(number, &mut name);
            let Some(_) = self.find(directory, &name) else { break };
            files.extend(self.find_file(directory, &name).filter(takes_part));
        }
        files
    }
}
