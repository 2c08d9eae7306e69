//! Real files, edited, and judged by other readers.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::Mpeg;
use crate::testing::{CorpusFile, Counted, corpus_files, ffprobe, foreign, materialise};
use crate::{ByteRange, Container, Editing, Edits, Facts};

const CHANGES: [(&str, &str); 3] = [("title", "Ein neuer Titel ♫"), ("albumartist", "Jemand"), ("MYKEY", "=x=")];

fn files() -> impl Iterator<Item = CorpusFile> {
    let is_mpeg = |file: &CorpusFile| {
        ["mp1", "mp2", "mp3", "id3-only"].contains(&file.format.as_str()) || file.name.to_lowercase().ends_with(".mp3")
    };
    corpus_files().filter(is_mpeg)
}

fn edits(facts: &Facts) -> Edits {
    Edits::over(facts.tags.clone(), CHANGES.map(|(key, value)| (key.to_owned(), vec![value.to_owned()])))
}

fn slice(bytes: &[u8], range: ByteRange) -> &[u8] {
    &bytes[range.offset as usize..range.end() as usize]
}

#[test]
fn edits_are_read_back_and_audio_is_kept() {
    for file in files() {
        let facts = Mpeg.read(&file.bytes).unwrap();
        assert_eq!(facts.editing, Editing::Possible, "{}", file.name);
        let edits = edits(&facts);
        let splice = Mpeg.splice(&facts.structure, &edits).unwrap();
        assert_eq!(splice, Mpeg.splice(&facts.structure, &edits).unwrap());
        let served = materialise(&splice, &file.bytes);
        let again = Mpeg.read(&served).unwrap();
        assert_eq!(&again.tags, edits.effective(), "{}", file.name);
        assert_eq!(again.properties, facts.properties, "{}", file.name);
        assert_eq!(slice(&file.bytes, facts.audio), slice(&served, again.audio), "{}", file.name);
        // A picture that was unsynchronised may be a plain range now.
        assert_eq!(again.pictures.len(), facts.pictures.len(), "{}", file.name);
        for (old, new) in facts.pictures.iter().zip(&again.pictures).filter(|(old, _)| old.range.len > 0) {
            assert_eq!(slice(&file.bytes, old.range), slice(&served, new.range), "{}", file.name);
        }
    }
}

#[test]
fn only_heads_and_tails_are_read() {
    for file in files() {
        let source = Counted::new(&file.bytes);
        let facts = Mpeg.read(&source).unwrap();
        let tags = file.bytes.len() as u64 - facts.audio.len;
        let read = source.read.get();
        assert!(read <= tags * 2 + (640 << 10), "{}: {read} bytes of {} are read", file.name, file.bytes.len());
    }
}

/// A file of the corpus and what is served for it, both on disk.
struct Pair {
    name: String,
    decode: String,
    facts: Facts,
    /// Whether an ID3v2 tag stands first, so that other readers saw the old values where they see the new.
    leads: bool,
    source: PathBuf,
    served: PathBuf,
}

fn pairs(folder: &Path) -> Vec<Pair> {
    let pair = |(at, file): (usize, CorpusFile)| {
        let facts = Mpeg.read(&file.bytes).unwrap();
        let splice = Mpeg.splice(&facts.structure, &edits(&facts)).unwrap();
        let (source, served) = (folder.join(format!("{at}-source.mp3")), folder.join(format!("{at}-served.mp3")));
        fs::write(&source, &file.bytes).unwrap();
        fs::write(&served, materialise(&splice, &file.bytes)).unwrap();
        let leads = file.bytes.starts_with(b"ID3");
        Pair { name: file.name, decode: file.decode, facts, leads, source, served }
    };
    files().enumerate().map(pair).collect()
}

/// Prints a line for each file: the texts of each frame that mutagen finds, or null.
const MUTAGEN: &str = r"
import json, sys
from mutagen.id3 import ID3
for path in sys.argv[1:]:
    try:
        print(json.dumps({key: str(getattr(frame, 'text', frame)) for key, frame in ID3(path).items()}))
    except Exception:
        print('null')
";

#[test]
fn mutagen_reads_the_new_and_the_untouched_old() {
    let folder = tempfile::tempdir().unwrap();
    let pairs = pairs(folder.path());
    let paths = pairs.iter().flat_map(|pair| [&pair.source, &pair.served]).map(|path| path.to_str().unwrap());
    let args: Vec<_> = ["-c", MUTAGEN].into_iter().chain(paths).collect();
    let Some(output) = foreign("python3", &args) else { return };
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(std::env::var("CI").as_deref() != Ok("true"), "mutagen does not run: {error}");
        eprintln!("skipped: mutagen does not run: {error}");
        return;
    }
    let lines: Vec<Option<BTreeMap<String, String>>> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (pair, read) in pairs.iter().zip(lines.chunks_exact(2)) {
        let new = read[1].as_ref().unwrap_or_else(|| panic!("{} is not read", pair.name));
        for (key, text) in [("TIT2", CHANGES[0].1), ("TPE2", CHANGES[1].1), ("TXXX:MYKEY", CHANGES[2].1)] {
            assert_eq!(new.get(key), Some(&format!("['{text}']")), "{} {key}", pair.name);
        }
        let old = read[0].iter().flatten().filter(|_| pair.leads);
        for (key, text) in old.filter(|(key, _)| *key != "TIT2" && *key != "TPE2") {
            assert_eq!(new.get(key), Some(text), "{} {key}", pair.name);
        }
    }
}

#[test]
fn ffmpeg_reads_the_new_and_the_untouched_old_and_the_same_packets() {
    let folder = tempfile::tempdir().unwrap();
    for pair in pairs(folder.path()) {
        let Some(old) = ffprobe(&pair.source) else { continue };
        let mut new = ffprobe(&pair.served).unwrap_or_else(|| panic!("{} is not read", pair.name));
        for (key, text) in [("title", CHANGES[0].1), ("album_artist", CHANGES[1].1), ("mykey", CHANGES[2].1)] {
            assert_eq!(new.tags.remove(key).as_deref(), Some(text), "{} {key}", pair.name);
        }
        for (key, text) in old.tags.iter().filter(|_| pair.leads) {
            match key.as_str() {
                "title" => assert_eq!(pair.facts.tags.first("title"), Some(text.as_str()), "{}", pair.name),
                "album_artist" => {}
                key => assert_eq!(new.tags.get(key), Some(text), "{} {key}", pair.name),
            }
        }
        if pair.decode != "fail" {
            let served = Mpeg.read(&fs::read(&pair.served).unwrap()).unwrap();
            assert_eq!(new.packets(served.audio), old.packets(pair.facts.audio), "{}", pair.name);
        }
    }
}

/// Without counts in the first frame, and with frames of several rates: only reading all of it would tell.
const GUESSED: [&str; 2] = ["lieff_minimp3/M2L3_bitrate_22_all.bit", "lieff_minimp3/l3-nonstandard-he_44_48khz.bit"];

#[test]
fn durations_are_those_of_the_decoded_audio() {
    let folder = tempfile::tempdir().unwrap();
    for pair in pairs(folder.path()).iter().filter(|pair| pair.decode == "ok" && !GUESSED.contains(&&*pair.name)) {
        let args = [
            "-nostdin",
            "-v",
            "error",
            "-i",
            pair.source.to_str().unwrap(),
            "-map",
            "0:a:0",
            "-ac",
            "1",
            "-f",
            "s16le",
            "-",
        ];
        let Some(output) = foreign("ffmpeg", &args) else { return };
        if output.stdout.is_empty() {
            continue;
        }
        let rate = pair.facts.properties.sample_rate_hz.unwrap_or_else(|| panic!("{} has no frames", pair.name));
        let decoded_ms = output.stdout.len() as u64 * 1000 / 2 / u64::from(rate);
        let told_ms = pair.facts.properties.duration_ms.unwrap();
        let tolerance_ms = (decoded_ms / 100).max(120);
        assert!(told_ms.abs_diff(decoded_ms) <= tolerance_ms, "{}: {told_ms}, not {decoded_ms} ms", pair.name);
    }
}
