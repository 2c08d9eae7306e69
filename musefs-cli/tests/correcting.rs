//! `list`, `show`, `edit`, `undo` and `log` on a small library of made files.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::{fs, os::unix::ffi::OsStrExt as _, path::PathBuf, process::Command};

use assert_cmd::{assert::Assert, prelude::OutputAssertExt as _};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Music and a catalogue in a folder of their own.
struct World(TempDir);

impl World {
    /// Tracks 16 (a FLAC) and 17 (a WAV).
    fn new() -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        fs::create_dir(world.path("music")).unwrap();
        let tags = ["TITLE=Old", "ARTIST=A", "ARTIST=B", "X-ODD=\u{1b}[31m"];
        fs::write(world.path("music/a.flac"), flac(&tags)).unwrap();
        world.run(&["scan", "-q", "music"]).success();
        fs::write(world.path("music/b.wav"), cut_wav()).unwrap();
        world.run(&["scan", "-q", "music"]).success();
        world
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn run(&self, words: &[&str]) -> Assert {
        self.command(words).assert()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_musefs"));
        command.args(words).current_dir(self.0.path()).env("MUSEFS_DB", self.path("catalog.db"));
        for (variable, folder) in [("HOME", ""), ("XDG_RUNTIME_DIR", "run"), ("XDG_STATE_HOME", "state")] {
            command.env(variable, self.path(folder));
        }
        command.env("SUDO_USER", "tester");
        command
    }

    fn text(&self, words: &[&str]) -> String {
        let output = self.run(words).success().get_output().clone();
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, words: &[&str]) -> Value {
        serde_json::from_str(&self.text(words)).unwrap()
    }

    /// Exit code, and what stands on stderr.
    fn refused(&self, words: &[&str]) -> (i32, String) {
        let output = self.command(words).output().unwrap();
        assert!(output.stdout.is_empty(), "data on stdout although refused");
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    fn sql(&self, sql: &str) {
        Command::new("sqlite3").arg(self.path("catalog.db")).arg(sql).assert().success();
    }
}

/// A FLAC file with a stream description, comments and something like audio (RFC 9639, sections 8.2 and 8.6).
fn flac(comments: &[&str]) -> Vec<u8> {
    let mut info = vec![0x10, 0, 0x10, 0, 0, 0, 0, 0, 0, 0];
    // 44,100 Hz, 2 channels, 16 bits, 44,100 samples, no checksum.
    info.extend([0x0a, 0xc4, 0x42, 0xf0, 0, 0, 0xac, 0x44]);
    info.extend([0; 16]);
    let mut block = text_of(b"maker");
    block.extend((comments.len() as u32).to_le_bytes());
    comments.iter().for_each(|comment| block.extend(text_of(comment.as_bytes())));
    let mut file = b"fLaC\0\0\0\x22".to_vec();
    file.extend(info);
    file.extend(&(0x8400_0000 | block.len() as u32).to_be_bytes());
    file.extend(block);
    file.extend([0xff, 0xf8, 0xc9, 0x18, 0, 0]);
    file.extend((0..5000).map(|byte| byte as u8));
    file
}

fn text_of(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_le_bytes(), bytes].concat()
}

/// A file that was cut before its audio: edits cannot reach its bytes.
fn cut_wav() -> Vec<u8> {
    b"RIFF\x34\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x44\xac\0\0\x88\x58\x01\0\x02\0\x10\0".to_vec()
}

#[test]
fn tracks_are_listed() {
    let world = World::new();
    let music = world.path("music").canonicalize().unwrap();
    world.run(&["edit", "-q", "16", "--set", "title=New"]).success().stdout("");
    let expected = format!("     16  ok         * {0}/a.flac\n     17  opaque       {0}/b.wav\n", music.display());
    assert_eq!(world.text(&["list"]), expected);
    let list = world.json(&["list", "--json"]);
    assert_eq!(list[0]["tags"]["title"], json!(["New"]));
    assert_eq!(list[0]["edited"], json!(true));
    assert_eq!(list[1]["track"], json!(17));
}

#[test]
fn an_empty_catalogue_is_an_empty_list() {
    let world = World(tempfile::tempdir().unwrap());
    fs::create_dir(world.path("music")).unwrap();
    world.command(&["scan", "-q", "music"]).output().unwrap();
    assert_eq!(world.json(&["list", "--json"]), json!([]));
    world.run(&["list"]).success().stdout("");
}

#[test]
fn an_edit_is_shown_logged_and_undone() {
    let world = World::new();
    let text =
        world.text(&["edit", "16", "--set", "Title=New", "--add", "artist=C", "--remove", "x-odd", "--why", "so"]);
    let changes: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(
        changes,
        [
            "  artist: A; B → A; B; C",
            "  title: Old → New",
            "  x-odd: \\u{1b}[31m → (none)",
            "change 1: `musefs undo 1` takes it back",
        ]
    );
    let shown = &world.json(&["show", "16", "--json"])[0];
    assert_eq!(shown["tags"], json!({ "artist": ["A", "B", "C"], "title": ["New"] }));
    assert_eq!(shown["source_tags"]["title"], json!(["Old"]));
    assert_eq!(shown["served"]["how"], json!("spliced"));
    assert_eq!(shown["edits"][0]["who"], json!("tester"));
    let text = world.text(&["show", "16"]);
    assert!(text.contains("  title   New\n            edited by tester: so; the source has Old\n"), "{text}");
    let log = world.text(&["log"]);
    assert!(log.starts_with("change 1  2"), "{log}");
    assert!(log.contains("Z  tester: so\n") && log.contains("  track 16  title: (as in the source) → New\n"), "{log}");

    let text = world.text(&["undo", "1"]);
    assert!(text.contains("track 16  title: New → (as in the source)\n"), "{text}");
    let shown = &world.json(&["show", "16", "--json"])[0];
    assert_eq!(shown["served"], json!({ "how": "whole", "reason": null }));
    assert_eq!(shown["tags"], shown["source_tags"]);
    assert_eq!(world.json(&["log", "--json", "--limit", "1"])[0]["why"], json!("undo 1"));
}

#[test]
fn a_rehearsal_changes_nothing() {
    let world = World::new();
    let text = world.text(&["edit", "16", "--set", "title=New", "--dry-run"]);
    assert!(text.ends_with("nothing was changed: this was a rehearsal\n"), "{text}");
    world.run(&["edit", "16", "--set", "title=New"]).success();
    world.text(&["undo", "1", "--dry-run"]);
    world.text(&["undo", "--track", "16", "--dry-run"]);
    assert_eq!(world.json(&["show", "16", "--json"])[0]["tags"]["title"], json!(["New"]));
    assert_eq!(world.json(&["log", "--json"]).as_array().unwrap().len(), 1);
}

#[test]
fn what_is_so_already_is_no_change() {
    let world = World::new();
    let nothing = "nothing to change: everything is so already\n";
    world.run(&["edit", "16", "--set", "title=Old"]).success().stdout(nothing);
    world.run(&["edit", "16", "--set", "title=New"]).success();
    let text = world.text(&["edit", "16", "--set", "title=Old"]);
    assert!(text.contains("title: New → Old"), "{text}");
    assert_eq!(world.json(&["show", "16", "--json"])[0]["served"]["how"], json!("whole"));
    assert_eq!(world.json(&["undo", "--track", "16", "--json"])["change"], json!(null));
}

#[test]
fn tracks_are_named_by_number_source_and_link() {
    let world = World::new();
    std::os::unix::fs::symlink(world.path("music/a.flac"), world.path("link")).unwrap();
    for (number, word) in ["16", "music/a.flac", "./music/../music/a.flac", "link"].iter().enumerate() {
        let value = format!("title={number}");
        let edit = world.json(&["edit", word, "--set", &value, "--json"]);
        assert_eq!(edit["tracks"][0]["track"], json!(16), "{word}");
    }
    let edit = world.json(&["edit", "16", "music/a.flac", "17", "--set", "album=X", "--json"]);
    assert_eq!(edit["tracks"].as_array().unwrap().len(), 2);
    assert_eq!(edit["change"], json!(5));
    world.text(&["undo", "5"]);
    assert_eq!(world.json(&["show", "17", "--json"])[0]["tags"], json!({}));
}

#[test]
fn files_that_edits_cannot_reach_say_so() {
    let world = World::new();
    let text = world.text(&["edit", "17", "--set", "title=New"]);
    assert!(text.contains("its file is served as the source is: "), "{text}");
    let shown = &world.json(&["show", "17", "--json"])[0];
    assert_eq!(shown["served"]["how"], json!("whole"));
    assert!(shown["served"]["reason"].is_string());
    assert_eq!(shown["tags"], json!({ "title": ["New"] }));
}

#[test]
fn refusals_have_codes_and_hints() {
    let world = World::new();
    world.run(&["edit", "16", "--set", "title=One"]).success();
    world.run(&["edit", "16", "--set", "title=Two"]).success();
    for (words, code, message) in [
        (&["show", "99"][..], 6, "there is no track 99\nhint: `musefs list` shows all\n"),
        (&["show", "music"], 6, "is a folder\nhint: name the files in it"),
        (&["show", "music/none.flac"], 6, "is not in the catalogue\nhint: `musefs scan`"),
        (&["edit", "16"], 2, "nothing to change\nhint: give --set"),
        (&["edit", "16", "--set", "title"], 2, "--set title: not of the form KEY=VALUE"),
        (&["edit", "16", "--set", "a=b", "--remove", "A"], 2, "A is both given and removed"),
        (&["edit", "16", "99", "--set", "title=Three"], 6, "there is no track 99"),
        (&["edit", "16", "--set", "a\u{7}=b"], 7, "\"a\\u{7}\" cannot be a key: it has a control character"),
        (&["undo", "1"], 7, "title of track 16 was changed again by change 2\nhint: undo change 2 first"),
        (&["undo", "99"], 7, "there is no change 99 in the log\nhint: `musefs log`"),
    ] {
        let (status, told) = world.refused(words);
        assert_eq!(status, code, "{words:?}: {told}");
        assert!(told.contains(message), "{words:?}: {told}");
    }
    assert_eq!(world.json(&["show", "16", "--json"])[0]["tags"]["title"], json!(["Two"]));
}

#[test]
fn values_over_the_limit_of_a_container_are_refused_with_it() {
    let world = World::new();
    // A block of FLAC has at most 2^24 - 1 bytes; another program does not ask first.
    world.sql(
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 15)
         INSERT INTO edits (track, key, position, value)
         SELECT 16, 'notes', i, replace(hex(zeroblob(524288)), '0', 'x') FROM n",
    );
    let reason = world.json(&["show", "16", "--json"])[0]["served"]["reason"].clone();
    assert!(reason.as_str().unwrap().contains("16777215"), "{reason}");
    let (status, told) = world.refused(&["edit", "16", "--add", "notes=more"]);
    assert_eq!(status, 7);
    assert!(told.contains("16777215") && told.contains("hint: nothing was changed"), "{told}");
    world.text(&["undo", "--track", "16"]);
    assert_eq!(world.json(&["show", "16", "--json"])[0]["served"]["reason"], json!(null));
}

#[test]
fn names_cannot_drive_the_terminal() {
    let world = World::new();
    let name = std::ffi::OsStr::from_bytes(b"\x1b[31m\xff.flac");
    fs::write(world.path("music").join(name), flac(&["TITLE=a\rb"])).unwrap();
    world.run(&["scan", "-q", "music"]).success();
    for words in [&["list"][..], &["show", "18"], &["edit", "18", "--set", "title=a\u{1b}b"], &["log"]] {
        let text = world.text(words);
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text}");
    }
    assert!(world.json(&["show", "18", "--json"])[0]["path"].as_str().unwrap().ends_with("\u{1b}[31m\\xFF.flac"));
}

#[test]
fn a_missing_catalogue_is_told_of() {
    let world = World(tempfile::tempdir().unwrap());
    for words in [&["list"][..], &["show", "16"], &["edit", "16", "--set", "a=b"], &["undo", "1"], &["log"]] {
        let (status, told) = world.refused(words);
        assert_eq!(status, 4, "{told}");
        assert!(told.contains("hint: scan a music directory first"), "{told}");
    }
    assert!(!world.path("catalog.db").exists());
}
