//! Real files, edited, and judged by other readers.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Mp4;
use super::boxes::Walker;
use super::names::{Name, places, text_of};
use super::structure::{Container as Structured, Mp4Structure, Part};
use crate::testing::{CorpusFile, Counted, corpus_files, foreign, materialise, materialise_range};
use crate::{ByteRange, Container, Editing, Edits, Facts};

/// Files that are served whole, and why.
const OPAQUE: [(&str, &str); 5] = [
    ("Borewit_music-metadata/issue-749.m4a", "the file ends within its moov box"),
    (
        "Serial-ATA_lofty-rs/steam_at_mention_IDX_60_RAND_135276517902742448802109.m4a",
        "the file ends within its moov box",
    ),
    ("quodlibet_mutagen/64bit.mp4", "a box of its tags runs past the end of the box around it"),
    ("tinytag_tinytag/alac_file.m4a", "the file ends within its moov box"),
    ("tinytag_tinytag/mp4_invalid_size_zero.m4a", "there is no moov box"),
];

fn files() -> impl Iterator<Item = CorpusFile> {
    corpus_files().filter(|file| file.format == "mp4")
}

/// Edits by their names.
fn edits(facts: &Facts, name: &str) -> Edits {
    let long = "x".repeat(64 << 10);
    let changes: &[(&str, &[&str])] = match name {
        "title" => &[("title", &["Ein neuer Titel ♫"])],
        "no artist" => &[("artist", &[])],
        "genres" => &[("genre", &["Duo Cello/Piano", "Rock", "Zwölf"])],
        "own key" => &[("my own", &["=x="])],
        "long" => &[("comment", &[&long])],
        _ => &[
            ("title", &["Ein neuer Titel ♫"]),
            ("artist", &["Eine", "Zwei"]),
            ("albumartist", &["Jemand"]),
            ("album", &["Das Album"]),
            ("genre", &["Duo Cello/Piano"]),
            ("date", &["1999-12-31"]),
            ("tracknumber", &["3"]),
            ("totaltracks", &["12"]),
            ("discnumber", &["1"]),
            ("totaldiscs", &[]),
            ("bpm", &["128.5"]),
            ("compilation", &["1"]),
            ("label", &["Ein Label", "Noch eins"]),
            ("comment", &["Nichts"]),
            ("musicbrainz_recordingid", &["b1a9c0e9-d987-4042-ae91-78d6a3267d69"]),
            ("my own", &["=x="]),
        ],
    };
    let changes =
        changes.iter().map(|(key, values)| ((*key).to_owned(), values.iter().map(ToString::to_string).collect()));
    Edits::over(facts.tags.clone(), changes)
}

const EDITS: [&str; 6] = ["title", "no artist", "genres", "own key", "long", "everything"];

fn slice(bytes: &[u8], range: ByteRange) -> &[u8] {
    &bytes[range.offset as usize..range.end() as usize]
}

#[test]
fn edits_are_read_back_and_audio_is_kept() {
    for file in files() {
        let facts = Mp4.read(&file.bytes).unwrap();
        if facts.editing != Editing::Possible {
            assert!(facts.structure.0.is_empty());
            continue;
        }
        for name in EDITS {
            let edits = edits(&facts, name);
            let splice = Mp4.splice(&facts.structure, &edits).unwrap();
            assert_eq!(splice, Mp4.splice(&facts.structure, &edits).unwrap());
            let served = materialise(&splice, &file.bytes);
            let again = Mp4.read(&served).unwrap();
            assert_eq!(&again.tags, edits.effective(), "{} {name}", file.name);
            assert_eq!(again.properties, facts.properties, "{} {name}", file.name);
            assert_eq!(slice(&file.bytes, facts.audio), slice(&served, again.audio), "{} {name}", file.name);
            assert_eq!(again.pictures.len(), facts.pictures.len());
            for (old, new) in facts.pictures.iter().zip(&again.pictures) {
                assert_eq!(slice(&file.bytes, old.range), slice(&served, new.range), "{} {name}", file.name);
            }
        }
    }
}

#[test]
fn files_that_play_are_edited_for_real() {
    let opaque: BTreeSet<_> = files()
        .filter_map(|file| match Mp4.read(&file.bytes).unwrap().editing {
            Editing::Opaque(reason) => Some((file.name, reason, file.decode)),
            Editing::Possible => None,
        })
        .collect();
    assert!(opaque.iter().all(|(_, _, decode)| decode != "ok"));
    let expected = OPAQUE.map(|(name, reason)| (name.to_owned(), reason.to_owned()));
    if crate::testing::corpus().is_some() {
        assert_eq!(
            opaque.into_iter().map(|(name, reason, _)| (name, reason)).collect::<BTreeSet<_>>(),
            expected.into()
        );
    }
}

/// All boxes that hold no boxes of interest, in order, with their places.
fn leaves(bytes: &[u8], range: ByteRange, path: &str, leaves: &mut Vec<(String, ByteRange)>) {
    let source = bytes.to_vec();
    let walker = Walker::new(&source);
    let children = if path.is_empty() { walker.top().unwrap() } else { walker.children(range).unwrap() };
    for child in children.boxes {
        let kind = text_of(child.kind);
        let inside = format!("{path}/{kind}");
        let content = child.content();
        match kind.as_str() {
            "moov" | "trak" | "mdia" | "minf" | "stbl" | "ilst" => self::leaves(bytes, content, &inside, leaves),
            "udta" if path == "/moov" => self::leaves(bytes, content, &inside, leaves),
            "meta" if !path.contains("trak") && !path.is_empty() => {
                let preface = if bytes.get(content.offset as usize + 4..).is_some_and(|rest| rest.starts_with(b"hdlr"))
                {
                    0
                } else {
                    4
                };
                let content = ByteRange::between(content.offset + preface, content.end());
                self::leaves(bytes, content, &inside, leaves);
            }
            "free" | "skip" | "stco" | "co64" | "saio" => {}
            _ => leaves.push((inside, ByteRange::between(child.offset, child.end.min(bytes.len() as u64)))),
        }
    }
}

/// Where the items are that edits touch.
fn touched(container: &Structured, edits: &Edits, offsets: &mut BTreeSet<u64>) {
    let mut offset = container.offset + container.head();
    for part in &container.parts {
        match part {
            Part::Item(item) if item.keys.iter().any(|key| edits.touches(key)) => drop(offsets.insert(offset)),
            Part::Container(inner) => touched(inner, edits, offsets),
            _ => {}
        }
        offset += part.len().unwrap();
    }
}

#[test]
fn untouched_boxes_are_the_sources() {
    for file in files() {
        let facts = Mp4.read(&file.bytes).unwrap();
        if facts.editing != Editing::Possible {
            continue;
        }
        for name in EDITS {
            let edits = edits(&facts, name);
            let served = materialise(&Mp4.splice(&facts.structure, &edits).unwrap(), &file.bytes);
            let (mut old, mut new) = (Vec::new(), Vec::new());
            leaves(&file.bytes, ByteRange::default(), "", &mut old);
            leaves(&served, ByteRange::default(), "", &mut new);
            let mut edited = BTreeSet::new();
            touched(&Mp4Structure::decode(&facts.structure).unwrap().moov, &edits, &mut edited);
            let mut new = new.iter();
            for (path, range) in old.iter().filter(|(_, range)| !edited.contains(&range.offset)) {
                let kept = new.any(|(other, place)| {
                    other == path && (slice(&served, *place) == slice(&file.bytes, *range) || holds_offsets(path))
                });
                assert!(kept, "{} {name}: {path}", file.name);
            }
        }
    }
}

/// Whether boxes of the kind may hold offsets among other things.
fn holds_offsets(path: &str) -> bool {
    ["/moof", "/mfra"].contains(&path)
}

#[test]
fn audio_stays_in_place_or_moves_by_pages() {
    for file in files() {
        let facts = Mp4.read(&file.bytes).unwrap();
        if facts.editing != Editing::Possible {
            continue;
        }
        let structure = Mp4Structure::decode(&facts.structure).unwrap();
        let room = free_bytes(&structure.moov) + structure.free;
        for name in EDITS {
            let splice = Mp4.splice(&facts.structure, &edits(&facts, name)).unwrap();
            let moved = splice.len().cast_signed() - (file.bytes.len() as u64).cast_signed();
            if structure.leads {
                assert_eq!(moved % 4096, 0, "{} {name}", file.name);
            }
            if room > 2000 && name == "title" {
                assert_eq!(moved, 0, "{} {name}", file.name);
            }
            let offset = splice.len() / 3;
            let served = materialise(&splice, &file.bytes);
            assert_eq!(
                materialise_range(&splice, &file.bytes, offset, 999),
                served[offset as usize..][..999.min(served.len() - offset as usize)]
            );
        }
    }
}

fn free_bytes(container: &Structured) -> u64 {
    let free = |part: &Part| match part {
        Part::Free(len) => *len,
        Part::Container(inner) => free_bytes(inner),
        _ => 0,
    };
    container.parts.iter().map(free).max().unwrap_or(0)
}

#[test]
fn media_are_not_read() {
    for file in files() {
        let source = Counted::new(&file.bytes);
        let facts = Mp4.read(&source).unwrap();
        let limit = file.bytes.len() as u64 - facts.audio.len + (64 << 10);
        assert!(source.read.get() <= limit, "{}: {} bytes of {}", file.name, source.read.get(), file.bytes.len());
    }
}

/// Files of which ffprobe tells another play time.
const OTHER_DURATIONS: [&str; 4] = [
    // Its media header counts 128 ms more than its samples have.
    "Borewit_music-metadata/issue-151.m4a",
    // Its video track or its chapters claim to be longer than its audio.
    "androidx_media/sample_fragmented_unsupported_brands.mp4",
    "saecki_mp4ameta/sample-chaptered.m4a",
    // 34 hours, of which the file has the first bytes.
    "tinytag_tinytag/mvhd_version_1.m4a",
];

#[test]
fn durations_are_those_that_others_tell() {
    for file in files().filter(|file| !OTHER_DURATIONS.contains(&&*file.name)) {
        let facts = Mp4.read(&file.bytes).unwrap();
        let (Some(told_ms), Ok(others)) = (facts.properties.duration_ms, file.duration.parse::<f64>()) else {
            continue;
        };
        let off = (told_ms as f64 / 1000.0 - others).abs();
        assert!(off < 0.1, "{}: {told_ms} ms, not {others} s", file.name);
    }
}

/// A file of the corpus and what is served for it, both on disk.
struct Pair {
    name: String,
    decode: String,
    source: PathBuf,
    served: PathBuf,
    edits: Edits,
}

fn pairs(folder: &Path, edit: &str) -> Vec<Pair> {
    let pair = |(at, file): (usize, CorpusFile)| {
        let facts = Mp4.read(&file.bytes).unwrap();
        if facts.editing != Editing::Possible {
            return None;
        }
        let edits = edits(&facts, edit);
        let splice = Mp4.splice(&facts.structure, &edits).unwrap();
        let (source, served) = (folder.join(format!("{at}-source.m4a")), folder.join(format!("{at}-served.m4a")));
        fs::write(&source, &file.bytes).unwrap();
        fs::write(&served, materialise(&splice, &file.bytes)).unwrap();
        Some(Pair { name: file.name, decode: file.decode, source, served, edits })
    };
    files().enumerate().filter_map(pair).collect()
}

/// Prints a line for each file: the values of each item that mutagen finds, or null.
const MUTAGEN: &str = r"
import json, sys
from mutagen.mp4 import MP4Tags, Atoms
for path in sys.argv[1:]:
    try:
        with open(path, 'rb') as file:
            atoms = Atoms(file)
            tags = MP4Tags(atoms, file) if MP4Tags._can_load(atoms) else {}
            text = lambda value: bytes(value).decode('latin-1') if isinstance(value, bytes) else str(value)
            print(json.dumps({key: list(map(text, value)) if isinstance(value, list) else [text(value)] for key, value in tags.items()}))
    except Exception as error:
        print('null')
";

#[test]
fn mutagen_reads_the_new_and_the_untouched_old() {
    let folder = tempfile::tempdir().unwrap();
    let pairs = pairs(folder.path(), "everything");
    let paths = pairs.iter().flat_map(|pair| [&pair.source, &pair.served]).map(|path| path.to_str().unwrap());
    let args: Vec<_> = ["-c", MUTAGEN].into_iter().chain(paths).collect();
    let Some(output) = foreign("python3", &args) else { return };
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(std::env::var("CI").as_deref() != Ok("true"), "mutagen does not run: {error}");
        eprintln!("skipped: mutagen does not run: {error}");
        return;
    }
    let lines: Vec<Option<BTreeMap<String, Vec<String>>>> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (pair, read) in pairs.iter().zip(lines.chunks_exact(2)) {
        // It does not know QuickTime's form of `meta` boxes.
        let is_odd = ["non-full-meta.m4a", "nonprintable-atom-type.m4a"].iter().any(|odd| pair.name.ends_with(odd));
        let Some(old) = read[0].as_ref().filter(|_| !is_odd) else { continue };
        let new = read[1].clone().unwrap_or_else(|| panic!("{} is not read", pair.name));
        // Names that a file had in another spelling keep it.
        let mut new: BTreeMap<_, _> = new.into_iter().map(|(key, values)| (key.to_lowercase(), values)).collect();
        for (key, values) in MUTAGEN_NEW {
            assert_eq!(
                new.remove(&key.to_lowercase()).as_deref(),
                Some(&values.iter().map(ToString::to_string).collect::<Vec<_>>()[..]),
                "{} {key}",
                pair.name
            );
        }
        // Items that are known by numbers are no longer the first list.
        let others = old.iter().filter(|(key, _)| !key.starts_with('\0') && !is_edited(key, &pair.edits));
        for (key, values) in others {
            assert_eq!(new.remove(&key.to_lowercase()).as_ref(), Some(values), "{} {key}", pair.name);
        }
        // What only other tags said stands in the new list too.
        let is_first = old.is_empty() || old.keys().any(|key| key.starts_with('\0'));
        assert!(new.is_empty() || is_first, "{} {new:?}", pair.name);
    }
}

/// Items of "everything", as mutagen names them.
const MUTAGEN_NEW: [(&str, &[&str]); 14] = [
    ("©nam", &["Ein neuer Titel ♫"]),
    ("©ART", &["Eine", "Zwei"]),
    ("aART", &["Jemand"]),
    ("©alb", &["Das Album"]),
    ("©gen", &["Duo Cello/Piano"]),
    ("©day", &["1999-12-31"]),
    ("trkn", &["(3, 12)"]),
    ("disk", &["(1, 0)"]),
    ("----:com.apple.iTunes:BPM", &["128.5"]),
    ("cpil", &["True"]),
    ("----:com.apple.iTunes:LABEL", &["Ein Label", "Noch eins"]),
    ("©cmt", &["Nichts"]),
    ("----:com.apple.iTunes:MusicBrainz Track Id", &["b1a9c0e9-d987-4042-ae91-78d6a3267d69"]),
    ("----:com.apple.iTunes:MY OWN", &["=x="]),
];

/// Whether an item, as mutagen names it, holds a key that "everything" edits.
fn is_edited(item: &str, edits: &Edits) -> bool {
    let name = match item.strip_prefix("----:").and_then(|free| free.split_once(':')) {
        Some((mean, name)) => Name::Free(mean.to_owned(), name.to_owned()),
        None => Name::Kind(item.chars().map(|letter| letter as u8).collect::<Vec<_>>().try_into().unwrap()),
    };
    places(&name).iter().any(|(place, _)| edits.touches(place.key))
}

/// What ffprobe tells: packets with their hashes, play times, chapters; and tags.
fn probe(path: &Path) -> Option<(Value, Value)> {
    let entries = "packet=stream_index,pts,data_hash:stream=codec_name,duration,start_time:chapter=start,end:chapter_tags=title:format_tags";
    let args = ["-v", "error", "-show_data_hash", "md5", "-show_chapters", "-show_entries", entries, "-of", "json"];
    let output = foreign("ffprobe", &[&args[..], &[path.to_str().unwrap()]].concat())?;
    let mut probed: Value = output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())?;
    let tags = probed["format"]["tags"].take();
    Some((probed, tags))
}

#[test]
fn ffmpeg_reads_the_new_values_and_the_same_packets_and_chapters() {
    let folder = tempfile::tempdir().unwrap();
    let [everything, long] = ["everything", "long"].map(|edit| {
        let folder = folder.path().join(edit);
        fs::create_dir(&folder).unwrap();
        pairs(&folder, edit)
    });
    for (pair, long) in everything.iter().zip(&long).filter(|(pair, _)| pair.decode != "fail") {
        let Some((old, _)) = probe(&pair.source) else { continue };
        let (new, tags) = probe(&pair.served).unwrap();
        assert_eq!(new, old, "{}", pair.name);
        let texts = [("title", "Ein neuer Titel ♫"), ("album_artist", "Jemand"), ("track", "3/12"), ("MY OWN", "=x=")];
        for (key, text) in texts {
            assert_eq!(tags[key], text, "{} {key}", pair.name);
        }
        assert_eq!(probe(&long.served).unwrap().0, old, "{}", pair.name);
    }
}

/// The MD5 of what ffmpeg decodes of the audio.
fn decoded(path: &Path) -> Option<String> {
    let path = path.to_str().unwrap();
    let output = foreign("ffmpeg", &["-nostdin", "-v", "error", "-i", path, "-map", "0:a", "-f", "md5", "-"])?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn ffmpeg_decodes_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for pair in pairs(folder.path(), "everything").iter().filter(|pair| pair.decode == "ok") {
        assert_eq!(decoded(&pair.served), decoded(&pair.source), "{}", pair.name);
    }
}
