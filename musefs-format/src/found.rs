//! What the tags of one file say, before they are joined.
//!
//! A file may carry several tags, and a tag may have several places for one key. Within a tag the place of
//! the lowest rank is the key's value; among tags the first that has the key.

use std::collections::HashMap;

use crate::limits::PROBLEMS_MAX;
use crate::{Picture, Problem, Tags};

/// The readable content of one tag.
#[derive(Clone, Debug, Default)]
pub struct Found {
    entries: Vec<Entry>,
    /// In the tag's order.
    pub pictures: Vec<Picture>,
    /// What was odd.
    pub problems: Vec<Problem>,
}

#[derive(Clone, Debug)]
struct Entry {
    key: String,
    rank: u8,
    value: String,
}

impl Found {
    /// Adds a value of a place of `rank`: 0 is the best place of the key.
    pub fn add(&mut self, key: &str, rank: u8, value: impl Into<String>) {
        self.entries.push(Entry { key: key.to_owned(), rank, value: value.into() });
    }

    /// Notes something odd; the first [`PROBLEMS_MAX`] are kept.
    pub fn problem(&mut self, problem: impl Into<String>) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(Problem(problem.into()));
        }
    }

    /// Whether it has no value at all.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Lays the values under those of `tags`: only keys that it lacks are added.
    pub fn fill(&self, tags: &mut Tags) {
        let mut best = HashMap::new();
        for entry in self.entries.iter().filter(|entry| tags.get(&entry.key).is_empty()) {
            let rank = best.entry(entry.key.as_str()).or_insert(entry.rank);
            *rank = entry.rank.min(*rank);
        }
        for entry in self.entries.iter().filter(|entry| best.get(entry.key.as_str()) == Some(&entry.rank)) {
            tags.push(&entry.key, entry.value.as_str());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_place_of_the_first_tag_wins() {
        let mut first = Found::default();
        first.add("date", 16, "1999");
        first.add("date", 0, "1999-05-01");
        first.add("artist", 0, "A");
        first.add("artist", 0, "B");
        let mut second = Found::default();
        second.add("artist", 0, "C");
        second.add("title", 0, "T");
        let mut tags = Tags::new();
        first.fill(&mut tags);
        second.fill(&mut tags);
        assert_eq!(tags.get("date"), ["1999-05-01"]);
        assert_eq!(tags.get("artist"), ["A", "B"]);
        assert_eq!(tags.get("title"), ["T"]);
    }

    #[test]
    fn problems_are_limited() {
        let mut found = Found::default();
        for count in 1..PROBLEMS_MAX + 2 {
            found.problem("odd");
            assert_eq!(found.problems.len(), count.min(PROBLEMS_MAX));
        }
    }
}
