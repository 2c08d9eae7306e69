//! What a scan puts into the catalogue, and what it must leave alone.

use std::{os::unix::ffi::OsStrExt, path::Path};

use musefs_db::{Batch, Error, Moved, Put, RootId, Sequence, SourceState, TrackId};

use crate::common::{File, Library};

const SECOND_NS: i64 = 1_000_000_000;

fn in_batch<T>(library: &Library, work: impl FnOnce(&mut Batch<'_>, RootId) -> T) -> T {
    let mut writer = library.catalog.writer("scan").unwrap();
    let root = writer.root(Path::new("/music")).unwrap();
    let mut batch = writer.batch().unwrap();
    let result = work(&mut batch, root);
    batch.commit().unwrap();
    result
}

fn state(library: &Library, track: i64) -> SourceState {
    library.row(track, |row| row.state)
}

fn sequence(library: &Library) -> Sequence {
    library.catalog.read(|reader| reader.sequence()).unwrap()
}

/// The source of the only file in a directory.
fn source(library: &Library, dir: &str) -> musefs_db::SourceId {
    let mut source = None;
    library
        .catalog
        .read(|reader| {
            reader.known_in(Path::new(dir), &mut |known| {
                source = Some(known.source);
                Ok(())
            })
        })
        .unwrap();
    source.unwrap()
}

#[test]
fn new_tracks_count_from_16_and_have_no_time_of_their_own() {
    let library = Library::new();
    let puts = library.scan(&[File::new("/music/a"), File::new("/music/sub/b")]);
    assert_eq!(puts, [Put::New(TrackId(16)), Put::New(TrackId(17))]);
    library.row(17, |row| {
        assert_eq!((row.revision, row.changed_at_ms, row.sequence), (0, None, Sequence(2)));
        assert_eq!((row.root_path, row.dir, row.name), (&b"/music"[..], &b"/music/sub"[..], &b"b"[..]));
        assert!(row.edit.is_none());
    });
}

#[test]
fn the_same_again_is_no_change() {
    let library = Library::with_tracks(2);
    let before = sequence(&library);
    let puts = library.scan(&[File::new("/music/0.flac"), File::new("/music/1.flac")]);
    assert_eq!(puts, [Put::Same(TrackId(16)), Put::Same(TrackId(17))]);
    assert_eq!(sequence(&library), before);
}

#[test]
fn a_changed_file_has_a_new_revision() {
    let library = Library::with_tracks(1);
    let mut file = File::new("/music/0.flac").tag("title", &["Other"]);
    file.stamp.mtime_ns += 10 * SECOND_NS;
    assert_eq!(library.scan(&[file.clone()]), [Put::Changed(TrackId(16))]);
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Other"]);
    assert_eq!(library.row(16, |row| (row.revision, row.changed_at_ms)), (1, None));
    // A change that keeps the file's time is told by a time of our own.
    file.stamp.ctime_ns += 1;
    library.scan(&[file]);
    let (revision, changed_at_ms) = library.row(16, |row| (row.revision, row.changed_at_ms));
    assert_eq!(revision, 2);
    assert!(changed_at_ms.is_some());
}

#[test]
fn a_new_owner_or_mode_is_not_a_new_revision() {
    let library = Library::new();
    let mut file = File::new("/music/1.mp3").audio(1);
    library.scan(&[file.clone()]);
    file.stamp.ctime_ns += SECOND_NS;
    library.scan(&[file.clone()]);
    library.row(16, |row| assert_eq!((row.revision, row.changed_at_ms, row.stamp), (0, None, file.stamp)));
    // The same times around other audio are another file.
    let mut other = File::new("/music/1.mp3").audio(2);
    other.stamp.ctime_ns = file.stamp.ctime_ns + SECOND_NS;
    library.scan(&[other]);
    assert_eq!(library.revision(16), 1);
}

#[test]
fn better_reading_of_an_unchanged_file_is_a_new_revision_only_of_edited_tracks() {
    let library = Library::with_tracks(2);
    library.edit(17, "title", Some(&["Mine"]));
    let before = sequence(&library);
    let better = |path: &str| {
        let mut file = File::new(path).tag("mood", &["calm"]);
        file.structure = vec![9];
        file
    };
    library.scan(&[better("/music/0.flac"), better("/music/1.flac")]);
    assert_eq!((library.revision(16), library.revision(17)), (0, 2));
    assert!(library.row(16, |row| row.sequence) > before);
    assert_eq!(library.tags(17), ["artist=A", "artist=B", "mood=calm", "title=Mine"]);
}

#[test]
fn a_missing_source_keeps_everything() {
    let library = Library::with_tracks(1);
    library.edit(16, "title", Some(&["Mine"]));
    let id = source(&library, "/music");
    let before = sequence(&library);
    assert!(in_batch(&library, |batch, _| batch.missing(id).unwrap()));
    assert!(!in_batch(&library, |batch, _| batch.missing(id).unwrap()));
    assert_eq!(state(&library, 16), SourceState::Missing);
    assert_eq!(sequence(&library), Sequence(before.0 + 1));
    assert_eq!(library.revision(16), 1);
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Mine"]);
    assert!(in_batch(&library, |batch, _| batch.back(id).unwrap()));
    assert_eq!(state(&library, 16), SourceState::Ok);
    assert_eq!(library.revision(16), 1);
}

#[test]
fn an_unreadable_source_keeps_what_was_known() {
    let library = Library::with_tracks(1);
    let mut file = File::new("/music/0.flac");
    file.state = SourceState::Unreadable;
    file.tags.clear();
    file.structure.clear();
    file.stamp.size = 7;
    assert_eq!(library.scan(&[file.clone()]), [Put::Changed(TrackId(16))]);
    assert_eq!(library.scan(&[file]), [Put::Same(TrackId(16))]);
    assert_eq!(state(&library, 16), SourceState::Unreadable);
    assert_eq!(library.row(16, |row| row.stamp.size), 1000);
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Old"]);
}

#[test]
fn one_that_was_never_read_does_not_look_familiar_when_it_is_back() {
    let library = Library::new();
    let mut file = File::new("/music/0.flac");
    file.state = SourceState::Unreadable;
    library.scan(&[file.clone()]);
    let id = source(&library, "/music");
    in_batch(&library, |batch, _| batch.missing(id).unwrap());
    assert_ne!(library.row(16, |row| row.stamp), file.stamp);
}

#[test]
fn a_bad_row_takes_nothing_else_with_it() {
    let library = Library::new();
    let long = File::new("/music/bad").tag("title", &[&"x".repeat(musefs_db::limits::VALUE_BYTES_MAX + 1)]);
    in_batch(&library, |batch, root| {
        File::new("/music/a").put(batch, root).unwrap();
        let refused = long.put(batch, root).unwrap_err();
        assert!(matches!(refused, Error::Refused { .. }), "{refused}");
        File::new("/music/b").put(batch, root).unwrap();
    });
    assert_eq!(library.sql("SELECT path FROM track_paths"), "/music/a\n/music/b");
}

fn moves(library: &Library, gone: &[&str], found: &[File]) -> Vec<Moved> {
    in_batch(library, |batch, root| {
        for file in found {
            file.put(batch, root).unwrap();
        }
        for dir in gone {
            batch.missing(source(library, dir)).unwrap();
        }
        batch.reunite().unwrap()
    })
}

#[test]
fn a_moved_and_retagged_file_keeps_its_track_and_edits() {
    let library = Library::new();
    library.scan(&[File::new("/music/old/a.flac").audio(1)]);
    library.edit(16, "title", Some(&["Mine"]));
    let mut file = File::new("/music/new/b.flac").audio(1).tag("artist", &["Z"]);
    file.stamp.mtime_ns += 60 * SECOND_NS;
    let moved = moves(&library, &["/music/old"], &[file]);
    let expected = Moved { track: TrackId(16), from: "/music/old/a.flac".into(), to: "/music/new/b.flac".into() };
    assert_eq!(moved, [expected]);
    assert_eq!(library.tags(16), ["artist=Z", "title=Mine"]);
    assert_eq!(state(&library, 16), SourceState::Ok);
    assert_eq!(library.sql("SELECT track, path FROM track_paths"), "16|/music/new/b.flac");
    assert_eq!(library.sql("SELECT count(*) FROM sources; SELECT track FROM removed"), "1\n17");
    let removed = library.catalog.read(|reader| reader.removed_since(Sequence(2))).unwrap();
    assert_eq!(removed, [TrackId(17)]);
}

#[test]
fn a_renamed_file_is_not_a_new_revision() {
    let library = Library::new();
    library.scan(&[File::new("/music/old/ABC.mp3").audio(1)]);
    let mut file = File::new("/music/old2/abc.mp3").audio(1);
    file.stamp.ctime_ns += 5;
    let before = sequence(&library);
    assert_eq!(moves(&library, &["/music/old"], &[file.clone()]).len(), 1);
    library.row(16, |row| {
        assert_eq!((row.revision, row.changed_at_ms, row.stamp), (0, None, file.stamp));
        assert!(row.sequence > before);
    });
}

#[test]
fn two_that_could_have_moved_are_told_apart_by_name_or_not_at_all() {
    let library = Library::new();
    library.scan(&[
        File::new("/music/a/1").audio(1),
        File::new("/music/b/2").audio(1),
        File::new("/music/c/3").audio(2),
        File::new("/music/d/4").audio(2),
    ]);
    let found = ["/music/x/1", "/music/x/2"].map(|path| File::new(path).audio(1));
    let other = ["/music/x/5", "/music/x/6"].map(|path| File::new(path).audio(2));
    let moved = moves(
        &library,
        &["/music/a", "/music/b", "/music/c", "/music/d"],
        &[found.as_slice(), other.as_slice()].concat(),
    );
    assert_eq!(moved.iter().map(|moved| moved.track.0).collect::<Vec<_>>(), [16, 17]);
    assert_eq!(state(&library, 18), SourceState::Missing);
    assert_eq!(library.sql("SELECT path FROM track_paths WHERE state = 'ok' ORDER BY track").lines().count(), 4);
}

#[test]
fn a_copy_is_not_a_move_and_an_edited_one_is_let_be() {
    let library = Library::new();
    library.scan(&[File::new("/music/old/a").audio(1)]);
    assert!(moves(&library, &[], &[File::new("/music/new/a").audio(1)]).is_empty());
    // A track that another scan made stays.
    assert!(moves(&library, &["/music/old"], &[File::new("/music/else/a").audio(9)]).is_empty());
    assert_eq!(library.sql("SELECT count(*) FROM tracks"), "3");
}

#[test]
fn a_removed_track_leaves_its_log_and_its_number() {
    let library = Library::with_tracks(2);
    library.edit(16, "title", Some(&["Mine"]));
    let before = sequence(&library);
    in_batch(&library, |batch, _| {
        batch.remove(TrackId(16)).unwrap();
        assert!(matches!(batch.remove(TrackId(99)), Err(Error::NoSuchTrack(TrackId(99)))));
    });
    assert_eq!(library.catalog.read(|reader| reader.removed_since(before)).unwrap(), [TrackId(16)]);
    assert_eq!(library.sql("SELECT track FROM track_paths; SELECT action FROM edit_log"), "17\nset\nclear");
    assert_eq!(library.scan(&[File::new("/music/0.flac")]), [Put::New(TrackId(18))]);
    assert!(library.row(18, |row| row.sequence) > before);
}

#[test]
fn roots_do_not_nest() {
    let library = Library::new();
    let mut writer = library.catalog.writer("scan").unwrap();
    let inner = writer.root(Path::new("/music/rock")).unwrap();
    let mut batch = writer.batch().unwrap();
    File::new("/music/rock/a/1").put(&mut batch, inner).unwrap();
    batch.commit().unwrap();
    let before = sequence(&library);
    let outer = writer.root(Path::new("/music")).unwrap();
    assert_ne!(inner, outer);
    assert_eq!(writer.root(Path::new("/music/rock")).unwrap(), outer);
    assert_eq!(writer.root(Path::new("/music")).unwrap(), outer);
    let roots = library.catalog.read(|reader| reader.roots()).unwrap();
    assert_eq!(roots.iter().map(|root| root.path.as_path()).collect::<Vec<_>>(), [Path::new("/music")]);
    library.row(16, |row| {
        assert_eq!((row.root, row.root_path), (outer, &b"/music"[..]));
        assert!(row.sequence > before);
        assert_eq!(row.revision, 0);
    });
    let other = writer.root(Path::new("/musica")).unwrap();
    assert_ne!(other, outer);
}

#[test]
fn known_sources_are_told_by_directory() {
    let library = Library::new();
    library.scan(&["/music/a/1", "/music/a/b/2", "/music/ab/3", "/music/4"].map(File::new));
    let below = |dir: &str| {
        let mut names = Vec::new();
        let visit = &mut |known: &musefs_db::Known<'_>| {
            names.push(String::from_utf8_lossy(known.name).into_owned());
            Ok(())
        };
        library.catalog.read(|reader| reader.known(Path::new(dir), visit)).unwrap();
        names.join(" ")
    };
    assert_eq!(below("/music"), "4 1 2 3");
    assert_eq!(below("/music/a"), "1 2");
    assert_eq!(below("/"), "4 1 2 3");
    assert_eq!(below("/nowhere"), "");
}

#[test]
fn paths_that_are_not_text_are_found_and_shown() {
    let library = Library::new();
    let path = Path::new(std::ffi::OsStr::from_bytes(b"/music/Bj\xf6rk/a\xff.flac"));
    library.scan(&[File::new(path)]);
    assert_eq!(library.catalog.read(|reader| reader.find_source(path)).unwrap(), Some(TrackId(16)));
    assert_eq!(library.catalog.read(|reader| reader.source_file(TrackId(16))).unwrap().unwrap().path, path);
    assert_eq!(library.sql("SELECT path FROM track_paths"), "/music/Bj\\xF6rk/a\\xFF.flac");
    let detail = library.catalog.read(|reader| reader.track(TrackId(16))).unwrap().unwrap();
    assert_eq!((detail.path.as_path(), detail.structure), (path, vec![1, 2, 3]));
}

#[test]
fn states_are_counted() {
    let library = Library::with_tracks(3);
    let mut file = File::new("/music/odd/x");
    file.state = SourceState::Opaque;
    library.scan(&[file]);
    let counts = library.catalog.read(|reader| reader.counts_by_state()).unwrap();
    assert_eq!(counts, [(SourceState::Ok, 3), (SourceState::Opaque, 1)]);
}
