//! Other programs that write edits: Debian's `sqlite3` and Python's module, as real processes.

use crate::common::{Library, complaint, told};

const UPSERT: &str = "INSERT INTO edits (track, key, position, value) VALUES (16, 'title', 0, 'New')
    ON CONFLICT (track, key, position) DO UPDATE SET value = excluded.value;";

fn log(library: &Library) -> String {
    library.sql("SELECT change, who, revision, key, position, action, quote(value) FROM edit_log ORDER BY id")
}

#[test]
fn an_upsert_sets_and_sets_again() {
    let library = Library::with_tracks(1);
    library.sql(UPSERT);
    library.sql(&UPSERT.replace("New", "Newer"));
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Newer"]);
    assert_eq!(log(&library), "1|sql|1|title|0|set|'New'\n2|sql|2|title|0|set|'Newer'");
    assert_eq!(library.revision(16), 2);
}

#[test]
fn an_upsert_of_what_is_there_changes_nothing() {
    let library = Library::with_tracks(1);
    library.sql(UPSERT);
    library.sql(UPSERT);
    assert_eq!(library.revision(16), 1);
}

#[test]
fn replace_insert_update_and_delete_are_all_logged() {
    let library = Library::with_tracks(1);
    library.sql(
        "INSERT INTO edits (track, key, value) VALUES (16, 'genre', 'Rock');
         REPLACE INTO edits (track, key, position, value, who, why) VALUES (16, 'genre', 0, 'Pop', 'me', 'better');
         INSERT INTO edits (track, key, position, value) VALUES (16, 'genre', 1, 'Jazz');
         UPDATE edits SET value = 'Soul' WHERE position = 1;
         UPDATE edits SET position = 2 WHERE position = 1;",
    );
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "genre=Pop", "genre=Soul", "title=Old"]);
    library.sql("DELETE FROM edits");
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Old"]);
    assert_eq!(
        log(&library).lines().collect::<Vec<_>>(),
        [
            "1|sql|1|genre|0|set|'Rock'",
            "2|me|2|genre|0|set|'Pop'",
            "3|sql|3|genre|1|set|'Jazz'",
            "4|sql|4|genre|1|set|'Soul'",
            "5|sql|5|genre|1|clear|NULL",
            "6|sql|6|genre|2|set|'Soul'",
            "7|sql|7|genre|0|clear|NULL",
            "8|sql|8|genre|2|clear|NULL",
        ]
    );
}

#[test]
fn a_null_removes_the_key() {
    let library = Library::with_tracks(1);
    library.sql("INSERT INTO edits (track, key, position, value) VALUES (16, 'artist', 0, NULL)");
    assert_eq!(library.tags(16), ["title=Old"]);
    assert_eq!(library.sql("SELECT DISTINCT key FROM effective_tags"), "title");
    let refused = library.shell("INSERT INTO edits (track, key, position, value) VALUES (16, 'title', 1, NULL)");
    assert!(complaint(&refused).contains("CHECK constraint failed"));
}

#[test]
fn keys_that_differ_in_case_are_one_key() {
    let library = Library::with_tracks(1);
    library.sql("INSERT INTO edits (track, key, position, value) VALUES (16, 'TITLE', 0, 'Loud')");
    library.sql(UPSERT);
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=New"]);
    assert_eq!(library.sql("SELECT count(*) FROM edits"), "1");
    let both =
        "SELECT key, value FROM effective_tags WHERE key = 'title'; SELECT key FROM effective_tags WHERE key = 'Title'";
    assert_eq!(library.sql(both), "title|New\ntitle");
    assert_eq!(library.edit(16, "Title", Some(&["Mine"])), Some(musefs_db::ChangeId(3)));
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Mine"]);
}

#[test]
fn a_key_outside_ascii_is_one_key_for_readers() {
    let library = Library::with_tracks(1);
    library.sql(
        "INSERT INTO edits (track, key, value) VALUES (16, 'ÄRA', 'upper');
         INSERT INTO edits (track, key, value) VALUES (16, 'ära', 'lower');",
    );
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Old", "ära=lower"]);
    library.edit(16, "Ära", Some(&["mine"]));
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Old", "ära=mine"]);
    library.edit(16, "ära", None);
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Old"]);
}

#[test]
fn what_breaks_the_contract_is_refused_with_a_reason() {
    let library = Library::with_tracks(2);
    library.sql(UPSERT);
    for (sql, reason) in [
        (UPSERT.replace("16", "99"), "musefs: no such track"),
        ("UPDATE edits SET track = 17".into(), "musefs: an edit cannot move to another track"),
        ("DELETE FROM edit_log".into(), "musefs: the log of edits is never deleted"),
        ("UPDATE edit_log SET who = 'nobody'".into(), "musefs: the log of edits is never changed"),
        ("INSERT INTO edits (track, key, value) VALUES (16, 'picture:3', 'x')".into(), "CHECK constraint"),
        ("INSERT INTO picture_edits (track, kind, art) VALUES (16, 3, 5)".into(), "musefs: no such art"),
        ("INSERT INTO edits (track, key, value) VALUES (16, 'x', x'00ff')".into(), "cannot store BLOB"),
    ] {
        let refused = complaint(&library.shell(&sql));
        assert!(refused.contains(reason), "{sql}: {refused}");
    }
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=New"]);
    assert_eq!(library.revision(16), 1);
}

#[test]
fn an_upsert_over_a_row_of_somebody_else_is_not_logged_in_their_name() {
    let library = Library::with_tracks(1);
    library.edit(16, "title", Some(&["Mine"]));
    library.sql(UPSERT);
    library.sql("UPDATE edits SET value = 'Theirs', who = 'them', why = 'so'");
    library.sql("DELETE FROM edits");
    assert_eq!(library.sql("SELECT who, quote(why) FROM edit_log"), "tester|'a test'\nsql|NULL\nthem|'so'\nsql|NULL");
}

#[test]
fn text_that_is_not_utf8_is_survived() {
    let library = Library::with_tracks(1);
    library.sql("INSERT INTO edits (track, key, value) VALUES (16, 'title', CAST(x'4f6cff' AS TEXT))");
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Ol\u{fffd}"]);
}

#[test]
fn python_writes_as_the_contract_says() {
    let library = Library::with_tracks(2);
    let program = r#"
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
with db:
    db.executemany("""INSERT INTO edits(track, key, position, value, who) VALUES (?, ?, ?, ?, 'py')
        ON CONFLICT(track, key, position) DO UPDATE SET value = excluded.value""",
        [(16, 'title', 0, 'One'), (17, 'title', 0, 'Two'), (16, 'Artist', 0, 'Solo')])
with db:
    db.execute("REPLACE INTO edits(track, key, position, value) VALUES (17, 'TITLE', 0, 'Zwei')")
try:
    db.execute("INSERT INTO edits(track, key, value) VALUES (99, 'title', 'x')")
except sqlite3.IntegrityError as error:
    print(error)
try:
    db.execute("INSERT INTO edits(track, key, value) VALUES (16, 'title', ?)", ('x' * (2**20 + 1),))
except sqlite3.IntegrityError as error:
    print(str(error).split()[0])
db.rollback()
for row in db.execute("SELECT * FROM effective_tags WHERE key IN ('title', 'artist') ORDER BY track, key, position"):
    print(*row)
for row in db.execute("SELECT path, format, state FROM track_paths ORDER BY track"):
    print(*row)
"#;
    assert_eq!(
        told(library.python(program)).lines().collect::<Vec<_>>(),
        [
            "musefs: no such track",
            "CHECK",
            "16 artist 0 Solo",
            "16 title 0 One",
            "17 artist 0 A",
            "17 artist 1 B",
            "17 title 0 Zwei",
            "/music/0.flac flac ok",
            "/music/1.flac flac ok",
        ]
    );
}

#[test]
fn each_change_moves_the_time_by_a_whole_second_at_least() {
    let library = Library::with_tracks(1);
    let mut last = i64::MIN;
    for value in ["a", "b", "c"] {
        library.sql(&UPSERT.replace("New", value));
        let changed_at_ms = library.row(16, |row| row.changed_at_ms).expect("it changed");
        assert!(changed_at_ms >= last.saturating_add(1000), "{last} {changed_at_ms}");
        last = changed_at_ms;
    }
}

#[test]
fn the_time_passes_that_of_a_source_from_the_future() {
    let library = Library::new();
    let mut file = crate::common::File::new("/music/0.flac");
    file.stamp.mtime_ns = 8_000_000_000_000_000_000;
    library.scan(&[file]);
    library.sql(UPSERT);
    assert_eq!(library.row(16, |row| row.changed_at_ms), Some(8_000_000_001_001));
}
