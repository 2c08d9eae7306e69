//! Real files, edited, and judged by the tools of FLAC's own authors.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::Flac;
use crate::testing::{CorpusFile, Counted, corpus_files, foreign, materialise};
use crate::{Container, Editing, Edits, Facts, ReadAt};

const CHANGES: [(&str, &str); 3] = [("title", "Ein neuer Titel ♫"), ("albumartist", "Jemand"), ("my own", "=x=")];

/// Files that ffmpeg plays but that are served whole, and why.
const OPAQUE: [(&str, &str); 4] = [
    ("ietf-wg-cellar_flac-test-files/10 - file starting at frame header.flac", "there is no FLAC marker"),
    ("ietf-wg-cellar_flac-test-files/11 - file starting with unparsable data.flac", "there is no FLAC marker"),
    // Ffmpeg finds frames in what other tools take for the block: no rewrite would suit both.
    (
        "ietf-wg-cellar_flac-test-files/11 - incorrect metadata block length.flac",
        "a metadata block is of a forbidden kind",
    ),
    ("quodlibet_mutagen/52-too-short-block-size.flac", "no audio frame follows the metadata"),
];

fn files() -> impl Iterator<Item = CorpusFile> {
    corpus_files().filter(|file| file.format == "flac" || file.name.to_lowercase().ends_with(".flac"))
}

fn edits(facts: &Facts) -> Edits {
    let changes = CHANGES.map(|(key, value)| (key.to_owned(), vec![value.to_owned()]));
    Edits::over(facts.tags.clone(), changes)
}

#[test]
fn files_that_play_are_edited_for_real() {
    let opaque: BTreeSet<_> = files()
        .filter(|file| file.decode != "fail")
        .filter_map(|file| match Flac.read(&file.bytes).unwrap().editing {
            Editing::Opaque(reason) => {
                Some((file.name, reason)).filter(|(_, reason)| !reason.starts_with("tags stand"))
            }
            Editing::Possible => None,
        })
        .collect();
    let expected = OPAQUE.map(|(name, reason)| (name.to_owned(), reason.to_owned()));
    if crate::testing::corpus().is_some() {
        assert_eq!(opaque, BTreeSet::from(expected));
    }
}

#[test]
fn edits_are_read_back_and_audio_is_kept() {
    for file in files() {
        let facts = Flac.read(&file.bytes).unwrap();
        if facts.editing != Editing::Possible {
            assert!(facts.structure.0.is_empty());
            continue;
        }
        let edits = edits(&facts);
        let splice = Flac.splice(&facts.structure, &edits).unwrap();
        assert_eq!(splice, Flac.splice(&facts.structure, &edits).unwrap());
        let served = materialise(&splice, &file.bytes);
        let again = Flac.read(&served).unwrap();
        assert_eq!(&again.tags, edits.effective(), "{}", file.name);
        assert_eq!((&again.properties, again.pictures.len()), (&facts.properties, facts.pictures.len()));
        for (old, new) in facts.pictures.iter().zip(&again.pictures) {
            assert_eq!(slice(&file.bytes, old.range), slice(&served, new.range));
        }
        assert_eq!(slice(&file.bytes, facts.audio), slice(&served, again.audio));
        let moved = again.audio.offset.cast_signed() - facts.audio.offset.cast_signed();
        assert_eq!(moved % 4096, 0, "{}", file.name);
    }
}

fn slice(bytes: &[u8], range: crate::ByteRange) -> &[u8] {
    &bytes[range.offset as usize..range.end() as usize]
}

#[test]
fn only_heads_are_read() {
    for file in files() {
        let source = Counted::new(&file.bytes);
        let facts = Flac.read(&source).unwrap();
        let read = source.read.get();
        let limit = facts.audio.offset * 2 + (300 << 10);
        assert!(read <= limit, "{}: {read} bytes of {} are read", file.name, source.len());
    }
}

/// Fields as metaflac prints them, in order.
fn metaflac(path: &Path) -> Option<Vec<String>> {
    let output = foreign("metaflac", &["--no-utf8-convert", "--export-tags-to=-", path.to_str().unwrap()])?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

fn flac_test(path: &Path) -> bool {
    foreign("flac", &["--test", "--silent", path.to_str().unwrap()]).is_some_and(|output| output.status.success())
}

#[test]
fn foreign_tools_read_the_new_and_the_untouched_old() {
    let folder = tempfile::tempdir().unwrap();
    let (source, served) = (folder.path().join("source.flac"), folder.path().join("served.flac"));
    for file in files() {
        let facts = Flac.read(&file.bytes).unwrap();
        if facts.editing != Editing::Possible {
            continue;
        }
        let splice = Flac.splice(&facts.structure, &edits(&facts)).unwrap();
        fs::write(&source, &file.bytes).unwrap();
        fs::write(&served, materialise(&splice, &file.bytes)).unwrap();
        let Some(old) = metaflac(&source) else { continue };
        let new = metaflac(&served).unwrap_or_else(|| panic!("{} is not read by metaflac", file.name));
        for field in ["TITLE=Ein neuer Titel ♫", "ALBUMARTIST=Jemand", "MY OWN==x="] {
            assert!(new.iter().any(|line| line.eq_ignore_ascii_case(field)), "{}: {new:?}", file.name);
        }
        // Of a block with a broken field, and of ID3, metaflac shows nothing; the served file has sound comments.
        if !old.is_empty() {
            assert_eq!(others(&new), others(&old), "{}", file.name);
        }
        assert!(!flac_test(&source) || flac_test(&served), "{} is damaged", file.name);
    }
}

/// Lines of fields that are not edited.
fn others(lines: &[String]) -> Vec<&String> {
    let edited = ["title=", "albumartist=", "album artist=", "my own="];
    lines.iter().filter(|line| !edited.iter().any(|name| line.to_lowercase().starts_with(name))).collect()
}
