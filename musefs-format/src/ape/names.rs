//! Which canonical keys the items of a tag hold.
//!
//! Item names are free and compare without case, as field names of Vorbis comments do, and are read alike;
//! those below are written in the spelling of the specification's list.

use crate::table::{self, Column, Part, Place, Slot};

/// Keys whose items have another name than their Vorbis field.
const NAMES: [(&str, &str, Option<Part>); 13] = [
    ("title", "Title", None),
    ("artist", "Artist", None),
    ("album", "Album", None),
    ("albumartist", "Album Artist", None),
    ("date", "Year", None),
    ("tracknumber", "Track", Some(Part::Number)),
    ("totaltracks", "Track", Some(Part::Total)),
    ("discnumber", "Disc", Some(Part::Number)),
    ("totaldiscs", "Disc", Some(Part::Total)),
    ("genre", "Genre", None),
    ("comment", "Comment", None),
    ("composer", "Composer", None),
    ("remixer", "MixArtist", None),
];

/// Prefix of keys that are an item's own.
const PREFIX: &str = "ape:";

/// What an item holds, with the rank of each key.
pub(super) fn places(name: &str) -> Vec<(Place, u8)> {
    let own: Vec<_> = NAMES.iter().filter(|(_, known, _)| known.eq_ignore_ascii_case(name)).collect();
    if own.is_empty() {
        // Behind the names of the list.
        return table::places(Column::Vorbis, name, None)
            .iter()
            .map(|&place| (place, place.rank.saturating_add(1)))
            .collect();
    }
    own.into_iter().map(|&(key, _, part)| (Place { key, rank: 0, part }, 0)).collect()
}

/// The key of an item that holds no canonical one.
pub(super) fn own_key(name: &str, is_text: bool) -> String {
    if is_text { table::free_key(Column::Vorbis, name) } else { format!("{PREFIX}{}", name.to_lowercase()) }
}

/// The item that a key is written to, and which side of it; `None` if a tag cannot hold it.
pub(super) fn home(key: &str) -> Option<(String, Option<Part>)> {
    if let Some((_, name, part)) = NAMES.iter().find(|(known, ..)| *known == key) {
        return Some(((*name).to_owned(), *part));
    }
    let name = match table::slots(key, Column::Vorbis).first() {
        Some(Slot::Whole(name) | Slot::Detail(name, _) | Slot::Part(name, _)) => (*name).to_owned(),
        Some(Slot::Date(_)) => return None,
        None => match key.strip_prefix(PREFIX) {
            Some(name) => name.to_uppercase(),
            None => table::free_name(Column::Vorbis, key)?,
        },
    };
    is_name(name.as_bytes()).then_some((name, None))
}

/// Whether a name is allowed: 2 to 255 ASCII letters, and none of those that other formats begin with.
pub(super) fn is_name(name: &[u8]) -> bool {
    let forbidden = [&b"ID3"[..], b"TAG", b"OggS", b"MP+"];
    (2..=255).contains(&name.len())
        && name.iter().all(|byte| (0x20..=0x7e).contains(byte))
        && !forbidden.iter().any(|other| other.eq_ignore_ascii_case(name))
}
