//! Real files, edited, and judged by other readers.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::Ogg;
use crate::testing::{CorpusFile, Counted, corpus_files, foreign, materialise};
use crate::trial::try_out;
use crate::{Container, Editing, Edits, Facts, Format};

/// Files that are served whole, and why; ffmpeg plays none of them.
const OPAQUE: [(&str, &str); 2] = [
    ("Serial-ATA_lofty-rs/segfault.oga", "no page begins a stream"),
    ("tinytag_tinytag/empty_file.ogg", "no page begins a stream"),
];

fn files() -> impl Iterator<Item = CorpusFile> {
    let endings = [".ogg", ".oga", ".opus", ".spx"];
    let is_ogg = move |file: &CorpusFile| {
        file.format.starts_with("ogg") || endings.iter().any(|ending| file.name.to_lowercase().ends_with(ending))
    };
    corpus_files().filter(is_ogg)
}

type Changes = Vec<(&'static str, Vec<String>)>;

fn changes() -> Vec<(&'static str, Changes)> {
    let one = |value: &str| vec![value.to_owned()];
    let genres = || ["Rock", "Jazz", "Ska"].map(str::to_owned).to_vec();
    vec![
        ("title", vec![("title", one("Ein neuer Titel ♫"))]),
        ("no artist", vec![("artist", vec![])]),
        ("genres", vec![("genre", genres())]),
        ("own key", vec![("my own", one("=x="))]),
        ("64 KiB", vec![("lyrics", one(&"x".repeat(64 << 10)))]),
        ("500 KiB", vec![("own long", one(&"0123456789".repeat(50 << 10)))]),
        (
            "everything",
            vec![("title", one("T")), ("artist", one("A")), ("album", one("B")), ("genre", genres()), ("date", vec![])],
        ),
    ]
}

fn edits(facts: &Facts, changes: &Changes) -> Edits {
    Edits::over(facts.tags.clone(), changes.iter().map(|(key, values)| ((*key).to_owned(), values.clone())))
}

#[test]
fn all_files_survive_all_edits() {
    let mut opaque = BTreeMap::new();
    for file in files() {
        let mut facts = Ogg.read(&file.bytes).unwrap();
        try_out(&Ogg, &file.bytes, &mut facts).unwrap();
        if let Editing::Opaque(reason) = &facts.editing {
            assert!(facts.structure.0.is_empty());
            opaque.insert(file.name.clone(), reason.clone());
            continue;
        }
        for (what, changes) in changes() {
            let edits = edits(&facts, &changes);
            let splice = Ogg.splice(&facts.structure, &edits).unwrap();
            let served = materialise(&splice, &file.bytes);
            assert_eq!(served.len() as u64, splice.len());
            let again = Ogg.read(&served).unwrap();
            assert!(&again.tags == edits.effective(), "{} {what}", file.name);
            assert_eq!(again.properties, facts.properties, "{} {what}", file.name);
            assert_eq!(again.pictures, facts.pictures, "{} {what}", file.name);
        }
    }
    if crate::testing::corpus().is_some() {
        assert_eq!(opaque, BTreeMap::from(OPAQUE.map(|(name, reason)| (name.to_owned(), reason.to_owned()))));
    }
}

#[test]
fn only_heads_and_tails_are_read() {
    for file in files() {
        let source = Counted::new(&file.bytes);
        let facts = Ogg.read(&source).unwrap();
        let read = source.read.get();
        assert!(read <= facts.audio.offset * 2 + (300 << 10), "{}: {read} bytes are read", file.name);
    }
}

/// A file of the corpus and what is served for it, both on disk.
struct Pair {
    name: String,
    /// Whether streams lie beside each other, so that other readers may look at another one.
    is_multiplexed: bool,
    what: &'static str,
    effective: crate::Tags,
    source: PathBuf,
    served: PathBuf,
}

/// One edit that keeps the pages' numbers where that can be, and one that no page holds.
const JUDGED: [&str; 2] = ["everything", "500 KiB"];

fn pairs(folder: &Path) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (at, file) in files().enumerate() {
        let facts = Ogg.read(&file.bytes).unwrap();
        if facts.editing != Editing::Possible || file.decode == "fail" {
            continue;
        }
        let source = folder.join(format!("{at}-source.ogg"));
        fs::write(&source, &file.bytes).unwrap();
        for (what, changes) in changes().iter().filter(|(what, _)| JUDGED.contains(what)) {
            let edits = edits(&facts, changes);
            let served = folder.join(format!("{at}-{what}.ogg"));
            let splice = Ogg.splice(&facts.structure, &edits).unwrap();
            fs::write(&served, materialise(&splice, &file.bytes)).unwrap();
            let (name, effective) = (file.name.clone(), edits.effective().clone());
            let is_multiplexed = facts.format == Format::OggOther;
            pairs.push(Pair { name, is_multiplexed, what, effective, source: source.clone(), served });
        }
    }
    pairs
}

/// What ffmpeg says of the audio's packets, or of the samples in them.
fn ffmpeg(path: &Path, codec: &[&str]) -> Option<String> {
    let head = ["-nostdin", "-v", "quiet", "-i", path.to_str().unwrap(), "-map", "0:a:0"];
    let args = [&head, codec, &["-f", "md5", "-"]].concat();
    foreign("ffmpeg", &args).map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn ffmpeg_finds_the_same_packets_and_samples() {
    let folder = tempfile::tempdir().unwrap();
    for pair in pairs(folder.path()) {
        // Where packets are equal, samples are, too, unless numbers of pages tell of a gap.
        let codec: &[&str] = if pair.what == "everything" { &["-c", "copy"] } else { &[] };
        let Some(old) = ffmpeg(&pair.source, codec) else { return };
        assert_eq!(ffmpeg(&pair.served, codec), Some(old), "{} {}", pair.name, pair.what);
    }
}

/// What a tool has to complain about, without numbers and what it makes of them.
fn complaints(program: &str, path: &Path) -> Option<Vec<String>> {
    let output = foreign(program, &[path.to_str().unwrap()])?;
    let text = [output.stdout, output.stderr].concat();
    let is_complaint =
        |line: &&str| ["WARNING", "ERROR", "Negative", "Hole", "hole"].iter().any(|it| line.contains(it));
    let told = |line: &str| {
        let fact = line.split(" Indicates").next().unwrap_or_default();
        fact.replace(|it: char| it.is_ascii_digit(), "")
    };
    Some(String::from_utf8_lossy(&text).lines().filter(is_complaint).map(told).collect())
}

#[test]
fn checkers_complain_of_nothing_new() {
    let folder = tempfile::tempdir().unwrap();
    for pair in pairs(folder.path()) {
        for program in ["ogginfo", "opusinfo"] {
            let Some(old) = complaints(program, &pair.source) else { continue };
            let new = complaints(program, &pair.served).unwrap();
            let added: Vec<_> = new.iter().filter(|line| !old.contains(line)).collect();
            assert!(added.is_empty(), "{} {}: {program} says {added:?}", pair.name, pair.what);
        }
    }
}

/// Prints a line for each file: the values of each key that mutagen finds, or null.
const MUTAGEN: &str = r"
import json, sys, mutagen
for path in sys.argv[1:]:
    try:
        tags = mutagen.File(path).tags
        print(json.dumps({key.lower(): tags[key] for key in tags.keys()}))
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
        assert!(std::env::var("CI").as_deref() != Ok("true"), "mutagen does not run");
        eprintln!("skipped: mutagen does not run");
        return;
    }
    let lines: Vec<Option<BTreeMap<String, Vec<String>>>> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (pair, read) in pairs.iter().zip(lines.chunks_exact(2)) {
        let Some(old) = read[0].as_ref().filter(|_| !pair.is_multiplexed) else { continue };
        let new = read[1].as_ref().unwrap_or_else(|| panic!("{} {} is not read", pair.name, pair.what));
        let edited: &[&str] =
            if pair.what == "everything" { &["title", "artist", "album", "genre"] } else { &["own long"] };
        for key in edited {
            let is_told = new.get(*key).map(Vec::as_slice) == Some(pair.effective.get(key));
            assert!(is_told, "{} {} {key}", pair.name, pair.what);
        }
        let touched = ["title", "artist", "album", "genre", "date", "year", "own long"];
        for (key, values) in old.iter().filter(|(key, _)| !touched.contains(&key.as_str())) {
            assert!(new.get(key) == Some(values), "{} {} {key}", pair.name, pair.what);
        }
    }
}

/// Where ffprobe is wrong: it passes over an odd pre-skip, and counts frames of Speex that do not play; opusinfo and
/// mutagen say what is said here.
const TOLD_OTHERWISE: [(&str, u64); 2] =
    [("Zeugma440_atldotnet/spx.spx", 15_675), ("quodlibet_mutagen/example.opus", 11_354)];

#[test]
fn play_times_are_those_of_ffprobe() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("source.ogg");
    for file in files().filter(|file| file.decode == "ok") {
        fs::write(&path, &file.bytes).unwrap();
        let args = ["-v", "quiet", "-select_streams", "a:0", "-show_entries", "stream=duration", "-of", "csv=p=0"];
        let Some(output) = foreign("ffprobe", &[&args[..], &[path.to_str().unwrap()]].concat()) else { return };
        let told = String::from_utf8_lossy(&output.stdout).trim().parse::<f64>();
        let Ok(theirs_ms) = told.map(|seconds| (seconds * 1000.0) as u64) else { continue };
        let ours_ms = Ogg.read(&file.bytes).unwrap().properties.duration_ms.unwrap_or(0);
        let known = TOLD_OTHERWISE.iter().find(|(name, _)| *name == file.name);
        let theirs_ms = known.map_or(theirs_ms, |(_, ms)| *ms);
        assert!(ours_ms.abs_diff(theirs_ms) <= 20, "{}: {ours_ms}, not {theirs_ms} ms", file.name);
    }
}
