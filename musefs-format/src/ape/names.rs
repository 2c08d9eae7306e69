//! Which canonical keys the items of a tag hold.
//!
//! Item names are free and compare without case, as field names of Vorbis comments do, and are read alike; the
//! table's own column has those that differ, in the spelling of the specification's list.

use crate::table::{self, Column, Part, Place, Slot};

/// What an item holds, with the rank of each key.
pub(super) fn places(name: &str) -> Vec<(Place, u8)> {
    let own = table::places(Column::Ape, name, None);
    if !own.is_empty() {
        return own.iter().map(|&place| (place, place.rank)).collect();
    }
    // Behind the names of the own column.
    let others = table::places(Column::Vorbis, name, None).iter();
    others.map(|&place| (place, place.rank.saturating_add(1))).collect()
}

/// The key of an item that holds no canonical one.
pub(super) fn own_key(name: &str, is_text: bool) -> String {
    if is_text { table::free_key(Column::Ape, name) } else { table::native_key(Column::Ape, name, None) }
}

/// The item that a key is written to, and which side of it; `None` if a tag cannot hold it.
pub(super) fn home(key: &str) -> Option<(String, Option<Part>)> {
    let slot = [Column::Ape, Column::Vorbis].into_iter().find_map(|column| table::slots(key, column).first());
    let (name, part) = match slot {
        Some(Slot::Whole(name) | Slot::Detail(name, _)) => ((*name).to_owned(), None),
        Some(Slot::Part(name, part)) => ((*name).to_owned(), Some(*part)),
        Some(Slot::Date(_)) => return None,
        None => (table::free_name(Column::Ape, key)?, None),
    };
    is_name(name.as_bytes()).then_some((name, part))
}

/// Whether a name is allowed: 2 to 255 ASCII letters, and none of those that other formats begin with.
pub(super) fn is_name(name: &[u8]) -> bool {
    let forbidden = [&b"ID3"[..], b"TAG", b"OggS", b"MP+"];
    (2..=255).contains(&name.len())
        && name.iter().all(|byte| (0x20..=0x7e).contains(byte))
        && !forbidden.iter().any(|other| other.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_as_the_same_key() {
        for key in table::keys().iter().copied().chain(["my own", "ape:id3:x"]) {
            let (name, part) = home(key).expect("each key has a place");
            let places = places(&name.to_uppercase());
            let best = places.iter().map(|(_, rank)| *rank).min();
            let is_held = |(place, rank): &(Place, u8)| (place.key, place.part, Some(*rank)) == (key, part, best);
            assert!(places.iter().any(is_held) || own_key(&name, true) == key, "{name} is not {key}");
        }
        assert_eq!((home("x"), home("mp4:cnid")), (None, None));
    }
}
