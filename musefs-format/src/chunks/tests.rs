//! Made files.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use proptest::prelude::*;

use super::{Dialect, Form};
use crate::aiff::Aiff;
use crate::dff::Dff;
use crate::limits::{CHUNK_TEXT_BYTES_MAX, CHUNKS_MAX, DS64_SIZES_MAX, INFO_ENTRIES_MAX, VALUE_BYTES_MAX};
use crate::testing::materialise;
use crate::wav::Wav;
use crate::{Container, Editing, Edits, Facts, Refusal, Structure};

const FORMAT: &[u8] = &[1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0x80, 0x3e, 0, 0, 2, 0, 16, 0];
const COMMON: &[u8] = &[0, 1, 0, 0, 0, 4, 0, 16, 0x40, 0x0b, 0xfa, 0, 0, 0, 0, 0, 0, 0];
const SOUND: &[u8] = &[0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];

fn chunk(dialect: Dialect, name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let mut chunk = dialect.new_header(*name, content.len() as u64).unwrap();
    chunk.extend(content);
    chunk.resize(chunk.len() + dialect.padding(content.len() as u64) as usize, 0);
    chunk
}

/// A file of chunks with a true length in its header.
fn file(dialect: Dialect, chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let body: Vec<_> = chunks.iter().flat_map(|(name, content)| chunk(dialect, name, content)).collect();
    let (name, kind): (&[u8; 4], &[u8]) = match dialect {
        Dialect::Riff => (b"RIFF", b"WAVE"),
        Dialect::Rifx => (b"RIFX", b"WAVE"),
        Dialect::Rf64 => (b"RF64", b"WAVE"),
        Dialect::Wave64 => (b"riff", b"wave\xf3\xac\xd3\x11\x8c\xd1\x00\xc0\x4f\x8e\xdb\x8a"),
        Dialect::Iff => (b"FORM", b"AIFF"),
        Dialect::Dsdiff => (b"FRM8", b"DSD "),
    };
    let mut header = dialect.new_header(*name, (kind.len() + body.len()) as u64).unwrap();
    if dialect == Dialect::Wave64 {
        header[4..16].copy_from_slice(b"\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00");
    }
    [&header, kind, &body].concat()
}

fn riff(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    file(Dialect::Riff, chunks)
}

fn info(entries: &[(&[u8; 4], &str)]) -> Vec<u8> {
    let entry = |(name, text): &(&[u8; 4], &str)| chunk(Dialect::Riff, name, &[text.as_bytes(), b"\0"].concat());
    [b"INFO".to_vec(), entries.iter().flat_map(entry).collect()].concat()
}

/// An ID3v2.4 tag with a title and padding.
fn id3(title: &str, padding: usize) -> Vec<u8> {
    let frame_len = title.len() + 1;
    let frame = [&b"TIT2\0\0\0"[..], &[frame_len as u8, 0, 0, 3], title.as_bytes(), &vec![0; padding]].concat();
    let len = frame.len();
    [&b"ID3\x04\0\0\0\0"[..], &[(len >> 7) as u8, len as u8 & 0x7f], &frame].concat()
}

fn read(container: &dyn Container, source: &[u8]) -> Facts {
    container.read(&source.to_vec()).unwrap()
}

fn edit(container: &dyn Container, source: &[u8], changes: &[(&str, &[&str])]) -> Vec<u8> {
    let facts = read(container, source);
    assert_eq!(facts.editing, Editing::Possible);
    let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    let changes = changes.iter().map(|(key, new)| ((*key).to_owned(), values(new)));
    let edits = Edits::over(facts.tags, changes);
    let splice = container.splice(&facts.structure, &edits).unwrap();
    let served = materialise(&splice, source);
    assert_eq!(served.len() as u64, splice.len());
    served
}

/// Names and contents of all chunks, as a reader finds them that believes every length.
pub(super) fn strict(dialect: Dialect, file: &[u8]) -> Vec<([u8; 4], Vec<u8>)> {
    let (_, told) = dialect.header(file).unwrap();
    let told = if dialect == Dialect::Rf64 { u64::from_le_bytes(*file[20..].first_chunk().unwrap()) } else { told };
    let end = (dialect.header_bytes() + told) as usize;
    let audio = (dialect == Dialect::Rf64).then(|| u64::from_le_bytes(*file[28..].first_chunk().unwrap()));
    let mut at = dialect.form_bytes() as usize;
    let mut chunks = Vec::new();
    while at < end {
        let (name, len) = dialect.header(&file[at..]).unwrap();
        let len = audio.filter(|_| name == *b"data").unwrap_or(len);
        let begin = at + dialect.header_bytes() as usize;
        chunks.push((name, file[begin..begin + len as usize].to_vec()));
        at = begin + (len + dialect.padding(len)) as usize;
    }
    assert_eq!(at, end);
    chunks
}

fn names(dialect: Dialect, file: &[u8]) -> String {
    let names = strict(dialect, file).into_iter().map(|(name, _)| String::from_utf8_lossy(&name).trim_end().to_owned());
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn audio_stays_where_it_is() {
    let short = info(&[(b"INAM", "Old")]);
    let long = info(&[(b"INAM", "A title that is much longer than the new"), (b"ISFT", "x")]);
    let (junk, data) = ([0; 64], [7; 10]);
    for (front, behind) in [
        // Longer, and nothing gives room: it goes behind.
        (vec![(b"LIST", &short[..])], "fmt JUNK data id3 LIST"),
        (vec![(b"LIST", &short[..]), (b"JUNK", &[0; 2][..])], "fmt JUNK JUNK data id3 LIST"),
        // A filler gives room.
        (vec![(b"JUNK", &junk[..]), (b"LIST", &short)], "fmt JUNK LIST data id3"),
        (vec![(b"LIST", &short), (b"bext", &junk), (b"FLLR", &junk[..])], "fmt LIST bext JUNK data id3"),
        // All of it.
        (vec![(b"LIST", &short), (b"PAD ", &[0; 6][..])], "fmt LIST data id3"),
        // Shorter.
        (vec![(b"LIST", &long)], "fmt LIST JUNK data id3"),
        (vec![(b"LIST", &long), (b"JUNK", &junk)], "fmt LIST JUNK data id3"),
        // Of equal length.
        (vec![(b"LIST", &info(&[(b"INAM", "Same length 12345")]))], "fmt LIST data id3"),
    ] {
        let chunks: Vec<_> = [(b"fmt ", FORMAT)].into_iter().chain(front).chain([(b"data", &data[..])]).collect();
        let source = riff(&chunks);
        let served = edit(&Wav, &source, &[("title", &["Sixteen letters.."])]);
        assert_eq!(names(Dialect::Riff, &served), behind);
        let (old, new) = (read(&Wav, &source), read(&Wav, &served));
        assert_eq!((old.audio, old.properties), (new.audio, new.properties));
        assert_eq!(new.tags.get("title"), ["Sixteen letters.."]);
    }
}

#[test]
fn a_list_that_is_emptied_goes() {
    let list = info(&[(b"INAM", "Old")]);
    let front = riff(&[(b"fmt ", FORMAT), (b"LIST", &list), (b"data", &[7; 10])]);
    assert_eq!(names(Dialect::Riff, &edit(&Wav, &front, &[("title", &[])])), "fmt JUNK data");
    let behind = riff(&[(b"fmt ", FORMAT), (b"data", &[7; 10]), (b"LIST", &list)]);
    let served = edit(&Wav, &behind, &[("title", &[])]);
    assert_eq!(served, riff(&[(b"fmt ", FORMAT), (b"data", &[7; 10])]));
}

#[test]
fn what_an_edit_does_not_touch_stays_whole() {
    // A length that is wrong, too: nothing asks for a mended one.
    let mut source = riff(&[(b"fmt ", FORMAT), (b"data", &[7; 10]), (b"LIST", &info(&[(b"INAM", "Old")]))]);
    source[4] = 0;
    assert_eq!(edit(&Wav, &source, &[("artist", &[])]), source);
}

#[test]
fn padding_of_a_tag_is_used() {
    let source = riff(&[(b"fmt ", FORMAT), (b"id3 ", &id3("Old", 100)), (b"data", &[7; 10])]);
    let served = edit(&Wav, &source, &[("artist", &["Somebody"]), ("title", &["New"])]);
    assert_eq!(served.len(), source.len());
    assert_eq!(read(&Wav, &served).tags.get("artist"), ["Somebody"]);
    assert_eq!(names(Dialect::Riff, &served), "fmt id3 data");
}

#[test]
fn every_copy_of_a_key_is_edited() {
    let list =
        info(&[(b"INAM", "Listed"), (b"IPRT", "3/12"), (b"ICMT", "kept"), (b"IXYZ", "mine"), (b"INAM", "twice")]);
    let source = riff(&[(b"fmt ", FORMAT), (b"data", &[7; 10]), (b"LIST", &list), (b"ID3 ", &id3("Tagged", 0))]);
    let facts = read(&Wav, &source);
    assert_eq!(facts.tags.get("title"), ["Tagged"]);
    assert_eq!(
        (facts.tags.get("tracknumber"), facts.tags.get("totaltracks")),
        (&["3".to_owned()][..], &["12".to_owned()][..])
    );
    assert_eq!(facts.tags.get("riff:ixyz"), ["mine"]);
    let changes: &[(&str, &[&str])] = &[
        ("title", &["A", "B"]),
        ("tracknumber", &["4"]),
        ("riff:ixyz", &["yours"]),
        ("artist", &["C"]),
        ("own", &["D"]),
    ];
    let served = edit(&Wav, &source, changes);
    let chunks = strict(Dialect::Riff, &served);
    let expected = info(&[(b"INAM", "A; B"), (b"IPRT", "4/12"), (b"ICMT", "kept"), (b"IXYZ", "yours"), (b"IART", "C")]);
    assert_eq!(chunks[2], (*b"LIST", expected));
    let tags = read(&Wav, &served).tags;
    assert_eq!(tags.get("title"), ["A", "B"]);
    assert_eq!((tags.get("own"), tags.get("riff:ixyz")), (&["D".to_owned()][..], &["yours".to_owned()][..]));
    // An ID3v2 tag cannot say it, so that a list is made.
    let served = edit(&Wav, &riff(&[(b"fmt ", FORMAT), (b"data", &[7; 10])]), &[("riff:isbj", &["subject"])]);
    assert_eq!(strict(Dialect::Riff, &served)[2], (*b"LIST", info(&[(b"ISBJ", "subject")])));
}

#[test]
fn audio_with_a_lying_length_ends_with_the_file() {
    for (told, len) in [(0, 10), (u32::MAX, 10), (11, 10), (0x7fff_ffff, 9)] {
        let mut source = riff(&[(b"fmt ", FORMAT), (b"data", &[7; 10][..len])]);
        source.truncate(44 + len);
        source[40..44].copy_from_slice(&told.to_le_bytes());
        source[4..8].copy_from_slice(&told.to_le_bytes());
        let facts = read(&Wav, &source);
        assert_eq!((facts.audio.offset, facts.audio.len), (44, len as u64));
        let served = edit(&Wav, &source, &[("title", &["New"])]);
        let chunks = strict(Dialect::Riff, &served);
        assert_eq!(chunks[1], (*b"data", vec![7; len]));
        assert_eq!(chunks[2].0, *b"id3 ");
    }
    let empty = riff(&[(b"fmt ", FORMAT), (b"data", &[]), (b"LIST", &info(&[(b"INAM", "Old")]))]);
    assert_eq!(read(&Wav, &empty).audio.len, 0);
    assert_eq!(read(&Wav, &empty).tags.get("title"), ["Old"]);
}

#[test]
fn bytes_that_should_fill_up_are_not_needed_but_written() {
    for (missing, at) in [("bext", 2), ("data", 3)] {
        let parts: [(&[u8; 4], &[u8]); 4] =
            [(b"fmt ", FORMAT), (b"cue ", &[1; 4]), (b"bext", &[2; 5]), (b"data", &[3; 7])];
        let mut source = riff(&parts[..at]);
        source.extend(chunk(Dialect::Riff, parts[at].0, parts[at].1));
        source.pop();
        parts[at + 1..].iter().for_each(|(name, content)| source.extend(chunk(Dialect::Riff, name, content)));
        source.extend(chunk(Dialect::Riff, b"LIST", &info(&[(b"INAM", "Old")])));
        let facts = read(&Wav, &source);
        assert_eq!((facts.audio.len, facts.tags.get("title").len()), (7, 1), "{missing}");
        let served = edit(&Wav, &source, &[("title", &["New"])]);
        assert_eq!(read(&Wav, &served).audio.offset, facts.audio.offset);
        if missing == "data" {
            assert_eq!(names(Dialect::Riff, &served), "fmt cue bext data LIST id3");
        }
    }
}

#[test]
fn chunks_that_are_cut_stay_behind_all() {
    let mut source = riff(&[(b"fmt ", FORMAT), (b"data", &[7; 10])]);
    source.extend(b"what\xff\0\0\0abc");
    let served = edit(&Wav, &source, &[("title", &["New"])]);
    assert!(served.ends_with(b"what\xff\0\0\0abc"));
    assert_eq!(names(Dialect::Riff, &served), "fmt data id3");
    // A tag that is cut is read as far as it goes.
    let mut source =
        riff(&[(b"fmt ", FORMAT), (b"data", &[7; 10]), (b"LIST", &info(&[(b"INAM", "A"), (b"IART", "B")]))]);
    source.truncate(source.len() - 2);
    let served = edit(&Wav, &source, &[("comment", &["New"])]);
    assert_eq!(read(&Wav, &served).tags.get("title"), ["A"]);
    assert_eq!(names(Dialect::Riff, &served), "fmt data LIST id3");
}

#[test]
fn tags_around_the_file_are_edited_too() {
    let v1 = [&b"TAG"[..], b"Behind", &[0; 119]].concat();
    let body = riff(&[(b"fmt ", FORMAT), (b"data", &[7; 10])]);
    let source = [&id3("In front", 40)[..], &body, &v1].concat();
    assert_eq!(read(&Wav, &source).tags.get("title"), ["In front"]);
    let served = edit(&Wav, &source, &[("title", &["New"])]);
    assert_eq!(served.len(), source.len());
    let front = id3("In front", 40).len();
    assert_eq!(served[front..front + body.len()], body);
    assert!(served[front + body.len()..].starts_with(b"TAGNew\0"));
}

#[test]
fn texts_are_listed_where_a_broadcast_chunk_hides_other_tags() {
    let source = riff(&[(b"bext", &[0; 602]), (b"fmt ", FORMAT), (b"data", &[7; 10])]);
    let served = edit(&Wav, &source, &[("title", &["New"]), ("albumartist", &["A"])]);
    let chunks = strict(Dialect::Riff, &served);
    assert_eq!(names(Dialect::Riff, &served), "bext fmt data id3 LIST");
    assert_eq!(chunks[4].1, info(&[(b"INAM", "New")]));
}

#[test]
fn a_chunk_that_only_has_a_name_is_filled() {
    let source = riff(&[(b"fmt ", FORMAT), (b"id3 ", &[]), (b"data", &[7; 10]), (b"id3 ", &[])]);
    let served = edit(&Wav, &source, &[("title", &["New"])]);
    assert_eq!(read(&Wav, &served).tags.get("title"), ["New"]);
    assert_eq!(names(Dialect::Riff, &served), "fmt JUNK data id3 id3");
}

#[test]
fn long_files_keep_their_lengths_apart() {
    let sizes =
        [&[0; 8][..], &10_u64.to_le_bytes(), &5_u64.to_le_bytes(), &1_u32.to_le_bytes(), b"xtra", &4_u64.to_le_bytes()];
    let mut source =
        file(Dialect::Rf64, &[(b"ds64", &sizes.concat()), (b"fmt ", FORMAT), (b"xtra", &[9; 4]), (b"data", &[7; 10])]);
    for name in [b"RF64", b"xtra", b"data"] {
        let at = source.windows(4).rposition(|window| window == name).unwrap();
        source[at + 4..at + 8].copy_from_slice(&[0xff; 4]);
    }
    assert_eq!(read(&Wav, &source).audio.len, 10);
    let served = edit(&Wav, &source, &[("title", &["New"])]);
    let told = u64::from_le_bytes(*served[20..].first_chunk().unwrap());
    assert_eq!(told + 8, served.len() as u64);
    assert_eq!(read(&Wav, &served).audio.len, 10);
    assert!(read(&Wav, &served).tags.get("title") == ["New"]);
    let bare = file(Dialect::Rf64, &[(b"fmt ", FORMAT), (b"data", &[7; 10])]);
    assert!(matches!(read(&Wav, &bare).editing, Editing::Opaque(_)));
}

#[test]
fn no_file_is_longer_than_its_header_can_say() {
    // Only the structure is that long.
    let source = riff(&[(b"fmt ", FORMAT), (b"data", &[7; 10])]);
    let facts = read(&Wav, &source);
    let mut form = Form::decode(&facts.structure).unwrap();
    let edits = Edits::over(facts.tags, [("title".to_owned(), vec!["New".to_owned()])]);
    let added = Wav.splice(&facts.structure, &edits).unwrap().len() - source.len() as u64;
    let most = u64::from(u32::MAX) + 8 - (source.len() as u64 - 10) - added;
    for (len, fits) in [(most / 2 * 2, true), (most / 2 * 2 + 2, false)] {
        form.chunks[1].len = len;
        let splice = Wav.splice(&form.encode(), &edits);
        assert_eq!(splice.is_ok(), fits, "{splice:?}");
    }
}

#[test]
fn texts_of_aiff_agree_with_its_tag() {
    let source = file(
        Dialect::Iff,
        &[
            (b"COMM", COMMON),
            (b"NAME", b"Old"),
            (b"ANNO", b"one"),
            (b"SSND", SOUND),
            (b"ANNO", b"two"),
            (b"COMT", &[0; 6]),
        ],
    );
    let facts = read(&Aiff, &source);
    assert_eq!(facts.tags.get("comment"), ["one", "two"]);
    assert_eq!((facts.audio.len, facts.properties.duration_ms), (8, None));
    let served =
        edit(&Aiff, &source, &[("title", &["Longer than before"]), ("comment", &["three"]), ("artist", &["A"])]);
    assert_eq!(names(Dialect::Iff, &served), "COMM FLLR FLLR SSND COMT ID3 NAME ANNO");
    let chunks = strict(Dialect::Iff, &served);
    assert_eq!(chunks[6], (*b"NAME", b"Longer than before".to_vec()));
    let again = read(&Aiff, &served);
    assert_eq!(again.audio, facts.audio);
    assert_eq!(again.tags.get("artist"), ["A"]);
}

#[test]
fn limits_hold() {
    let many = |count: usize| {
        riff(&[&[(b"fmt ", FORMAT)][..], &vec![(b"test", &[][..]); count - 2], &[(b"data", &[7; 2])]].concat())
    };
    assert_eq!(read(&Wav, &many(CHUNKS_MAX)).editing, Editing::Possible);
    assert!(matches!(read(&Wav, &many(CHUNKS_MAX + 1)).editing, Editing::Opaque(_)));
    let tags = |entries: &[(&[u8; 4], &str)]| {
        read(&Wav, &riff(&[(b"fmt ", FORMAT), (b"data", &[7; 2]), (b"LIST", &info(entries))])).tags
    };
    for (count, read) in [(INFO_ENTRIES_MAX, true), (INFO_ENTRIES_MAX + 1, false)] {
        let entries = [&vec![(b"IXXX", ""); count - 1][..], &[(b"INAM", "last")]].concat();
        assert_eq!(!tags(&entries).get("title").is_empty(), read);
    }
    for (len, read) in [(VALUE_BYTES_MAX - 1, true), (VALUE_BYTES_MAX, false)] {
        assert_eq!(!tags(&[(b"INAM", &"x".repeat(len))]).get("title").is_empty(), read);
    }
    let text = "x".repeat(VALUE_BYTES_MAX - 1);
    let fits = CHUNK_TEXT_BYTES_MAX as usize / VALUE_BYTES_MAX;
    for (count, read) in [(fits - 1, true), (fits, false)] {
        let entries = [&vec![(b"IXXX", text.as_str()); count][..], &[(b"INAM", "last")]].concat();
        assert_eq!(!tags(&entries).get("title").is_empty(), read);
    }
    for (count, known) in [(DS64_SIZES_MAX, true), (DS64_SIZES_MAX + 1, false)] {
        let entries = [&b"none\0\0\0\0\0\0\0\0".repeat(count - 1)[..], b"xtra\x04\0\0\0\0\0\0\0"].concat();
        let sizes = [&[0; 8][..], &2_u64.to_le_bytes(), &[0; 12], &entries].concat();
        let mut source =
            file(Dialect::Rf64, &[(b"ds64", &sizes), (b"fmt ", FORMAT), (b"xtra", &[9; 4]), (b"data", &[7; 2])]);
        let at = source.windows(4).rposition(|window| window == b"xtra").unwrap();
        source[at + 4..at + 8].copy_from_slice(&[0xff; 4]);
        assert_eq!(read(&Wav, &source).audio.len == 2, known);
    }
}

#[test]
fn structures_that_do_not_add_up_are_refused() {
    let facts = read(&Wav, &riff(&[(b"fmt ", FORMAT), (b"data", &[7; 10]), (b"id3 ", &id3("Old", 0))]));
    let form = Form::decode(&facts.structure).unwrap();
    let refused = |form: &Form| matches!(Form::decode(&form.encode()), Err(Refusal::Structure(_)));
    assert!(!refused(&form));
    for damage in [
        (|form| form.offset = 1) as fn(&mut Form),
        |form| form.chunks[1].len = u64::MAX,
        |form| form.chunks[2].len = 3,
        |form| form.chunks.truncate(1),
    ] {
        let mut form = form.clone();
        damage(&mut form);
        assert!(refused(&form));
    }
    assert!(Form::decode(&Structure(vec![9])).is_err());
}

/// Some chunks of a file, those with tags among them, in any order.
fn some_chunks() -> impl Strategy<Value = Vec<(usize, Vec<u8>)>> {
    prop::collection::vec((0..6_usize, prop::collection::vec(any::<u8>(), 0..40)), 0..6)
}

fn built(dialect: Dialect, chunks: &[(usize, Vec<u8>)], at: usize, audio: &[u8]) -> Vec<u8> {
    let (format_name, format, audio_name): (&[u8; 4], &[u8], &[u8; 4]) = match dialect {
        Dialect::Iff => (b"COMM", COMMON, b"SSND"),
        Dialect::Dsdiff => (b"FVER", &[1, 5, 0, 0], b"DSD "),
        _ => (b"fmt ", FORMAT, b"data"),
    };
    let list = info(&[(b"INAM", "Listed"), (b"IGNR", "Pop"), (b"IQQQ", "?")]);
    let tag = id3("Tagged", 30);
    let content = |(kind, bytes): &(usize, Vec<u8>)| match kind {
        0 if dialect == Dialect::Wave64 => (*b"list", list.clone()),
        0 => (*b"LIST", list.clone()),
        1 => (dialect.id3_name(), tag.clone()),
        2 => (dialect.filler_name(), bytes.clone()),
        3 => (*b"NAME", b"Named".to_vec()),
        _ => (*b"free", bytes.clone()),
    };
    let mut parts: Vec<_> = chunks.iter().map(content).collect();
    parts.insert(at.min(parts.len()), (*audio_name, audio.to_vec()));
    parts.insert(0, (*format_name, format.to_vec()));
    file(dialect, &parts.iter().map(|(name, content)| (name, content.as_slice())).collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn edits_are_read_back(
        dialect in prop::sample::select(vec![Dialect::Riff, Dialect::Rifx, Dialect::Wave64, Dialect::Iff, Dialect::Dsdiff]),
        chunks in some_chunks(),
        at in 0..6_usize,
        audio in prop::collection::vec(any::<u8>(), 20..60),
        title in prop::option::of("\\PC{1,40}"),
        genre in prop::collection::vec("[a-z]{1,9}", 0..3),
        own in prop::option::of("[A-Za-z ]{1,50}"),
    ) {
        let source = built(dialect, &chunks, at, &audio);
        let container: &dyn Container = match dialect {
            Dialect::Iff => &Aiff,
            Dialect::Dsdiff => &Dff,
            _ => &Wav,
        };
        let facts = read(container, &source);
        let changes = [("title", Vec::from_iter(title)), ("genre", genre), ("own", Vec::from_iter(own))];
        let edits = Edits::over(facts.tags, changes.map(|(key, values)| (key.to_owned(), values)));
        let splice = container.splice(&facts.structure, &edits).unwrap();
        let served = materialise(&splice, &source);
        prop_assert_eq!(served.len() as u64, splice.len());
        let again = read(container, &served);
        prop_assert_eq!(&again.tags, edits.effective());
        prop_assert_eq!(again.audio, facts.audio);
        let kept = |file: &[u8]| {
            let mut chunks = strict(dialect, file);
            let taken = [dialect.id3_name(), dialect.filler_name(), dialect.list_name(), *b"NAME"];
            chunks.retain(|(name, _)| !taken.contains(name));
            chunks
        };
        prop_assert_eq!(kept(&served), kept(&source));
    }

    #[test]
    fn no_bytes_do_harm(mut bytes in prop::collection::vec(any::<u8>(), 0..300), mark in 0..6_usize, names in prop::collection::vec((0..300_usize, 0..8_usize), 0..6)) {
        const NAMES: [&[u8]; 8] = [b"data", b"LIST", b"id3 ", b"INFO", b"JUNK", b"ds64", b"SSND", b"ID3\x04\0\0"];
        const MARKS: [&[u8]; 6] = [b"RIFF0000WAVE", b"RIFX0000WAVE", b"RF640000WAVE", b"FORM0000AIFC", b"FRM800000000DSD ", b"riff"];
        for (at, name) in names {
            bytes.splice(at.min(bytes.len()).., NAMES[name].iter().copied().chain([9, 0, 0, 0]).chain([1; 30]));
        }
        let source = [MARKS[mark], &bytes].concat();
        for container in [&Wav as &dyn Container, &Aiff, &Dff] {
            let facts = read(container, &source);
            if facts.editing == Editing::Possible {
                let edits = Edits::over(facts.tags, [("title".to_owned(), vec!["New".to_owned()])]);
                let splice = container.splice(&facts.structure, &edits).unwrap();
                let again = read(container, &materialise(&splice, &source));
                let title = again.tags.get("title");
                prop_assert_eq!(title, ["New"]);
            }
        }
    }
}
