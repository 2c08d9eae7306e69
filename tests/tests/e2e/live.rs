//! Corrections and changed sources, seen through a mount whose names and bytes the kernel has cached.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    os::unix::fs::{FileExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use musefs_tests::{compare, make, mount::Mount, oracle, sandbox::Sandbox, tools, wait};

use crate::fixture;

type Writer = fn(&Sandbox, u64, &str);

fn by_shell(sandbox: &Sandbox, track: u64, title: &str) {
    sandbox.sql(&upsert(track, title));
}

fn by_python(sandbox: &Sandbox, track: u64, title: &str) {
    let program = "import sqlite3, sys\n\
                   with sqlite3.connect(sys.argv[1], timeout=20) as db: db.execute(sys.argv[2])\n\
                   db.close()";
    tools::succeed(tools::python().arg("-c").arg(program).arg(sandbox.db()).arg(upsert(track, title)));
}

fn by_command(sandbox: &Sandbox, track: u64, title: &str) {
    sandbox.run(["edit", &track.to_string(), "--set", &format!("title={title}"), "--why", "a test"]).code(0);
}

fn upsert(track: u64, title: &str) -> String {
    format!(
        "INSERT INTO edits(track, key, position, value) VALUES ({track}, 'title', 0, '{title}') \
         ON CONFLICT(track, key, position) DO UPDATE SET value = excluded.value"
    )
}

/// Puts all names and bytes of a mount into the kernel's caches, and asks for one that is not there.
fn warm(mount: &Mount, absent: &Path) {
    for (path, _) in compare::files(&compare::walk(mount.path())) {
        fs::read(mount.join(path)).unwrap();
    }
    assert_eq!(fs::metadata(absent).unwrap_err().kind(), io::ErrorKind::NotFound);
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

#[test]
fn an_edit_by_any_writer_is_seen_through_a_cached_mount() {
    let Some(sandbox) = fixture::small() else { return };
    if !tools::have(&["ffprobe", "ffmpeg"]) {
        return;
    }
    let before = fixture::remember(&sandbox.music());
    let mount = fixture::mount(&sandbox);
    let writers: [(&str, Writer); 3] = [("shell", by_shell), ("Python", by_python), ("command", by_command)];
    let sources = [
        ("in/one.flac", "Ann/First/One.flac"),
        ("in/two.mp3", "Ann/First/Two.mp3"),
        ("in/three.mp3", "Bob/Second/Three.mp3"),
    ];
    for (source, path) in sources {
        let mut path = PathBuf::from(path);
        for (name, writer) in writers {
            let new = path.with_file_name(format!("By {name}.{}", path.extension().unwrap().to_str().unwrap()));
            edit_and_look(&sandbox, &mount, source, &path, &new, &format!("By {name}"), writer);
            path = new;
        }
    }
    mount.unmount();
    fixture::assert_untouched(&before);
}

fn edit_and_look(sandbox: &Sandbox, mount: &Mount, source: &str, old: &Path, new: &Path, title: &str, write: Writer) {
    let (old_path, new_path) = (mount.join(old), mount.join(new));
    warm(mount, &new_path);
    let (old_meta, old_bytes) = (fs::metadata(&old_path).unwrap(), fs::read(&old_path).unwrap());
    let held = File::open(&old_path).unwrap();
    write(sandbox, sandbox.track_of(source), title);

    let new_meta = wait::for_some("the new name", || fs::metadata(&new_path).ok());
    // Names are told to the kernel one by one: for a moment both can be there.
    wait::until("the old name to go", || !old_path.exists());
    let listed = names(old_path.parent().unwrap());
    assert!(listed.contains(&new.file_name().unwrap().to_str().unwrap().to_owned()), "{listed:?}");
    assert!(!listed.contains(&old.file_name().unwrap().to_str().unwrap().to_owned()), "{listed:?}");

    let new_bytes = fs::read(&new_path).unwrap();
    assert_eq!(new_meta.len(), new_bytes.len() as u64);
    assert_ne!(new_bytes, old_bytes);
    assert_ne!(new_meta.ino(), old_meta.ino(), "other bytes, another inode");
    assert!(new_meta.mtime() > old_meta.mtime(), "players compare whole seconds");
    assert_eq!(oracle::ffprobe_tags(&new_path)["title"], title);
    assert_eq!(oracle::packet_md5(&new_path), oracle::packet_md5(&sandbox.music().join(source)));

    let mut still = vec![0; old_bytes.len()];
    held.read_exact_at(&mut still, 0).unwrap();
    assert_eq!(still, old_bytes, "a held file stays what it was");
    assert_eq!(held.metadata().unwrap().len(), old_bytes.len() as u64);
}

#[test]
fn a_held_file_that_the_kernel_has_dropped_is_still_the_old_one() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = fixture::mount(&sandbox);
    let path = mount.join("Ann/First/One.flac");
    let old = fs::read(&path).unwrap();
    let held = File::open(&path).unwrap();
    for title in ["Once more", "And again", "And a third time"] {
        by_command(&sandbox, sandbox.track_of("in/one.flac"), title);
        wait::until("the new name", || mount.join(format!("Ann/First/{title}.flac")).exists());
    }
    // Its pages go; what is read now comes from the daemon.
    rustix::fs::fadvise(&held, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    let mut still = vec![0; old.len()];
    held.read_exact_at(&mut still, 0).unwrap();
    assert_eq!(still, old);
    mount.unmount();
}

/// Corrected content of equal length: neither name nor size tells.
#[test]
fn an_edit_that_moves_nothing_and_changes_no_size_is_seen() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = sandbox.mount_command().args(["--template", "$albumartist/$album/$track"]).start();
    let track = sandbox.track_of("in/one.flac");
    by_command(&sandbox, track, "AAAA");
    let folder = mount.join("Ann/First");
    let path = || compare::walk(&folder).into_iter().find(|(_, seen)| seen.track() == track).unwrap();
    let contains = |text: &str| {
        let bytes = fs::read(folder.join(path().0)).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    };
    wait::until("the first title", || contains("AAAA"));
    let (name, before) = path();
    by_command(&sandbox, track, "BBBB");
    wait::until("the second title", || contains("BBBB"));
    let (same_name, after) = path();
    assert_eq!((same_name, after.size), (name, before.size));
    assert!(after.mtime_ns >= before.mtime_ns + 1_000_000_000);
    mount.unmount();
}

#[test]
fn readers_amid_edits_see_whole_versions_only() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = sandbox.mount_command().args(["--template", "$albumartist/$album/$track"]).start();
    let track = sandbox.track_of("in/one.flac");
    let path = mount.join("Ann/First/01.flac");
    let versions = Mutex::new(BTreeMap::new());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    note_version(&path, &versions);
                }
            });
        }
        for at in 0..30 {
            // Lengths that fit the padding and lengths that do not.
            by_shell(&sandbox, track, &format!("{at:02}{}", "x".repeat(at * 300)));
            wait::until("a version", || {
                versions.lock().unwrap().keys().any(|title: &String| title.starts_with(&format!("{at:02}")))
            });
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(versions.into_inner().unwrap().len(), 31);
    mount.unmount();
}

/// Reads a FLAC and files it under its title; all of one title have to be alike.
fn note_version(path: &Path, versions: &Mutex<BTreeMap<String, Vec<u8>>>) {
    let bytes = fs::read(path).unwrap();
    let start = bytes.windows(6).position(|window| window == b"TITLE=").unwrap() + 6;
    let title: String =
        bytes[start..].iter().map(|byte| char::from(*byte)).take_while(char::is_ascii_alphanumeric).collect();
    let mut versions = versions.lock().unwrap();
    let first = versions.entry(title).or_insert_with(|| bytes.clone());
    assert!(*first == bytes, "two versions with one title");
}

#[test]
fn undo_gives_the_identical_file_again() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = fixture::mount(&sandbox);
    for (source, path) in [("in/one.flac", "Ann/First/One.flac"), ("in/two.mp3", "Ann/First/Two.mp3")] {
        let extension = Path::new(path).extension().unwrap().to_str().unwrap();
        let track = sandbox.track_of(source);
        by_command(&sandbox, track, "Wrong");
        let wrong = mount.join(format!("Ann/First/Wrong.{extension}"));
        wait::until("the edit", || wrong.exists());
        let edited = fs::metadata(&wrong).unwrap();
        sandbox.run(["undo", "--track", &track.to_string()]).code(0);
        wait::until("the undo", || mount.join(path).exists());
        let undone = fs::metadata(mount.join(path)).unwrap();
        assert!(compare::same_bytes(&mount.join(path), &sandbox.music().join(source)).unwrap());
        assert!(undone.mtime() > edited.mtime(), "an undo is a change too");
        wait::until("the wrong name to go", || !wrong.exists());
    }
    mount.unmount();
}

#[test]
fn edits_that_cannot_reach_the_bytes_move_the_file_and_are_reported() {
    let Some(sandbox) = fixture::small() else { return };
    sandbox.put("in/broken.flac", b"no audio at all");
    sandbox.scan();
    let mount = fixture::mount(&sandbox);
    let track = sandbox.track_of("in/broken.flac");
    by_command(&sandbox, track, "Moved");
    let moved = mount.join("Unknown Artist/Unknown Album/Moved.flac");
    wait::until("the new name", || moved.exists());
    assert!(compare::same_bytes(&moved, &sandbox.music().join("in/broken.flac")).unwrap());
    let served = &sandbox.run(["show", "--json", &track.to_string()]).code(0).json()[0]["served"];
    assert!(served["how"] == "whole" && served["reason"].is_string(), "{served}");
    mount.unmount();
}

#[test]
fn folders_come_and_go_with_their_files() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = fixture::mount(&sandbox);
    assert_eq!(names(mount.path()), ["Ann", "Bob"]);
    warm(&mount, &mount.join("Cat"));
    sandbox.sql("INSERT INTO edits(track, key, position, value) SELECT track, 'albumartist', 0, 'Cat' FROM track_paths WHERE path LIKE '%/one.flac' OR path LIKE '%/two.mp3'");
    wait::until("the new folder", || mount.join("Cat/First").is_dir());
    wait::until("the old folder to go", || !mount.join("Ann").exists());
    assert_eq!(names(mount.path()), ["Bob", "Cat"]);
    assert_eq!(names(&mount.join("Cat/First")), ["One.flac", "Two.mp3"]);
    mount.unmount();
}

#[test]
fn the_time_of_a_folder_moves_with_its_content_only() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = fixture::mount(&sandbox);
    let times = || {
        ["", "Ann", "Ann/First", "Bob", "Bob/Second"]
            .map(|dir| compare::mtime_ns(&fs::metadata(mount.join(dir)).unwrap()))
    };
    let before = times();
    sandbox.put("in/six.flac", &make::flac(6, 4, &make::tags("Ann", "First", "6", "Six"), None, 0));
    sandbox.scan();
    wait::until("the new track", || mount.join("Ann/First/Six.flac").exists());
    // The folders above are told of after it.
    wait::until("the times of the folders", || times()[..3].iter().zip(&before).all(|(now, then)| now > then));
    let added = times();
    assert_eq!(added[3..], before[3..]);
    // A departure counts as well.
    by_shell(&sandbox, sandbox.track_of("in/one.flac"), "Elsewhere");
    wait::until("the edit", || !mount.join("Ann/First/One.flac").exists());
    wait::until("the time of the folder", || times()[2] > added[2]);
    assert_eq!(times()[3..], before[3..]);
    mount.unmount();
}

#[test]
fn many_edits_in_one_commit_all_arrive() {
    let Some(sandbox) = fixture::small() else { return };
    for at in 0..300 {
        let title = format!("Track {at:03}");
        sandbox.put(
            format!("more/{at}.mp3"),
            &make::mp3(100 + at, 4, make::Id3::V24, &make::tags("Eve", "Many", "1", &title), None, 0),
        );
    }
    sandbox.scan();
    let mount = fixture::mount(&sandbox);
    warm(&mount, &mount.join("Eve/Many/Track 000 new.mp3"));
    sandbox.sql(
        "INSERT INTO edits(track, key, position, value) \
         SELECT track, 'title', 0, value || ' new' FROM effective_tags WHERE key = 'title' AND position = 0",
    );
    wait::until("the last edit", || mount.join("Eve/Many/Track 299 new.mp3").exists());
    let expected: Vec<_> = (0..300).map(|at| format!("Track {at:03} new.mp3")).collect();
    assert_eq!(names(&mount.join("Eve/Many")), expected);
    mount.unmount();
}

#[test]
fn a_source_changed_under_the_mount_never_gives_a_mix() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = fixture::mount(&sandbox);
    let (source, served) = (sandbox.music().join("in/one.flac"), mount.join("Ann/First/One.flac"));
    let old = fs::read(&source).unwrap();
    let new = make::flac(77, 50, &make::tags("Ann", "First", "1", "One"), None, 100);
    fs::write(&source, &new).unwrap();
    match fs::read(&served) {
        Ok(bytes) => assert!(bytes == old || bytes == new, "a mix"),
        Err(error) => assert!(error.raw_os_error().is_some(), "{error}"),
    }
    sandbox.scan();
    wait::until("the new bytes", || fs::read(&served).is_ok_and(|bytes| bytes == new));
    assert_eq!(fs::metadata(&served).unwrap().len(), new.len() as u64);
    mount.unmount();
}

#[test]
fn a_vanished_disk_gives_errors_and_comes_back() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = fixture::mount(&sandbox);
    let before = compare::walk(mount.path());
    let away = sandbox.root().join("away");
    fs::rename(sandbox.music(), &away).unwrap();
    assert_eq!(compare::walk(mount.path()), before, "the tree never looks empty");
    assert!(fs::read(mount.join("Bob/Second/Five.flac")).is_err());
    fs::rename(&away, sandbox.music()).unwrap();
    wait::until("the file", || fs::read(mount.join("Bob/Second/Five.flac")).is_ok());
    mount.unmount();
}
