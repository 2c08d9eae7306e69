#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use super::Flac;
use crate::testing::{corpus_files, materialise};
use crate::{Container, Editing, Edits};

#[test]
fn files_of_the_corpus_are_edited() {
    let change = |key: &str, value: &str| (key.to_owned(), vec![value.to_owned()]);
    let changes = [change("title", "Ein neuer Titel ♫"), change("albumartist", "Jemand"), change("my own", "x")];
    for file in corpus_files().filter(|file| file.format == "flac" || file.name.ends_with(".flac")) {
        let facts = Flac.read(&file.bytes).unwrap();
        println!(
            "{} [{}] {:?} {:?}",
            file.name,
            file.decode,
            facts.editing,
            facts.problems.iter().map(|p| &p.0).collect::<Vec<_>>()
        );
        println!("    {:?} {:?}", facts.properties, facts.structure.0.len());
        if facts.editing != Editing::Possible {
            continue;
        }
        let edits = Edits::over(facts.tags.clone(), changes.clone());
        let splice = Flac.splice(&facts.structure, &edits).unwrap();
        let served = materialise(&splice, &file.bytes);
        let again = Flac.read(&served).unwrap();
        assert_eq!(&again.tags, edits.effective());
        assert_eq!(again.properties, facts.properties);
        assert_eq!(again.audio.len, facts.audio.len);
        println!("    {} {}", again.audio.offset as i64 - facts.audio.offset as i64, splice.segments().len());
    }
}
