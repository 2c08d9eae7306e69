//! Each limit of the schema: at the limit, and one past it.

use crate::common::{AUTHOR, File, Library};
use musefs_db::{Author, Error, TrackEdit, TrackId, limits};

fn edit(key: &str, values: Vec<String>, author: Author<'_>) -> musefs_db::Result<()> {
    let library = Library::with_tracks(1);
    let edit = TrackEdit { track: TrackId(16), key: key.into(), values: Some(values) };
    let changed = library.catalog.writer("edit")?.edit(&[edit], author)?;
    assert!(changed.is_some());
    Ok(())
}

fn refused(result: musefs_db::Result<()>) -> bool {
    matches!(result, Err(Error::Refused { .. }))
}

#[test]
fn edits_have_limits() {
    let x = |count: usize| "x".repeat(count);
    let many = |count: usize| (0..count).map(|value| value.to_string()).collect::<Vec<_>>();
    for (at, over, what) in [
        (edit(&x(limits::KEY_BYTES_MAX), many(1), AUTHOR), edit(&x(limits::KEY_BYTES_MAX + 1), many(1), AUTHOR), "key"),
        (
            edit("title", vec![x(limits::VALUE_BYTES_MAX)], AUTHOR),
            edit("title", vec![x(limits::VALUE_BYTES_MAX + 1)], AUTHOR),
            "value",
        ),
        (
            edit("title", many(limits::EDIT_POSITION_MAX + 1), AUTHOR),
            edit("title", many(limits::EDIT_POSITION_MAX + 2), AUTHOR),
            "position",
        ),
        (
            edit("title", many(1), Author { who: &x(limits::WHO_BYTES_MAX), why: None }),
            edit("title", many(1), Author { who: &x(limits::WHO_BYTES_MAX + 1), why: None }),
            "who",
        ),
        (
            edit("title", many(1), Author { who: "x", why: Some(&x(limits::WHY_BYTES_MAX)) }),
            edit("title", many(1), Author { who: "x", why: Some(&x(limits::WHY_BYTES_MAX + 1)) }),
            "why",
        ),
        (edit("a b", many(1), AUTHOR), edit("a\nb", many(1), AUTHOR), "control characters in a key"),
        (edit("title", vec!["a\nb".into()], AUTHOR), edit("title", vec!["a\0b".into()], AUTHOR), "nul in a value"),
    ] {
        assert!(at.is_ok(), "{what}: {at:?}");
        assert!(refused(over), "{what}");
    }
}

#[test]
fn bytes_count_not_characters() {
    let at = limits::KEY_BYTES_MAX / 2;
    assert!(edit(&"é".repeat(at), vec!["x".into()], AUTHOR).is_ok());
    assert!(refused(edit(&"é".repeat(at + 1), vec!["x".into()], AUTHOR)));
}

#[test]
fn a_track_has_a_limited_number_of_edits() {
    let library = Library::with_tracks(1);
    let edits = |count: usize| -> Vec<TrackEdit> {
        let edit =
            |number| TrackEdit { track: TrackId(16), key: format!("key{number}"), values: Some(vec!["x".into()]) };
        (0..count).map(edit).collect()
    };
    let mut writer = library.catalog.writer("edit").expect("a writer");
    let over = writer.edit(&edits(limits::EDITS_PER_TRACK_MAX + 1), AUTHOR);
    assert!(matches!(over, Err(Error::Refused { .. })), "{over:?}");
    assert_eq!(library.revision(16), 0);
    writer.edit(&edits(limits::EDITS_PER_TRACK_MAX), AUTHOR).expect("as many as are allowed");
    assert_eq!(library.revision(16), 1);
}

#[test]
fn sources_have_limits() {
    let put = |change: &dyn Fn(&mut File)| {
        let library = Library::new();
        let mut file = File::new("/music/x");
        change(&mut file);
        let mut writer = library.catalog.writer("scan").expect("a writer");
        let root = writer.root(std::path::Path::new("/music")).expect("a root");
        let mut batch = writer.batch().expect("a batch");
        let result = file.put(&mut batch, root).map(|_| ());
        // The batch goes on, whatever happened to one file.
        File::new("/music/next").put(&mut batch, root).expect("the next one is fine");
        batch.commit().expect("a commit");
        result
    };
    let named = |count: usize| put(&move |file| file.path = format!("/music/{}", "x".repeat(count)).into());
    let deep = |count: usize| put(&move |file| file.path = format!("/{}/x", "d".repeat(count - 1)).into());
    let structured = |count: usize| put(&move |file| file.structure = vec![0; count]);
    let valued = |count: usize| put(&move |file| file.tags = vec![("title", vec!["x".repeat(count)])]);
    for (limit, result) in [
        (limits::NAME_BYTES_MAX, &named as &dyn Fn(usize) -> musefs_db::Result<()>),
        (limits::PATH_BYTES_MAX, &deep),
        (limits::STRUCTURE_BYTES_MAX, &structured),
        (limits::VALUE_BYTES_MAX, &valued),
    ] {
        assert!(result(limit).is_ok(), "{limit}");
        assert!(refused(result(limit + 1)), "{limit}");
    }
}

#[test]
fn art_has_a_limit() {
    let library = Library::new();
    let put = |bytes: usize| {
        library.shell(&format!(
            "INSERT INTO art (blake3, mime, bytes) VALUES (zeroblob(32), 'image/png', zeroblob({bytes}))"
        ))
    };
    assert!(!put(limits::ART_BYTES_MAX + 1).status.success());
    assert!(put(limits::ART_BYTES_MAX).status.success());
}
