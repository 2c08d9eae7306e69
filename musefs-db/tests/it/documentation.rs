//! `docs/catalog.md`: its examples are run, its tables and numbers are those of the schema.

use musefs_db::limits;

use crate::common::{File, Library, run, told};

const PAGE: &str = include_str!("../../../docs/catalog.md");

/// The examples of a language, in order.
fn examples(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    PAGE.split(fence.as_str()).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

fn library() -> Library {
    let library = Library::new();
    library.scan(&[
        File::new("/music/a.flac").tag("comment", &["noise"]),
        File::new("/music/b.flac").tag("artist", &["The Beatels", "Guest"]).tag("albumartist", &["The Beatles"]),
    ]);
    library
}

#[test]
fn the_sql_does_what_the_page_says() {
    let library = library();
    let sql = examples("sql");
    assert_eq!(sql.len(), 8);
    assert_eq!(library.sql(sql[0]), "/music/a.flac");
    assert_eq!(library.sql(sql[1]), "A|1\nB|1\nGuest|1\nThe Beatels|1");
    library.sql(sql[2]);
    library.sql(sql[2]);
    library.sql(sql[3]);
    library.sql(sql[4]);
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "genre=Jazz", "genre=Fusion", "title=A better title"]);
    library.sql(sql[5]);
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "genre=Jazz", "genre=Fusion", "title=Old"]);
    library.sql(sql[6]);
    assert_eq!(library.tags(17), ["albumartist=The Beatles", "artist=The Beatles", "artist=Guest", "title=Old"]);
    assert_eq!(library.sql(sql[7]).lines().count(), 5);
}

#[test]
fn the_shell_and_python_do_too() {
    let library = library();
    let shell = examples("sh");
    assert_eq!(shell.len(), 1);
    let mut command = std::process::Command::new("sh");
    assert_eq!(told(run(command.env("DB", library.path()), shell[0])), "16|Old\n17|Old");
    let python = examples("python");
    assert_eq!(python.len(), 1);
    assert_eq!(told(library.python(python[0])), "2 tracks");
    assert_eq!(library.sql("SELECT DISTINCT value, who FROM edits"), "lossless|a script");
}

#[test]
fn every_table_and_view_is_on_the_page() {
    let library = Library::new();
    let names =
        library.sql("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'");
    for name in names.lines() {
        assert!(PAGE.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn the_numbers_on_the_page_are_the_limits() {
    for number in [
        format!("1 to {} bytes", limits::KEY_BYTES_MAX),
        format!("0 to {},", limits::EDIT_POSITION_MAX),
        format!("at most {} MiB, no NUL", limits::VALUE_BYTES_MAX >> 20),
        format!("at most {} bytes; `sql`", limits::WHO_BYTES_MAX),
        format!("at most {} bytes; may be left out", limits::WHY_BYTES_MAX),
        format!("at most {} rows of edits", limits::EDITS_PER_TRACK_MAX),
        format!("(at most {} MiB)", limits::ART_BYTES_MAX >> 20),
    ] {
        assert!(PAGE.contains(&number), "{number}");
    }
}

/// What `script/bench` asks a catalogue.
#[test]
fn tracks_are_picked_retagged_and_read_back_by_sql() {
    let library = Library::new();
    let files: Vec<File> = (0..40)
        .map(|number| {
            let path = format!("/music/{number}.{}", if number % 2 == 0 { "flac" } else { "mp3" });
            File::new(path).tag("album", &["Album"]).tag("albumartist", &["Artist"])
        })
        .collect();
    library.scan(&files);
    let pick = "SELECT p.track, aa.value, al.value, CASE WHEN p.path LIKE '%.flac' THEN 'flac' ELSE 'mp3' END
           FROM track_paths p
           JOIN effective_tags aa ON aa.track = p.track AND aa.key = 'albumartist' AND aa.position = 0
           JOIN effective_tags al ON al.track = p.track AND al.key = 'album' AND al.position = 0
           JOIN effective_tags ti ON ti.track = p.track AND ti.key = 'title' AND ti.position = 0
          WHERE p.track % 7 = 3 ORDER BY p.track";
    let picked = library.sql(pick);
    let plan = library.sql(&format!("EXPLAIN QUERY PLAN {pick}"));
    assert!(!plan.contains("MATERIALIZE"), "tags are looked up by track: {plan}");
    assert_eq!(picked.lines().next(), Some("17|Artist|Album|mp3"));
    assert_eq!(picked.lines().count(), 6);
    library.sql(
        "CREATE TEMP TABLE pick (id); INSERT INTO temp.pick VALUES (17), (24);
         INSERT INTO edits(track, key, position, value)
         SELECT track, 'title', 0, value || ' x' FROM effective_tags
          WHERE key = 'title' AND position = 0 AND track IN (SELECT id FROM temp.pick)
             ON CONFLICT(track, key, position) DO UPDATE SET value = excluded.value",
    );
    assert_eq!(
        library.sql("SELECT value FROM effective_tags WHERE track = 24 AND key = 'title' AND position = 0"),
        "Old x"
    );
    let ids = library.sql("SELECT track FROM effective_tags WHERE key = 'title' AND position = 0 ORDER BY track DESC");
    assert_eq!(ids.lines().count(), 40);
}
