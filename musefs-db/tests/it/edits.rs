//! Edits through the library, their log, and undo.

use std::collections::BTreeMap;

use musefs_db::{Action, ChangeId, Error, KeyChange, LogQuery, TrackEdit, TrackId};
use proptest::prelude::*;

use crate::common::{AUTHOR, Library};

fn undo(library: &Library, changes: &[i64]) -> musefs_db::Result<Option<ChangeId>> {
    let changes: Vec<ChangeId> = changes.iter().map(|&change| ChangeId(change)).collect();
    library.catalog.writer("undo").unwrap().undo(&changes, AUTHOR)
}

fn changes(library: &Library) -> Vec<KeyChange> {
    library.catalog.read(|reader| reader.changes(&LogQuery::default())).unwrap()
}

#[test]
fn one_edit_is_one_change_and_one_revision() {
    let library = Library::with_tracks(2);
    let edits: Vec<TrackEdit> = [16, 17]
        .map(|track| TrackEdit {
            track: TrackId(track),
            key: "Genre".into(),
            values: Some(vec!["a".into(), "b".into(), "c".into()]),
        })
        .into();
    let change = library.catalog.writer("edit").unwrap().edit(&edits, AUTHOR).unwrap();
    assert_eq!(change, Some(ChangeId(1)));
    let log = library.catalog.read(|reader| reader.log(&LogQuery::default())).unwrap();
    assert_eq!(log.len(), 6);
    for entry in &log {
        assert_eq!((entry.change, entry.revision, entry.action), (ChangeId(1), 1, Action::Set));
        assert_eq!((entry.who.as_str(), entry.why.as_deref()), ("tester", Some("a test")));
        assert_eq!(entry.key, "genre");
    }
    assert_eq!(library.tags(17), ["artist=A", "artist=B", "genre=a", "genre=b", "genre=c", "title=Old"]);
    assert_eq!((library.revision(16), library.revision(17)), (1, 1));
    assert_eq!(library.sql("SELECT count(*) FROM author"), "0");
}

#[test]
fn an_edit_that_changes_nothing_is_no_change() {
    let library = Library::with_tracks(1);
    library.edit(16, "title", Some(&["New"]));
    assert_eq!(library.edit(16, "title", Some(&["New"])), None);
    assert_eq!(library.edit(16, "artist", None), None);
    assert_eq!(library.revision(16), 1);
}

#[test]
fn shorter_lists_removals_and_clearing() {
    let library = Library::with_tracks(1);
    library.edit(16, "artist", Some(&["X", "Y", "Z"]));
    library.edit(16, "artist", Some(&["X"]));
    assert_eq!(library.tags(16), ["artist=X", "title=Old"]);
    library.edit(16, "artist", Some(&[]));
    assert_eq!(library.tags(16), ["title=Old"]);
    library.edit(16, "artist", None);
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Old"]);
    let told: Vec<_> = changes(&library).into_iter().map(|it| (it.change.0, it.before, it.after)).collect();
    let list = |values: &[&str]| Some(values.iter().map(|&value| value.to_owned()).collect::<Vec<_>>());
    assert_eq!(
        told,
        [
            (7, list(&[]), None),
            (6, list(&["X"]), list(&[])),
            (4, list(&["X", "Y", "Z"]), list(&["X"])),
            (1, None, list(&["X", "Y", "Z"])),
        ]
    );
}

#[test]
fn an_edit_of_an_unknown_track_leaves_nothing_of_the_others() {
    let library = Library::with_tracks(1);
    let edit = |track| TrackEdit { track: TrackId(track), key: "title".into(), values: Some(vec!["x".into()]) };
    let result = library.catalog.writer("edit").unwrap().edit(&[edit(16), edit(99)], AUTHOR);
    assert!(matches!(result, Err(Error::Refused { .. })), "{result:?}");
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Old"]);
    assert_eq!(library.sql("SELECT count(*) FROM edit_log; SELECT count(*) FROM author"), "0\n0");
}

#[test]
fn undo_puts_back_what_was_and_can_be_undone() {
    let library = Library::with_tracks(1);
    library.edit(16, "title", Some(&["One"]));
    library.edit(16, "title", Some(&["Two"]));
    assert_eq!(undo(&library, &[2]).unwrap(), Some(ChangeId(3)));
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=One"]);
    undo(&library, &[3]).unwrap();
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Two"]);
    undo(&library, &[1, 2, 3, 4]).unwrap();
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Old"]);
    assert_eq!(library.revision(16), 5);
}

#[test]
fn undo_refuses_to_undo_what_was_changed_again() {
    let library = Library::with_tracks(1);
    library.edit(16, "title", Some(&["One"]));
    library.edit(16, "artist", Some(&["Other"]));
    library.edit(16, "title", Some(&["Two"]));
    let refused = undo(&library, &[1]).unwrap_err();
    assert!(matches!(refused, Error::ChangedAgain { later: 3, .. }), "{refused}");
    assert!(refused.hint().unwrap().contains("change 3"));
    assert!(matches!(undo(&library, &[99]), Err(Error::NoSuchChange(99))));
    assert!(undo(&library, &[2]).unwrap().is_some());
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Two"]);
}

#[test]
fn clearing_takes_back_all_edits_of_a_track() {
    let library = Library::with_tracks(2);
    library.edit(16, "title", Some(&["One"]));
    library.edit(16, "artist", Some(&[]));
    library.edit(17, "title", Some(&["One"]));
    library.catalog.writer("undo").unwrap().clear(&[TrackId(16)], AUTHOR).unwrap();
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Old"]);
    assert_eq!(library.tags(17), ["artist=A", "artist=B", "title=One"]);
    let last = &changes(&library)[0];
    assert_eq!((last.who.as_str(), last.after.as_ref()), ("tester", None));
}

#[test]
fn pictures_are_logged_and_undone() {
    let library = Library::with_tracks(1);
    library.sql(
        "INSERT INTO art (id, blake3, mime, bytes) VALUES (1, zeroblob(32), 'image/png', x'00');
         INSERT INTO picture_edits (track, kind, art, description) VALUES (16, 3, 1, 'the front');
         UPDATE picture_edits SET art = NULL;",
    );
    undo(&library, &[2]).unwrap();
    assert_eq!(
        library.sql("SELECT kind, position, art, description, who FROM picture_edits"),
        "3|0|1|the front|tester"
    );
    undo(&library, &[1, 2, 3]).unwrap();
    assert_eq!(library.sql("SELECT count(*) FROM picture_edits"), "0");
    assert_eq!(library.revision(16), 4);
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Old"]);
}

/// What a person or a program does to one key.
#[derive(Clone, Debug)]
enum Step {
    Ours { track: i64, key: usize, values: Option<Vec<String>> },
    Upsert { track: i64, key: usize, position: i64, value: Option<String> },
    Replace { track: i64, key: usize, position: i64, value: String },
    Delete { track: i64, key: usize },
    Undo { newest: usize },
    Clear { track: i64 },
}

const KEYS: [&str; 3] = ["title", "Title", "artist"];

fn step() -> impl Strategy<Value = Step> {
    let track = 16..18_i64;
    let key = 0..KEYS.len();
    let value = "[a-c]{0,2}";
    prop_oneof![
        (track.clone(), key.clone(), proptest::option::of(proptest::collection::vec(value, 0..4)))
            .prop_map(|(track, key, values)| Step::Ours { track, key, values }),
        (track.clone(), key.clone(), 0..3_i64, proptest::option::of(value)).prop_map(
            |(track, key, position, value)| {
                let value = if position == 0 { value } else { Some(value.unwrap_or_default()) };
                Step::Upsert { track, key, position, value }
            }
        ),
        (track.clone(), key.clone(), 0..3_i64, value).prop_map(|(track, key, position, value)| Step::Replace {
            track,
            key,
            position,
            value
        }),
        (track.clone(), key).prop_map(|(track, key)| Step::Delete { track, key }),
        (0..3_usize).prop_map(|newest| Step::Undo { newest }),
        track.prop_map(|track| Step::Clear { track }),
    ]
}

fn take(step: &Step, library: &Library, other: &rusqlite::Connection) {
    match step {
        Step::Ours { track, key, values } => {
            let values: Option<Vec<&str>> = values.as_ref().map(|it| it.iter().map(String::as_str).collect());
            library.edit(*track, KEYS[*key], values.as_deref());
        }
        Step::Upsert { track, key, position, value } => {
            let sql = "INSERT INTO edits (track, key, position, value) VALUES (?, ?, ?, ?)
                       ON CONFLICT (track, key, position) DO UPDATE SET value = excluded.value";
            other.execute(sql, rusqlite::params![track, KEYS[*key], position, value]).unwrap();
        }
        Step::Replace { track, key, position, value } => {
            let sql = "REPLACE INTO edits (track, key, position, value) VALUES (?, ?, ?, ?)";
            other.execute(sql, rusqlite::params![track, KEYS[*key], position, value]).unwrap();
        }
        Step::Delete { track, key } => {
            other.execute("DELETE FROM edits WHERE track = ? AND key = ?", (track, KEYS[*key])).unwrap();
        }
        Step::Undo { newest } => {
            let newest: Vec<i64> = changes(library).iter().take(*newest).map(|it| it.change.0).collect();
            undo(library, &newest).unwrap();
        }
        Step::Clear { track } => {
            library.catalog.writer("undo").unwrap().clear(&[TrackId(*track)], AUTHOR).unwrap();
        }
    }
}

/// The edits of each track now, as a splice would get them.
fn now(library: &Library, track: i64) -> Vec<(String, Vec<String>)> {
    library.row(track, |row| row.edit.map(|edit| edit.changes.clone()).unwrap_or_default())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_log_gives_the_edits_of_any_revision(steps in proptest::collection::vec(step(), 1..20), recursive: bool) {
        let library = Library::with_tracks(2);
        let other = rusqlite::Connection::open(library.path()).unwrap();
        // A foreign program may have either setting.
        other.pragma_update(None, "recursive_triggers", recursive).unwrap();
        other.pragma_update(None, "foreign_keys", recursive).unwrap();
        let mut seen = BTreeMap::new();
        for step in &steps {
            take(step, &library, &other);
            for track in 16..18 {
                let before = seen.insert((track, library.revision(track)), now(&library, track));
                prop_assert!(before.is_none_or(|before| before == now(&library, track)), "{step:?} kept the revision");
            }
        }
        for ((track, revision), expected) in seen {
            let input = library.catalog.read(|reader| reader.edit_input_at(TrackId(track), revision)).unwrap().unwrap();
            prop_assert_eq!(input.changes, expected, "track {} revision {}", track, revision);
        }
    }
}
