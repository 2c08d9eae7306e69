//! Real files of all formats, edited, and judged by other readers.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::CarrierStructure;
use crate::envelope::Part;
use crate::testing::{CorpusFile, Counted, corpus_files, ffprobe, foreign, materialise};
use crate::{ByteRange, Editing, Edits, Facts, Format, container, sniff_source};

const FORMATS: [Format; 7] = [
    Format::Adts,
    Format::WavPack,
    Format::MonkeysAudio,
    Format::Musepack,
    Format::TrueAudio,
    Format::OptimFrog,
    Format::Tak,
];

/// Keys and their new values.
type Changes = Vec<(&'static str, Vec<String>)>;

/// Name of each kind of edit, and what it changes.
fn kinds() -> [(&'static str, Changes); 6] {
    let one = |value: &str| vec![value.to_owned()];
    let kinds = [
        ("title", vec![("title", one("Ein neuer Titel"))]),
        ("no artist", vec![("artist", Vec::new())]),
        ("genres", vec![("genre", ["Rock", "Neue Musik", "Zwölfton"].map(str::to_owned).to_vec())]),
        ("own key", vec![("own key", one("=x="))]),
        ("long", vec![("lyrics", one(&"la ♫ ".repeat((64 << 10) / 7)))]),
    ];
    let all = kinds.iter().flat_map(|(_, changes)| changes.clone()).collect();
    let [title, artist, genres, own, long] = kinds;
    [title, artist, genres, own, long, ("all", all)]
}

/// Files with the format that scan would find.
fn files() -> impl Iterator<Item = (CorpusFile, Format)> {
    corpus_files().filter_map(|file| {
        let extension = Path::new(&file.name).extension()?.to_str()?.to_ascii_lowercase();
        let format = sniff_source(&file.bytes, Some(&extension)).unwrap()?;
        FORMATS.contains(&format).then_some((file, format))
    })
}

fn edits(facts: &Facts, changes: &[(&str, Vec<String>)]) -> Edits {
    let changes = changes.iter().map(|(key, values)| ((*key).to_owned(), values.clone()));
    Edits::over(facts.tags.clone(), changes)
}

fn slice(bytes: &[u8], range: ByteRange) -> &[u8] {
    &bytes[range.offset as usize..range.end() as usize]
}

/// All items and frames that have none of the edited keys, and what no tag is.
fn untouched<'a>(facts: &Facts, bytes: &'a [u8], edits: &Edits) -> Vec<&'a [u8]> {
    let structure = CarrierStructure::decode(&facts.structure).unwrap();
    let mut found = Vec::new();
    for part in structure.head.0.iter().chain(&structure.tail.0) {
        let range = part.range();
        let (mut at, items): (u64, Vec<(u64, &[String])>) = match part {
            Part::Id3v2(tag) => (
                tag.offset + 10 + tag.extended,
                tag.frames.iter().map(|frame| (frame.len, frame.keys.as_slice())).collect(),
            ),
            Part::Ape(tag) => {
                let items: Vec<_> = tag.items.iter().map(|item| (item.len, item.keys.as_slice())).collect();
                let rest = 32 + tag.rest + items.iter().map(|(len, _)| len).sum::<u64>();
                (range.end() - rest, items)
            }
            Part::Id3v1(_) => continue,
            Part::Kept(range) => (range.offset, vec![(range.len, &[])]),
        };
        for (len, keys) in items {
            if !keys.iter().any(|key| edits.touches(key)) {
                found.push(slice(bytes, ByteRange { offset: at, len }));
            }
            at += len;
        }
    }
    found
}

#[test]
fn edits_are_read_back_and_all_else_is_kept() {
    let mut edited = 0;
    for (file, format) in files() {
        let container = container(format).unwrap();
        let facts = container.read(&file.bytes).unwrap();
        assert_eq!((facts.format, &facts.editing), (format, &Editing::Possible), "{}", file.name);
        edited += 1;
        for (kind, changes) in kinds() {
            let name = format!("{}: {kind}", file.name);
            let edits = edits(&facts, &changes);
            let splice = container.splice(&facts.structure, &edits).unwrap();
            let served = materialise(&splice, &file.bytes);
            assert_eq!(served.len() as u64, splice.len(), "{name}");
            let again = container.read(&served).unwrap();
            assert_eq!(&again.tags, edits.effective(), "{name}");
            assert_eq!(again.properties, facts.properties, "{name}");
            assert_eq!(slice(&file.bytes, facts.audio), slice(&served, again.audio), "{name}");
            assert_eq!(again.pictures.len(), facts.pictures.len(), "{name}");
            for (old, new) in facts.pictures.iter().zip(&again.pictures) {
                assert_eq!(slice(&file.bytes, old.range), slice(&served, new.range), "{name}");
            }
            let kept = untouched(&again, &served, &edits);
            for item in untouched(&facts, &file.bytes, &edits) {
                assert!(kept.contains(&item), "{name}: {}", item.escape_ascii());
            }
            if !file.bytes.starts_with(b"ID3") && !served.starts_with(b"ID3") {
                assert_eq!(again.audio.offset, facts.audio.offset, "{name}");
            }
        }
    }
    println!("{edited} files are edited");
}

#[test]
fn only_heads_and_tails_are_read() {
    for (file, format) in files() {
        let source = Counted::new(&file.bytes);
        let facts = container(format).unwrap().read(&source).unwrap();
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
    edits: Edits,
    source: PathBuf,
    served: PathBuf,
}

fn pairs(folder: &Path, kind: &str) -> Vec<Pair> {
    let (_, changes) = kinds().into_iter().find(|(name, _)| *name == kind).unwrap();
    let pair = |(at, (file, format)): (usize, (CorpusFile, Format))| {
        let container = container(format).unwrap();
        let facts = container.read(&file.bytes).unwrap();
        let edits = edits(&facts, &changes);
        let splice = container.splice(&facts.structure, &edits).unwrap();
        let path = |name| folder.join(format!("{at}-{name}.{}", format.extension()));
        let (source, served) = (path("source"), path("served"));
        fs::write(&source, &file.bytes).unwrap();
        fs::write(&served, materialise(&splice, &file.bytes)).unwrap();
        Pair { name: file.name, decode: file.decode, facts, edits, source, served }
    };
    files().enumerate().map(pair).collect()
}

/// Prints a line for each file: the texts of each item or frame that mutagen finds, or null.
const MUTAGEN: &str = r"
import json, sys
from mutagen import apev2, id3
def tags(path):
    ends = [id3.ID3] if path.endswith('.tta') else [apev2.APEv2, id3.ID3] if path.endswith('.aac') else [apev2.APEv2]
    for tag in ends:
        try:
            found = tag(path)
        except Exception:
            continue
        if tag is id3.ID3:
            return {key: '\0'.join(map(str, getattr(frame, 'text', []))) for key, frame in found.items()}
        return {key.lower(): str(value) for key, value in found.items() if value.kind == 0}
for path in sys.argv[1:]:
    print(json.dumps(tags(path)))
";

/// Their own tags are not UTF-8, or have items that it takes for damage.
const MUTAGEN_REFUSES: [&str; 2] = ["Serial-ATA_lofty-rs/infloop.wv", "Zeugma440_atldotnet/GB18030_tags.ape"];

#[test]
fn mutagen_reads_the_new_and_the_untouched_old() {
    let folder = tempfile::tempdir().unwrap();
    let pairs = pairs(folder.path(), "all");
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
    let mut unread = Vec::new();
    for (pair, read) in pairs.iter().zip(lines.chunks_exact(2)) {
        let Some(new) = &read[1] else {
            unread.push(pair.name.as_str());
            continue;
        };
        let changed = [
            ("title", "TIT2"),
            ("artist", "TPE1"),
            ("genre", "TCON"),
            ("own key", "TXXX:OWN KEY"),
            ("lyrics", "USLT::XXX"),
        ];
        for (key, frame) in changed {
            let values = pair.edits.effective().get(key).join("\0");
            let read = new.get(key).or_else(|| new.get(frame)).map_or("", String::as_str);
            let lyrics_of_id3 = key == "lyrics" && new.contains_key("TIT2");
            assert!(read == values || lyrics_of_id3, "{} {key}: {read}", pair.name);
        }
        for (key, text) in read[0].iter().flatten() {
            let is_changed = changed.iter().any(|(item, frame)| item == key || frame == key);
            assert!(is_changed || new.get(key) == Some(text), "{} {key}: {:?}", pair.name, new.get(key));
        }
    }
    assert!(unread.iter().all(|name| MUTAGEN_REFUSES.contains(name)), "{unread:?} are not read");
}

#[test]
fn ffmpeg_reads_the_new_and_the_same_packets() {
    let folder = tempfile::tempdir().unwrap();
    for pair in pairs(folder.path(), "title") {
        let Some(old) = ffprobe(&pair.source) else { continue };
        let new = ffprobe(&pair.served).unwrap_or_else(|| panic!("{} is not read", pair.name));
        let title = pair.edits.effective().first("title");
        // ffmpeg does not look for APE tags in front of ID3v1.
        if !pair.name.ends_with("mpc_sv8.mpc") {
            assert_eq!(new.tags.get("title").map(String::as_str), title, "{}", pair.name);
        }
        for (key, text) in old.tags.iter().filter(|(key, _)| *key != "title") {
            assert_eq!(new.tags.get(key), Some(text), "{} {key}", pair.name);
        }
        if pair.decode != "fail" {
            let container = container(pair.facts.format).unwrap();
            let served = container.read(&fs::read(&pair.served).unwrap()).unwrap();
            let (new, old) = (new.packets(served.audio), old.packets(pair.facts.audio));
            // Where nothing tells the length of the last frame, ffmpeg takes all that follows for a part of it.
            let sure = old.len().saturating_sub(1);
            assert_eq!(new.get(..sure), old.get(..sure), "{}", pair.name);
        }
    }
}

#[test]
fn the_same_is_decoded_and_lasts_as_long_as_told() {
    let folder = tempfile::tempdir().unwrap();
    for pair in pairs(folder.path(), "all").iter().filter(|pair| pair.decode == "ok") {
        let decoded = |path: &Path| {
            let before = ["-nostdin", "-v", "error", "-i", path.to_str().unwrap()];
            let behind = ["-map", "0:a:0", "-ac", "1", "-ar", "16000", "-f", "s16le", "-"];
            Some(foreign("ffmpeg", &[&before[..], &behind].concat())?.stdout)
        };
        let Some(source) = decoded(&pair.source) else { return };
        assert!(decoded(&pair.served).unwrap() == source, "{} sounds otherwise", pair.name);
        let decoded_ms = source.len() as u64 / 2 / 16;
        let told_ms = pair.facts.properties.duration_ms.unwrap_or_default();
        assert!(told_ms.abs_diff(decoded_ms) <= 60, "{}: {told_ms}, not {decoded_ms} ms", pair.name);
    }
}
