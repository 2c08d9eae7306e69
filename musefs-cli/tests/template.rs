//! `musefs template` as people and scripts use it.

use std::{fs, path::Path};

use assert_cmd::Command;
use tempfile::TempDir;

/// The program in a home of its own.
fn musefs(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_musefs"));
    command.env_clear().env("HOME", home).env("XDG_CONFIG_HOME", home).env("XDG_DATA_HOME", home);
    command.args(arguments);
    command
}

/// Exit code, stdout and stderr in one text.
fn shown(home: &Path, arguments: &[&str]) -> String {
    let output = musefs(home, arguments).output().expect("it runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let text = format!("exit {}\n{out}{err}", output.status.code().expect("no signal"));
    text.replace(home.to_str().expect("UTF-8"), "HOME")
}

fn home() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

#[test]
fn check_shows_the_place() {
    let home = home();
    insta::assert_snapshot!(shown(home.path(), &["template", "check", "$albumartist/$title"]), @r"
    exit 0
    ok
    ");
    insta::assert_snapshot!(shown(home.path(), &["template", "check", "$albumartst/$title"]), @r#"
    exit 2
    musefs: unknown field "albumartst"
      $albumartst/$title
      ^^^^^^^^^^^
    hint: did you mean "albumartist"? any tag can be named as ${tag:albumartst}
    "#);
}

#[test]
fn render_makes_up_a_track() {
    let home = home();
    let set = ["--set", "artist=AC/DC", "--set", "title= I/O", "--set", "ext=mp3"];
    let shown = |arguments: &[&str]| shown(home.path(), &[&["template", "render"], arguments, &set].concat());
    insta::assert_snapshot!(shown(&["--template", "$artist/$title"]), @r"
    exit 0
    AC_DC/I_O.mp3
    ");
    insta::assert_snapshot!(shown(&["--json", "--fallback", "album=None"]), @r#"
    exit 0
    [
      {
        "path": "AC_DC/None/I_O.mp3"
      }
    ]
    "#);
    insta::assert_snapshot!(shown(&["--template", "$label/$title", "--skip-on-missing"]), @r"
    exit 0
    left out: no label
    ");
    insta::assert_snapshot!(shown(&["--preset", "orignal"]), @r#"
    exit 2
    musefs: no preset "orignal"
    hint: did you mean "original"?
    "#);
}

#[test]
fn render_shows_tracks_of_the_catalogue() {
    let home = home();
    let music = home.path().join("music/Some Artist");
    fs::create_dir_all(&music).expect("a directory");
    let path = music.join("a song.mp3");
    fs::write(&path, b"no audio").expect("a file");
    musefs(home.path(), &["scan", "-q"]).arg(&music).assert().success();
    let render = ["template", "render", "--template", "$filename"];
    insta::assert_snapshot!(shown(home.path(), &render), @r"
    exit 0
    16	a song.mp3
    ");
    insta::assert_snapshot!(shown(home.path(), &[&render[..], &[path.to_str().expect("UTF-8"), "16"]].concat()), @r"
    exit 0
    16	a song.mp3
    16	a song.mp3
    ");
    insta::assert_snapshot!(shown(home.path(), &[&render[..], &["99"]].concat()), @r"
    exit 6
    musefs: no track 99
    hint: musefs list shows all tracks
    ");
}

#[test]
fn list_names_presets_that_cannot_be_used() {
    let home = home();
    let presets = home.path().join("musefs/templates");
    fs::create_dir_all(&presets).expect("a directory");
    fs::write(presets.join("bad.toml"), "description = 'bad'\n[view]\ntemplate = '$titel'\n").expect("a file");
    fs::write(presets.join("original.toml"), "description = 'mine'\n[view]\ntemplate = 'x/$!{path}'\n")
        .expect("a file");
    insta::assert_snapshot!(shown(home.path(), &["template", "list"]), @r#"
    exit 0
    bad: cannot be used: HOME/musefs/templates/bad.toml: unknown field "titel"
      $titel
      ^^^^^^
    default: album artist / album (year) / disc-track title
        $albumartist/$album[ ($year)]/%if{$multidisc,$disc-}[$track ]$title
    original (HOME/musefs/templates/original.toml): mine
        x/$!{path}
    "#);
}
