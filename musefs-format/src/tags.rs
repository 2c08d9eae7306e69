//! Tags as canonical keys with ordered values.

use std::collections::BTreeMap;

/// Canonical keys (MusicBrainz Picard's names, lower-case) with their values in order.
///
/// A key that is present has at least one value. Native slots without a canonical name stand under
/// their prefix: `id3:`, `vorbis:`, `mp4:`, `ape:`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tags(BTreeMap<String, Vec<String>>);

impl Tags {
    /// No tags.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one value behind those that the key has. Keys compare without case.
    pub fn push(&mut self, key: &str, value: impl Into<String>) {
        self.0.entry(key.to_lowercase()).or_default().push(value.into());
    }

    /// Replaces all values of a key; no values removes it.
    pub fn set(&mut self, key: &str, values: Vec<String>) {
        let key = key.to_lowercase();
        if values.is_empty() {
            self.0.remove(&key);
        } else {
            self.0.insert(key, values);
        }
    }

    /// The values of a lower-case key, in order; empty when it is absent.
    pub fn get(&self, key: &str) -> &[String] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    /// The first value of a key.
    pub fn first(&self, key: &str) -> Option<&str> {
        self.get(key).first().map(String::as_str)
    }

    /// Keys in alphabetical order with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().map(|(key, values)| (key.as_str(), values.as_slice()))
    }

    /// Whether there is no tag at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<BTreeMap<String, Vec<String>>> for Tags {
    fn from(map: BTreeMap<String, Vec<String>>) -> Self {
        Self(map)
    }
}
