#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use proptest::prelude::*;

use super::Dsf;
use crate::testing::materialise;
use crate::{Container, Editing, Edits, Facts, Structure};

const TAG: &[u8] = b"ID3\x04\0\0\0\0\0\x20TIT2\0\0\0\x04\0\0\x03Old\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// 16 bytes of audio with `behind` behind it; the tag stands at `pointer`.
fn dsf(pointer: u64, behind: &[u8]) -> Vec<u8> {
    let len = 108 + behind.len() as u64;
    let head = [&b"DSD "[..], &[28, len, pointer].map(u64::to_le_bytes).concat()].concat();
    let numbers = [1, 0, 2, 2, 2_822_400, 1].map(u32::to_le_bytes).concat();
    let format =
        [&b"fmt "[..], &52_u64.to_le_bytes(), &numbers, &64_u64.to_le_bytes(), &[0, 16, 0, 0, 0, 0, 0, 0]].concat();
    let audio = [&b"data"[..], &28_u64.to_le_bytes(), &[7; 16]].concat();
    [&head[..], &format, &audio, behind].concat()
}

fn read(source: &[u8]) -> Facts {
    Dsf.read(&source.to_vec()).unwrap()
}

fn edit(source: &[u8], key: &str, values: &[&str]) -> Vec<u8> {
    let facts = read(source);
    assert_eq!(facts.editing, Editing::Possible);
    let values = values.iter().map(|value| (*value).to_owned()).collect();
    let splice = Dsf.splice(&facts.structure, &Edits::over(facts.tags, [(key.to_owned(), values)])).unwrap();
    let served = materialise(&splice, source);
    assert_eq!(served.len() as u64, splice.len());
    served
}

fn numbers(file: &[u8]) -> (u64, u64) {
    let number = |at: usize| u64::from_le_bytes(*file[at..].first_chunk().unwrap());
    (number(12), number(20))
}

#[test]
fn the_tag_is_where_the_header_says() {
    let source = dsf(108, TAG);
    assert_eq!(read(&source).tags.get("title"), ["Old"]);
    let served = edit(&source, "title", &["New"]);
    assert_eq!(served.len(), source.len());
    for (behind, pointer) in [(&b""[..], 0), (TAG, 108), (b"junk", 0), (b"junk", 999), (b"junk", 108), (TAG, 0)] {
        let source = dsf(pointer, behind);
        let served = edit(&source, "title", &["A title that is long".repeat(3).as_str()]);
        assert_eq!(numbers(&served), (served.len() as u64, 108 + if pointer == 999 { 4 } else { 0 }));
        let again = read(&served);
        assert_eq!(again.tags.first("title").map(str::len), Some(60));
        assert_eq!((again.audio, again.properties), (read(&source).audio, read(&source).properties));
        assert_eq!(served[28..108], source[28..108]);
    }
    // Nothing to remove.
    assert_eq!(edit(&dsf(0, b"junk"), "title", &[]), dsf(0, b"junk"));
}

#[test]
fn lying_lengths_are_mended() {
    for (told, end) in [(28, 108), (0, 108), (u64::MAX, 108), (20, 100)] {
        let mut source = dsf(108, TAG);
        source[84..92].copy_from_slice(&told.to_le_bytes());
        source[12..20].copy_from_slice(&9_u64.to_le_bytes());
        let facts = read(&source);
        assert_eq!((facts.audio.offset, facts.audio.end()), (92, end));
        assert_eq!(numbers(&edit(&source, "title", &["New"])), (source.len() as u64, 108));
    }
}

#[test]
fn properties_are_those_of_the_header() {
    let properties = read(&dsf(0, &[])).properties;
    assert_eq!((properties.codec.as_str(), properties.bits, properties.channels), ("dsd", Some(1), Some(2)));
    assert_eq!((properties.sample_rate_hz, properties.bitrate_bps), (Some(2_822_400), Some(5_644_800)));
    let mut silent = dsf(0, &[]);
    silent[52..60].fill(0);
    let properties = read(&silent).properties;
    assert_eq!((properties.sample_rate_hz, properties.channels, properties.duration_ms), (None, None, None));
}

#[test]
fn odd_files_are_served_whole() {
    let source = dsf(0, &[]);
    let mut other = source.clone();
    other[28] = b'x';
    for odd in [&source[..91], &other, b"DSD "] {
        assert!(matches!(read(odd).editing, Editing::Opaque(_)));
    }
    assert!(Dsf.splice(&Structure(vec![1, 0]), &Edits::default()).is_err());
}

proptest! {
    #[test]
    fn damage_does_no_harm(at in prop::collection::vec((0..160_usize, any::<u8>()), 1..6), len in 0..160_usize) {
        let mut source = dsf(108, TAG);
        for (at, byte) in at {
            let at = at % source.len();
            source[at] = byte;
        }
        source.truncate(len.max(80));
        let facts = read(&source);
        if facts.editing == Editing::Possible {
            let served = edit(&source, "own", &["value"]);
            let tags = read(&served).tags;
            prop_assert_eq!(tags.get("own"), ["value"]);
        }
    }
}
