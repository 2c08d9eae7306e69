#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::collections::BTreeMap;
use std::path::Path;

use super::*;
use crate::testing::corpus_files;

const ALL: [Format; 22] = [
    Format::Flac,
    Format::Mpeg,
    Format::Adts,
    Format::Mp4,
    Format::OggVorbis,
    Format::OggOpus,
    Format::OggFlac,
    Format::OggSpeex,
    Format::OggOther,
    Format::Wav,
    Format::Aiff,
    Format::MonkeysAudio,
    Format::WavPack,
    Format::Musepack,
    Format::TrueAudio,
    Format::OptimFrog,
    Format::Tak,
    Format::Dsf,
    Format::Dff,
    Format::Matroska,
    Format::Asf,
    Format::Unknown,
];

#[test]
fn each_format_has_a_name_and_an_extension_of_its_own() {
    for format in ALL {
        assert_eq!(Format::from_name(format.name()), Some(format));
        assert!(format.has_extension(format.extension()), "{format:?}");
    }
    assert_eq!(Format::Mpeg.extension_for("mp2"), "mp2");
    assert_eq!(Format::Mpeg.extension_for("mp3"), "mp3");
    assert_eq!(extension_format("flac"), Some(Format::Flac));
    assert_eq!(extension_format("caf"), Some(Format::Unknown));
    assert_eq!(extension_format("jpg"), None);
}

fn id3(len: u8) -> Vec<u8> {
    let mut tag = b"ID3\x04\x00\x00\x00\x00\x00".to_vec();
    tag.push(len);
    tag.resize(10 + usize::from(len), 0);
    tag
}

fn frames(count: usize) -> Vec<u8> {
    let mut frame = vec![0; 417];
    frame[..4].copy_from_slice(&[0xff, 0xfb, 0x90, 0x64]);
    frame.repeat(count)
}

#[test]
fn marks_are_found_at_the_start_and_behind_tags() {
    let tag = id3(100);
    let table: [(Vec<u8>, Option<&str>, Option<Format>); 12] = [
        (b"fLaC....".to_vec(), None, Some(Format::Flac)),
        ([&tag[..], &tag, &[0; 30], b"fLaC"].concat(), Some("mp3"), Some(Format::Flac)),
        ([&tag[..], b"junk", &frames(4)].concat(), None, Some(Format::Mpeg)),
        (frames(3), None, Some(Format::Mpeg)),
        (frames(1), None, None),
        (frames(1), Some("mp3"), Some(Format::Mpeg)),
        ([b"junk", &frames(4)[..]].concat(), Some("mp3"), Some(Format::Mpeg)),
        ([b"junk", &frames(4)[..]].concat(), Some("txt"), None),
        (tag.clone(), Some("aac"), Some(Format::Adts)),
        (tag[..20].to_vec(), None, Some(Format::Mpeg)),
        (b"\0\0\0\x18ftypavif".to_vec(), Some("avif"), None),
        (Vec::new(), Some("mp3"), None),
    ];
    for (head, extension, expected) in table {
        assert_eq!(sniff(&head, extension), expected, "{extension:?} {:?}", &head[..head.len().min(12)]);
        assert_eq!(sniff_source(&head, extension).unwrap(), expected);
    }
}

#[test]
fn a_leading_tag_longer_than_the_head_is_looked_behind() {
    let mut file = b"ID3\x03\x00\x00\x00\x10\x00\x00".to_vec();
    file.resize(10 + (16 << 14), 1);
    file.extend_from_slice(b"fLaC");
    assert_eq!(sniff(&file[..SNIFF_BYTES], Some("mp3")), Some(Format::Mpeg));
    assert_eq!(sniff_source(&file, Some("mp3")).unwrap(), Some(Format::Flac));
}

#[test]
fn tags_and_junk_are_passed_up_to_the_limits() {
    for (tags, found) in [(LEADING_TAGS_MAX, Format::Flac), (LEADING_TAGS_MAX + 1, Format::Mpeg)] {
        let file = [id3(3).repeat(tags), b"fLaC".to_vec()].concat();
        assert_eq!(sniff_source(&file, None).unwrap(), Some(found));
    }
    for (junk, found) in [(JUNK_BYTES_MAX - 4 * 417, Some(Format::Mpeg)), (JUNK_BYTES_MAX, None)] {
        let file = [vec![1; junk], frames(9)].concat();
        assert_eq!(sniff_source(&file, Some("mp3")).unwrap(), found);
    }
}

/// Name of a format in the corpus's index.
fn index_name(format: Option<Format>) -> &'static str {
    match format {
        None => "none",
        Some(Format::Adts) => "adts",
        Some(Format::OggVorbis) => "ogg-vorbis",
        Some(Format::OggOpus) => "ogg-opus",
        Some(Format::OggFlac) => "ogg-flac",
        Some(Format::OggSpeex) => "ogg-speex",
        Some(format) => format.name(),
    }
}

/// Where we differ from the corpus's index: path, its format, ours, why.
const DIFFERENCES: [(&str, &str, &str, &str); 12] = [
    ("Borewit_music-metadata/adts-sf-escape.aac", "adts", "none", "a sampling frequency index that ADTS forbids"),
    ("Serial-ATA_lofty-rs/output.aac", "mp3", "adts", "a tag only: the extension says what it belongs to"),
    ("Serial-ATA_lofty-rs/segfault.oga", "ogg-oldflac", "ogg", "a mapping that nothing plays is no OggFlac"),
    ("Zeugma440_atldotnet/theora-flac.ogg", "ogg-flac", "ogg", "several streams"),
    ("dbry_WavPack/394980079.wv", "mp3", "none", "noise, neither tag nor extension promise MPEG audio"),
    (
        "dbry_WavPack/clusterfuzz-testcase-minimized-fuzzer-5103688150679552.wv",
        "mp3",
        "none",
        "noise, neither tag nor extension promise MPEG audio",
    ),
    (
        "ietf-wg-cellar_flac-test-files/10 - file starting at frame header.flac",
        "adts",
        "flac",
        "the index took FLAC frames for ADTS",
    ),
    ("lieff_minimp3/l2-nonstandard-fl1_fl2_ff.bit", "mp3", "none", "frames of 3 kB in the free format"),
    ("lieff_minimp3/l3-nonstandard-big-iscf.bit", "mp3", "none", "begins with noise, no audio extension"),
    ("lieff_minimp3/l3-nonstandard-sideinfo-size.bit", "mp3", "none", "begins with noise, no audio extension"),
    ("quodlibet_mutagen/multiplexed.spx", "ogg-speex", "ogg", "several streams"),
    ("taglib_taglib/multiplex.ogg", "ogg-vorbis", "ogg", "several streams"),
];

#[test]
fn the_corpus_is_recognised() {
    let mut differences = BTreeMap::new();
    for file in corpus_files() {
        let extension = Path::new(&file.name).extension().map(|extension| extension.to_string_lossy().to_lowercase());
        let ours = index_name(sniff_source(&file.bytes, extension.as_deref()).unwrap());
        let theirs = match &*file.format {
            "mp1" | "mp2" | "id3-only" => "mp3",
            "unknown" | "empty" | "zeros" => "none",
            other => other,
        };
        if ours != theirs {
            differences.insert(file.name, (theirs.to_owned(), ours.to_owned()));
        }
    }
    let expected: BTreeMap<_, _> = DIFFERENCES
        .iter()
        .map(|(path, theirs, ours, _)| ((*path).to_owned(), ((*theirs).to_owned(), (*ours).to_owned())))
        .collect();
    if crate::testing::corpus().is_some() {
        assert_eq!(differences, expected);
    }
}
