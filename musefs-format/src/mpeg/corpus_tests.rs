//! Real files, edited, and judged by other readers.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use super::Mpeg;
use crate::testing::{CorpusFile, Counted, corpus_files, materialise};
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
