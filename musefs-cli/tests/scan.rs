//! `musefs scan` as a person and a script see it.
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use assert_cmd::Command;
use serde_json::Value;

struct Home {
    _guard: tempfile::TempDir,
    path: PathBuf,
}

impl Home {
    /// A home directory with some music.
    fn new() -> Self {
        let guard = tempfile::tempdir().unwrap();
        let path = guard.path().canonicalize().unwrap();
        fs::create_dir(path.join("music")).unwrap();
        fs::write(path.join("music/01 - Broken\u{1b}[31m.mp3"), b"no frames").unwrap();
        fs::write(path.join("music/empty.flac"), b"").unwrap();
        fs::write(path.join("music/cover.jpg"), b"picture").unwrap();
        Self { _guard: guard, path }
    }

    fn musefs(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_musefs"));
        command.args(arguments).current_dir(&self.path).env_clear().env("HOME", &self.path);
        command
    }
}

/// Exit code, stdout and stderr, with what differs from run to run taken out.
fn shown(home: &Path, command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&home.display().to_string(), "[HOME]");
    let steady = |line: &str| match line.split_once(" s, ") {
        Some((_, rest)) => format!("[TIME] s, {rest}\n"),
        None => format!("{line}\n"),
    };
    let stdout: String = text(&output.stdout).lines().map(steady).collect();
    format!("exit: {:?}\n{stdout}---\n{}", output.status.code(), text(&output.stderr))
}

#[test]
fn a_person_gets_a_summary() {
    let home = Home::new();
    let first = shown(&home.path, &mut home.musefs(&["scan", "music"]));
    insta::assert_snapshot!(first, @r"
    exit: Some(0)
    tracks: new 2
    catalogue: opaque 2
    formats: unknown 2
    other files: jpg 1
    [TIME] s, 2 files opened, 9 B read
    problems: 2
      [HOME]/music/01 - Broken\u{1b}[31m.mp3: its content is no audio of a known kind
      [HOME]/music/empty.flac: the file is empty
    ---
    ");
    let again = shown(&home.path, &mut home.musefs(&["scan", "music"]));
    insta::assert_snapshot!(again, @r"
    exit: Some(0)
    tracks: unchanged 2
    catalogue: opaque 2
    formats: unknown 2
    other files: jpg 1
    [TIME] s, 0 files opened, 0 B read
    ---
    ");
    // Nothing of the catalogue lies beside it: it can be copied, and read from a disk that nobody can write.
    let folder = fs::read_dir(home.path.join(".local/share/musefs")).unwrap();
    assert_eq!(folder.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>(), ["catalog.db"]);
}

#[test]
fn quiet_is_quiet() {
    let home = Home::new();
    let shown = shown(&home.path, &mut home.musefs(&["scan", "-q", "music"]));
    insta::assert_snapshot!(shown, @r"
    exit: Some(0)
    ---
    ");
}

#[test]
fn a_dry_run_makes_no_catalogue() {
    let home = Home::new();
    let output = home.musefs(&["scan", "--dry-run", "--json", "--db", "c.db", "music"]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((report["new"].as_u64(), report["problems_total"].as_u64()), (Some(2), Some(2)));
    assert!(!home.path.join("c.db").exists());
}

#[test]
fn what_is_gone_is_told() {
    let home = Home::new();
    let nothing = shown(&home.path, &mut home.musefs(&["scan", "nowhere"]));
    insta::assert_snapshot!(nothing, @r"
    exit: Some(1)
    ---
    musefs: there is nothing to scan at [HOME]/nowhere
    ");
    home.musefs(&["scan", "-q", "music"]).assert().success();
    fs::rename(home.path.join("music"), home.path.join("away")).unwrap();
    let gone = shown(&home.path, &mut home.musefs(&["scan", "music"]));
    insta::assert_snapshot!(gone, @r"
    exit: Some(3)
    tracks: not looked for 2
    catalogue: opaque 2
    formats: unknown 2
    [TIME] s, 0 files opened, 0 B read
    problems: 1
      [HOME]/music: is not there; its 2 tracks stay as they are
    ---
    ");
}
