//! Whole files, made by hand.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use proptest::prelude::*;

use crate::testing::{Counted, materialise};
use crate::{Editing, Edits, Format, Properties, Refusal, Structure, Tags, container};

/// Monkey's Audio of version 3.99: one frame of 4410 samples, 44.1 kHz, 16 bits, stereo.
fn monkey() -> Vec<u8> {
    let descriptor = [&b"MAC \x96\x0f\0\0"[..], &52_u32.to_le_bytes(), &24_u32.to_le_bytes(), &[0; 36]].concat();
    let header = [2000_u32 | 32 << 16, 73_728 * 4, 4410, 1, 16 | 2 << 16, 44_100].map(u32::to_le_bytes).concat();
    [descriptor, header, b"the frames".to_vec()].concat()
}

fn item(name: &str, flags: u32, value: &[u8]) -> Vec<u8> {
    [&(value.len() as u32).to_le_bytes()[..], &flags.to_le_bytes(), name.as_bytes(), b"\0", value].concat()
}

fn ape(items: &[Vec<u8>], has_header: bool) -> Vec<u8> {
    let content = items.concat();
    let frame = |flags: u32| {
        let numbers = [2000, content.len() as u32 + 32, items.len() as u32, flags].map(u32::to_le_bytes).concat();
        [&b"APETAGEX"[..], &numbers, &[0; 8]].concat()
    };
    match has_header {
        true => [frame(0xa000_0000), content.clone(), frame(0x8000_0000)].concat(),
        false => [content.clone(), frame(0)].concat(),
    }
}

fn id3v2(frames: &[(&str, &str)]) -> Vec<u8> {
    let frame = |(name, text): &(&str, &str)| {
        [name.as_bytes(), &[0, 0, 0, text.len() as u8 + 1, 0, 0, 0], text.as_bytes()].concat()
    };
    let content: Vec<u8> = frames.iter().flat_map(frame).collect();
    [&b"ID3\x03\0\0\0\0\0"[..], &[content.len() as u8], &content].concat()
}

fn id3v1(title: &str, artist: &str) -> Vec<u8> {
    let mut tag = [b"TAG", title.as_bytes()].concat();
    tag.resize(33, 0);
    tag.extend(artist.as_bytes());
    tag.resize(127, 0);
    [&tag[..], &[255]].concat()
}

fn edited(format: Format, source: &[u8], changes: &[(&str, &[&str])]) -> Vec<u8> {
    let container = container(format).unwrap();
    let facts = container.read(&source.to_vec()).unwrap();
    assert_eq!(facts.editing, Editing::Possible);
    let changes =
        changes.iter().map(|(key, values)| ((*key).to_owned(), values.iter().map(ToString::to_string).collect()));
    let edits = Edits::over(facts.tags, changes);
    let splice = container.splice(&facts.structure, &edits).unwrap();
    let served = materialise(&splice, source);
    assert_eq!(served.len() as u64, splice.len());
    assert_eq!(&tags(format, &served), edits.effective());
    served
}

fn tags(format: Format, source: &[u8]) -> Tags {
    container(format).unwrap().read(&source.to_vec()).unwrap().tags
}

#[test]
fn a_file_without_a_tag_gets_one_at_its_end() {
    let new = ape(&[item("Title", 0, b"New")], true);
    let served = edited(Format::MonkeysAudio, &monkey(), &[("title", &["New"])]);
    assert_eq!(served, [monkey(), new].concat());
    let old = [monkey(), id3v1("Old", "")].concat();
    let served = edited(Format::MonkeysAudio, &old, &[("artist", &["Me"])]);
    let new = ape(&[item("Artist", 0, b"Me"), item("Title", 0, b"Old")], true);
    assert_eq!(served, [monkey(), new, id3v1("Old", "Me")].concat(), "in front of ID3v1, with what that says");
    let served = edited(Format::MonkeysAudio, &old, &[("title", &[])]);
    assert_eq!(served, [monkey(), id3v1("", "")].concat(), "a removal needs no new tag");
}

#[test]
fn an_edit_reaches_every_tag_that_has_the_key() {
    let cover = item("Cover Art (Front)", 2, b"front.png\0\x89PNG\r\n\x1a\n");
    for has_header in [true, false] {
        let tag = ape(&[item("TITLE", 0, b"One"), cover.clone(), item("Odd", 4, b"http://x")], has_header);
        let source = [&id3v2(&[("TIT2", "Two"), ("TALB", "Album")]), &monkey(), &tag, &id3v1("Three", "")]
            .map(|part| &part[..])
            .concat();
        assert_eq!(tags(Format::MonkeysAudio, &source).get("title"), ["One"]);
        let served = edited(Format::MonkeysAudio, &source, &[("title", &["New"]), ("genre", &["Rock", "Pop"])]);
        let tag = ape(
            &[item("TITLE", 0, b"New"), cover.clone(), item("Odd", 4, b"http://x"), item("Genre", 0, b"Rock\0Pop")],
            has_header,
        );
        let mut v1 = id3v1("New", "");
        v1[127] = 17;
        assert_eq!(served, [id3v2(&[("TIT2", "New"), ("TALB", "Album")]), monkey(), tag, v1].concat());
    }
}

#[test]
fn a_tag_that_said_nothing_takes_over_what_others_say() {
    let cover = item("Cover Art (Front)", 2, b"front.png\0\x89PNG\r\n\x1a\n");
    let source = [monkey(), ape(&[], true), id3v1("Old", "")].concat();
    let served = edited(Format::MonkeysAudio, &source, &[("artist", &["Me"])]);
    let new = ape(&[item("Artist", 0, b"Me"), item("Title", 0, b"Old")], true);
    assert_eq!(served, [monkey(), new, id3v1("Old", "Me")].concat());
    let source = [monkey(), ape(std::slice::from_ref(&cover), true), id3v1("Old", "")].concat();
    let served = edited(Format::MonkeysAudio, &source, &[("artist", &["Me"])]);
    assert!(served.windows(cover.len()).any(|window| window == cover));
}

#[test]
fn true_audio_gets_id3v2() {
    let stream = b"TTA1\x01\0\x02\0\x10\0\x44\xac\0\0\x44\xac\0\0....frames".to_vec();
    let served = edited(Format::TrueAudio, &stream, &[("title", &["New"])]);
    assert!(served.starts_with(b"ID3\x04") && served.ends_with(&stream));
    assert_eq!(served.len(), stream.len() + 4096);
}

#[test]
fn adts_keeps_the_tag_that_it_has() {
    let frames = crate::adts::header::tests::frames(100, 9);
    let tag = |title: &str| ape(&[item("Title", 0, title.as_bytes())], false);
    let served = edited(Format::Adts, &[&frames[..], &tag("Old")].concat(), &[("title", &["New"])]);
    assert_eq!(served, [&frames[..], &tag("New")].concat());
    assert!(edited(Format::Adts, &frames, &[("title", &["New"])]).starts_with(b"ID3\x04"));
    let tagged = [&id3v2(&[("TIT2", "Old")])[..], b"junk", &frames].concat();
    let facts = container(Format::Adts).unwrap().read(&tagged).unwrap();
    assert_eq!((facts.audio.offset, facts.audio.len), (tagged.len() as u64 - 900, 900));
    let served = edited(Format::Adts, &tagged, &[("title", &["New"])]);
    assert_eq!(served, [&id3v2(&[("TIT2", "New")])[..], b"junk", &frames].concat());
}

/// Each format: the first bytes of a stream, and codec, milliseconds, rate, channels and bits that they tell.
#[test]
fn streams_tell_their_properties() {
    let wavpack = |flags: u32, samples: u32, sub_blocks: &[u8]| {
        let numbers = [24 + sub_blocks.len() as u32, 0x0410, samples, 0, 1, flags, 0].map(u32::to_le_bytes).concat();
        [&b"wvpk"[..], &numbers, sub_blocks].concat()
    };
    let rate = |index: u32| index << 23 | 1 << 11;
    let last = 1 << 12;
    let two_blocks = [wavpack(rate(9) | 1, 44_100, &[]), wavpack(rate(9) | 1 | 4 | last, 44_100, &[])].concat();
    let custom = wavpack(rate(15) | 1 | last, 1000, &[0x0d, 1, 6, 0x3f, 0x67, 2, 0xe8, 3, 0, 0]);
    let dsd = wavpack(rate(12) | last | 1 << 31, 3528, &[0x0e, 1, 2, 3]);
    let old_monkey =
        [&b"MAC \x64\x0f\xa0\x0f\x16\0\x02\0\x44\xac\0\0"[..], &[44, 0, 2, 44_100 / 2].map(u32::to_le_bytes).concat()]
            .concat();
    let musepack_7 = [
        &b"MP+\x07"[..],
        &100_u32.to_le_bytes(),
        &[0, 0, 1, 0],
        &[0; 8],
        &(1_u32 << 31 | 152 << 20).to_le_bytes(),
        &[0; 4],
    ]
    .concat();
    let musepack_8 = b"MPCKXX\x05..SH\x0ecccc\x08\x84\xd8\x44\x64\x1b\x10\x00".to_vec();
    let optimfrog = b"OFR \x0f\0\0\0\x88\x58\x01\0\0\0\x02\x01\x44\xac\0\0".to_vec();
    let tak = [&b"tBaK\x04\x02\0\0xx\x01\x0d\0\0"[..], &tak_information(44_100, 44_100, 24, 2)].concat();
    for (format, stream, expected) in [
        (Format::WavPack, wavpack(rate(9) | 1 | last, 44_100, &[]), ("wavpack", 1000, 44_100, 2, Some(16))),
        (Format::WavPack, two_blocks, ("wavpack", 1000, 44_100, 3, Some(16))),
        (Format::WavPack, custom, ("wavpack", 1000, 1000, 6, Some(16))),
        (Format::WavPack, dsd, ("wavpack", 10, 2_822_400, 2, Some(1))),
        (Format::MonkeysAudio, monkey(), ("ape", 100, 44_100, 2, Some(16))),
        (Format::MonkeysAudio, old_monkey, ("ape", 2172, 44_100, 2, Some(16))),
        (Format::Musepack, musepack_7, ("musepack", 2379, 48_000, 2, None)),
        (Format::Musepack, musepack_8, ("musepack", 1741, 44_100, 2, None)),
        (
            Format::TrueAudio,
            b"TTA1\x01\0\x02\0\x10\0\x44\xac\0\0\x44\xac\0\0....".to_vec(),
            ("tta", 1000, 44_100, 2, Some(16)),
        ),
        (Format::OptimFrog, optimfrog, ("optimfrog", 1000, 44_100, 2, Some(16))),
        (Format::Tak, tak, ("tak", 1000, 44_100, 2, Some(24))),
    ] {
        let read = |stream: &[u8]| container(format).unwrap().read(&stream.to_vec()).unwrap();
        let facts = read(&stream);
        let Properties { codec, duration_ms, sample_rate_hz, channels, bits, .. } = facts.properties;
        let told = (codec.as_str(), duration_ms.unwrap(), sample_rate_hz.unwrap(), channels.unwrap(), bits);
        assert_eq!((told, facts.problems), (expected, Vec::new()));
        for len in 0..stream.len() {
            read(&stream[..len]);
        }
        assert_eq!(read(b"no such stream").problems.len(), 1, "{codec}");
    }
}

fn tak_information(rate: u128, samples: u128, bits: u128, channels: u128) -> Vec<u8> {
    let packed = samples << 14 | (rate - 6000) << 52 | (bits - 8) << 70 | (channels - 1) << 75;
    packed.to_le_bytes()[..10].to_vec()
}

#[test]
fn steps_are_limited() {
    use crate::limits::{HEADER_PACKETS_MAX, WAVPACK_BLOCKS_MAX, WAVPACK_SUB_BLOCKS_MAX};
    let told = |format, stream: Vec<u8>| container(format).unwrap().read(&stream).unwrap().properties;
    for (steps, found) in [(0, true), (1, false)] {
        let packets = b"XX\x05..".repeat(HEADER_PACKETS_MAX - 1 + steps);
        let stream = [b"MPCK", &packets[..], b"SH\x0ecccc\x08\x84\xd8\x44\x64\x1b\x10\x00"].concat();
        assert_eq!(told(Format::Musepack, stream).sample_rate_hz.is_some(), found);
        let blocks = b"\x04\x02\0\0xx".repeat(HEADER_PACKETS_MAX - 1 + steps);
        let stream = [b"tBaK", &blocks[..], b"\x01\x0d\0\0", &tak_information(44_100, 1, 16, 2)].concat();
        assert_eq!(told(Format::Tak, stream).sample_rate_hz.is_some(), found);
        let block = |samples: u32, sub_blocks: &[u8]| {
            let size = 24 + sub_blocks.len() as u32;
            let numbers = [size, 0x0410, 9, 0, samples, 4 | 1 << 12, 0].map(u32::to_le_bytes).concat();
            [&b"wvpk"[..], &numbers, sub_blocks].concat()
        };
        let stream = [block(0, &[]).repeat(WAVPACK_BLOCKS_MAX - 1 + steps), block(1, &[0x0d, 1, 7, 0])].concat();
        assert_eq!(told(Format::WavPack, stream).channels, Some(if found { 7 } else { 1 }));
        let sub_blocks = [[0x21, 0].repeat(WAVPACK_SUB_BLOCKS_MAX - 1 + steps), vec![0x0d, 1, 7, 0]].concat();
        assert_eq!(told(Format::WavPack, block(1, &sub_blocks)).channels, Some(if found { 7 } else { 1 }));
    }
}

#[test]
fn values_without_a_place_are_refused() {
    let ape = container(Format::MonkeysAudio).unwrap();
    let facts = ape.read(&monkey()).unwrap();
    for (key, value) in [("x", "one letter"), ("id3:priv:x", "y"), ("title", "a\0b"), ("über", "y")] {
        let edits = Edits::over(Tags::new(), [(key.to_owned(), vec![value.to_owned()])]);
        assert!(matches!(ape.splice(&facts.structure, &edits), Err(Refusal::Value { .. })), "{key}");
    }
    for damaged in [Vec::new(), vec![9], vec![1, 0xff]] {
        let edits = Edits::over(Tags::new(), [("title".to_owned(), vec!["New".to_owned()])]);
        assert!(matches!(ape.splice(&Structure(damaged), &edits), Err(Refusal::Structure(_))));
    }
}

#[test]
fn streams_are_not_read_through() {
    let source = [monkey(), vec![7; 1 << 20], ape(&[item("Title", 0, b"One")], true)].concat();
    let counted = Counted::new(&source);
    container(Format::MonkeysAudio).unwrap().read(&counted).unwrap();
    assert!(counted.read.get() < 68 << 10, "{}", counted.read.get());
}

proptest! {
    #[test]
    fn keys_compare_without_case(name in prop::sample::select(vec!["label", "Label", "LABEL", "lAbEl"]), key in prop::sample::select(vec!["label", "LABEL", "Label"])) {
        let source = [monkey(), ape(&[item(name, 0, b"Old")], true)].concat();
        let served = edited(Format::MonkeysAudio, &source, &[(key, &["New"])]);
        prop_assert_eq!(served, [monkey(), ape(&[item(name, 0, b"New")], true)].concat());
    }

    #[test]
    fn any_bytes_are_read_and_edited(
        format in prop::sample::select(vec![Format::Adts, Format::WavPack, Format::MonkeysAudio, Format::Musepack, Format::TrueAudio, Format::OptimFrog, Format::Tak]),
        mark in prop::sample::select(vec![&b"wvpk"[..], b"MAC ", b"MPCK", b"MP+\x07", b"TTA1", b"OFR ", b"tBaK", b"\xff\xf1\x50", b""]),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        title in "[a-z\u{e4}]{1,20}",
    ) {
        let source = [mark, &bytes, &ape(&[item("Artist", 0, b"Me")], true)].concat();
        edited(format, &source, &[("title", &[&title])]);
    }
}
