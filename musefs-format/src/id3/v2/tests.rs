//! Whole tags: read, edited, read again.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use proptest::prelude::*;

use super::*;
use crate::limits::{
    ID3_PADDING_BYTES_MAX, ID3_PICTURE_HEAD_BYTES, ID3_TAG_BYTES_MAX, ID3_TEXT_BYTES_MAX, ID3_UNSYNC_BYTES_MAX,
    KEY_BYTES_MAX, VALUE_BYTES_MAX,
};
use crate::splice::SpliceBuilder;
use crate::testing::materialise;
use crate::{Edits, Tags};

fn frame(version: Version, name: &str, flags: [u8; 2], payload: &[u8]) -> Vec<u8> {
    let size = payload.len() as u32;
    let size = if version == Version::V24 { to_syncsafe(size) } else { size.to_be_bytes() };
    match version {
        Version::V22 => [name.as_bytes(), &size[1..], payload].concat(),
        _ => [name.as_bytes(), &size, &flags, payload].concat(),
    }
}

fn text(version: Version, name: &str, text: &[u8]) -> Vec<u8> {
    frame(version, name, [0; 2], text)
}

fn tag(version: Version, flags: u8, content: &[u8]) -> Vec<u8> {
    let size = to_syncsafe(content.len() as u32);
    [&b"ID3"[..], &[version.major(), 0, flags], &size, content].concat()
}

fn read_all(bytes: &[u8]) -> (Tag, Tags, Vec<String>) {
    let read = read(&bytes.to_vec(), 0).unwrap().unwrap();
    let mut tags = Tags::new();
    read.found.fill(&mut tags);
    (read.tag.unwrap(), tags, read.found.problems.into_iter().map(|problem| problem.0).collect())
}

fn edited(bytes: &[u8], changes: &[(&str, &[&str])], room: Room) -> Vec<u8> {
    let (tag, tags, _) = read_all(bytes);
    let changes =
        changes.iter().map(|(key, values)| ((*key).to_owned(), values.iter().map(ToString::to_string).collect()));
    let pieces = rewrite(&tag, &Edits::over(tags, changes), true, room).unwrap();
    let mut builder = SpliceBuilder::default();
    pieces.append_to(&mut builder);
    assert_eq!(builder.len(), pieces.len());
    materialise(&builder.finish(), bytes)
}

#[test]
fn frames_of_all_kinds_are_read() {
    use Version::{V22, V23, V24};
    type Case<'a> = (Version, &'a str, &'a [u8], &'a str, &'a [&'a str]);
    let cases: [Case<'_>; 26] = [
        (V22, "TT2", b"\0Title", "title", &["Title"]),
        (V23, "TPE1", b"\0AC/DC\0Other", "artist", &["AC/DC", "Other"]),
        (V23, "TCON", b"\0(17)(18)Mine", "genre", &["Rock", "Techno", "Mine"]),
        (V24, "TCON", b"\x0317\0Duo Cello/Piano", "genre", &["Rock", "Duo Cello/Piano"]),
        (V23, "TRCK", b"\x003/12", "tracknumber", &["3"]),
        (V23, "TRCK", b"\x003/12", "totaltracks", &["12"]),
        (V23, "TPOS", b"\0A/B", "discnumber", &["A/B"]),
        (V24, "TDRC", b"\x002003-05", "date", &["2003-05"]),
        (V23, "TDRC", b"\x002003-05", "date", &["2003-05"]),
        (V24, "TYER", b"\x002003", "date", &["2003"]),
        (V22, "TYE", b"\x002003", "date", &["2003"]),
        (V23, "TORY", b"\x001999", "originaldate", &["1999"]),
        (V24, "TXXX", b"\x03MyKey\0mine\0too", "mykey", &["mine", "too"]),
        (V23, "TXXX", b"\0MusicBrainz Album Id\0x", "musicbrainz_albumid", &["x"]),
        (V23, "UFID", b"http://musicbrainz.org\0abc", "musicbrainz_recordingid", &["abc"]),
        (V23, "COMM", b"\0eng\0hello", "comment", &["hello"]),
        (V23, "COMM", b"\0enghello", "comment", &["hello"]),
        (V23, "COMM", b"\0engiTunNORM\0 0001", "id3:comm:itunnorm", &[" 0001"]),
        (V24, "USLT", b"\x03deu\0la\nla", "lyrics", &["la\nla"]),
        (V24, "TIPL", b"\x03producer\0P\0DJ-mix\0D\0cook\0C", "djmixer", &["D"]),
        (V24, "TIPL", b"\x03producer\0P\0DJ-mix\0D\0cook\0C", "performer", &["C (cook)"]),
        (V23, "IPLS", b"\0guitar\0G", "performer", &["G (guitar)"]),
        (V24, "WOAR", b"http://a", "website", &["http://a"]),
        (V24, "WOAF", b"http://b", "id3:woaf", &["http://b"]),
        (V24, "TFOO", b"\x03bar", "id3:tfoo", &["bar"]),
        (V23, "TCMP", b"\x001\0", "compilation", &["1"]),
    ];
    for (version, name, payload, key, values) in cases {
        let (_, tags, problems) = read_all(&tag(version, 0, &text(version, name, payload)));
        assert_eq!(
            (tags.get(key), problems.len()),
            (&values.iter().map(ToString::to_string).collect::<Vec<_>>()[..], 0),
            "{name}"
        );
    }
}

#[test]
fn dates_in_parts_are_joined() {
    let frames = [
        text(Version::V23, "TIME", b"\x001230"),
        text(Version::V23, "TYER", b"\x002003"),
        text(Version::V23, "TDAT", b"\x000405"),
    ];
    assert_eq!(read_all(&tag(Version::V23, 0, &frames.concat())).1.get("date"), ["2003-05-04T12:30"]);
}

#[test]
fn frames_with_flags_are_read_where_possible() {
    let zlib = miniz_oxide::deflate::compress_to_vec_zlib(b"\0Packed", 6);
    let v23 = frame(Version::V23, "TIT2", [0, 0x80], &[&[0, 0, 0, 7][..], &zlib].concat());
    let v24 = frame(Version::V24, "TIT2", [0, 0x09], &[&[0, 0, 0, 7][..], &zlib].concat());
    let grouped = frame(Version::V24, "TIT2", [0, 0x40], b"\x07\0Packed");
    let stuffed = frame(Version::V24, "TIT2", [0, 0x02], b"\x01\xff\0\xfeP\0a\0c\0k\0e\0d\0");
    for (version, bytes) in [(Version::V23, v23), (Version::V24, v24), (Version::V24, grouped), (Version::V24, stuffed)]
    {
        assert_eq!(read_all(&tag(version, 0, &bytes)).1.get("title"), ["Packed"], "{bytes:02x?}");
    }
    let encrypted = tag(Version::V24, 0, &frame(Version::V24, "TIT2", [0, 0x04], b"\x07secret"));
    let (structure, tags, problems) = read_all(&encrypted);
    assert!(tags.is_empty() && problems.len() == 1);
    assert_eq!(structure.frames[0].keys, ["title"], "an edit replaces it");
}

#[test]
fn untouched_frames_and_size_stay_where_there_is_room() {
    let private = text(Version::V23, "PRIV", b"owner\0\xff\0\xe0 bytes");
    let content =
        [private.clone(), text(Version::V23, "TIT2", b"\0Old"), text(Version::V23, "TPE1", b"\0Me"), vec![0; 100]]
            .concat();
    let bytes = tag(Version::V23, 0, &content);
    let served = edited(&bytes, &[("title", &["Neuer Titel"]), ("mykey", &["x"])], Room::Aligned);
    assert_eq!(served.len(), bytes.len());
    assert_eq!(served[10..10 + private.len()], private);
    let tags = read_all(&served).1;
    assert_eq!(
        (tags.get("title"), tags.get("artist"), tags.get("mykey")),
        (&["Neuer Titel".to_owned()][..], &["Me".to_owned()][..], &["x".to_owned()][..])
    );
}

#[test]
fn growth_is_aligned_or_tight() {
    let bytes = tag(Version::V24, 0, &text(Version::V24, "TIT2", b"\x03Old"));
    let aligned = edited(&bytes, &[("title", &["longer"])], Room::Aligned);
    assert_eq!(aligned.len(), bytes.len() + 4096);
    let tight = edited(&bytes, &[("title", &["longer"])], Room::Tight);
    assert_eq!(tight.len(), bytes.len() + 3);
    let mut footed = tag(Version::V24, FLAG_FOOTER, &text(Version::V24, "TIT2", b"\x03Old"));
    let footer = [b"3DI", &footed[3..10]].concat();
    footed.extend(footer);
    let served = edited(&footed, &[("title", &["longer"])], Room::Aligned);
    assert_eq!(served.len(), footed.len() + 3);
    assert_eq!(served[served.len() - 7..], served[3..10]);
}

#[test]
fn unsynchronised_tags_are_resolved() {
    let binary = text(Version::V23, "PRIV", b"x\0\xff\0\xff\xe0\xff\0\0\xff");
    let content =
        [text(Version::V23, "TIT2", b"\x01\xff\xfea\0"), binary.clone(), text(Version::V23, "TPE1", b"\0Me")].concat();
    let stuffed: Vec<u8> = unsync_fully(&content);
    let bytes = tag(Version::V23, FLAG_UNSYNCHRONISED, &stuffed);
    let (structure, tags, problems) = read_all(&bytes);
    assert_eq!(
        (tags.get("title"), tags.get("artist"), problems.len()),
        (&["a".to_owned()][..], &["Me".to_owned()][..], 0)
    );
    assert_eq!(structure.frames.iter().map(|frame| frame.len).sum::<u64>(), stuffed.len() as u64);
    let served = edited(&bytes, &[("artist", &["You"])], Room::Tight);
    assert_eq!(served[5] & FLAG_UNSYNCHRONISED, 0);
    assert!(served.windows(binary.len()).any(|window| window == binary));
    assert_eq!(read_all(&served).1.get("title"), ["a"]);
}

fn unsync_fully(bytes: &[u8]) -> Vec<u8> {
    let mut stuffed = Vec::new();
    for (at, &byte) in bytes.iter().enumerate() {
        stuffed.push(byte);
        if byte == 0xff && bytes.get(at + 1).is_none_or(|&next| next == 0 || next >= 0xe0) {
            stuffed.push(0);
        }
    }
    stuffed
}

#[test]
fn sizes_that_count_stuffing_keep_their_form() {
    let content = [
        text(Version::V23, "PRIV", b"x\0\xff\0\0\xff\0\0\xff\0\0"),
        text(Version::V23, "TIT2", b"\x01\xff\xfea\0"),
        text(Version::V23, "TPE1", b"\0Me"),
        text(Version::V23, "TALB", b"\0An album"),
    ];
    let bytes = tag(Version::V23, FLAG_UNSYNCHRONISED, &content.concat());
    let (structure, tags, _) = read_all(&bytes);
    assert_eq!(
        (structure.sizes, tags.get("title"), tags.get("album")),
        (FrameSizes::Stuffed, &["a".to_owned()][..], &["An album".to_owned()][..])
    );
    let served = edited(&bytes, &[("artist", &["\u{ff}\u{100}"])], Room::Tight);
    assert_ne!(served[5] & FLAG_UNSYNCHRONISED, 0);
    assert_eq!(read_all(&served).1.get("artist"), ["\u{ff}\u{100}"]);
    assert_eq!(read_all(&served).1.get("title"), ["a"]);
}

#[test]
fn what_is_no_frame_is_kept_behind_the_new_ones() {
    let good = text(Version::V23, "TIT2", b"\0Good");
    let broken = text(Version::V23, "TALB", b"\0an album")[..12].to_vec();
    let broken = [&broken[..4], &[0, 0, 9, 9], &broken[8..]].concat();
    let bytes = tag(Version::V23, 0, &[good, broken.clone()].concat());
    let (_, tags, problems) = read_all(&bytes);
    assert_eq!((tags.get("title"), problems.len()), (&["Good".to_owned()][..], 1));
    let served = edited(&bytes, &[("artist", &["Me"])], Room::Tight);
    assert!(served.ends_with(&broken));
    assert_eq!(read_all(&served).1.get("artist"), ["Me"]);
}

#[test]
fn a_tag_longer_than_the_file_ends_behind_its_frames() {
    let mut bytes = tag(
        Version::V23,
        0,
        &[text(Version::V23, "TIT2", b"\0Good"), text(Version::V23, "TALB", b"\0Album cut")].concat(),
    );
    bytes.truncate(bytes.len() - 3);
    let (structure, tags, problems) = read_all(&bytes);
    assert_eq!((structure.len, tags.get("title")), (10 + 15, &["Good".to_owned()][..]));
    assert!(problems.iter().any(|problem| problem.contains("longer than the file")));
}

#[test]
fn extended_headers_are_passed_and_left_out() {
    let title = text(Version::V24, "TIT2", b"\x03Title");
    let v23 = text(Version::V23, "TIT2", b"\0Title");
    for (version, extended, frame) in [
        (Version::V23, &[0, 0, 0, 6, 0, 0, 0, 0, 0, 0][..], &v23),
        (Version::V23, &[0, 0, 0, 10, 0x80, 0, 0, 0, 0, 0, 1, 2, 3, 4], &v23),
        (Version::V24, &[0, 0, 0, 6, 1, 0], &title),
        (Version::V24, &[0, 0, 0, 12, 1, 0x20, 5, 1, 2, 3, 4, 5], &title),
        (Version::V24, &[0, 0, 0, 6, 1, 0, 0, 0, 0, 0], &title),
        (Version::V24, &[], &title),
    ] {
        let bytes = tag(version, FLAG_EXTENDED, &[extended, frame].concat());
        let (structure, tags, problems) = read_all(&bytes);
        assert_eq!(
            (tags.first("title"), structure.extended, problems.len()),
            (Some("Title"), extended.len() as u64, 0)
        );
        let served = edited(&bytes, &[("artist", &["Me"])], Room::Tight);
        assert_eq!(served[5], 0);
        assert_eq!(read_all(&served).1.first("title"), Some("Title"));
    }
}

#[test]
fn a_number_and_its_total_share_a_frame() {
    let bytes = tag(Version::V23, 0, &text(Version::V23, "TRCK", b"\x003/12"));
    for (changes, number, total) in [
        (&[("tracknumber", &["4"][..])][..], Some("4"), Some("12")),
        (&[("totaltracks", &["9"])], Some("3"), Some("9")),
        (&[("totaltracks", &[])], Some("3"), None),
        (&[("tracknumber", &[])], None, Some("12")),
    ] {
        let tags = read_all(&edited(&bytes, changes, Room::Tight)).1;
        assert_eq!((tags.first("tracknumber"), tags.first("totaltracks")), (number, total), "{changes:?}");
    }
}

#[test]
fn a_removed_key_leaves_all_its_frames() {
    let frames = [
        text(Version::V24, "TPE2", b"\x03A"),
        text(Version::V24, "TXXX", b"\x03ALBUM ARTIST\0B"),
        text(Version::V24, "TIT2", b"\x03T"),
    ];
    let served = edited(&tag(Version::V24, 0, &frames.concat()), &[("albumartist", &[])], Room::Tight);
    assert_eq!(served, tag(Version::V24, 0, &[&frames[2][..], &vec![0; frames[0].len() + frames[1].len()]].concat()));
}

#[test]
fn pictures_are_ranges() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x05\0\0\0\x06";
    let apic = [&b"\0image/jpeg\0\x03front\0"[..], png].concat();
    let pic = [&b"\0JPG\x03front\0"[..], png].concat();
    for (version, name, payload, flags) in
        [(Version::V23, "APIC", &apic, 0), (Version::V22, "PIC", &pic, 0), (Version::V24, "APIC", &apic, 0x80)]
    {
        let bytes = tag(version, flags, &text(version, name, payload));
        let pictures = read(&bytes, 0).unwrap().unwrap().found.pictures;
        let [picture] = &pictures[..] else { panic!("one picture") };
        assert_eq!(
            (picture.kind, picture.mime.as_str(), picture.width, picture.description.as_str()),
            (3, "image/png", 5, "front")
        );
        let range = picture.range.offset as usize..picture.range.end() as usize;
        assert_eq!(&bytes[range], if flags == 0 { &png[..] } else { &[] });
    }
}

fn problems(bytes: Vec<u8>) -> usize {
    read(&bytes, 0).unwrap().unwrap().found.problems.len()
}

#[test]
fn text_is_read_up_to_the_limits() {
    for (len, cut) in [(VALUE_BYTES_MAX, 0), (VALUE_BYTES_MAX + 1, 1)] {
        let bytes = tag(Version::V23, 0, &text(Version::V23, "TIT2", &[&[0][..], &vec![b'x'; len]].concat()));
        assert_eq!(problems(bytes.clone()), cut);
        assert_eq!(read_all(&bytes).1.first("title").unwrap().len(), VALUE_BYTES_MAX);
    }
    // Four frames that fill the allowance, header included, and a short one.
    let quarter = vec![b'x'; ID3_TEXT_BYTES_MAX / 4 - 10];
    for (last, unread) in [(quarter.len(), 0), (quarter.len() + 1, 1)] {
        let frames = [
            text(Version::V23, "COMM", &quarter).repeat(3),
            text(Version::V23, "COMM", &[&quarter[..], b"x"].concat()[..last]),
        ];
        assert_eq!(problems(tag(Version::V23, 0, &frames.concat())), unread);
    }
}

#[test]
fn descriptions_are_keys_up_to_the_limit() {
    for (len, known) in [(KEY_BYTES_MAX, true), (KEY_BYTES_MAX + 1, false)] {
        let payload = [&[0][..], &vec![b'k'; len], b"\0value"].concat();
        let bytes = tag(Version::V23, 0, &text(Version::V23, "TXXX", &payload));
        assert_eq!((read_all(&bytes).1.is_empty(), problems(bytes)), (!known, usize::from(!known)));
    }
    for (len, seen) in [(ID3_PICTURE_HEAD_BYTES - 4, 1), (ID3_PICTURE_HEAD_BYTES - 3, 0)] {
        let payload = [&[0, 0, 3, b'd'][..], &vec![b'd'; len - 1], b"\0\x89PNG\r\n\x1a\n"].concat();
        let bytes = tag(Version::V23, 0, &text(Version::V23, "APIC", &payload));
        let found = read(&bytes, 0).unwrap().unwrap().found;
        assert_eq!((found.pictures.len(), found.problems.len()), (seen, 1 - seen), "{len}");
    }
}

#[test]
fn unsynchronised_tags_are_decoded_up_to_the_limit() {
    for (len, known) in [(ID3_UNSYNC_BYTES_MAX, true), (ID3_UNSYNC_BYTES_MAX + 1, false)] {
        let title = text(Version::V23, "TIT2", b"\0Title");
        let content = [&title[..], &vec![0; len as usize - title.len()]].concat();
        let read = read(&tag(Version::V23, FLAG_UNSYNCHRONISED, &content), 0).unwrap().unwrap();
        assert_eq!((read.tag.is_some(), read.found.problems.len()), (known, usize::from(!known)));
        assert_eq!(read.len, len + 10);
    }
}

#[test]
fn padding_is_used_up_to_the_limit() {
    for (padding, rest) in [(ID3_PADDING_BYTES_MAX, 0), (ID3_PADDING_BYTES_MAX + 1, 1)] {
        let content = [&text(Version::V23, "TIT2", b"\0Title")[..], &vec![0; padding as usize]].concat();
        let (tag, ..) = read_all(&tag(Version::V23, 0, &content));
        assert_eq!((tag.padding, tag.rest), (ID3_PADDING_BYTES_MAX, rest));
    }
    let content = [&text(Version::V23, "TIT2", b"\0Title")[..], &[0; 40], b"somebody's", &[0; 9]].concat();
    let bytes = tag(Version::V23, 0, &content);
    assert_eq!((read_all(&bytes).0.padding, read_all(&bytes).0.rest), (40, 19));
    assert!(edited(&bytes, &[("artist", &["Me"])], Room::Aligned).ends_with(&bytes[bytes.len() - 19..]));
}

#[test]
fn what_is_too_large_is_refused() {
    let title = |len: usize| Edits::over(Tags::new(), [("title".to_owned(), vec!["x".repeat(len)])]);
    let fits = |version, edits: &Edits| create(version, edits, Room::Tight).is_ok();
    assert!(fits(Version::V22, &title((1 << 24) - 2)) && !fits(Version::V22, &title((1 << 24) - 1)));
    let (mut tag, ..) = read_all(&tag(Version::V23, 0, &text(Version::V23, "TIT2", b"\0Old")));
    let frame = 10 + 1 + 3;
    for (rest, fits) in [(ID3_TAG_BYTES_MAX - frame, true), (ID3_TAG_BYTES_MAX - frame + 1, false)] {
        (tag.rest, tag.len) = (rest, HEADER_BYTES + frame + rest);
        assert_eq!(rewrite(&tag, &title(3), true, Room::Tight).is_ok(), fits);
    }
}

fn versions() -> impl Strategy<Value = Version> {
    prop::sample::select(vec![Version::V22, Version::V23, Version::V24])
}

/// Keys of all kinds of frames.
const KEYS: [&str; 18] = [
    "title",
    "artist",
    "albumartist",
    "genre",
    "date",
    "originaldate",
    "tracknumber",
    "totaltracks",
    "producer",
    "performer",
    "comment",
    "lyrics",
    "mykey",
    "musicbrainz_recordingid",
    "musicbrainz_albumid",
    "website",
    "originalyear",
    "mood",
];

fn values(key: &'static str) -> BoxedStrategy<Vec<String>> {
    match key {
        "tracknumber" | "totaltracks" => prop::collection::vec("[1-9][0-9]?", 1..2).boxed(),
        "date" | "originaldate" => prop::collection::vec(
            "(19|20)[0-9]{2}(-[01][0-9](-[0-3][0-9](T[0-2][0-9]:[0-5][0-9])?)?)?|[a-z]{1,6}",
            1..3,
        )
        .boxed(),
        "website" => prop::collection::vec("http://[a-z]{1,9}", 1..3).boxed(),
        "genre" => prop::collection::vec("[(]?[A-Z][a-z/ ]{0,9}", 1..3).boxed(),
        _ => prop::collection::vec("[a-zA-Zäßÿ\u{ff00}Ā漢🎵/;() ]{0,12}[a-zé漢]", 1..3).boxed(),
    }
}

fn changes() -> impl Strategy<Value = Vec<(String, Vec<String>)>> {
    let change = prop::sample::select(&KEYS[..]).prop_flat_map(|key| {
        let values = prop_oneof![4 => values(key), 1 => Just(Vec::new())];
        values.prop_map(move |values| (key.to_owned(), values))
    });
    prop::collection::vec(change, 1..8)
}

fn distinct(changes: Vec<(String, Vec<String>)>) -> std::collections::BTreeMap<String, Vec<String>> {
    changes.into_iter().collect()
}

proptest! {
    #[test]
    fn edits_are_read_back_and_nothing_else_changes(
        version in versions(),
        first in changes(),
        second in changes(),
        binary in prop::collection::vec(prop_oneof![Just(0xff), Just(0), any::<u8>()], 1..60),
        stuffed in any::<bool>(),
        padding in 0_usize..200,
    ) {
        // A source made by ourselves, with a frame that nobody knows in the midst of it.
        let mut builder = SpliceBuilder::default();
        create(version, &Edits::over(Tags::new(), distinct(first)), Room::Tight).unwrap().append_to(&mut builder);
        let made = materialise(&builder.finish(), &[]);
        let unknown = text(version, if version == Version::V22 { "CRM" } else { "XYZW" }, &[&[b'o', 0][..], &binary].concat());
        let content = [&unknown[..], &made[10..], &unknown, &vec![0; padding]].concat();
        let source = match (version, stuffed) {
            (Version::V24, _) | (_, false) => tag(version, 0, &content),
            _ => tag(version, FLAG_UNSYNCHRONISED, &unsync_fully(&content)),
        };
        let (structure, tags, problems) = read_all(&source);
        prop_assert_eq!(problems, Vec::<String>::new());

        let edits = Edits::over(tags, distinct(second));
        for room in [Room::Tight, Room::Aligned] {
            let pieces = rewrite(&structure, &edits, true, room).unwrap();
            let mut builder = SpliceBuilder::default();
            pieces.append_to(&mut builder);
            let splice = builder.finish();
            let served = materialise(&splice, &source);
            prop_assert_eq!(served.len() as u64, pieces.len());
            if room == Room::Aligned {
                prop_assert_eq!((served.len() - source.len()) % 4096, 0);
            }
            let (_, read, problems) = read_all(&served);
            prop_assert_eq!(&read, edits.effective());
            prop_assert_eq!(problems, Vec::<String>::new());
            prop_assert_eq!(served.windows(unknown.len()).filter(|window| *window == unknown).count(), 2);
        }
    }

    #[test]
    fn any_bytes_are_survived(version in 2_u8..5, flags in any::<u8>(), content in prop::collection::vec(prop_oneof![Just(0xff), Just(0), Just(b'T'), Just(b'1'), any::<u8>()], 0..300)) {
        let bytes = [&b"ID3"[..], &[version, 0, flags & 0xf0], &to_syncsafe(content.len() as u32 + 5), &content].concat();
        let read = read(&bytes, 0).unwrap().unwrap();
        prop_assert!(read.len <= bytes.len() as u64);
        let Some(tag) = read.tag else { return Ok(()) };
        let edits = Edits::over(Tags::new(), [("title".to_owned(), vec!["New".to_owned()])]);
        let mut builder = SpliceBuilder::default();
        rewrite(&tag, &edits, true, Room::Aligned).unwrap().append_to(&mut builder);
        let served = materialise(&builder.finish(), &bytes);
        let (_, tags, _) = read_all(&served);
        prop_assert_eq!(tags.first("title"), Some("New"));
    }
}
