//! Correcting tags: what an edit would do, told before it is done.
//!
//! A plan is made from what the catalogue says of a track, without its source. Values that a container
//! cannot hold are refused here, with the limit; edits by other programs do not pass here, and a track
//! whose edits do not fit is served as its source is.

use std::{collections::BTreeMap, path::PathBuf};

use musefs_db::{EditInput, SourceState, TrackDetail, TrackEdit, TrackId, limits};
use musefs_format::{Format, Refusal, Splice, container};

use crate::library;

/// What is to become of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// It has these values.
    Set(Vec<String>),
    /// It has these values behind those that it has.
    Add(Vec<String>),
    /// It is not there.
    Remove,
}

/// What an edit does to one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyChange {
    /// Lower-case.
    pub key: String,
    /// Its effective values now.
    pub before: Vec<String>,
    /// Its effective values afterwards.
    pub after: Vec<String>,
    /// Whether `after` is what the source has: the override goes.
    as_source: bool,
}

/// How a track is served.
#[derive(Clone, Debug, PartialEq)]
pub enum Served {
    /// Byte for byte as its source, because nothing about it is edited.
    Unedited,
    /// With its edits.
    Spliced(Splice),
    /// Byte for byte as its source, although it is edited: why.
    Whole(String),
}

/// What an edit would do to one track.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The track.
    pub track: TrackId,
    /// Its source.
    pub path: PathBuf,
    /// Keys that change, sorted.
    pub keys: Vec<KeyChange>,
    /// How it is served afterwards.
    pub served: Served,
}

/// Why an edit is refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Refused {
    /// No tag can have that key.
    #[error("{key:?} cannot be a key: {reason}")]
    Key {
        /// As it was given.
        key: String,
        /// Why, in words.
        reason: String,
    },
    /// A value is too long for the catalogue.
    #[error("{key} has {bytes} bytes; the catalogue holds at most {limit}")]
    ValueTooLong {
        /// The key.
        key: String,
        /// Size of the value.
        bytes: usize,
        /// Most bytes of a value.
        limit: usize,
    },
    /// A value has a character that no tag holds.
    #[error("{key} has a NUL character")]
    Nul {
        /// The key.
        key: String,
    },
    /// A key has too many values.
    #[error("{key} would have {count} values; it holds at most {limit}")]
    TooManyValues {
        /// The key.
        key: String,
        /// How many.
        count: usize,
        /// Most values of a key.
        limit: usize,
    },
    /// The container cannot hold it.
    #[error(transparent)]
    Container(#[from] Refusal),
}

impl Plan {
    /// What a catalogue's writer is to be given.
    pub fn edits(&self) -> impl Iterator<Item = TrackEdit> {
        self.keys.iter().map(|change| TrackEdit {
            track: self.track,
            key: change.key.clone(),
            values: (!change.as_source).then(|| change.after.clone()),
        })
    }
}

/// Plans an edit of a track. Keys that have what is wished already are left out.
///
/// # Errors
/// When a key or value is not allowed, or does not fit into the track's container.
pub fn plan(track: &TrackDetail, wishes: &[(String, Wish)]) -> Result<Plan, Refused> {
    let effective = track.effective_tags();
    let mut overrides = track.overrides();
    let mut keys = BTreeMap::new();
    for (key, wish) in wishes {
        check_key(key)?;
        let key = key.to_lowercase();
        let before = effective.get(&key).cloned().unwrap_or_default();
        let after = granted(&before, wish);
        check_values(&key, &after)?;
        if before == after {
            continue;
        }
        let as_source = track.source_tags.get(&key).map_or(&[][..], Vec::as_slice) == after;
        if as_source {
            overrides.remove(&key);
        } else {
            overrides.insert(key.clone(), after.clone());
        }
        keys.insert(key.clone(), KeyChange { key, before, after, as_source });
    }
    let served = served_with(track, overrides).or_else(|refusal| {
        // What others wrote before is not this edit's fault.
        if refused_key(&refusal).is_some_and(|key| keys.contains_key(key)) {
            Err(Refused::Container(refusal))
        } else {
            Ok(Served::Whole(refusal.to_string()))
        }
    })?;
    Ok(Plan { track: track.id, path: track.path.clone(), keys: keys.into_values().collect(), served })
}

/// How a track is served now.
pub fn served(track: &TrackDetail) -> Served {
    served_with(track, track.overrides()).unwrap_or_else(|refusal| Served::Whole(refusal.to_string()))
}

/// Why edits of a track cannot reach its bytes, whatever they are; `None` when they can.
pub fn unreachable(track: &TrackDetail) -> Option<String> {
    let format = &track.properties.format;
    if Format::from_name(format).and_then(container).is_none() {
        return Some(format!("edits do not reach the bytes of {format} files yet"));
    }
    if track.state == SourceState::Opaque || track.structure.is_empty() {
        return Some(track.reason.clone().unwrap_or_else(|| "its bytes cannot be edited".into()));
    }
    None
}

fn served_with(track: &TrackDetail, overrides: BTreeMap<String, Vec<String>>) -> Result<Served, Refusal> {
    if overrides.is_empty() {
        return Ok(Served::Unedited);
    }
    if let Some(reason) = unreachable(track) {
        return Ok(Served::Whole(reason));
    }
    let input = EditInput {
        structure: track.structure.clone(),
        source_tags: track.source_tags.clone(),
        changes: overrides.into_iter().collect(),
    };
    match library::splice(&track.properties.format, &input) {
        Some(splice) => Ok(Served::Spliced(splice?.1)),
        None => Ok(Served::Whole("its bytes cannot be edited".into())),
    }
}

fn granted(before: &[String], wish: &Wish) -> Vec<String> {
    match wish {
        Wish::Set(values) => values.clone(),
        Wish::Add(values) => [before, values].concat(),
        Wish::Remove => Vec::new(),
    }
}

fn refused_key(refusal: &Refusal) -> Option<&str> {
    match refusal {
        Refusal::TooLarge { key, .. } | Refusal::Value { key, .. } => Some(key),
        Refusal::Structure(_) => None,
    }
}

fn check_key(key: &str) -> Result<(), Refused> {
    let refused = |reason: String| Err(Refused::Key { key: key.to_owned(), reason });
    if key.is_empty() {
        return refused("it is empty".into());
    }
    if key.len() > limits::KEY_BYTES_MAX {
        return refused(format!("it has {} bytes, and at most {} are allowed", key.len(), limits::KEY_BYTES_MAX));
    }
    if key.chars().any(|c| c < ' ') {
        return refused("it has a control character".into());
    }
    if key.to_lowercase().starts_with("picture:") {
        return refused("pictures are not tags".into());
    }
    Ok(())
}

fn check_values(key: &str, values: &[String]) -> Result<(), Refused> {
    let key = || key.to_owned();
    let limit = limits::EDIT_POSITION_MAX + 1;
    if values.len() > limit {
        return Err(Refused::TooManyValues { key: key(), count: values.len(), limit });
    }
    for value in values {
        if value.len() > limits::VALUE_BYTES_MAX {
            let limit = limits::VALUE_BYTES_MAX;
            return Err(Refused::ValueTooLong { key: key(), bytes: value.len(), limit });
        }
        if value.contains('\0') {
            return Err(Refused::Nul { key: key() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use musefs_db::{EditRow, Properties, Stamp};

    use super::*;

    fn list(values: &[&str]) -> Vec<String> {
        values.iter().map(|&value| value.to_owned()).collect()
    }

    fn track(format: &str, structure: &[u8]) -> TrackDetail {
        TrackDetail {
            id: TrackId(16),
            revision: 0,
            changed_at_ms: None,
            added_at_ms: 0,
            root: "/music".into(),
            path: "/music/a.flac".into(),
            stamp: Stamp::default(),
            state: SourceState::Ok,
            reason: None,
            properties: Properties { format: format.into(), ..Properties::default() },
            structure: structure.to_vec(),
            source_tags: [("title".into(), list(&["Old"])), ("genre".into(), list(&["a", "b"]))].into(),
            pictures: Vec::new(),
            edits: vec![EditRow {
                key: "title".into(),
                position: 0,
                value: Some("New".into()),
                who: "x".into(),
                why: None,
            }],
        }
    }

    fn edits(wishes: &[(&str, Wish)]) -> Vec<(String, Option<Vec<String>>)> {
        let wishes: Vec<_> = wishes.iter().map(|(key, wish)| ((*key).to_owned(), wish.clone())).collect();
        let plan = plan(&track("wav", &[]), &wishes).unwrap();
        plan.edits().map(|edit| (edit.key, edit.values)).collect()
    }

    #[test]
    fn wishes_become_overrides() {
        let table = [
            (("Title", Wish::Set(list(&["Other"]))), Some(("title", Some(list(&["Other"]))))),
            (("title", Wish::Set(list(&["New"]))), None),
            // What the source has needs no override.
            (("title", Wish::Set(list(&["Old"]))), Some(("title", None))),
            (("genre", Wish::Add(list(&["c"]))), Some(("genre", Some(list(&["a", "b", "c"]))))),
            (("mood", Wish::Add(list(&["c"]))), Some(("mood", Some(list(&["c"]))))),
            (("genre", Wish::Remove), Some(("genre", Some(list(&[]))))),
            (("mood", Wish::Remove), None),
        ];
        for (wish, expected) in table {
            let expected: Vec<_> = expected.map(|(key, values)| (key.to_owned(), values)).into_iter().collect();
            assert_eq!(edits(std::slice::from_ref(&wish)), expected, "{wish:?}");
        }
    }

    #[test]
    fn limits_are_refused_at_one_past() {
        let refused =
            |key: &str, values: Vec<String>| plan(&track("wav", &[]), &[(key.to_owned(), Wish::Set(values))]).err();
        let x = |count: usize| "x".repeat(count);
        assert_eq!(refused(&x(limits::KEY_BYTES_MAX), list(&["v"])), None);
        assert!(matches!(refused(&x(limits::KEY_BYTES_MAX + 1), list(&["v"])), Some(Refused::Key { .. })));
        assert_eq!(refused("k", vec![x(limits::VALUE_BYTES_MAX)]), None);
        let long = refused("k", vec![x(limits::VALUE_BYTES_MAX + 1)]).unwrap().to_string();
        assert_eq!(long, "k has 1048577 bytes; the catalogue holds at most 1048576");
        assert_eq!(refused("k", vec![x(1); limits::EDIT_POSITION_MAX + 1]), None);
        let many = refused("k", vec![x(1); limits::EDIT_POSITION_MAX + 2]).unwrap().to_string();
        assert_eq!(many, "k would have 1001 values; it holds at most 1000");
        for (key, value) in [("", "v"), ("a\tb", "v"), ("Picture:3", "v"), ("k", "a\0b")] {
            assert!(refused(key, list(&[value])).is_some(), "{key:?}");
        }
    }

    #[test]
    fn tracks_that_cannot_be_spliced_say_why() {
        let mut mka = track("matroska", &[]);
        assert_eq!(served(&mka), Served::Whole("edits do not reach the bytes of matroska files yet".into()));
        mka.edits.clear();
        assert_eq!(served(&mka), Served::Unedited);
        let mut flac = track("flac", &[]);
        flac.state = SourceState::Opaque;
        flac.reason = Some("no STREAMINFO".into());
        assert_eq!(served(&flac), Served::Whole("no STREAMINFO".into()));
        assert!(matches!(served(&track("flac", b"\xff rubbish")), Served::Whole(_)));
    }
}
