//! Overrides put together from rows of `edits` or of its log.

use std::collections::BTreeMap;

use crate::{Action, Override};

/// The rows of a track's overrides: key → position → value.
///
/// Keys compare without case: rows whose keys differ only in the case of letters outside ASCII, which SQLite
/// holds apart, are one key here, and the one that sorts last wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OverrideRows(BTreeMap<String, BTreeMap<i64, Option<String>>>);

impl OverrideRows {
    /// Puts a row of `edits`.
    pub(crate) fn put(&mut self, key: &str, position: i64, value: Option<String>) {
        self.0.entry(key.to_lowercase()).or_default().insert(position, value);
    }

    /// Does what a row of the log tells.
    pub(crate) fn replay(&mut self, key: &str, position: i64, action: Action, value: Option<String>) {
        match action {
            Action::Set | Action::Remove => self.put(key, position, value),
            Action::Clear => {
                let key = key.to_lowercase();
                if let Some(rows) = self.0.get_mut(&key) {
                    rows.remove(&position);
                    if rows.is_empty() {
                        self.0.remove(&key);
                    }
                }
            }
        }
    }

    /// The override of a lower-case key.
    pub(crate) fn get(&self, key: &str) -> Override {
        self.0.get(key).map(values)
    }

    /// Forgets all rows.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether there is no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All overridden keys with their new values, sorted.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (&str, Vec<String>)> {
        self.0.iter().map(|(key, rows)| (key.as_str(), values(rows)))
    }
}

/// The values that the rows of one key stand for: none where the row at 0 says that it is removed.
fn values(rows: &BTreeMap<i64, Option<String>>) -> Vec<String> {
    if rows.get(&0) == Some(&None) { Vec::new() } else { rows.values().flatten().cloned().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removal_wins_over_values_behind_it() {
        let mut rows = OverrideRows::default();
        rows.put("Genre", 1, Some("b".into()));
        rows.put("genre", 7, Some("c".into()));
        assert_eq!(rows.get("genre"), Some(vec!["b".into(), "c".into()]));
        rows.put("GENRE", 0, None);
        assert_eq!(rows.get("genre"), Some(vec![]));
        for position in [0, 1, 7] {
            rows.replay("genre", position, Action::Clear, None);
        }
        assert_eq!(rows.get("genre"), None);
        assert!(rows.is_empty());
    }
}
