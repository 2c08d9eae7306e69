//! Scans of made trees.
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{PermissionsExt as _, symlink},
    },
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use musefs_db::{Access, Author, Catalog, Keys, SourceState, TrackEdit, Which};

use super::*;

/// A wave file: tags in a LIST chunk, and audio that `seed` makes unlike others.
fn wave(title: &str, seed: u8) -> Vec<u8> {
    let data: Vec<u8> = (0..40_000_u32).map(|i| (i as u8).wrapping_mul(seed) ^ seed).collect();
    let name = format!("{title}\0");
    let padded = name.len() + name.len() % 2;
    let mut info = [b"INFOINAM".as_slice(), &(name.len() as u32).to_le_bytes(), name.as_bytes()].concat();
    info.resize(12 + padded, 0);
    let format = [1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0x40, 0x1f, 0, 0, 1, 0, 8, 0];
    let chunk = |id: &[u8], body: &[u8]| [id, &(body.len() as u32).to_le_bytes(), body].concat();
    let body = [b"WAVE".to_vec(), chunk(b"fmt ", &format), chunk(b"LIST", &info), chunk(b"data", &data)].concat();
    chunk(b"RIFF", &body)
}

/// Keeps what an observer is told.
#[derive(Default)]
struct Listener {
    problems: Vec<Problem>,
    last: Progress,
}

impl Observer for Listener {
    fn progress(&mut self, progress: Progress) {
        self.last = progress;
    }
    fn problem(&mut self, problem: &Problem) {
        self.problems.push(problem.clone());
    }
}

/// The user that may nothing.
const NOBODY: u32 = 65_534;

/// A directory `music` and a catalogue beside it.
struct Library {
    _guard: tempfile::TempDir,
    base: PathBuf,
    catalog: Catalog,
}

/// What a track looks like to a test.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    id: i64,
    revision: u64,
    state: SourceState,
    title: Option<String>,
}

impl Library {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let guard = tempfile::tempdir().unwrap();
        let base = guard.path().canonicalize().unwrap();
        fs::create_dir(base.join("music")).unwrap();
        let catalog = Catalog::open(&base.join("catalog.db"), Access::Create).unwrap();
        let library = Self { _guard: guard, base, catalog };
        files.iter().for_each(|(name, bytes)| library.write(name, bytes));
        library
    }

    fn path(&self, name: &str) -> PathBuf {
        self.base.join("music").join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        fs::create_dir_all(self.path(to).parent().unwrap()).unwrap();
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    fn options(&self, paths: &[&str]) -> Options {
        let paths = paths.iter().map(|path| self.base.join(path)).collect();
        Options { paths, excluded: Vec::new(), jobs: 3, follow_links: false }
    }

    fn scan(&self) -> Report {
        self.scan_of(&["music"])
    }

    fn scan_of(&self, paths: &[&str]) -> Report {
        self.scan_with(&self.options(paths))
    }

    fn scan_with(&self, options: &Options) -> Report {
        let mut listener = Listener::default();
        let report = scan(&self.catalog, options, &AtomicBool::new(false), &mut listener).unwrap();
        listener.problems.sort();
        assert_eq!(listener.problems, report.problems.first);
        let Progress { found, done, walking } = listener.last;
        assert_eq!((done, walking), (found, false));
        report
    }

    /// Runs something without root's right to read everything, if this is root.
    fn as_nobody<T: Send>(&self, run: impl FnOnce(&Self) -> T + Send) -> T {
        std::thread::scope(|scope| {
            let runner = scope.spawn(|| {
                if rustix::process::geteuid().is_root() {
                    for path in [&self.base, &self.base.join("catalog.db")] {
                        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
                    }
                    for entry in fs::read_dir(&self.base).unwrap() {
                        std::os::unix::fs::chown(entry.unwrap().path(), Some(NOBODY), None).unwrap();
                    }
                    // Of this thread alone, and of those that it starts.
                    rustix::thread::set_thread_uid(rustix::process::Uid::from_raw(NOBODY)).unwrap();
                }
                run(self)
            });
            runner.join().unwrap()
        })
    }

    fn tracks(&self) -> BTreeMap<String, Seen> {
        let mut tracks = BTreeMap::new();
        let prefix = format!("{}/", self.base.display());
        self.catalog
            .read(|reader| {
                reader.visit_tracks(Which::All, &Keys::All, &mut |row| {
                    let path = [row.dir, b"/", row.name].concat();
                    let path = String::from_utf8_lossy(&path).replace(&prefix, "");
                    let title = row.tags.iter().find(|tag| &*tag.key == "title").map(|tag| tag.value.clone());
                    let seen = Seen { id: row.id.0, revision: row.revision, state: row.state, title };
                    assert_eq!(tracks.insert(path, seen), None);
                    Ok(())
                })
            })
            .unwrap();
        tracks
    }

    fn track(&self, name: &str) -> Seen {
        self.tracks().remove(&format!("music/{name}")).unwrap()
    }

    fn edit(&self, name: &str, title: &str) {
        let track = musefs_db::TrackId(self.track(name).id);
        let edit = TrackEdit { track, key: "title".into(), values: Some(vec![title.into()]) };
        let mut writer = self.catalog.writer("a test").unwrap();
        writer.edit(&[edit], Author { who: "test", why: None }).unwrap();
    }
}

/// new, changed, moved, returned, missing, kept, unchanged
fn counts(report: &Report) -> [u64; 7] {
    let Report { new, changed, moved, returned, missing, kept, unchanged, .. } = report;
    [*new, *changed, *moved, *returned, *missing, *kept, *unchanged]
}

#[test]
fn a_second_scan_opens_nothing() {
    let library = Library::new(&[
        ("a/1.wav", &wave("One", 1)),
        ("a/cover.jpg", b"jpg"),
        ("a/strange.xyz", b"no audio"),
        ("b/.hidden/2.wav", &wave("Two", 2)),
        ("README", b"text"),
    ]);
    let report = library.scan();
    assert_eq!((counts(&report), report.opened, report.unreadable), ([2, 0, 0, 0, 0, 0, 0], 4, 0));
    let others: Vec<_> = report.others.iter().collect();
    assert_eq!(others, [("", 1), ("jpg", 1), ("xyz", 1)]);
    assert_eq!(library.track("a/1.wav").title.as_deref(), Some("One"));
    let before = library.tracks();
    let report = library.scan();
    assert_eq!((counts(&report), report.opened, report.bytes_read), ([0, 0, 0, 0, 0, 0, 2], 0, 0));
    assert_eq!(report.others.total(), 3);
    assert_eq!(library.tracks(), before);
    assert_eq!(report.by_format, BTreeMap::from([("wav".to_owned(), 2)]));
}

#[test]
fn every_audio_file_becomes_a_track() {
    let library = Library::new(&[
        ("empty.mp3", b""),
        ("03 - Broken.flac", b"nothing like it"),
        ("content without extension", &wave("Content", 3)),
        ("content.bit", &wave("Other", 4)),
        ("._1.wav", &[0, 5, 0x16, 7, 0, 2, 0, 0]),
    ]);
    let odd = library.base.join("music").join(OsStr::from_bytes(b"\xff.wav"));
    fs::write(odd, wave("Bytes", 5)).unwrap();
    let report = library.scan();
    assert_eq!(counts(&report)[0], 5);
    let tracks = library.tracks();
    let titles: Vec<_> = tracks.iter().map(|(path, seen)| (path.as_str(), seen.title.as_deref())).collect();
    assert_eq!(
        titles,
        [
            ("music/03 - Broken.flac", Some("Broken")),
            ("music/content without extension", Some("Content")),
            ("music/content.bit", Some("Other")),
            ("music/empty.mp3", Some("empty")),
            ("music/\u{fffd}.wav", Some("Bytes")),
        ]
    );
    assert_eq!(counts(&library.scan())[6], 5);
}

#[test]
fn changes_are_noticed_and_edits_survive() {
    let library = Library::new(&[("1.wav", &wave("One", 1)), ("2.wav", &wave("Two", 2))]);
    library.scan();
    library.edit("1.wav", "Edited");
    let before = library.track("1.wav");
    library.write("1.wav", &wave("Retagged", 1));
    assert_eq!(counts(&library.scan()), [0, 1, 0, 0, 0, 0, 1]);
    let after = library.track("1.wav");
    assert_eq!((after.id, after.title.as_deref()), (before.id, Some("Edited")));
    assert!(after.revision > before.revision);
}

#[test]
fn a_moved_tree_keeps_tracks_and_edits() {
    let library =
        Library::new(&[("a/1.wav", &wave("One", 1)), ("a/2.wav", &wave("Two", 2)), ("b/3.wav", &wave("3", 3))]);
    library.scan();
    library.edit("a/1.wav", "Edited");
    let before = library.track("a/1.wav");
    library.rename("a", "c/d");
    assert_eq!(counts(&library.scan()), [0, 0, 2, 0, 0, 0, 1]);
    assert_eq!(library.track("c/d/1.wav"), before);
    assert_eq!(library.tracks().len(), 3);
}

#[test]
fn a_retagged_and_moved_file_is_known_again() {
    let library = Library::new(&[("1.wav", &wave("One", 1)), ("2.wav", &wave("Two", 2))]);
    library.scan();
    library.edit("1.wav", "Edited");
    let before = library.track("1.wav");
    fs::remove_file(library.path("1.wav")).unwrap();
    library.write("sub/new name.wav", &wave("Another title", 1));
    assert_eq!(counts(&library.scan()), [0, 0, 1, 0, 0, 0, 1]);
    let after = library.track("sub/new name.wav");
    assert_eq!((after.id, after.title.as_deref()), (before.id, Some("Edited")));
}

#[test]
fn a_renamed_root_keeps_its_tracks() {
    let library = Library::new(&[("1.wav", &wave("One", 1)), ("2.wav", &wave("Two", 2))]);
    library.scan();
    let before = library.track("1.wav");
    fs::rename(library.base.join("music"), library.base.join("renamed")).unwrap();
    assert_eq!(counts(&library.scan_of(&["renamed"])), [0, 0, 2, 0, 0, 0, 0]);
    assert_eq!(library.tracks()["renamed/1.wav"], before);
    assert_eq!(library.tracks().len(), 2);
}

#[test]
fn only_the_case_of_a_name_changes() {
    let library = Library::new(&[("ABC.wav", &wave("One", 1)), ("2.wav", &wave("Two", 2))]);
    library.scan();
    let before = library.track("ABC.wav");
    library.rename("ABC.wav", "abc.wav");
    assert_eq!(counts(&library.scan()), [0, 0, 1, 0, 0, 0, 1]);
    assert_eq!(library.track("abc.wav"), before);
    assert_eq!(library.tracks().len(), 2);
}

#[test]
fn equal_audio_makes_two_tracks() {
    let library = Library::new(&[("a/1.wav", &wave("One", 1)), ("b/1.wav", &wave("One", 1))]);
    assert_eq!(counts(&library.scan())[0], 2);
    library.write("c/1.wav", &wave("One", 1));
    assert_eq!(counts(&library.scan()), [1, 0, 0, 0, 0, 0, 2]);
    assert_eq!(library.tracks().len(), 3);
}

#[test]
fn a_missing_file_comes_back_as_it_was() {
    let library = Library::new(&[("a/1.wav", &wave("One", 1)), ("b/2.wav", &wave("Two", 2))]);
    library.scan();
    library.edit("a/1.wav", "Edited");
    let before = library.track("a/1.wav");
    fs::rename(library.path("a"), library.base.join("away")).unwrap();
    assert_eq!(counts(&library.scan()), [0, 0, 0, 0, 1, 0, 1]);
    assert_eq!(library.track("a/1.wav"), Seen { state: SourceState::Missing, ..before.clone() });
    assert_eq!(counts(&library.scan()), [0, 0, 0, 0, 0, 0, 1]);
    fs::rename(library.base.join("away"), library.path("a")).unwrap();
    let report = library.scan();
    assert_eq!((counts(&report), report.opened), ([0, 0, 0, 1, 0, 0, 1], 0));
    assert_eq!(library.track("a/1.wav"), before);
}

#[test]
fn a_root_that_is_gone_or_empty_loses_nothing() {
    let library = Library::new(&[("1.wav", &wave("One", 1))]);
    library.scan();
    let before = library.tracks();
    let away = library.base.join("away");
    fs::rename(library.base.join("music"), &away).unwrap();
    for empty in [false, true] {
        if empty {
            fs::create_dir(library.base.join("music")).unwrap();
        }
        let report = library.scan();
        assert_eq!((counts(&report), report.unreadable), ([0, 0, 0, 0, 0, 1, 0], 1));
        assert_eq!(report.gone, [(library.base.join("music"), 1)]);
        assert!(report.problems.first[0].what.contains("its 1 tracks stay"), "{:?}", report.problems);
        assert_eq!(library.tracks(), before);
    }
    fs::remove_dir(library.base.join("music")).unwrap();
    fs::rename(&away, library.base.join("music")).unwrap();
    assert_eq!(counts(&library.scan()), [0, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn a_copy_of_a_disk_that_is_not_mounted_is_no_move() {
    let library = Library::new(&[("1.wav", &wave("One", 1))]);
    library.scan();
    fs::remove_file(library.path("1.wav")).unwrap();
    fs::create_dir(library.base.join("copy")).unwrap();
    fs::write(library.base.join("copy/1.wav"), wave("One", 1)).unwrap();
    assert_eq!(counts(&library.scan_of(&["copy"])), [1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(library.tracks().len(), 2);
}

#[test]
fn places_may_overlap_repeat_and_be_files() {
    let library = Library::new(&[("a/1.wav", &wave("One", 1)), ("b/2.wav", &wave("Two", 2))]);
    assert_eq!(counts(&library.scan_of(&["music/a/1.wav"])), [1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(counts(&library.scan_of(&["music/a", "music", "music"])), [1, 0, 0, 0, 0, 0, 1]);
    let roots = library.catalog.read(|reader| reader.roots()).unwrap();
    assert_eq!(roots.iter().map(|root| root.path.clone()).collect::<Vec<_>>(), [library.base.join("music")]);
    // A part of a root: the rest is neither looked at nor lost.
    fs::remove_file(library.path("b/2.wav")).unwrap();
    assert_eq!(counts(&library.scan_of(&["music/a"])), [0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(library.track("b/2.wav").state, SourceState::Ok);
}

#[test]
fn a_directory_that_cannot_be_read_keeps_its_tracks() {
    let library = Library::new(&[("a/1.wav", &wave("One", 1)), ("b/2.wav", &wave("Two", 2))]);
    library.scan();
    let before = library.tracks();
    fs::set_permissions(library.path("a"), fs::Permissions::from_mode(0o0)).unwrap();
    let report = library.as_nobody(Library::scan);
    fs::set_permissions(library.path("a"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!((counts(&report), report.unreadable), ([0, 0, 0, 0, 0, 1, 1], 1));
    assert_eq!(library.tracks(), before);
}

#[test]
fn a_file_that_cannot_be_read_is_a_track() {
    let library = Library::new(&[("01. One.wav", &wave("One", 1)), ("2.wav", &wave("Two", 2)), ("x.xyz", b"?")]);
    let forbid = |name: &str, mode| fs::set_permissions(library.path(name), fs::Permissions::from_mode(mode)).unwrap();
    library.scan_of(&["music/2.wav"]);
    let before = library.track("2.wav");
    ["01. One.wav", "2.wav", "x.xyz"].iter().for_each(|name| forbid(name, 0o0));
    let report = library.as_nobody(Library::scan);
    assert_eq!((counts(&report), report.unreadable, report.problems.count), ([1, 1, 0, 0, 0, 0, 0], 3, 3));
    let unreadable = library.track("01. One.wav");
    assert_eq!((unreadable.state, unreadable.title.as_deref()), (SourceState::Unreadable, Some("One")));
    // What was known of a file is kept.
    assert_eq!(library.track("2.wav"), Seen { state: SourceState::Unreadable, ..before });
    ["01. One.wav", "2.wav", "x.xyz"].iter().for_each(|name| forbid(name, 0o644));
    assert_eq!((counts(&library.scan())[1], library.track("2.wav").state), (2, SourceState::Ok));
}

#[test]
fn a_rehearsal_writes_nothing() {
    let library = Library::new(&[("1.wav", &wave("One", 1)), ("2.wav", &wave("Two", 2)), ("3.wav", &wave("3", 3))]);
    library.scan();
    let before = library.tracks();
    library.write("1.wav", &wave("Changed", 9));
    library.write("4.wav", &wave("Four", 4));
    fs::remove_file(library.path("2.wav")).unwrap();
    let mut listener = Listener::default();
    let options = library.options(&["music"]);
    let report = rehearse(Some(&library.catalog), &options, &AtomicBool::new(false), &mut listener).unwrap();
    assert_eq!(counts(&report), [1, 1, 0, 0, 1, 0, 1]);
    assert_eq!(library.tracks(), before);
    let report = rehearse(None, &options, &AtomicBool::new(false), &mut listener).unwrap();
    assert_eq!(counts(&report)[0], 3);
}

#[test]
fn a_stopped_scan_marks_nothing_missing() {
    let library = Library::new(&[("1.wav", &wave("One", 1))]);
    library.scan();
    let before = library.tracks();
    fs::remove_file(library.path("1.wav")).unwrap();
    let mut listener = Listener::default();
    let report = scan(&library.catalog, &library.options(&["music"]), &AtomicBool::new(true), &mut listener).unwrap();
    assert!(report.interrupted);
    assert_eq!(library.tracks(), before);
}

#[test]
fn links_that_lead_out_are_followed_and_loops_told() {
    let library = Library::new(&[("1.wav", &wave("One", 1))]);
    fs::create_dir(library.base.join("else")).unwrap();
    fs::write(library.base.join("else/2.wav"), wave("Two", 2)).unwrap();
    symlink(library.base.join("else"), library.path("link")).unwrap();
    symlink(library.path(""), library.path("loop")).unwrap();
    let report = library.scan();
    assert_eq!((counts(&report)[0], report.links), (1, 2));
    let options = Options { follow_links: true, ..library.options(&["music"]) };
    let report = library.scan_with(&options);
    assert_eq!((counts(&report), report.problems.count), ([1, 0, 0, 0, 0, 0, 1], 1));
    assert_eq!(counts(&library.scan_with(&options))[6], 2);
    assert!(library.tracks().contains_key("music/link/2.wav"));
}

#[test]
fn a_file_that_changes_while_it_is_read_is_told() {
    let library = Library::new(&[("1.wav", &wave("One", 1))]);
    let path = library.path("1.wav");
    let done = AtomicBool::new(false);
    let told = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = fs::File::options().append(true).open(&path).unwrap();
            while !done.load(Ordering::Relaxed) {
                std::io::Write::write_all(&mut file, b"more").unwrap();
            }
        });
        // Two threads on a busy machine may take long to meet.
        let limit = Instant::now() + Duration::from_secs(60);
        let told = std::iter::repeat_with(Instant::now).take_while(|now| *now < limit).any(|_| {
            match probe::probe(&path, db::Stamp::default()).outcome {
                probe::Outcome::Track(track) => track.problems.iter().any(|problem| problem.contains("changes while")),
                _ => panic!("it is a track, whatever happens"),
            }
        });
        done.store(true, Ordering::Relaxed);
        told
    });
    assert!(told);
}

#[test]
fn sources_are_not_touched() {
    let library = Library::new(&[("1.wav", &wave("One", 1)), ("2.mp3", b"broken")]);
    let state = |path: &Path| (fs::read(path).unwrap(), fs::metadata(path).unwrap().modified().unwrap());
    let paths = [library.path("1.wav"), library.path("2.mp3")];
    let before = paths.clone().map(|path| state(&path));
    library.scan();
    assert_eq!(paths.map(|path| state(&path)), before);
}
