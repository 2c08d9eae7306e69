//! What a scan finds, keeps and reports.

use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::{ffi::OsStringExt as _, fs::symlink},
    path::Path,
};

use musefs_tests::{
    compare,
    make::{self, Id3},
    program::Ran,
    sandbox::Sandbox,
    tools, wait,
};

use crate::fixture;

/// The exit code for: done, but some paths could not be read.
const PARTIAL: i32 = 3;

fn sandbox() -> Option<Sandbox> {
    tools::have(&["sqlite3"]).then(Sandbox::new)
}

fn scan(sandbox: &Sandbox, more: &[&str]) -> Ran {
    let music = sandbox.music();
    let arguments = [OsStr::new("scan"), music.as_os_str()].into_iter().chain(more.iter().map(OsStr::new));
    sandbox.run(arguments)
}

fn song(seed: u64, title: &str) -> Vec<u8> {
    make::flac(seed, 3, &make::tags("Ann", "First", "1", title), None, 0)
}

fn titles(sandbox: &Sandbox) -> Vec<String> {
    let rows = sandbox.sql("SELECT value FROM effective_tags WHERE key = 'title' ORDER BY value");
    rows.lines().map(str::to_owned).collect()
}

#[test]
fn everything_with_audio_content_or_an_audio_extension_is_a_track() {
    let Some(sandbox) = sandbox() else { return };
    sandbox.put("a.flac", &song(1, "One"));
    sandbox.put("b.mp3", &song(2, "Wrong extension"));
    sandbox.put("no extension", &song(3, "None"));
    sandbox.put("zero.mp3", b"");
    sandbox.put("damaged.flac", &song(4, "Damaged")[..60]);
    sandbox.put("noise.ogg", &make::noise(5, 5000));
    sandbox.put("cover.jpg", &make::png(6, 10));
    sandbox.put("rip.log", b"a log\n");
    scan(&sandbox, &[]).code(0);
    let mut names: Vec<_> =
        sandbox.sources().into_iter().map(|(_, path)| path.file_name().unwrap().to_owned()).collect();
    names.sort_unstable();
    assert_eq!(names, ["a.flac", "b.mp3", "damaged.flac", "no extension", "noise.ogg", "zero.mp3"]);
    let rest = scan(&sandbox, &["--json"]).code(0).json();
    assert!(rest.to_string().contains("jpg"), "what is no audio is counted by extension: {rest}");
}

#[test]
fn edits_survive_rescans_retags_and_moves() {
    let Some(sandbox) = sandbox() else { return };
    let first = sandbox.put("in/a.flac", &make::flac(1, 40, &make::tags("Ann", "First", "1", "Wrong"), None, 0));
    sandbox.put("in/b.flac", &make::flac(2, 40, &make::tags("Ann", "First", "2", "Other"), None, 0));
    scan(&sandbox, &[]).code(0);
    let track = sandbox.track_of("in/a.flac");
    sandbox.sql(&format!("INSERT INTO edits(track, key, position, value) VALUES ({track}, 'title', 0, 'Right')"));
    scan(&sandbox, &[]).code(0);
    assert_eq!(titles(&sandbox), ["Other", "Right"]);

    // Moved.
    fs::create_dir(sandbox.music().join("out")).unwrap();
    fs::rename(&first, sandbox.music().join("out/moved.flac")).unwrap();
    scan(&sandbox, &[]).code(0);
    assert_eq!(sandbox.track_of("out/moved.flac"), track);
    assert_eq!(titles(&sandbox), ["Other", "Right"]);

    // Moved and tagged by somebody else at the same time.
    fs::remove_file(sandbox.music().join("out/moved.flac")).unwrap();
    sandbox.put("again/c.flac", &make::flac(1, 40, &make::tags("Ann", "First", "1", "Still wrong"), None, 99));
    scan(&sandbox, &[]).code(0);
    assert_eq!(sandbox.track_of("again/c.flac"), track);
    assert_eq!(titles(&sandbox), ["Other", "Right"]);
    assert_eq!(sandbox.sources().len(), 2, "no row is left behind");
}

#[test]
fn a_rename_in_case_only_is_a_move() {
    let Some(sandbox) = sandbox() else { return };
    let path = sandbox.put("ABC.flac", &song(1, "One"));
    scan(&sandbox, &[]).code(0);
    let track = sandbox.track_of("ABC.flac");
    fs::rename(&path, sandbox.music().join("abc.flac")).unwrap();
    scan(&sandbox, &[]).code(0);
    assert_eq!(sandbox.track_of("abc.flac"), track);
    assert_eq!(sandbox.sources().len(), 1);
}

#[test]
fn a_missing_file_stays_until_it_is_back() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = fixture::mount(&sandbox);
    let before = compare::walk(mount.path());
    let track = sandbox.track_of("in/one.flac");
    let away = sandbox.root().join("away.flac");
    fs::rename(sandbox.music().join("in/one.flac"), &away).unwrap();
    scan(&sandbox, &[]);
    assert_eq!(sandbox.sql(&format!("SELECT state FROM track_paths WHERE track = {track}")).trim(), "missing");
    assert_eq!(compare::walk(mount.path()).len(), before.len(), "it is still listed");
    assert!(fs::read(mount.join("Ann/First/One.flac")).is_err());
    fs::rename(&away, sandbox.music().join("in/one.flac")).unwrap();
    scan(&sandbox, &[]).code(0);
    wait::until("the file", || fs::read(mount.join("Ann/First/One.flac")).is_ok());
    assert_eq!(sandbox.track_of("in/one.flac"), track);
    mount.unmount();
}

#[test]
fn an_empty_or_missing_root_deletes_nothing() {
    let Some(sandbox) = sandbox() else { return };
    for at in 0..5 {
        sandbox.put(format!("{at}.flac"), &song(at, "One"));
    }
    scan(&sandbox, &[]).code(0);
    let away = sandbox.root().join("away");
    fs::rename(sandbox.music(), &away).unwrap();
    let gone = scan(&sandbox, &[]);
    assert_ne!(gone.status.code(), Some(0), "{gone:?}");
    fs::create_dir(sandbox.music()).unwrap();
    let empty = scan(&sandbox, &[]);
    assert_ne!(empty.status.code(), Some(0), "an empty root is no success: {empty:?}");
    assert_eq!(sandbox.sources().len(), 5);
    fs::remove_dir(sandbox.music()).unwrap();
    fs::rename(&away, sandbox.music()).unwrap();
    scan(&sandbox, &[]).code(0);
    assert_eq!(sandbox.sql("SELECT DISTINCT state FROM track_paths").trim(), "ok");
}

#[test]
fn odd_names_and_loops_are_handled() {
    let Some(sandbox) = sandbox() else { return };
    let name = OsString::from_vec(b"bad \xff\xfe name.flac".to_vec());
    sandbox.put(Path::new(&name), &song(1, "Bad name"));
    sandbox.put("with\nnewline.flac", &song(2, "Newline"));
    sandbox.put("[brackets] * ? \".flac", &song(3, "Brackets"));
    sandbox.put("folder.flac/inner.flac", &song(4, "Inner"));
    symlink("..", sandbox.music().join("folder.flac/loop")).unwrap();
    symlink("nowhere", sandbox.music().join("dangling.flac")).unwrap();
    scan(&sandbox, &[]).code(0);
    assert_eq!(titles(&sandbox), ["Bad name", "Brackets", "Inner", "Newline"]);
    let followed = scan(&sandbox, &["--follow-symlinks"]);
    assert!(matches!(followed.status.code(), Some(0 | PARTIAL)), "{followed:?}");
    assert_eq!(sandbox.sources().len(), 4, "a loop adds nothing");
}

#[test]
fn every_listed_name_can_be_opened() {
    if !tools::have_fuse() {
        return;
    }
    let Some(sandbox) = sandbox() else { return };
    let name = OsString::from_vec(b"bad \xff name.wav".to_vec());
    sandbox.put(Path::new(&name), &make::wav(1, 100, &[]));
    sandbox.put("ra[ven].ogg", &make::noise(2, 300));
    sandbox.put("x\ty\x1b[31m.mp3", &make::mp3(3, 5, Id3::None, &[], None, 0));
    scan(&sandbox, &[]).code(0);
    for preset in ["default", "original"] {
        let mount = sandbox.mount_command().args(["--preset", preset]).start();
        let tree = compare::walk(mount.path());
        assert_eq!(compare::files(&tree).count(), 3, "{preset}: {tree:?}");
        for (path, seen) in compare::files(&tree) {
            assert_eq!(fs::read(mount.join(path)).unwrap().len() as u64, seen.size, "{preset}: {path:?}");
        }
        mount.unmount();
    }
}

#[test]
fn a_directory_that_cannot_be_read_is_reported_and_costs_nothing_else() {
    let Some(sandbox) = sandbox() else { return };
    sandbox.put("good/a.flac", &song(1, "Good"));
    sandbox.put("bad/b.flac", &song(2, "Bad"));
    scan(&sandbox, &[]).code(0);
    // Root reads everything, so somebody else scans.
    let bad = sandbox.music().join("bad");
    fs::set_permissions(&bad, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    let plain = sandbox.root().join("musefs");
    fs::copy(musefs_tests::program::binary(), &plain).unwrap();
    let script = r#"chmod -R go+rwX "$1" 2>/dev/null; chmod 0 "$1/music/bad"; exec setpriv --reuid=65534 --regid=65534 --clear-groups "$2" scan "$1/music""#;
    let mut command = tools::command("sh", &[&"-c", &script, &"sh", &sandbox.root(), &plain]);
    sandbox.isolate(&mut command);
    let ran = Ran::from(tools::run(&mut command));
    fs::set_permissions(&bad, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let ran = ran.code(PARTIAL);
    assert!((ran.stdout + &ran.stderr).contains("music/bad"), "the report names it");
    assert_eq!(sandbox.sources().len(), 2, "what cannot be looked at is not gone");
    assert!(titles(&sandbox).contains(&"Good".to_owned()));
}

#[test]
fn a_scan_reads_heads_and_tails_only() {
    let Some(sandbox) = sandbox() else { return };
    if !tools::have(&["strace"]) {
        return;
    }
    for at in 0..4 {
        sandbox.put(format!("{at}.flac"), &make::flac(at, 2500, &make::tags("A", "B", "1", "C"), None, 0));
        sandbox.put(format!("{at}.wav"), &make::wav(at, 5_000_000, &make::tags("A", "B", "1", "C")));
        sandbox.put(format!("{at}.mp3"), &make::mp3(at, 12_000, Id3::V24, &make::tags("A", "B", "1", "C"), None, 0));
    }
    let bytes = |log: &str| -> u64 {
        let reads =
            log.lines().filter(|line| line.contains(sandbox.music().to_str().unwrap()) && line.contains("read"));
        reads.filter_map(|line| line.rsplit_once("= ")?.1.trim().parse::<u64>().ok()).sum()
    };
    let traced = |name: &str| {
        let log = sandbox.root().join(name);
        let music = sandbox.music();
        let binary = musefs_tests::program::binary();
        let mut command = tools::command(
            "strace",
            &[
                &"-f",
                &"-qq",
                &"-y",
                &"-e",
                &"trace=read,pread64,preadv,readv,openat",
                &"-o",
                &log,
                &binary,
                &"scan",
                &music,
            ],
        );
        sandbox.isolate(&mut command);
        tools::succeed(&mut command);
        fs::read_to_string(log).unwrap()
    };
    let first = traced("first");
    assert!(bytes(&first) < 12 * 256 * 1024, "{} bytes of 12 files", bytes(&first));
    assert!(bytes(&first) > 0);
    let second = traced("second");
    let opened = second
        .lines()
        .filter(|line| line.contains("openat") && [".flac", ".wav", ".mp3"].iter().any(|end| line.contains(end)));
    assert_eq!(opened.count(), 0, "an unchanged file is not opened");
}

#[test]
fn a_dry_run_writes_nothing() {
    let Some(sandbox) = sandbox() else { return };
    sandbox.put("a.flac", &song(1, "One"));
    scan(&sandbox, &["--dry-run"]).code(0);
    assert!(!sandbox.db().exists() || sandbox.sources().is_empty());
    scan(&sandbox, &[]).code(0);
    sandbox.put("b.flac", &song(2, "Two"));
    scan(&sandbox, &["--dry-run"]).code(0);
    assert_eq!(sandbox.sources().len(), 1);
}

#[test]
fn quiet_is_quiet_and_json_is_alone_on_stdout() {
    let Some(sandbox) = sandbox() else { return };
    sandbox.put("a.flac", &song(1, "One"));
    let json = scan(&sandbox, &["--json"]).code(0);
    assert!(json.json().is_object());
    let quiet = scan(&sandbox, &["--quiet"]).code(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    let plain = scan(&sandbox, &[]).code(0);
    assert!(!plain.stderr.contains('\x1b') && !plain.stderr.contains('\r'), "no progress bar without a terminal");
}

#[test]
fn sources_are_never_touched_by_a_scan() {
    let Some(sandbox) = sandbox() else { return };
    sandbox.put("a.flac", &song(1, "One"));
    sandbox.put("b/c.mp3", &make::mp3(2, 10, Id3::V23, &make::tags("A", "B", "1", "C"), None, 0));
    let before = fixture::remember(&sandbox.music());
    scan(&sandbox, &[]).code(0);
    sandbox.sql("INSERT INTO edits(track, key, position, value) SELECT track, 'title', 0, 'Else' FROM track_paths");
    scan(&sandbox, &[]).code(0);
    fixture::assert_untouched(&before);
    assert_eq!(compare::files(&compare::walk(&sandbox.music())).count(), 2, "nothing was added either");
}
