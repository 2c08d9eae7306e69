#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use super::{Piece, edited, read};
use crate::limits::{PICTURE_FIELD_BYTES, VALUE_BYTES_MAX, VORBIS_FIELDS_MAX};
use crate::{Edits, Tags};

fn counted(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes(), text].concat()
}

fn packet(count: u32, fields: &[&[u8]]) -> Vec<u8> {
    let fields = fields.iter().flat_map(|field| counted(field));
    counted(b"vendor").into_iter().chain(count.to_le_bytes()).chain(fields).collect()
}

fn tags(packet: &[u8]) -> (Tags, usize) {
    let mut tags = Tags::new();
    let (_, found) = read(packet);
    found.fill(&mut tags);
    (tags, found.problems.len())
}

/// The packet that edits make, as text of its fields.
fn fields_after(fields: &[&str], changes: &[(&str, &[&str])]) -> Vec<String> {
    let fields: Vec<_> = fields.iter().map(|field| field.as_bytes()).collect();
    let old = packet(fields.len() as u32, &fields);
    let (layout, found) = read(&old);
    let mut source = Tags::new();
    found.fill(&mut source);
    let owned = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
    let edits = Edits::over(source, changes.iter().map(|(key, values)| ((*key).to_owned(), owned(values))));
    let Some(pieces) = edited(&layout, &edits, true).unwrap() else { return owned(&["unchanged"]) };
    let new: Vec<u8> = pieces
        .iter()
        .flat_map(|piece| match piece {
            Piece::Made(bytes) => bytes.clone(),
            Piece::Kept(offset, len) => old[*offset as usize..(offset + len) as usize].to_vec(),
        })
        .collect();
    let (layout, _) = read(&new);
    assert!(layout.complete);
    let text = |field: &super::Field| {
        String::from_utf8_lossy(&new[field.offset as usize + 4..field.end() as usize]).into_owned()
    };
    layout.fields.iter().map(text).collect()
}

#[test]
fn aliases_and_numbers_are_read() {
    let fields: [&[u8]; 9] = [
        b"YEAR=1999",
        b"date=1999-05-01",
        b"Organization=L",
        b"TRACKNUMBER=3/12",
        b"Artist=A",
        b"ARTIST=B",
        b"MUSICBRAINZ_TRACKID=r",
        b"My Own=x=y",
        b"disc=1",
    ];
    let (tags, problems) = tags(&packet(9, &fields));
    let expected: [(&str, &[&str]); 8] = [
        ("artist", &["A", "B"]),
        ("date", &["1999-05-01"]),
        ("discnumber", &["1"]),
        ("label", &["L"]),
        ("musicbrainz_recordingid", &["r"]),
        ("my own", &["x=y"]),
        ("totaltracks", &["12"]),
        ("tracknumber", &["3"]),
    ];
    let found: Vec<(&str, &[String])> = tags.iter().collect();
    assert_eq!(found.len(), expected.len());
    for ((key, values), (expected_key, expected_values)) in found.iter().zip(expected) {
        assert_eq!((*key, values.to_vec()), (expected_key, expected_values.iter().map(|v| (*v).to_owned()).collect()));
    }
    assert_eq!(problems, 0);
}

#[test]
fn damage_loses_what_is_damaged_and_is_told() {
    let table: [(Vec<u8>, usize); 6] = [
        (packet(1, &[b"TITLE=a"]), 0),
        (packet(2, &[b"malformed", b"TITLE=a"]), 1),
        (packet(9, &[b"TITLE=a"]), 1),
        ([packet(2, &[b"TITLE=a"]), vec![255, 0, 0, 0, 1]].concat(), 1),
        (packet(2, &[b"TITLE=a", b"ARTIST=\xff"]), 1),
        (packet(1, &[b"TITLE=a", b"ARTIST=beyond the count"]), 0),
    ];
    for (packet, expected) in table {
        let (tags, problems) = tags(&packet);
        assert_eq!((tags.first("title"), problems), (Some("a"), expected), "{:?}", packet.escape_ascii().to_string());
    }
    for nothing in [&[][..], &[1, 0, 0, 0], &[0, 0, 0, 0], &[255; 20]] {
        let (tags, problems) = tags(nothing);
        assert!(tags.is_empty() && problems == 1);
    }
}

#[test]
fn edits_replace_all_aliases_where_the_first_stood() {
    type Changes<'a> = &'a [(&'a str, &'a [&'a str])];
    let table: [(&[&str], Changes<'_>, &[&str]); 9] = [
        (&["a=1", "Title=old", "b=2"], &[("title", &["new"])], &["a=1", "Title=new", "b=2"]),
        (&["YEAR=1", "x=1", "DATE=2"], &[("date", &["3"])], &["DATE=3", "x=1"]),
        (&["artist=1", "x=1", "ARTIST=2"], &[("artist", &["3", "4"])], &["artist=3", "artist=4", "x=1"]),
        (&["TITLE=1", "x=1"], &[("title", &[])], &["x=1"]),
        (&["TRACKNUMBER=3/12"], &[("tracknumber", &["4"])], &["TRACKNUMBER=4", "TOTALTRACKS=12"]),
        (&["TRACKNUMBER=3/12"], &[("totaltracks", &["9"])], &["TRACKNUMBER=3", "TOTALTRACKS=9"]),
        (&["TRACKNUMBER=3/12", "TRACKTOTAL=12"], &[("tracknumber", &["4"])], &["TRACKNUMBER=4", "TRACKTOTAL=12"]),
        (&["malformed", "=x"], &[("my own", &["1"])], &["malformed", "=x", "MY OWN=1"]),
        (&["TITLE=1"], &[("artist", &[])], &["unchanged"]),
    ];
    for (fields, changes, expected) in table {
        assert_eq!(fields_after(fields, changes), expected, "{fields:?} {changes:?}");
    }
}

#[test]
fn untouched_fields_are_ranges() {
    let packet = packet(3, &[b"TITLE=a", b"X=1", b"Y=2"]);
    let (layout, _) = read(&packet);
    let edits = Edits::over(Tags::new(), [("title".to_owned(), vec!["b".to_owned()])]);
    let pieces = edited(&layout, &edits, true).unwrap().unwrap();
    let made = |bytes: &[u8]| Piece::Made(bytes.to_vec());
    let expected = [Piece::Kept(0, 10), made(&[3, 0, 0, 0]), made(b"\x07\0\0\0TITLE=b"), Piece::Kept(25, 14)];
    assert_eq!(pieces, expected);
}

#[test]
fn fields_are_counted_up_to_the_limit() {
    for (count, overflows) in [(VORBIS_FIELDS_MAX, false), (VORBIS_FIELDS_MAX + 1, true)] {
        let (layout, found) = read(&packet(count as u32, &vec![&b"A=b"[..]; count]));
        assert_eq!((layout.overflows(), layout.fields.len()), (overflows, VORBIS_FIELDS_MAX));
        assert_eq!(found.problems.len(), usize::from(overflows));
    }
}

#[test]
fn values_are_read_up_to_the_limit() {
    for (len, expected_problems) in [(VALUE_BYTES_MAX, 0), (VALUE_BYTES_MAX + 1, 1)] {
        let field = [&b"TITLE="[..], &vec![b'x'; len]].concat();
        let (tags, problems) = tags(&packet(1, &[&field]));
        assert_eq!((tags.first("title").unwrap().len(), problems), (VALUE_BYTES_MAX, expected_problems));
    }
}

#[test]
fn pictures_in_fields_are_facts() {
    // A front cover, "image/x", described "d", a GIF of 1 × 2 pixels.
    let field = b"METADATA_BLOCK_PICTURE=AAAAAwAAAAdpbWFnZS94AAAAAWQAAAAAAAAAAAAAAAAAAAAAAAAACkdJRjg5YQEAAgA=";
    let (layout, found) = read(&packet(1, &[field]));
    assert!(layout.fields[0].keys().is_empty());
    let [picture] = &*found.pictures else { panic!("{:?}", found.pictures) };
    assert_eq!((picture.kind, &*picture.mime, &*picture.description), (3, "image/gif", "d"));
    assert_eq!((picture.width, picture.height, picture.range.len), (1, 2, 0));
    // What is decoded is bounded: what lies behind is not looked at.
    let long = [&field[..], &vec![b'A'; PICTURE_FIELD_BYTES]].concat();
    assert_eq!(read(&packet(1, &[&long])).1.pictures.len(), 1);
}
