//! What a user changed, in the words of a splice.

use std::collections::BTreeSet;

use crate::Tags;

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
    pub fn over(source: Tags, changes: impl IntoIterator<Item = (String, Vec<String>)>) -> Self {
        let mut edits = Self { changed: BTreeSet::new(), effective: source };
        for (key, values) in changes {
            let key = key.to_lowercase();
            edits.effective.set(&key, values);
            edits.changed.insert(key);
        }
        edits
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

    /// The tags that the served file carries.
    pub fn effective(&self) -> &Tags {
        &self.effective
    }
}
