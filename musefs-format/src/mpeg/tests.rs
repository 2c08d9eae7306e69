//! Whole files, made by hand.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use super::*;
use crate::limits::JUNK_BYTES_MAX;
use crate::testing::{Counted, materialise, materialise_range};
use crate::{Editing, Tags};

/// MPEG 1 layer III, 128 kbit/s, 44.1 kHz: 417 bytes, of which the last are other in each frame.
fn frames(count: u32) -> Vec<u8> {
    (0..count).flat_map(|at| [&[0xff, 0xfb, 0x90, 0x64][..], &[0x55; 409], &at.to_be_bytes()].concat()).collect()
}

fn id3v2(frames: &[(&str, &[u8])], padding: usize, flags: u8) -> Vec<u8> {
    let frame = |(name, payload): &(&str, &[u8])| {
        [name.as_bytes(), &(payload.len() as u32).to_be_bytes(), &[0, 0], payload].concat()
    };
    let content = [frames.iter().flat_map(frame).collect(), vec![0; padding]].concat();
    let size = [0, (content.len() >> 14) as u8, (content.len() >> 7 & 0x7f) as u8, (content.len() & 0x7f) as u8];
    let version = if flags == 0 { 3 } else { 4 };
    let footer = [&b"3DI\x04\0"[..], &[flags], &size].concat();
    let tag = [&b"ID3"[..], &[version, 0, flags], &size, &content].concat();
    if flags == 0 { tag } else { [tag, footer].concat() }
}

fn id3v1(title: &[u8]) -> Vec<u8> {
    let mut tag = [&b"TAG"[..], title].concat();
    tag.resize(128, 0);
    tag
}

fn ape(title: &str) -> Vec<u8> {
    let item = [&(title.len() as u32).to_le_bytes()[..], &[0; 4], b"Title\0", title.as_bytes()].concat();
    let numbers = [2000, item.len() as u32 + 32, 1, 0].map(u32::to_le_bytes).concat();
    [&item[..], b"APETAGEX", &numbers, &[0; 8]].concat()
}

fn edited(source: &[u8], changes: &[(&str, &[&str])]) -> Vec<u8> {
    let facts = Mpeg.read(&source.to_vec()).unwrap();
    assert_eq!(facts.editing, Editing::Possible);
    let changes =
        changes.iter().map(|(key, values)| ((*key).to_owned(), values.iter().map(ToString::to_string).collect()));
    let splice = Mpeg.splice(&facts.structure, &Edits::over(facts.tags, changes)).unwrap();
    let served = materialise(&splice, source);
    assert_eq!(served.len() as u64, splice.len());
    let middle = served.len() as u64 / 3;
    assert_eq!(
        materialise_range(&splice, source, middle, 999),
        served[middle as usize..(middle as usize + 999).min(served.len())]
    );
    served
}

fn tags(source: &[u8]) -> Tags {
    Mpeg.read(&source.to_vec()).unwrap().tags
}

#[test]
fn audio_lies_between_the_tags() {
    let lyrics = [&b"LYRICSBEGININD0000310"[..], b"000021LYRICS200"].concat();
    let head = [id3v2(&[("TIT2", b"\0One")], 50, 0), id3v2(&[("TPE1", b"\0Two")], 0, 0)].concat();
    let tail = [id3v2(&[("TALB", b"\0Three")], 0, 0x10), lyrics, ape("Four"), id3v1(b"Five")].concat();
    let source = [&head[..], &[0; 300], &frames(9), &tail].concat();
    let facts = Mpeg.read(&source).unwrap();
    assert_eq!((facts.audio.offset, facts.audio.len), (head.len() as u64 + 300, 9 * 417));
    assert_eq!(
        (facts.tags.first("title"), facts.tags.first("artist"), facts.tags.first("album")),
        (Some("One"), Some("Two"), Some("Three"))
    );
    assert_eq!(facts.problems, []);
    let properties = facts.properties;
    assert_eq!(
        (properties.codec.as_str(), properties.duration_ms, properties.bitrate_bps),
        ("mp3", Some(235), Some(127_706))
    );
}

#[test]
fn an_edit_reaches_every_tag_that_has_the_key() {
    let head = [id3v2(&[("TIT2", b"\0One")], 50, 0), id3v2(&[("TIT2", b"\0Two"), ("TPE1", b"\0Me")], 0, 0)].concat();
    let tail = [id3v2(&[("TIT2", b"\0Three")], 0, 0x10), ape("Four"), id3v1(b"Five")].concat();
    let source = [&head[..], &frames(9), &tail].concat();
    let served = edited(&source, &[("title", &["New title"]), ("mykey", &["x"])]);
    for old in ["One", "Two", "Three", "Four", "Five"] {
        assert!(!served.windows(old.len()).any(|window| window == old.as_bytes()), "{old}");
    }
    assert_eq!(served.windows(9).filter(|window| *window == b"New title").count(), 5);
    assert_eq!(
        (tags(&served).first("title"), tags(&served).first("artist"), tags(&served).first("mykey")),
        (Some("New title"), Some("Me"), Some("x"))
    );
    let removed = edited(&source, &[("title", &[])]);
    assert_eq!(tags(&removed).first("title"), None);
}

#[test]
fn audio_keeps_its_place_or_moves_by_pages() {
    let padded = [id3v2(&[("TIT2", b"\0One")], 500, 0), frames(9)].concat();
    let served = edited(&padded, &[("title", &["A longer title"])]);
    assert_eq!((served.len(), &served[served.len() - 9 * 417..]), (padded.len(), &frames(9)[..]));
    let tight = [id3v2(&[("TIT2", b"\0One")], 0, 0), frames(9)].concat();
    assert_eq!(edited(&tight, &[("title", &["A longer title"])]).len(), tight.len() + 4096);
    assert_eq!(edited(&frames(9), &[("title", &["New"])]).len(), frames(9).len() + 4096);
}

#[test]
fn a_new_tag_has_what_others_say() {
    let source = [frames(9), id3v1(b"Title")].concat();
    let served = edited(&source, &[("artist", &["Me"])]);
    assert!(served.starts_with(b"ID3\x04"));
    let front = crate::id3::v2::read(&served, 0).unwrap().unwrap();
    let mut tags = Tags::new();
    front.found.fill(&mut tags);
    assert_eq!((tags.first("title"), tags.first("artist")), (Some("Title"), Some("Me")));
    let removed = edited(&source, &[("title", &[])]);
    assert_eq!(removed, [frames(9), id3v1(b"")].concat(), "a removal needs no new tag");
}

#[test]
fn bytes_of_an_unknown_code_page_stay_what_they_are() {
    let source = [frames(9), id3v1(b"\x83T\x83\x93")].concat();
    let served = edited(&source, &[("artist", &["Caf\u{e9}"])]);
    assert!(served.windows(7).any(|window| window == b"\0\0\0\x83T\x83\x93"), "Latin-1 as before");
    assert!(served.windows(6).any(|window| window == "\u{3}Café".as_bytes()), "UTF-8 for what is new");
}

#[test]
fn a_tag_behind_junk_is_not_the_one_that_gets_new_keys() {
    let source = [&[7; 3000][..], &id3v2(&[("TIT2", b"\0One")], 0, 0), &frames(9)].concat();
    let served = edited(&source, &[("title", &["New"]), ("artist", &["Me"])]);
    assert!(served.starts_with(b"ID3\x04"));
    assert_eq!((tags(&served).first("title"), tags(&served).first("artist")), (Some("New"), Some("Me")));
    assert!(!served.windows(3).any(|window| window == b"One"));
}

#[test]
fn a_stray_mark_in_the_audio_moves_nothing() {
    let mut source = [id3v2(&[("TIT2", b"\0One")], 0, 0), frames(400)].concat();
    let begin = Mpeg.read(&source).unwrap().audio;
    for mark in [&b"ID3\xbf"[..], b"ID3\x03\0\0\0\0\x01\0TIT2\0\0\0\x02\0\0\0A"] {
        for at in [500, source.len() / 2] {
            source[at..at + mark.len()].copy_from_slice(mark);
        }
        assert_eq!(Mpeg.read(&source).unwrap().audio, begin);
    }
}

#[test]
fn files_without_frames_are_edited_too() {
    for source in [id3v2(&[("TIT2", b"\0One")], 0, 0), Vec::new(), b"no audio at all".to_vec()] {
        let facts = Mpeg.read(&source).unwrap();
        assert_eq!(facts.problems.len(), 1, "{:?}", facts.problems);
        assert_eq!(tags(&edited(&source, &[("title", &["New"])])).first("title"), Some("New"));
    }
}

#[test]
fn junk_is_searched_up_to_the_limit() {
    // The chain of frames must be seen within it.
    let seen = JUNK_BYTES_MAX - 3 * 417;
    for (junk, found) in [(seen, true), (JUNK_BYTES_MAX, false)] {
        let facts = Mpeg.read(&[vec![7; junk], frames(9)].concat()).unwrap();
        assert_eq!((facts.problems.is_empty(), facts.audio.offset), (found, if found { junk as u64 } else { 0 }));
    }
}

#[test]
fn values_without_a_place_are_refused() {
    let facts = Mpeg.read(&frames(9)).unwrap();
    for (key, value) in [("id3:priv:x", "y"), ("mp4:cnid", "y"), ("title", "a\0b")] {
        let edits = Edits::over(Tags::new(), [(key.to_owned(), vec![value.to_owned()])]);
        assert!(matches!(Mpeg.splice(&facts.structure, &edits), Err(Refusal::Value { .. })), "{key}");
    }
    for damaged in [Vec::new(), vec![9], vec![1, 0xff]] {
        let edits = Edits::over(Tags::new(), [("title".to_owned(), vec!["New".to_owned()])]);
        assert!(matches!(Mpeg.splice(&Structure(damaged), &edits), Err(Refusal::Structure(_))));
    }
}

#[test]
fn damaged_structures_are_refused_or_harmless() {
    let source = [id3v2(&[("TIT2", b"\0One")], 50, 0), frames(3), ape("Four"), id3v1(b"Five")].concat();
    let facts = Mpeg.read(&source).unwrap();
    let edits = Edits::over(facts.tags, [("title".to_owned(), vec!["New".to_owned()])]);
    for at in 1..facts.structure.0.len() {
        for byte in [0, 1, 0x7f, 0x80, 0xff] {
            let mut damaged = facts.structure.clone();
            damaged.0[at] = byte;
            if let Ok(splice) = Mpeg.splice(&damaged, &edits) {
                assert!(splice.len() <= source.len() as u64 + 4096, "{at}");
            }
        }
    }
}

#[test]
fn audio_is_not_read_through() {
    let source = [id3v2(&[("TIT2", b"\0One")], 500, 0), frames(10_000)].concat();
    let counted = Counted::new(&source);
    Mpeg.read(&counted).unwrap();
    assert!(counted.read.get() < 128 << 10, "{}", counted.read.get());
}
