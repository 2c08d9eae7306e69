//! Made files with made edits.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use proptest::collection::vec;
use proptest::prelude::*;

use super::Flac;
use crate::limits::{FLAC_BLOCKS_MAX, PICTURE_HEAD_BYTES};
use crate::table::total_of;
use crate::testing::{materialise, materialise_range};
use crate::vorbis;
use crate::{Container, Editing, Edits, Refusal};

const NAMES: [&str; 14] = [
    "TITLE",
    "artist",
    "ALBUM ARTIST",
    "AlbumArtist",
    "DATE",
    "YEAR",
    "TRACKNUMBER",
    "TRACKTOTAL",
    "TOTALTRACKS",
    "Disc",
    "own",
    "METADATA_BLOCK_PICTURE",
    "",
    "id3:x",
];
const KEYS: [&str; 9] =
    ["title", "artist", "albumartist", "date", "tracknumber", "totaltracks", "discnumber", "own", "new key"];
const VALUES: [&str; 6] = ["", "x", "3", "3/12", "Zoë = 1", "a longer value, so that padding has to move"];

fn block(kind: u8, content: &[u8]) -> Vec<u8> {
    [&(u32::from(kind) << 24 | content.len() as u32).to_be_bytes(), content].concat()
}

fn counted(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes(), text.as_bytes()].concat()
}

fn comments(fields: &[String]) -> Vec<u8> {
    let fields_bytes: Vec<u8> = fields.iter().flat_map(|field| counted(field)).collect();
    [counted("a vendor"), (fields.len() as u32).to_le_bytes().to_vec(), fields_bytes].concat()
}

/// A file of STREAMINFO, the blocks and 200 bytes of frames.
fn file(blocks: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let stream_info = (0, [&[0; 10][..], &[0x0a, 0xc4, 0x42, 0xf0, 0, 0, 0, 0], &[7; 16]].concat());
    let mut bytes = b"fLaC".to_vec();
    let all: Vec<_> = [stream_info].iter().chain(blocks).cloned().collect();
    for (at, (kind, content)) in (1..).zip(&all) {
        bytes.extend(block(if at == all.len() { kind | 0x80 } else { *kind }, content));
    }
    bytes.extend([0xff, 0xf8].repeat(100));
    bytes
}

/// Kind and content of each block.
fn blocks(file: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut blocks = Vec::new();
    let mut at = 4;
    loop {
        let header = u32::from_be_bytes(file[at..at + 4].try_into().unwrap());
        let len = (header & 0xff_ffff) as usize;
        blocks.push(((header >> 24 & 0x7f) as u8, file[at + 4..at + 4 + len].to_vec()));
        at += 4 + len;
        if header >> 31 == 1 {
            return blocks;
        }
    }
}

fn a_field() -> impl Strategy<Value = String> {
    let field =
        (0..NAMES.len(), 0..VALUES.len()).prop_map(|(name, value)| format!("{}={}", NAMES[name], VALUES[value]));
    prop_oneof![9 => field, 1 => Just("malformed".to_owned())]
}

fn a_block() -> impl Strategy<Value = (u8, Vec<u8>)> {
    prop_oneof![
        2 => (0..300_usize).prop_map(|len| (1, vec![0; len])),
        2 => (vec(a_field(), 0..8), 0..4_usize).prop_map(|(fields, behind)| (4, [comments(&fields), vec![9; behind]].concat())),
        1 => (0..40_u8).prop_map(|len| (2, vec![len; usize::from(len)])),
        1 => Just((3, vec![0; 36])),
        1 => Just((99, vec![1])),
    ]
}

fn changes() -> impl Strategy<Value = Vec<(String, Vec<String>)>> {
    let values = vec((0..VALUES.len()).prop_map(|value| VALUES[value].to_owned()), 0..3);
    let change = ((0..KEYS.len()).prop_map(|key| KEYS[key].to_owned()), values).prop_map(|(key, mut values)| {
        // Several numbers of one track, each perhaps with a total: no reader gives them back as they were.
        values.truncate(if total_of(&key).is_some() { 1 } else { 2 });
        (key, values)
    });
    vec(change, 1..4)
}

/// Bytes of the fields in all comment blocks that no edit touches.
fn untouched_fields(file: &[u8], is_touched: impl Fn(&str) -> bool) -> Vec<Vec<u8>> {
    let mut untouched = Vec::new();
    for (_, content) in blocks(file).into_iter().filter(|(kind, _)| *kind == 4) {
        let (layout, _) = vorbis::read(&content);
        for field in layout.fields.iter().filter(|field| !field.keys().iter().any(|key| is_touched(key))) {
            untouched.push(content[field.offset as usize..field.end() as usize].to_vec());
        }
    }
    untouched
}

fn other_blocks(file: &[u8]) -> Vec<(u8, Vec<u8>)> {
    blocks(file).into_iter().filter(|(kind, _)| !matches!(kind, 1 | 4)).collect()
}

proptest! {
    #[test]
    fn edits_change_what_they_name_and_nothing_else(made in vec(a_block(), 0..6), changes in changes()) {
        let source = file(&made);
        let facts = Flac.read(&source).unwrap();
        prop_assert_eq!(&facts.editing, &Editing::Possible);
        let edits = Edits::over(facts.tags.clone(), changes);
        let splice = Flac.splice(&facts.structure, &edits).unwrap();
        let served = materialise(&splice, &source);
        prop_assert_eq!(served.len() as u64, splice.len());
        let again = Flac.read(&served).unwrap();
        prop_assert_eq!(&again.tags, edits.effective());
        // Totals that shared a field with an edited number are written anew.
        let is_touched = |key: &str| edits.touches(key) || key.starts_with("total") || key.ends_with("number");
        prop_assert_eq!(untouched_fields(&served, is_touched), untouched_fields(&source, is_touched));
        prop_assert_eq!(other_blocks(&served), other_blocks(&source));
        prop_assert_eq!(&served[again.audio.offset as usize..], &source[facts.audio.offset as usize..]);
        prop_assert_eq!((again.audio.offset.cast_signed() - facts.audio.offset.cast_signed()) % 4096, 0);
    }

    #[test]
    fn ranges_are_parts_of_the_whole(made in vec(a_block(), 0..6), changes in changes(), at in 0..9000_u64, len in 0..9000_u64) {
        let source = file(&made);
        let facts = Flac.read(&source).unwrap();
        let splice = Flac.splice(&facts.structure, &Edits::over(facts.tags.clone(), changes)).unwrap();
        let whole = materialise(&splice, &source);
        let (start, end) = (at.min(splice.len()) as usize, (at + len).min(splice.len()) as usize);
        prop_assert_eq!(materialise_range(&splice, &source, at, len), &whole[start..end]);
    }

    #[test]
    fn damaged_files_do_no_harm(made in vec(a_block(), 0..6), damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<prop::sample::Index>()) {
        let mut source = file(&made);
        for (at, byte) in damage {
            let at = at.index(source.len());
            source[at] = byte;
        }
        source.truncate(cut.index(source.len()) + 1);
        let facts = Flac.read(&source).unwrap();
        if facts.editing == Editing::Possible {
            let edits = Edits::over(facts.tags.clone(), [("title".to_owned(), vec!["x".to_owned()])]);
            let splice = Flac.splice(&facts.structure, &edits).unwrap();
            let served = materialise(&splice, &source);
            let again = Flac.read(&served).unwrap();
            prop_assert_eq!(again.tags.get("title"), ["x"]);
        }
    }
}

fn splice_len(source: &[u8], key: &str, value: String) -> Result<u64, Refusal> {
    let facts = Flac.read(&source.to_vec()).unwrap();
    let edits = Edits::over(facts.tags.clone(), [(key.to_owned(), vec![value])]);
    Flac.splice(&facts.structure, &edits).map(|splice| splice.len())
}

#[test]
fn a_comment_block_is_full_at_24_bits() {
    let source = file(&[(4, comments(&[]))]);
    // Vendor and its length, the number of fields, the length of this field and its name.
    let overhead = (4 + 8) + 4 + 4 + "TITLE=".len();
    let most = (1 << 24) - 1 - overhead;
    assert!(splice_len(&source, "title", "x".repeat(most)).is_ok());
    let refusal = splice_len(&source, "title", "x".repeat(most + 1)).unwrap_err();
    assert!(matches!(refusal, Refusal::TooLarge { key, bytes: 0x100_0000, limit: 0xff_ffff, .. } if key == "title"));
}

#[test]
fn keys_that_no_field_can_have_are_refused() {
    let source = file(&[]);
    for key in ["a=b", "ключ", "", "id3:priv:x", "metadata_block_picture"] {
        let refusal = splice_len(&source, key, "x".to_owned()).unwrap_err();
        assert!(matches!(refusal, Refusal::Value { .. }), "{key}: {refusal:?}");
    }
    assert!(matches!(splice_len(&source, "title", "a\0b".to_owned()), Err(Refusal::Value { .. })));
}

#[test]
fn a_file_without_comments_gets_a_block_behind_streaminfo() {
    let source = file(&[(3, Vec::new()), (1, vec![0; 100])]);
    let facts = Flac.read(&source).unwrap();
    let edits = Edits::over(facts.tags, [("title".to_owned(), vec!["x".to_owned()])]);
    let served = materialise(&Flac.splice(&facts.structure, &edits).unwrap(), &source);
    assert_eq!(blocks(&served).iter().map(|block| block.0).collect::<Vec<_>>(), [0, 4, 3, 1]);
    assert_eq!(served.len(), source.len());
}

#[test]
fn structures_of_other_versions_are_refused() {
    for bytes in [&[][..], &[0, 1], &[1], &[9, 9]] {
        let structure = crate::Structure(bytes.to_vec());
        assert!(matches!(Flac.splice(&structure, &Edits::default()), Err(Refusal::Structure(_))));
    }
}

#[test]
fn blocks_are_counted_up_to_the_limit() {
    for (others, editing) in [
        (FLAC_BLOCKS_MAX - 1, Editing::Possible),
        (FLAC_BLOCKS_MAX, Editing::Opaque("there are too many metadata blocks".to_owned())),
    ] {
        let source = file(&vec![(99, Vec::new()); others]);
        assert_eq!(Flac.read(&source).unwrap().editing, editing);
    }
}

#[test]
fn comments_are_read_up_to_the_limit() {
    let most = (1 << 24) - 1;
    let first = comments(&[format!("A={}", "x".repeat(most - 12 - 4 - 4 - 2))]);
    assert_eq!(first.len(), most);
    for (second, editing) in [(1, Editing::Possible), (2, Editing::Opaque("the comments are too large".to_owned()))] {
        let source = file(&[(4, first.clone()), (4, vec![0; second])]);
        assert_eq!(Flac.read(&source).unwrap().editing, editing);
    }
}

#[test]
fn an_edit_that_changes_nothing_gives_the_source() {
    for blocks in [vec![], vec![(4, comments(&["A=b".to_owned()])), (1, vec![0; 9])]] {
        let source = file(&blocks);
        let facts = Flac.read(&source).unwrap();
        let edits = Edits::over(facts.tags, [("title".to_owned(), vec![])]);
        assert_eq!(materialise(&Flac.splice(&facts.structure, &edits).unwrap(), &source), source);
    }
}

#[test]
fn a_picture_is_a_range_and_what_it_shows() {
    let head = |description: &str, len: u32| {
        let text = |text: &str| [&(text.len() as u32).to_be_bytes(), text.as_bytes()].concat();
        [&[0, 0, 0, 3], &text("x/y")[..], &text(description), &[0; 16], &len.to_be_bytes()].concat()
    };
    let gif = b"GIF89a\x01\0\x02\0";
    let longest = "d".repeat(PICTURE_HEAD_BYTES - head("", 0).len());
    for (description, len, seen, problems) in
        [("d", 10, 1, 0), ("d", 11, 1, 1), (&longest, 10, 1, 0), (&(longest.clone() + "d"), 10, 0, 1)]
    {
        let source = file(&[(6, [&head(description, len)[..], gif].concat())]);
        let facts = Flac.read(&source).unwrap();
        assert_eq!((facts.pictures.len(), facts.problems.len()), (seen, problems));
        for picture in &facts.pictures {
            assert_eq!((&*picture.mime, picture.width, picture.height), ("image/gif", 1, 2));
            assert_eq!(&source[picture.range.offset as usize..picture.range.end() as usize], gif);
        }
    }
}

#[test]
fn all_tags_of_a_file_agree() {
    let frame = |name: &str, text: &str| {
        [name.as_bytes(), &(text.len() as u32 + 1).to_be_bytes(), &[0, 0, 0], text.as_bytes()].concat()
    };
    let frames = [frame("TIT2", "old"), frame("TCOM", "kept"), vec![0; 20]].concat();
    let id3v2 = [&b"ID3\x03\0\0\0\0\0"[..], &[frames.len() as u8], &frames].concat();
    let id3v1 = [&b"TAG"[..], b"old", &[0; 27], b"Artist", &[0; 24], &[0; 64], &[255]].concat();
    let item = [&3_u32.to_le_bytes()[..], &[0; 4], b"Title\0old"].concat();
    let ape_footer = [2000, item.len() as u32 + 32, 1, 0].map(u32::to_le_bytes).concat();
    let ape = [&item[..], b"APETAGEX", &ape_footer, &[0; 8]].concat();
    let flac = file(&[(4, comments(&["TITLE=old".to_owned()])), (1, vec![0; 100])]);
    let source = [id3v2, vec![0; 5], flac, ape, id3v1].concat();
    let facts = Flac.read(&source).unwrap();
    assert_eq!((facts.tags.first("composer"), facts.tags.first("artist")), (Some("kept"), Some("Artist")));
    assert_eq!(facts.audio.len, 200);
    let edits =
        Edits::over(facts.tags, [("title".to_owned(), vec!["new".to_owned()]), ("composer".to_owned(), vec![])]);
    let served = materialise(&Flac.splice(&facts.structure, &edits).unwrap(), &source);
    let contains = |text: &str| served.windows(text.len()).filter(|window| *window == text.as_bytes()).count();
    assert_eq!((contains("new"), contains("old"), contains("kept"), contains("Artist")), (4, 0, 0, 1));
    assert_eq!(served.len(), source.len());
    assert_eq!(&Flac.read(&served).unwrap().tags, edits.effective());
}

#[test]
fn comments_that_said_nothing_take_over_what_another_tag_says() {
    let id3v2 = b"ID3\x04\0\0\0\0\0\x1aTPE1\0\0\0\x02\0\0\x03aPRIV\0\0\0\x04\0\0o\0xy";
    for old in [vec![], vec![(4, comments(&[]))]] {
        let source = [&id3v2[..], &file(&old)].concat();
        let facts = Flac.read(&source).unwrap();
        let edits = Edits::over(facts.tags, [("title".to_owned(), vec!["t".to_owned()])]);
        let served = materialise(&Flac.splice(&facts.structure, &edits).unwrap(), &source);
        let fields = vec!["ARTIST=a".to_owned(), "TITLE=t".to_owned()];
        let (_, content) = blocks(&served[id3v2.len()..]).remove(1);
        assert!(content.ends_with(&comments(&fields)[12..]), "{}", content.escape_ascii());
    }
}
