//! Which keys the items hold, and which items hold a key.

use super::boxes::Kind;
use super::structure::Item;
use super::values::Native;
use crate::table::{self, Column, FREE_FORM, Part, Place, Slot};

/// Who names the free-form items of nearly all taggers.
pub(super) const ITUNES: &str = "com.apple.iTunes";

/// Rank of a free-form item named like a key that has an item of its own.
const RANK_ALIAS: u8 = 128;
/// What keys that QuickTime defines begin with.
const QUICKTIME: &str = "com.apple.quicktime.";

/// The name of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// Its kind.
    Kind(Kind),
    /// Who named it, and the name.
    Free(String, String),
}

impl Name {
    /// The name of an item of a source.
    pub(super) fn of(item: &Item) -> Self {
        match &item.free {
            Some((mean, name)) => Self::Free(mean.clone(), name.clone()),
            None => Self::Kind(item.kind),
        }
    }

    /// Whether both mean the same place.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Kind(a), Self::Kind(b)) => a == b,
            (Self::Free(mean_a, a), Self::Free(mean_b, b)) => {
                mean_a.eq_ignore_ascii_case(mean_b) && a.to_lowercase() == b.to_lowercase()
            }
            _ => false,
        }
    }
}

/// A kind as text: its letters are Latin-1, `©` among them.
pub(super) fn text_of(kind: Kind) -> String {
    kind.iter().map(|&byte| char::from(byte)).collect()
}

/// The inverse of [`text_of`].
fn kind_of(text: &str) -> Option<Kind> {
    let bytes: Option<Vec<u8>> = text.chars().map(|letter| u8::try_from(u32::from(letter)).ok()).collect();
    bytes?.try_into().ok()
}

/// What an item holds, with the rank of each key; empty if it has a key of its own.
pub(super) fn places(name: &Name) -> Vec<(Place, u8)> {
    match name {
        Name::Kind(kind) => {
            table::places(Column::Mp4, &text_of(*kind), None).iter().map(|&place| (place, place.rank)).collect()
        }
        Name::Free(mean, name) if mean.eq_ignore_ascii_case(ITUNES) => free_places(name),
        Name::Free(..) => Vec::new(),
    }
}

fn free_places(name: &str) -> Vec<(Place, u8)> {
    let is_own = |slot: &Slot| matches!(slot, Slot::Detail(_, known) if known.eq_ignore_ascii_case(name));
    let ranked = |&place: &Place| {
        let own = table::slots(place.key, Column::Mp4).iter().any(is_own);
        (place, if own { place.rank } else { RANK_ALIAS.saturating_add(place.rank) })
    };
    table::places(Column::Mp4, FREE_FORM, Some(name)).iter().map(ranked).collect()
}

/// The key of an item that holds no canonical one.
pub(super) fn own_key(name: &Name) -> String {
    match name {
        Name::Kind(kind) => table::native_key(Column::Mp4, &text_of(*kind), None),
        Name::Free(mean, name) if mean.eq_ignore_ascii_case(ITUNES) => table::free_key(Column::Mp4, name),
        Name::Free(mean, name) => table::native_key(Column::Mp4, mean, Some(name)),
    }
}

/// What an item holds that is named by a list of keys: QuickTime's names, or plain words as FFmpeg writes them.
pub(super) fn keyed_places(name: &str) -> Vec<(Place, u8)> {
    let word = name.strip_prefix(QUICKTIME).unwrap_or(name);
    table::places(Column::Vorbis, word, None).iter().map(|&place| (place, place.rank)).collect()
}

/// The item that a key is written to, and which side of it; `None` if there is no place for it.
pub(super) fn home(key: &str) -> Option<(Name, Option<Part>)> {
    match table::slots(key, Column::Mp4).first() {
        Some(Slot::Whole(name)) => Some((Name::Kind(kind_of(name)?), None)),
        Some(Slot::Part(name, part)) => Some((Name::Kind(kind_of(name)?), Some(*part))),
        Some(Slot::Detail(_, name)) => Some((free((*name).to_owned())?, None)),
        Some(Slot::Date(_)) => None,
        None => Some((own_home(key)?, None)),
    }
}

fn own_home(key: &str) -> Option<Name> {
    let Some(native) = key.strip_prefix(Column::Mp4.prefix()) else {
        return free(table::free_name(Column::Mp4, key)?);
    };
    if let Some(kind) = Native::kinds().find(|kind| text_of(*kind).to_lowercase() == native) {
        return Some(Name::Kind(kind));
    }
    match native.split_once(':') {
        Some((mean, name)) if !mean.is_empty() && !name.is_empty() => {
            Some(Name::Free(mean.to_owned(), name.to_owned()))
        }
        _ => kind_of(native).filter(|kind| Native::of(*kind) == Native::Text).map(Name::Kind),
    }
}

/// The free-form item for a key whose values do not fit into the item that it has.
pub(super) fn spare_home(key: &str) -> Option<Name> {
    match table::slots(key, Column::Vorbis).first() {
        Some(Slot::Whole(name) | Slot::Part(name, _)) => free((*name).to_owned()),
        _ => None,
    }
}

fn free(name: String) -> Option<Name> {
    let is_name = !name.is_empty() && !name.contains('\0');
    is_name.then(|| Name::Free(ITUNES.to_owned(), name))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
    use super::*;

    #[test]
    fn homes_are_read_as_their_keys() {
        for key in table::keys().iter().copied().chain(["my own", "a:b", "mp4:cnid", "mp4:©abc", "mp4:org.me:x"]) {
            let (name, part) = home(key).unwrap();
            match places(&name).as_slice() {
                [] => assert_eq!(own_key(&name), key),
                places => assert!(
                    places.iter().any(|(place, rank)| place.key == key && *rank == 0 && place.part == part),
                    "{key}"
                ),
            }
        }
    }

    #[test]
    fn what_does_not_fit_goes_where_it_is_found_behind_the_rest() {
        for key in ["tracknumber", "compilation", "bpm", "discnumber"] {
            let places = places(&spare_home(key).unwrap());
            assert!(places.iter().any(|(place, rank)| place.key == key && *rank >= RANK_ALIAS), "{key}");
        }
    }

    #[test]
    fn keys_without_a_place_have_no_home() {
        for key in ["id3:priv:x", "vorbis:id3:x", "mp4:", "mp4:toolong", "mp4:covr", "mp4::x", "mp4:♫abc"] {
            assert_eq!(home(key), None, "{key}");
        }
    }

    #[test]
    fn other_spellings_hold_the_same_keys() {
        let key = |name: &Name| places(name).first().map(|(place, _)| place.key);
        assert_eq!(key(&Name::Free(ITUNES.to_owned(), "Label".to_owned())), Some("label"));
        assert_eq!(key(&Name::Free("org.me".to_owned(), "Label".to_owned())), None);
        assert_eq!(key(&Name::Kind(*b"gnre")), Some("genre"));
        for (name, key) in [("com.apple.quicktime.title", "title"), ("album_artist", "albumartist"), ("year", "date")] {
            assert_eq!(keyed_places(name)[0].0.key, key);
        }
    }
}
