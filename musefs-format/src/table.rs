//! The one table of tags: which canonical key stands where in which container.
//!
//! The table itself is data (`table/tags.txt`, its syntax is explained there), read once. Keys that it does
//! not know keep their own name: free-form places (Vorbis fields, `TXXX` frames) have the key of their
//! lower-case name, so that a key of the user's own means the same in every container; other native places
//! stand under a prefix, `id3:` and the like.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A column of the table: a container's own way to name places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// Field names of Vorbis comments.
    Vorbis,
    /// Frames of ID3v2.4.
    Id3v24,
    /// Frames of ID3v2.3.
    Id3v23,
    /// Frames of ID3v2.2.
    Id3v22,
    /// Items of MP4's `ilst`; `----` with a name are free-form.
    Mp4,
    /// Entries of RIFF's INFO list.
    RiffInfo,
    /// Text chunks of AIFF.
    Aiff,
    /// Items of APE tags that have another name than the Vorbis field of the key.
    Ape,
}

impl Column {
    /// All columns, in the order of the table's cells.
    pub const ALL: [Self; 8] =
        [Self::Vorbis, Self::Id3v24, Self::Id3v23, Self::Id3v22, Self::Mp4, Self::RiffInfo, Self::Aiff, Self::Ape];

    /// Prefix of keys that stand for native places without a canonical key, with its colon.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Vorbis => "vorbis:",
            Self::Id3v24 | Self::Id3v23 | Self::Id3v22 => "id3:",
            Self::Mp4 => "mp4:",
            Self::RiffInfo => "riff:",
            Self::Aiff => "aiff:",
            Self::Ape => "ape:",
        }
    }
}

/// A side of "number/total".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Before the slash.
    Number,
    /// Behind the slash.
    Total,
}

/// A place in a container for the values of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The field or frame of this name holds the values.
    Whole(&'static str),
    /// The frame of this name with this description, owner or role; `*` stands for each role that no other key has.
    Detail(&'static str, &'static str),
    /// One side of the "number/total" there.
    Part(&'static str, Part),
    /// Year, day and month, and time of a date in three frames (ID3v2.3, section 4.2.1).
    Date([&'static str; 3]),
}

/// A key that a native place holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The canonical key.
    pub key: &'static str,
    /// Order of preference among the places of the key: of several that are filled, the lowest rank is the key's value.
    pub rank: u8,
    /// Which side of a "number/total" is meant; `None` for the whole value.
    pub part: Option<Part>,
}

struct Table {
    keys: Vec<&'static str>,
    slots: HashMap<(Column, &'static str), Vec<Slot>>,
    /// Lower-case names (and details) of places.
    places: HashMap<(Column, String, Option<String>), Vec<Place>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("table/tags.txt")));

/// Name of MP4's free-form items.
pub const FREE_FORM: &str = "----";

/// All canonical keys in the order of the table.
pub fn keys() -> &'static [&'static str] {
    &TABLE.keys
}

/// Where a column keeps a key: the first slot is written, each is read. Empty if the table has none there.
pub fn slots(key: &str, column: Column) -> &'static [Slot] {
    let row = TABLE.keys.iter().find(|known| **known == key);
    row.and_then(|key| TABLE.slots.get(&(column, *key))).map_or(&[], Vec::as_slice)
}

/// The canonical keys that a native place holds; empty if it has a key of its own ([`free_key`], [`native_key`]).
///
/// `detail` is the description, owner or role where frames of that name have one. Case does not matter.
pub fn places(column: Column, name: &str, detail: Option<&str>) -> &'static [Place] {
    let find = |column, name: &str, detail: Option<&str>| {
        TABLE.places.get(&(column, name.to_lowercase(), detail.map(str::to_lowercase))).map(Vec::as_slice)
    };
    let is_user_text = column != Column::Vorbis && is_user_text(name);
    find(column, name, detail)
        .or_else(|| detail.and_then(|_| find(column, name, Some("*"))))
        .or_else(|| detail.filter(|_| is_user_text).and_then(|detail| find(Column::Vorbis, detail, None)))
        .unwrap_or_default()
}

/// The key of a free-form place (a Vorbis field, a `TXXX` frame's description) that holds no canonical key.
///
/// A name that begins like the key of a native place gets the prefix of its column.
pub fn free_key(column: Column, name: &str) -> String {
    let name = name.to_lowercase();
    if has_prefix(&name) { format!("{}{name}", column.prefix()) } else { name }
}

/// The name of the free-form place of a key that the table does not know: upper-case, without the column's prefix.
/// `None` for a key that belongs to another kind of container.
pub fn free_name(column: Column, key: &str) -> Option<String> {
    let name = key.strip_prefix(column.prefix()).or_else(|| (!has_prefix(key)).then_some(key))?;
    Some(name.to_uppercase())
}

/// The key of a native place that holds no canonical key and is not free-form: `id3:priv:owner`.
pub fn native_key(column: Column, name: &str, detail: Option<&str>) -> String {
    let detail = detail.map(|detail| format!(":{detail}")).unwrap_or_default();
    format!("{}{name}{detail}", column.prefix()).to_lowercase()
}

/// The key that is meant by another name of it, as people and scripts write them: `Year` is `date`, `vorbis:title`
/// and `id3:tit2` are `title`. Other keys are only lower-cased.
pub fn canonical_key(key: &str) -> Cow<'_, str> {
    let lower = if key.chars().any(char::is_uppercase) { Cow::Owned(key.to_lowercase()) } else { Cow::Borrowed(key) };
    if TABLE.keys.contains(&lower.as_ref()) {
        return lower;
    }
    if let Some(frame) = lower.strip_prefix("id3:") {
        let (name, detail) = frame.split_once(':').map_or((frame, None), |(name, detail)| (name, Some(detail)));
        let place = [Column::Id3v24, Column::Id3v23, Column::Id3v22]
            .into_iter()
            .find_map(|column| places(column, name, detail).first());
        return match (place, detail) {
            (Some(place), _) => Cow::Borrowed(place.key),
            (None, Some(detail)) if is_user_text(name) => Cow::Owned(free_key(Column::Id3v24, detail)),
            _ => lower,
        };
    }
    if let Some(name) = lower.strip_prefix(Column::Mp4.prefix()) {
        let place = match name.strip_prefix("----:") {
            Some(detail) => places(Column::Mp4, FREE_FORM, Some(detail)).first(),
            None => places(Column::Mp4, name, None).first(),
        };
        return match (place, name.strip_prefix("----:")) {
            (Some(place), _) => Cow::Borrowed(place.key),
            (None, Some(detail)) => Cow::Owned(free_key(Column::Mp4, detail)),
            (None, None) => lower,
        };
    }
    let same = |column| (column, column);
    for (prefix, column) in
        [same(Column::RiffInfo), same(Column::Aiff), same(Column::Ape), (Column::Ape, Column::Vorbis)]
    {
        let place = lower.strip_prefix(prefix.prefix()).and_then(|name| places(column, name, None).first());
        if let Some(place) = place {
            return Cow::Borrowed(place.key);
        }
    }
    let name = lower.strip_prefix(Column::Vorbis.prefix()).unwrap_or(&lower);
    match places(Column::Vorbis, name, None).first() {
        Some(place) => Cow::Borrowed(place.key),
        None if name.len() < lower.len() => Cow::Owned(free_key(Column::Vorbis, name)),
        None => lower,
    }
}

/// The key of the total that belongs to a number: `totaltracks` to `tracknumber`.
pub fn total_of(key: &str) -> Option<&'static str> {
    let Slot::Part(name, Part::Number) = slots(key, Column::Id3v24).first()? else { return None };
    places(Column::Id3v24, name, None).iter().find(|place| place.part == Some(Part::Total)).map(|place| place.key)
}

/// The sides of "number/total"; `None` if a side is anything but digits: "A/B" is one value.
pub fn split_number(value: &str) -> Option<(&str, &str)> {
    let (number, total) = value.split_once('/')?;
    let (number, total) = (number.trim(), total.trim());
    let digits = |side: &str| !side.is_empty() && side.bytes().all(|byte| byte.is_ascii_digit());
    (digits(number) && digits(total)).then_some((number, total))
}

/// Whether a key names a place of one kind of container.
fn has_prefix(key: &str) -> bool {
    ["vorbis:", "id3:", "mp4:", "ape:", "riff:", "aiff:", "asf:", "matroska:"]
        .iter()
        .any(|prefix| key.starts_with(prefix))
}

fn is_user_text(name: &str) -> bool {
    ["TXXX", "TXX", FREE_FORM].iter().any(|known| known.eq_ignore_ascii_case(name))
}

impl Table {
    fn parse(text: &'static str) -> Self {
        let mut table = Self { keys: Vec::new(), slots: HashMap::new(), places: HashMap::new() };
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let mut cells = line.split('|').map(str::trim);
            let key = cells.next().unwrap_or_default();
            table.keys.push(key);
            let mut before = "";
            for (column, cell) in Column::ALL.into_iter().zip(cells) {
                before = if cell == "=" { before } else { cell };
                table.add(key, column, before);
            }
        }
        table.add_own_names();
        table
    }

    fn add(&mut self, key: &'static str, column: Column, cell: &'static str) {
        if cell == "-" {
            return;
        }
        let slots: Vec<_> = cell.split(',').map(str::trim).map(Slot::parse).collect();
        for (rank, slot) in (0..).zip(&slots) {
            for (name, detail, part) in slot.names() {
                let name = (column, name.to_lowercase(), detail.map(str::to_lowercase));
                self.places.entry(name).or_default().push(Place { key, rank, part });
            }
        }
        self.slots.insert((column, key), slots);
    }

    /// A Vorbis field named like a key holds it, behind all names that the table gives, unless it means another key.
    fn add_own_names(&mut self) {
        for key in &self.keys {
            let own = Place { key, rank: u8::MAX, part: None };
            self.places.entry((Column::Vorbis, (*key).to_owned(), None)).or_insert_with(|| vec![own]);
        }
    }
}

impl Slot {
    fn parse(text: &'static str) -> Self {
        let mut frames = text.split('+');
        if let (Some(year), Some(day), Some(time)) = (frames.next(), frames.next(), frames.next()) {
            return Self::Date([year, day, time]);
        }
        match (text.split_once(':'), text.split_once('#')) {
            (Some((name, detail)), _) => Self::Detail(name, detail),
            (None, Some((name, "1"))) => Self::Part(name, Part::Number),
            (None, Some((name, _))) => Self::Part(name, Part::Total),
            (None, None) => Self::Whole(text),
        }
    }

    /// Name, detail and part of each native place of the slot.
    fn names(&self) -> Vec<(&'static str, Option<&'static str>, Option<Part>)> {
        match *self {
            Self::Whole(name) => vec![(name, None, None)],
            Self::Detail(name, detail) => vec![(name, Some(detail), None)],
            Self::Part(name, part) => vec![(name, None, Some(part))],
            Self::Date(names) => names.iter().map(|name| (*name, None, None)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_well_formed() {
        assert!(keys().len() > 100);
        for (at, key) in keys().iter().enumerate() {
            assert!(!keys()[..at].contains(key), "{key} twice");
            assert_eq!(*key, key.to_lowercase());
            for column in Column::ALL {
                let is_partial = matches!(column, Column::RiffInfo | Column::Aiff | Column::Ape);
                assert!(is_partial || !slots(key, column).is_empty(), "{key} has no slot in {column:?}");
            }
        }
    }

    #[test]
    fn what_is_written_is_read_back_as_the_same_key() {
        for key in keys() {
            for column in Column::ALL {
                for (name, detail, part) in slots(key, column).first().map(Slot::names).unwrap_or_default() {
                    let holds = places(column, name, detail)
                        .iter()
                        .any(|place| place.key == *key && place.rank == 0 && place.part == part);
                    assert!(holds, "{column:?} {name} {detail:?} is not {key}");
                }
            }
        }
    }

    #[test]
    fn a_place_holds_one_key_or_the_two_sides_of_a_number() {
        for ((column, name, detail), places) in &TABLE.places {
            let parts: Vec<_> = places.iter().map(|place| place.part).collect();
            let expected: &[_] = if places.len() == 1 { &parts } else { &[Some(Part::Number), Some(Part::Total)] };
            assert_eq!(parts, expected, "{column:?} {name} {detail:?}");
        }
    }

    #[test]
    fn other_names_of_keys_are_understood() {
        for (name, key) in [
            ("Title", "title"),
            ("year", "date"),
            ("ALBUM ARTIST", "albumartist"),
            ("track", "tracknumber"),
            ("vorbis:organization", "label"),
            ("id3:TIT2", "title"),
            ("id3:tyer", "date"),
            ("id3:tp1", "artist"),
            ("id3:txxx:MusicBrainz Album Id", "musicbrainz_albumid"),
            ("id3:txxx:my own", "my own"),
            ("id3:priv:WM/Provider", "id3:priv:wm/provider"),
            ("mp4:©NAM", "title"),
            ("mp4:----:initialkey", "key"),
            ("mp4:----:My Own", "my own"),
            ("mp4:cnID", "mp4:cnid"),
            ("mp4:com.serato.dj:x", "mp4:com.serato.dj:x"),
            ("musicbrainz_trackid", "musicbrainz_trackid"),
            ("vorbis:musicbrainz_trackid", "musicbrainz_recordingid"),
            ("riff:INAM", "title"),
            ("riff:itrk", "tracknumber"),
            ("riff:ISBJ", "riff:isbj"),
            ("aiff:(c)", "copyright"),
            ("ape:Year", "date"),
            ("ape:mixartist", "remixer"),
            ("ape:organization", "label"),
            ("ape:cover art (front)", "ape:cover art (front)"),
            ("My Own", "my own"),
            ("vorbis:mine", "mine"),
            ("vorbis:a:b", "a:b"),
            ("vorbis:id3:x", "vorbis:id3:x"),
        ] {
            assert_eq!(canonical_key(name), key, "{name}");
        }
    }

    #[test]
    fn numbers_have_totals() {
        assert_eq!(total_of("tracknumber"), Some("totaltracks"));
        assert_eq!(total_of("movementnumber"), Some("movementtotal"));
        assert_eq!(total_of("totaltracks"), None);
        assert_eq!(total_of("title"), None);
        assert_eq!(split_number("3/12"), Some(("3", "12")));
        assert_eq!(split_number(" 03 / 12 "), Some(("03", "12")));
        for whole in ["3", "3/", "/12", "A/B", "3/4/5", ""] {
            assert_eq!(split_number(whole), None);
        }
    }

    #[test]
    fn free_names_and_keys_are_inverse() {
        for (key, name) in
            [("my own", Some("MY OWN")), ("a:b", Some("A:B")), ("vorbis:id3:x", Some("ID3:X")), ("id3:priv:x", None)]
        {
            assert_eq!(free_name(Column::Vorbis, key).as_deref(), name);
            if let Some(name) = name {
                assert_eq!(free_key(Column::Vorbis, name), key);
            }
        }
        assert_eq!(places(Column::Id3v23, "TXXX", Some("Organization"))[0].key, "label");
        assert_eq!(places(Column::Mp4, FREE_FORM, Some("Organization"))[0].key, "label");
        assert_eq!(places(Column::RiffInfo, "inam", None)[0].key, "title");
        assert_eq!(places(Column::RiffInfo, "-", None), []);
    }
}
