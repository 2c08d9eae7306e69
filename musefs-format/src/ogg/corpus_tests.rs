//! Real files, edited, and judged by other readers.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::collections::BTreeMap;

use super::Ogg;
use crate::testing::{CorpusFile, Counted, corpus_files, materialise};
use crate::{Container, Editing, Edits, Facts};

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
        ("500 KiB", vec![("comment", one(&"0123456789".repeat(50 << 10)))]),
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
        let facts = Ogg.read(&file.bytes).unwrap();
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
            assert_eq!(&again.tags, edits.effective(), "{} {what}", file.name);
            assert_eq!(again.properties, facts.properties, "{} {what}", file.name);
            assert_eq!(again.pictures, facts.pictures, "{} {what}", file.name);
        }
    }
    println!("{opaque:#?}");
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
