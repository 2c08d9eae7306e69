//! Whole tags: read, edited, read again.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use proptest::prelude::*;

use super::*;
use crate::limits::{APE_ITEMS_MAX, APE_TAG_BYTES_MAX, APE_TEXT_BYTES_MAX, VALUE_BYTES_MAX};
use crate::splice::SpliceBuilder;
use crate::testing::materialise;
use crate::{Edits, Tags};

fn item(name: &str, flags: u32, value: &[u8]) -> Vec<u8> {
    [&(value.len() as u32).to_le_bytes()[..], &flags.to_le_bytes(), name.as_bytes(), b"\0", value].concat()
}

fn tag(items: &[Vec<u8>], has_header: bool) -> Vec<u8> {
    let flags = if has_header { FLAG_HAS_HEADER } else { 0 };
    let content = items.concat();
    let frame = |flags: u32| {
        let numbers = [VERSION_2, content.len() as u32 + 32, items.len() as u32, flags];
        [&MARK[..], &numbers.map(u32::to_le_bytes).concat(), &[0; 8]].concat()
    };
    let header = if has_header { frame(flags | FLAG_IS_HEADER) } else { Vec::new() };
    [header, content.clone(), frame(flags)].concat()
}

fn read_all(bytes: &[u8]) -> (Tag, Tags, usize) {
    let read = read(&bytes.to_vec(), 0, bytes.len() as u64).unwrap().unwrap();
    let mut tags = Tags::new();
    read.found.fill(&mut tags);
    (read.tag, tags, read.found.problems.len())
}

fn edited(bytes: &[u8], changes: &[(&str, &[&str])]) -> Vec<u8> {
    let (tag, tags, _) = read_all(bytes);
    let changes =
        changes.iter().map(|(key, values)| ((*key).to_owned(), values.iter().map(ToString::to_string).collect()));
    let mut builder = SpliceBuilder::default();
    rewrite(&tag, &Edits::over(tags, changes), true).unwrap().append_to(&mut builder);
    materialise(&builder.finish(), bytes)
}

#[test]
fn items_are_read() {
    let cover = [&b"front.png\0"[..], b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x05\0\0\0\x06"].concat();
    let items = [
        item("Title", 0, b"T"),
        item("ARTIST", 0, b"A\0B"),
        item("Year", 0, b"1999"),
        item("track", 0, b"3/12"),
        item("Album Artist", 0, b"AC/DC"),
        item("MyKey", 0, b"mine"),
        item("Cover Art (Front)", 2, &cover),
    ];
    let bytes = tag(&items, true);
    let (read_tag, tags, problems) = read_all(&bytes);
    for (key, value) in [
        ("title", "T"),
        ("artist", "A"),
        ("date", "1999"),
        ("tracknumber", "3"),
        ("totaltracks", "12"),
        ("albumartist", "AC/DC"),
        ("mykey", "mine"),
    ] {
        assert_eq!(tags.first(key), Some(value), "{key}");
    }
    assert_eq!((read_tag.len, problems), (bytes.len() as u64, 0));
    let pictures = read(&bytes, 0, bytes.len() as u64).unwrap().unwrap().found.pictures;
    assert_eq!((pictures[0].kind, pictures[0].mime.as_str(), pictures[0].width), (3, "image/png", 5));
    assert_eq!(pictures[0].description, "front.png");
}

#[test]
fn other_items_stay_as_they_are() {
    let items = [item("Title", 0, b"T"), item("Odd", 3, b"\0\xff"), item("Track", 0, b"3/12")];
    for has_header in [true, false] {
        let bytes = tag(&items, has_header);
        assert_eq!(edited(&bytes, &[("title", &["T"])]), bytes, "equal values give equal bytes");
        let served = edited(&bytes, &[("title", &["New"]), ("tracknumber", &["4"]), ("genre", &["Rock"])]);
        let expected =
            [item("Title", 0, b"New"), items[1].clone(), item("Track", 0, b"4/12"), item("Genre", 0, b"Rock")];
        assert_eq!(served, tag(&expected, has_header));
    }
}

#[test]
fn damage_costs_one_item_at_most() {
    let mut bytes = tag(&[item("Title", 0, b"T"), item("Artist", 0, b"A")], false);
    bytes[item("Title", 0, b"T").len()] = 99;
    let (structure, tags, problems) = read_all(&bytes);
    assert_eq!((tags.first("title"), tags.first("artist"), problems), (Some("T"), None, 1));
    assert_eq!(structure.rest, item("Artist", 0, b"A").len() as u64);
    let served = edited(&bytes, &[("title", &["New"])]);
    assert!(served.windows(7).any(|window| window == b"Artist\0"));
    let mut lying = tag(&[item("Title", 0, b"T")], false);
    let at = lying.len() - 20;
    lying[at] = 0xff;
    assert_eq!(read_all(&lying).0.len, 32);
}

#[test]
fn names_that_are_not_allowed_are_kept_unread() {
    for name in ["e", "TAG", "Sch\u{f6}n"] {
        let items = [item("Title", 0, b"T"), item(name, 0, b"x"), item("Artist", 0, b"A")];
        let bytes = tag(&items, true);
        let (_, tags, problems) = read_all(&bytes);
        assert_eq!((tags.iter().count(), tags.first("artist"), problems), (2, Some("A"), 0));
        let expected = [item("Title", 0, b"New"), items[1].clone(), items[2].clone()];
        assert_eq!(edited(&bytes, &[("title", &["New"])]), tag(&expected, true));
    }
}

#[test]
fn a_footer_that_denies_itself_is_one() {
    let items = [item("Title", 0, b"T")];
    let mut bytes = tag(&items, true);
    for at in [23, bytes.len() - 9] {
        bytes[at] |= 0x40;
    }
    assert_eq!(read_all(&bytes).1.first("title"), Some("T"));
    assert_eq!(edited(&bytes, &[("title", &["T"])]), bytes);
}

#[test]
fn no_more_items_than_the_limit() {
    for (count, problems) in [(APE_ITEMS_MAX, 0), (APE_ITEMS_MAX + 1, 1)] {
        let (tag, _, found) = read_all(&tag(&vec![item("Key", 0, b"v"); count], false));
        assert_eq!((tag.items.len(), found), (APE_ITEMS_MAX, problems));
    }
}

#[test]
fn text_is_read_up_to_the_limits() {
    let problems = |items: &[Vec<u8>]| read_all(&tag(items, false)).2;
    for (len, unread) in [(VALUE_BYTES_MAX, 0), (VALUE_BYTES_MAX + 1, 1)] {
        assert_eq!(problems(&[item("Title", 0, &vec![b'x'; len])]), unread);
    }
    let quarter = item("Comment", 0, &vec![b'x'; APE_TEXT_BYTES_MAX as usize / 4]);
    for (more, unread) in [(0, 0), (1, 1)] {
        let items = [vec![quarter.clone(); 4], vec![item("Title", 0, &vec![b'x'; more])]].concat();
        assert_eq!(problems(&items), unread);
    }
    for (len, unread) in [(255, 0), (256, 1)] {
        assert_eq!(problems(&[item(&"k".repeat(len), 0, b"v")]), unread);
    }
}

#[test]
fn what_is_too_large_is_refused() {
    let (mut tag, ..) = read_all(&tag(&[item("Title", 0, b"Old")], false));
    let edits = Edits::over(Tags::new(), [("title".to_owned(), vec!["New".to_owned()])]);
    let others = item("Title", 0, b"New").len() as u64 + FOOTER_BYTES;
    for (rest, fits) in [(APE_TAG_BYTES_MAX - others, true), (APE_TAG_BYTES_MAX - others + 1, false)] {
        tag.rest = rest;
        assert_eq!(rewrite(&tag, &edits, true).is_ok(), fits);
    }
}

proptest! {
    #[test]
    fn edits_are_read_back(
        old in prop::collection::btree_map(prop::sample::select(vec!["title", "artist", "mykey", "discnumber", "label"]), "[a-z1-9]{1,5}", 0..5),
        new in prop::collection::btree_map(prop::sample::select(vec!["title", "date", "mykey", "totaldiscs", "other"]), prop::collection::vec("[1-9][0-9]?", 0..2), 1..5),
        has_header in any::<bool>(),
    ) {
        let binary = item("Binary", 2, &[0, 1, 2, 255]);
        let mut items: Vec<_> = old.iter().map(|(key, value)| item(key, 0, value.as_bytes())).collect();
        items.insert(items.len() / 2, binary.clone());
        let bytes = tag(&items, has_header);
        let (structure, tags, _) = read_all(&bytes);
        let edits = Edits::over(tags, new.into_iter().map(|(key, values)| (key.to_owned(), values)));
        let mut builder = SpliceBuilder::default();
        let pieces = rewrite(&structure, &edits, true).unwrap();
        pieces.append_to(&mut builder);
        let served = materialise(&builder.finish(), &bytes);
        prop_assert_eq!(served.len() as u64, pieces.len());
        let (_, read, problems) = read_all(&served);
        prop_assert_eq!(&read, edits.effective());
        prop_assert_eq!(problems, 0);
        prop_assert!(served.windows(binary.len()).any(|window| window == binary));
    }
}
