//! Whole files, made by hand.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use proptest::prelude::*;

use super::boxes::{Kind, be, boxed};
use super::*;
use crate::limits::{
    MP4_BOXES_MAX, MP4_FRAGMENT_BYTES_MAX, MP4_RUN_BYTES_MAX, MP4_TABLES_MAX, MP4_TEXT_BYTES_MAX, VALUE_BYTES_MAX,
};
use crate::testing::{materialise, materialise_range};
use crate::{Editing, Tags};

fn full(kind: Kind, content: &[u8]) -> Vec<u8> {
    boxed(kind, &[&[0; 4], content].concat())
}

fn wide(kind: Kind, content: &[u8]) -> Vec<u8> {
    [&[0, 0, 0, 1][..], &kind, &(16 + content.len() as u64).to_be_bytes(), content].concat()
}

fn data(type_code: u8, payload: &[u8]) -> Vec<u8> {
    boxed(*b"data", &[&[0, 0, 0, type_code, 0, 0, 0, 0], payload].concat())
}

fn text(kind: &Kind, value: &str) -> Vec<u8> {
    boxed(*kind, &data(1, value.as_bytes()))
}

fn free_form(name: &str, value: &str) -> Vec<u8> {
    let names = [full(*b"mean", b"com.apple.iTunes"), full(*b"name", name.as_bytes())].concat();
    boxed(*b"----", &[names, data(1, value.as_bytes())].concat())
}

fn meta(handler: &Kind, parts: &[u8]) -> Vec<u8> {
    full(*b"meta", &[full(*b"hdlr", &[&[0; 4], &handler[..], &[0; 13]].concat()), parts.to_vec()].concat())
}

/// User data with iTunes' items, and what stands behind them.
fn itunes(items: &[Vec<u8>], behind: &[u8]) -> Vec<u8> {
    boxed(*b"udta", &meta(b"mdir", &[boxed(*b"ilst", &items.concat()), behind.to_vec()].concat()))
}

/// Metadata that is named by keys.
fn keyed(items: &[(&str, &str)]) -> Vec<u8> {
    let keys: Vec<_> = items.iter().flat_map(|(key, _)| boxed(*b"mdta", key.as_bytes())).collect();
    let values = (1..).zip(items).flat_map(|(at, (_, value))| boxed(u32::to_be_bytes(at), &data(1, value.as_bytes())));
    let list = boxed(*b"ilst", &values.collect::<Vec<_>>());
    meta(b"mdta", &[full(*b"keys", &[&(items.len() as u32).to_be_bytes()[..], &keys].concat()), list].concat())
}

fn quick_time(kind: &Kind, value: &str) -> Vec<u8> {
    boxed(*kind, &[&(value.len() as u16).to_be_bytes(), &[0, 0][..], value.as_bytes()].concat())
}

fn table(kind: Kind, offsets: &[u64]) -> Vec<u8> {
    let width = if kind == *b"co64" { 8 } else { 4 };
    let entries = offsets.iter().flat_map(|offset| offset.to_be_bytes()[8 - width..].to_vec());
    full(kind, &[&(offsets.len() as u32).to_be_bytes()[..], &entries.collect::<Vec<_>>()].concat())
}

fn track(tables: &[u8]) -> Vec<u8> {
    let entry = boxed(*b"mp4a", &[&[0; 16][..], &[0, 2, 0, 16, 0, 0, 0, 0, 0xac, 0x44, 0, 0]].concat());
    let description = full(*b"stsd", &[&[0, 0, 0, 1], &entry[..]].concat());
    let info = boxed(*b"minf", &boxed(*b"stbl", &[&description, tables].concat()));
    let times = [44_100_u32, 88_200].map(u32::to_be_bytes).concat();
    let header = full(*b"mdhd", &[&[0; 8], &times[..], &[0; 4]].concat());
    let handler = full(*b"hdlr", &[&[0; 4], &b"soun"[..], &[0; 13]].concat());
    let head = full(*b"tkhd", &[&[0; 8], &[0, 0, 0, 1][..], &[0; 68]].concat());
    boxed(*b"trak", &[head, boxed(*b"mdia", &[header, handler, info].concat())].concat())
}

/// Media of which each 10 bytes are other ones.
fn media(seed: u8) -> Vec<u8> {
    boxed(*b"mdat", &(0..80).map(|at| seed + at / 10).collect::<Vec<_>>())
}

const KIND: &[u8] = b"\0\0\0\x10ftypM4A \0\0\0\0";

/// A file with media in front of `moov` and behind it, and tables of all their chunks: of the second 32 bits, of the first 64.
fn movie_of(tags: &[u8], moov_as: fn(Kind, &[u8]) -> Vec<u8>, behind: &[u8]) -> Vec<u8> {
    let moov = |second: u64| {
        let chunks = |start: u64| [0, 10, 30, 70].map(|at| start + 8 + at);
        let first = KIND.len() as u64;
        let mixed: Vec<_> = chunks(first).into_iter().chain(chunks(second)).collect();
        let tables = [track(&table(*b"stco", &chunks(second))), track(&table(*b"co64", &mixed))].concat();
        moov_as(*b"moov", &[&tables, tags].concat())
    };
    let start = KIND.len() + media(0).len();
    let second = start + moov(0).len() + behind.len();
    [KIND, &media(0), &moov(second as u64), behind, &media(100)].concat()
}

fn movie(tags: &[u8]) -> Vec<u8> {
    movie_of(tags, boxed, &[])
}

fn edits(tags: Tags, changes: &[(&str, &[&str])]) -> Edits {
    let change =
        |(key, values): &(&str, &[&str])| ((*key).to_owned(), values.iter().map(ToString::to_string).collect());
    Edits::over(tags, changes.iter().map(change))
}

fn edited(source: &[u8], changes: &[(&str, &[&str])]) -> Vec<u8> {
    let facts = Mp4.read(&source.to_vec()).unwrap();
    assert_eq!(facts.editing, Editing::Possible);
    let edits = edits(facts.tags, changes);
    let splice = Mp4.splice(&facts.structure, &edits).unwrap();
    let served = materialise(&splice, source);
    assert_eq!(served.len() as u64, splice.len());
    let third = splice.len() / 3;
    for len in [1, 7, 999] {
        let end = served.len().min(third as usize + len as usize);
        assert_eq!(materialise_range(&splice, source, third, len), served[third as usize..end]);
    }
    served
}

fn tags(source: &[u8]) -> Tags {
    Mp4.read(&source.to_vec()).unwrap().tags
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// The bytes that each entry of all tables points at, in order.
fn chunks(file: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (kind, width) in [(b"stco", 4), (b"co64", 8)] {
        let at = file.windows(4).position(|window| window == kind).unwrap() + 4;
        for entry in 0..be(file, at + 4, 4).unwrap() as usize {
            let offset = be(file, at + 8 + entry * width, width).unwrap() as usize;
            all.push(file[offset..offset + 10].to_vec());
        }
    }
    all
}

#[test]
fn offsets_follow_their_chunks() {
    let items = [text(b"\xa9nam", "One")];
    let free = boxed(*b"free", &[0; 50]);
    for source in [
        movie(&[]),
        movie(&boxed(*b"udta", &[])),
        movie(&boxed(*b"udta", &meta(b"mdir", &[]))),
        movie(&itunes(&items, &[])),
        movie(&itunes(&items, &free)),
        movie_of(&itunes(&items, &[]), wide, &[]),
        movie_of(&[], boxed, &free),
    ] {
        let (short, long) = ("New", "x".repeat(9000));
        for changes in [[("title", &[short][..])], [("title", &[&long])], [("title", &[])]] {
            let served = edited(&source, &changes);
            assert_eq!(chunks(&served), chunks(&source));
            assert_eq!((served.len() - source.len()) % 4096, 0);
            assert_eq!(tags(&served).get("title"), changes[0].1);
        }
    }
}

#[test]
fn what_fits_moves_nothing() {
    let items = [text(b"\xa9nam", "One"), free_form("iTunSMPB", " 00000000 00000840")];
    let free = boxed(*b"free", &[0; 100]);
    for source in [
        movie(&itunes(&items, &free)),
        movie(&[itunes(&items, &[]), free.clone()].concat()),
        movie_of(&itunes(&items, &[]), boxed, &free),
    ] {
        for title in ["A longer title", "", "O"] {
            let served = edited(&source, &[("title", &[title])]);
            assert_eq!(served.len(), source.len());
            assert_eq!(served[served.len() - 88..], source[source.len() - 88..]);
            assert!(holds(&served, "iTunSMPB") && holds(&served, " 00000000 00000840"));
        }
    }
}

#[test]
fn a_moov_at_the_end_grows_and_shrinks() {
    let moov = |tags: &[u8]| boxed(*b"moov", &[track(&table(*b"stco", &[24])), tags.to_vec()].concat());
    let source = [KIND, &media(0), &moov(&itunes(&[text(b"\xa9nam", "One")], &[]))].concat();
    let head = KIND.len() + media(0).len();
    for (title, grown) in [(&["A longer title"][..], 11), (&[], -27), (&["On"], -1)] {
        let served = edited(&source, &[("title", title)]);
        assert_eq!(served.len() as i64 - source.len() as i64, grown);
        assert_eq!(served[..head], source[..head]);
    }
    let served = edited(&[KIND, &media(0), &moov(&[])].concat(), &[("title", &["New"])]);
    assert_eq!(served[..head], source[..head]);
}

#[test]
fn an_edit_reaches_every_copy() {
    let user_data = [
        quick_time(b"\xa9nam", "Two"),
        quick_time(b"\xa9xyz", "+1-1/"),
        full(*b"perf", b"\x15\xc7Me\0"),
        meta(b"mdir", &boxed(*b"ilst", &[text(b"\xa9nam", "One"), free_form("TITLE", "Three")].concat())),
    ];
    let others = keyed(&[("com.apple.quicktime.title", "Four"), ("artist", "You"), ("own", "kept")]);
    let source = movie(&[others, boxed(*b"udta", &[user_data.concat(), vec![0; 4]].concat())].concat());
    let before = tags(&source);
    assert_eq!(
        (before.first("title"), before.first("artist"), before.first("own")),
        (Some("One"), Some("You"), Some("kept"))
    );
    assert_eq!(before.first("mp4:©xyz"), Some("+1-1/"));
    let served = edited(&source, &[("title", &["New title"]), ("artist", &["He"])]);
    for old in ["One", "Two", "Three", "Four", "You", "Me\0"] {
        assert!(!holds(&served, old), "{old}");
    }
    assert_eq!(served.windows(9).filter(|window| window == b"New title").count(), 3);
    assert!(holds(&served, "kept") && holds(&served, "+1-1/"));
    let removed = tags(&edited(&source, &[("title", &[])]));
    assert_eq!((removed.first("title"), removed.first("own")), (None, Some("kept")));
}

#[test]
fn a_new_list_has_what_others_say() {
    let source = movie(&keyed(&[("title", "One"), ("album", "Two")]));
    let served = edited(&source, &[("artist", &["Me"])]);
    for new in ["©nam", "©alb", "©ART"].map(|kind| kind.chars().map(|letter| letter as u8).collect::<Vec<_>>()) {
        assert!(served.windows(4).any(|window| window == new), "{}", new.escape_ascii());
    }
    let removed = edited(&source, &[("title", &[])]);
    assert!(!holds(&removed, "mdir"), "a removal needs no new list");
    assert_eq!(tags(&removed).get("album"), ["Two"]);
}

#[test]
fn values_that_do_not_fit_their_item_get_another() {
    let source = movie(&itunes(
        &[boxed(*b"trkn", &data(0, &[0, 0, 0, 3, 0, 12, 0, 0])), boxed(*b"tmpo", &data(21, &[0, 99]))],
        &[],
    ));
    let changes: [(&str, &[&str]); 5] = [
        ("tracknumber", &["A1"]),
        ("bpm", &["128.5"]),
        ("compilation", &["yes"]),
        ("discnumber", &["70000"]),
        ("genre", &["A", "B", "C"]),
    ];
    let served = edited(&source, &changes);
    let after = tags(&served);
    for (key, values) in changes {
        assert_eq!(after.get(key), values, "{key}");
    }
    assert_eq!(after.get("totaltracks"), ["12"]);
    let again = edited(&served, &[("tracknumber", &["07"]), ("bpm", &["128"])]);
    assert_eq!(
        (tags(&again).get("tracknumber"), tags(&again).get("bpm")),
        (&["7".to_owned()][..], &["128".to_owned()][..])
    );
    assert!(!holds(&again, "A1") && !holds(&again, "128.5"));
}

#[test]
fn values_without_a_place_are_refused() {
    let source = movie(&itunes(&[boxed(*b"cnID", &data(21, &[0, 0, 0, 9]))], &[]));
    let facts = Mp4.read(&source).unwrap();
    assert_eq!(facts.tags.get("mp4:cnid"), ["9"]);
    for (key, value) in [("id3:priv:x", "y"), ("mp4:cnid", "x"), ("title", "a\0b"), ("mp4:covr", "x")] {
        let refusal = Mp4.splice(&facts.structure, &edits(facts.tags.clone(), &[(key, &[value])]));
        assert!(matches!(refusal, Err(Refusal::Value { .. })), "{key}");
    }
    assert_eq!(tags(&edited(&source, &[("mp4:cnid", &["10"])])).get("mp4:cnid"), ["10"]);
    for damaged in [Vec::new(), vec![9], vec![1, 0xff], [&facts.structure.0[..1], &[0; 40]].concat()] {
        let refusal = Mp4.splice(&Structure(damaged), &edits(Tags::new(), &[("title", &["New"])]));
        assert!(matches!(refusal, Err(Refusal::Structure(_))));
    }
}

/// A file with a few bytes, and zeros behind them.
struct Sparse {
    head: Vec<u8>,
    len: u64,
}

impl ReadAt for Sparse {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let available = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX).min(buf.len());
        buf[..available].fill(0);
        self.head.read_at(&mut buf[..available], offset)?;
        Ok(available)
    }
}

#[test]
fn files_of_four_gigabytes_do_not_outgrow_their_tables() {
    let splice = |kind: Kind, len: u64| {
        let tags = itunes(&[], &boxed(*b"free", &[0; 100]));
        let moov = boxed(*b"moov", &[track(&table(kind, &[5000, 6000])), tags].concat());
        let start = (KIND.len() + moov.len()) as u64;
        let head = [KIND, &moov, &[0, 0, 0, 1], b"mdat", &(len - start).to_be_bytes()].concat();
        let facts = Mp4.read(&Sparse { head, len }).unwrap();
        move |value: &str| Mp4.splice(&facts.structure, &edits(Tags::new(), &[("title", &[value])]))
    };
    let (edge, long) = (u64::from(u32::MAX) - 4096, "x".repeat(200));
    for (kind, len, value, fits) in [
        (*b"stco", edge, &long[..], true),
        (*b"stco", edge + 1, &long, false),
        (*b"stco", edge + 1, "short", true),
        (*b"co64", edge + 1, &long, true),
    ] {
        let outcome = splice(kind, len)(value);
        assert_eq!(outcome.is_ok(), fits, "{kind:?} {len} {outcome:?}");
        assert!(fits || matches!(outcome, Err(Refusal::Value { key, .. }) if key == "title"));
    }
}

fn reason(source: &[u8]) -> Option<String> {
    match Mp4.read(&source.to_vec()).unwrap().editing {
        Editing::Opaque(reason) => Some(reason),
        Editing::Possible => None,
    }
}

#[test]
fn files_that_cannot_be_edited_say_why() {
    let whole = movie(&[]);
    let moov = boxed(*b"moov", &track(&table(*b"stco", &[0])));
    let past = |kind: Kind, count: usize| [&(count as u32 + 8).to_be_bytes(), &kind[..]].concat();
    for (source, words) in [
        (Vec::new(), "there is no moov box"),
        (KIND.to_vec(), "there is no moov box"),
        (whole[..whole.len() - 100].to_vec(), "the file ends within its moov box"),
        ([whole.clone(), moov.clone()].concat(), "there are several moov boxes"),
        ([boxed(*b"sidx", &[0; 24]), moov].concat(), "an index of its segments stands in front of its moov box"),
        (movie(&boxed(*b"cmov", &[])), "its moov box is compressed"),
        (movie(&meta(b"mdir", &full(*b"iloc", &[]))), "its metadata points to other places of the file (iloc)"),
        (movie(&past(*b"udta", 10)), "a box of its tags runs past the end of the box around it"),
        (movie(&boxed(*b"trak", &past(*b"mdia", 10))), "a box of a track runs past the end of the box around it"),
    ] {
        assert_eq!(reason(&source).as_deref(), Some(words));
    }
}

#[test]
fn counts_have_limits() {
    let tables = |count: usize| {
        movie(&boxed(
            *b"trak",
            &boxed(*b"mdia", &boxed(*b"minf", &boxed(*b"stbl", &table(*b"stco", &[0]).repeat(count)))),
        ))
    };
    // Two tables are the file's own.
    assert_eq!(reason(&tables(MP4_TABLES_MAX - 2)), None);
    assert_eq!(
        reason(&tables(MP4_TABLES_MAX - 1)).as_deref(),
        Some("its fragments have too many offsets into the file")
    );
    let boxes = boxed(*b"free", &[]).repeat(MP4_BOXES_MAX);
    assert_eq!(reason(&[movie(&[]), boxes].concat()).as_deref(), Some("it has more boxes than are read"));
}

#[test]
fn texts_have_limits() {
    for (len, is_read) in [(VALUE_BYTES_MAX, true), (VALUE_BYTES_MAX + 1, false)] {
        let source = movie(&itunes(&[text(b"\xa9cmt", &"x".repeat(len)), text(b"\xa9nam", "One")], &[]));
        let facts = Mp4.read(&source).unwrap();
        assert_eq!((facts.tags.get("comment").len(), facts.problems.len()), if is_read { (1, 0) } else { (0, 1) });
        assert!(holds(&edited(&source, &[("title", &["New"])]), &"x".repeat(len)));
    }
    let full: Vec<_> = (0..MP4_TEXT_BYTES_MAX as usize / VALUE_BYTES_MAX)
        .map(|at| free_form(&format!("n{at}"), &"x".repeat(VALUE_BYTES_MAX)))
        .collect();
    for (more, problems) in [("", 0), ("y", 1)] {
        let source = movie(&itunes(&[full.concat(), text(b"\xa9nam", more)], &[]));
        assert_eq!(Mp4.read(&source).unwrap().problems.len(), problems);
    }
}

/// A fragmented file; `run` is the content of the run of samples behind version.
fn fragmented(runs: &[Vec<u8>]) -> Vec<u8> {
    let defaults = full(*b"trex", &[&[0, 0, 0, 1, 0, 0, 0, 0][..], &441_u32.to_be_bytes(), &[0; 8]].concat());
    let moov = boxed(*b"moov", &[track(&table(*b"stco", &[])), boxed(*b"mvex", &defaults)].concat());
    let start = (KIND.len() + moov.len()) as u64;
    let header = boxed(*b"tfhd", &[&[0, 0, 0, 1, 0, 0, 0, 1][..], &start.to_be_bytes()].concat());
    let runs: Vec<_> = runs.iter().flat_map(|run| boxed(*b"trun", run)).collect();
    let fragment = boxed(*b"moof", &boxed(*b"traf", &[header, runs].concat()));
    let entry = [&[0; 8][..], &start.to_be_bytes(), &[1; 3]].concat();
    let index = boxed(*b"tfra", &[&[1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1][..], &entry].concat());
    [KIND, &moov, &fragment, &media(0), &boxed(*b"mfra", &index)].concat()
}

/// A run whose samples each tell their duration of one.
fn told_run(samples: usize) -> Vec<u8> {
    [&[0, 0, 1, 0][..], &(samples as u32).to_be_bytes(), &[0, 0, 0, 1].repeat(samples)].concat()
}

#[test]
fn fragments_play_on() {
    let plain = [&[0; 4][..], &300_u32.to_be_bytes()].concat();
    let source = fragmented(&[plain, told_run(44_100)]);
    assert_eq!(Mp4.read(&source).unwrap().properties.duration_ms, Some(4000));
    let served = edited(&source, &[("title", &["New"])]);
    let at = |file: &[u8], kind: &Kind, offset: usize| {
        let at = file.windows(4).position(|window| window == kind).unwrap() + 4;
        be(file, at + offset, 8).unwrap()
    };
    for file in [&source, &served] {
        let moof = file.windows(4).position(|window| window == b"moof").unwrap() as u64 - 4;
        assert_eq!((at(file, b"tfhd", 8), at(file, b"tfra", 24)), (moof, moof));
    }
    assert_eq!(Mp4.read(&served).unwrap().properties.duration_ms, Some(4000));
}

#[test]
fn runs_have_limits() {
    let told_ms = |runs: &[Vec<u8>]| Mp4.read(&fragmented(runs)).unwrap().properties.duration_ms;
    let most = (MP4_RUN_BYTES_MAX - 8) / 4;
    // Two seconds are what `moov` tells.
    assert_eq!(told_ms(&[told_run(most)]), Some(most as u64 * 1000 / 44_100));
    assert_eq!(told_ms(&[told_run(most + 1)]), Some(2000));
    let many = MP4_FRAGMENT_BYTES_MAX as usize / MP4_RUN_BYTES_MAX;
    let all = vec![told_run(most); many];
    assert_ne!(told_ms(&all), Some(2000));
    assert_eq!(told_ms(&[all, vec![told_run(1)]].concat()), Some(2000));
}

#[test]
fn a_stray_fragment_says_nothing() {
    let source = [movie(&[]), boxed(*b"moof", &boxed(*b"traf", &boxed(*b"trun", &told_run(9))))].concat();
    assert_eq!(Mp4.read(&source).unwrap().properties.duration_ms, Some(2000));
}

#[test]
fn pictures_are_ranges_and_told_by_their_bytes() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x05\0\0\0\x06";
    let cover = boxed(*b"covr", &[data(0, png), data(13, b"\xff\xd8\xff\xe0"), data(13, b"")].concat());
    let facts = Mp4.read(&movie(&itunes(&[cover], &[]))).unwrap();
    let seen: Vec<_> =
        facts.pictures.iter().map(|one| (one.kind, one.mime.as_str(), one.width, one.range.len)).collect();
    assert_eq!(seen, [(3, "image/png", 5, 24), (0, "image/jpeg", 0, 4)]);
}

proptest! {
    #[test]
    fn any_edit_of_any_items_comes_back(
        names in prop::sample::subsequence(vec!["title", "artist", "genre", "tracknumber", "totaltracks", "own", "bpm"], 0..=7),
        changes in prop::collection::btree_map(
            prop::sample::select(vec!["title", "artist", "genre", "tracknumber", "totaltracks", "own", "label", "bpm"]),
            prop::collection::vec("[1-9][0-9]{0,3}|[a-z♫]{1,9}", 0..4),
            0..6,
        ),
        room in prop::sample::select(vec![0, 1, 30, 500]),
        nested in any::<bool>(),
    ) {
        let item = |name: &&str| match *name {
            "title" => text(b"\xa9nam", "Old"),
            "artist" => boxed(*b"\xa9ART", &[data(1, b"Old"), data(1, b"Older")].concat()),
            "genre" => boxed(*b"gnre", &data(0, &[0, 18])),
            "tracknumber" => boxed(*b"trkn", &data(0, &[0, 0, 0, 3, 0, 12, 0, 0])),
            "bpm" => boxed(*b"tmpo", &data(21, &[0, 99])),
            name => free_form(name, "9"),
        };
        let items: Vec<_> = names.iter().map(item).collect();
        let free = boxed(*b"free", &vec![0; room]);
        let source = if nested { movie(&itunes(&items, &free)) } else { movie_of(&itunes(&items, &[]), boxed, &free) };
        let facts = Mp4.read(&source).unwrap();
        let edits = Edits::over(facts.tags, changes.into_iter().map(|(key, values)| (key.to_owned(), values)));
        let served = materialise(&Mp4.splice(&facts.structure, &edits).unwrap(), &source);
        prop_assert_eq!(&tags(&served), edits.effective());
        prop_assert_eq!(chunks(&served), chunks(&source));
        prop_assert_eq!((served.len() as i64 - source.len() as i64) % 4096, 0);
    }

    #[test]
    fn nothing_panics_on_damage(at in 0..2000_usize, value in any::<u8>(), cut in 0..2000_usize) {
        let items = [text(b"\xa9nam", "One"), free_form("own", "x"), boxed(*b"trkn", &data(0, &[0; 8]))];
        let mut source = movie(&[keyed(&[("title", "One")]), itunes(&items, &boxed(*b"free", &[0; 99]))].concat());
        let len = source.len();
        source[at % len] = value;
        source.truncate(len - cut % 300);
        let facts = Mp4.read(&source).unwrap();
        if facts.editing == Editing::Possible {
            let edits = edits(facts.tags, &[("title", &["New"])]);
            let splice = Mp4.splice(&facts.structure, &edits).unwrap();
            prop_assert_eq!(materialise(&splice, &source).len() as u64, splice.len());
        }
    }
}
