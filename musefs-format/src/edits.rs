//! What a user changed, in the words of a splice.

use std::collections::BTreeSet;

use crate::Tags;
use crate::table::{canonical_key, split_number, total_of};

/// The edited keys of a track and the tags that result.
///
/// A container looks only at slots of edited keys. It gets *all* effective tags because slots may hold
/// several keys: `TRCK` has `tracknumber` and `totaltracks`.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    changed: BTreeSet<String>,
    effective: Tags,
}

impl Edits {
    /// Lays `changes` (key, new values; none = removed) over the tags of the source.
    ///
    /// Other names of keys are understood ([`canonical_key`]); where a key is changed under several, its canonical one wins.
    /// "3/12" as a number sets its total too, unless that is changed itself.
    pub fn over(source: Tags, changes: impl IntoIterator<Item = (String, Vec<String>)>) -> Self {
        let mut edits = Self { changed: BTreeSet::new(), effective: source };
        let mut exact = BTreeSet::new();
        for (name, values) in changes {
            let key = canonical_key(&name);
            if key == name.to_lowercase() {
                exact.insert(key.clone().into_owned());
            } else if exact.contains(&*key) {
                continue;
            }
            edits.effective.set(&key, values);
            edits.changed.insert(key.into_owned());
        }
        edits.split_numbers();
        edits
    }

    /// Containers that hold "number/total" in one place would have two totals otherwise.
    fn split_numbers(&mut self) {
        let totals: Vec<_> = self.changed.iter().filter_map(|key| Some((key.clone(), total_of(key)?))).collect();
        for (key, total_key) in totals {
            let [value] = self.effective.get(&key) else { continue };
            let Some((number, total)) = split_number(value) else { continue };
            let (number, total) = (number.to_owned(), total.to_owned());
            self.effective.set(&key, vec![number]);
            if self.changed.insert(total_key.to_owned()) {
                self.effective.set(total_key, vec![total]);
            }
        }
    }

    /// Whether nothing is edited: the track is served whole.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty()
    }

    /// Whether a lower-case key is edited.
    pub fn touches(&self, key: &str) -> bool {
        self.changed.contains(key)
    }

    /// The edited keys, alphabetically.
    pub fn changed(&self) -> impl Iterator<Item = &str> {
        self.changed.iter().map(String::as_str)
    }

    /// The same edits for a tag that said nothing yet, so that readers looked at another tag of the file: now that it
    /// gets a value they will not, so that it gets each effective key that it `can_hold`.
    pub(crate) fn spelt_out(&self, can_hold: impl Fn(&str) -> bool) -> Self {
        let mut all = self.clone();
        let keys = self.effective.iter().map(|(key, _)| key).filter(|key| can_hold(key));
        all.changed.extend(keys.map(str::to_owned));
        all
    }

    /// The tags that the served file carries.
    pub fn effective(&self) -> &Tags {
        &self.effective
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_by_another_name_yields_to_its_own() {
        let change = |key: &str, value: &str| (key.to_owned(), vec![value.to_owned()]);
        for order in [["year", "Date"], ["Date", "year"]] {
            let edits = Edits::over(Tags::new(), order.map(|key| change(key, key)));
            assert_eq!(edits.effective().get("date"), ["Date"]);
            assert_eq!(edits.changed().collect::<Vec<_>>(), ["date"]);
        }
    }

    #[test]
    fn a_number_brings_its_total() {
        let change = |key: &str, value: &str| (key.to_owned(), vec![value.to_owned()]);
        let edits = Edits::over(Tags::new(), [change("track", "3/12")]);
        assert_eq!(edits.changed().collect::<Vec<_>>(), ["totaltracks", "tracknumber"]);
        assert_eq!(
            (edits.effective().first("tracknumber"), edits.effective().first("totaltracks")),
            (Some("3"), Some("12"))
        );
        let edits = Edits::over(Tags::new(), [change("tracknumber", "3/12"), change("totaltracks", "9")]);
        assert_eq!(edits.effective().first("totaltracks"), Some("9"));
    }
}
