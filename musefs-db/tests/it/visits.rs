//! Streaming over tracks: the same answers by every way.

use std::collections::BTreeMap;

use musefs_db::{EditInput, Keys, Sequence, TrackId, Which};
use proptest::prelude::*;

use crate::common::{File, Library};

type Rows = BTreeMap<i64, (u64, Vec<String>, Option<EditInput>)>;

fn visit(library: &Library, which: Which, keys: &Keys<'_>) -> Rows {
    let mut rows = Rows::new();
    let mut last = 0;
    library
        .catalog
        .read(|reader| {
            reader.visit_tracks(which, keys, &mut |row| {
                assert!(row.id.0 > last, "in the order of ids");
                last = row.id.0;
                let tags = row.tags.iter().map(|tag| format!("{}={}", tag.key, tag.value)).collect();
                rows.insert(row.id.0, (row.revision, tags, row.edit.cloned()));
                Ok(())
            })
        })
        .unwrap();
    rows
}

fn library(tracks: usize) -> Library {
    let library = Library::new();
    let files: Vec<File> = (0..tracks)
        .map(|number| {
            let file = File::new(format!("/music/{}/{number}", number / 10));
            match number % 3 {
                0 => file.tag("genre", &["x", "y"]),
                1 => file.tag("zebra", &["z"]).tag("title", &[]),
                _ => file,
            }
        })
        .collect();
    library.scan(&files);
    library
}

#[test]
fn only_wanted_keys_come_edited_or_not() {
    let library = library(40);
    library.edit(16, "title", Some(&["New"]));
    library.edit(16, "mood", Some(&["calm"]));
    library.edit(17, "zebra", Some(&[]));
    let all = visit(&library, Which::All, &Keys::All);
    assert_eq!(all[&16].1, ["artist=A", "artist=B", "genre=x", "genre=y", "mood=calm", "title=New"]);
    assert_eq!(all[&17].1, ["artist=A", "artist=B"]);
    for keys in [&["title", "mood"][..], &["Zebra"], &["unknown"], &[]] {
        let only = visit(&library, Which::All, &Keys::Only(keys));
        for (track, (_, tags, edit)) in &all {
            let wanted: Vec<_> = tags
                .iter()
                .filter(|tag| keys.iter().any(|key| tag.starts_with(&format!("{}=", key.to_lowercase()))))
                .cloned()
                .collect();
            assert_eq!(only[track].1, wanted, "{keys:?}");
            assert_eq!(&only[track].2, edit, "a splice gets all tags whichever are wanted");
        }
    }
}

#[test]
fn an_edited_track_comes_with_what_a_splice_needs() {
    let library = library(1);
    library.edit(16, "Title", Some(&["New"]));
    library.edit(16, "artist", Some(&[]));
    let edit = visit(&library, Which::All, &Keys::Only(&[])).remove(&16).unwrap().2.unwrap();
    assert_eq!(edit.structure, [1, 2, 3]);
    assert_eq!(edit.source_tags["artist"], ["A", "B"]);
    assert_eq!(edit.changes, [("artist".to_owned(), vec![]), ("title".to_owned(), vec!["New".to_owned()])]);
}

#[test]
fn an_error_of_the_visitor_ends_the_pass() {
    let library = library(5);
    let mut seen = 0;
    let result = library.catalog.read(|reader| {
        reader.visit_tracks(Which::All, &Keys::All, &mut |row| {
            seen += 1;
            Err(musefs_db::Error::NoSuchTrack(row.id))
        })
    });
    assert!(result.is_err());
    assert_eq!(seen, 1);
}

#[test]
fn a_panic_of_the_visitor_leaves_the_pool_usable() {
    let library = library(2);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        library.catalog.read(|_| -> musefs_db::Result<()> { panic!("as a test") })
    }));
    assert!(panicked.is_err());
    assert_eq!(visit(&library, Which::All, &Keys::All).len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn since_and_one_agree_with_all(edited in proptest::collection::vec(16..76_i64, 0..40), cut in 0..100_i64) {
        let library = library(60);
        for track in &edited {
            library.edit(*track, "title", Some(&[&track.to_string()]));
        }
        let all = visit(&library, Which::All, &Keys::All);
        for (track, row) in &all {
            let one = visit(&library, Which::One(TrackId(*track)), &Keys::All);
            prop_assert_eq!(one.get(track), Some(row));
        }
        let mut expected = all;
        expected.retain(|track, _| library.row(*track, |row| row.sequence > Sequence(cut)));
        prop_assert_eq!(visit(&library, Which::Since(Sequence(cut)), &Keys::All), expected);
    }
}
