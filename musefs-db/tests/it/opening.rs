//! Opening catalogues of all kinds on disks of all kinds.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use musefs_db::{Access, Catalog, Error, Keys, Kind, Which};

use crate::common::{Library, told, wait_until};

fn titles(catalog: &Catalog) -> Vec<String> {
    let mut titles = Vec::new();
    catalog
        .read(|reader| {
            reader.visit_tracks(Which::All, &Keys::Only(&["title"]), &mut |row| {
                titles.extend(row.tags.iter().map(|tag| tag.value.clone()));
                Ok(())
            })
        })
        .unwrap();
    titles
}

#[test]
fn a_catalogue_that_is_not_there_is_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.db");
    for access in [Access::ReadWrite, Access::ReadOnly] {
        let error = Catalog::open(&path, access).unwrap_err();
        assert!(matches!(error, Error::Absent { .. }), "{error}");
        assert!(error.hint().unwrap().contains("musefs scan"));
    }
    assert!(!path.exists());
}

#[test]
fn other_files_are_not_catalogues() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.db");
    fs::write(
        &text,
        "just some text, long enough to have a header of SQLite's size, which has a hundred bytes. ".repeat(9),
    )
    .unwrap();
    let other = folder.path().join("other.db");
    told(Command::new("sqlite3").arg(&other).arg("CREATE TABLE songs (id)").output().unwrap());
    let ours = Library::new();
    for path in [text.as_path(), other.as_path(), folder.path()] {
        for access in [Access::Create, Access::ReadWrite, Access::ReadOnly] {
            let error = Catalog::open(path, access).unwrap_err();
            assert!(matches!(error, Error::NotACatalog { .. }), "{error}");
            assert_eq!(error.kind(), Kind::Unusable);
        }
    }
    assert_eq!(told(Command::new("sqlite3").arg(&other).arg(".tables").output().unwrap()), "songs");
    drop(ours);
}

#[test]
fn an_empty_file_becomes_a_catalogue_only_when_one_may_be_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.db");
    fs::write(&path, "").unwrap();
    assert!(matches!(Catalog::open(&path, Access::ReadOnly), Err(Error::NotACatalog { .. })));
    assert!(matches!(Catalog::open(&path, Access::ReadWrite), Err(Error::NotACatalog { .. })));
    Catalog::open(&path, Access::Create).unwrap();
    Catalog::open(&path, Access::ReadOnly).unwrap();
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let library = Library::with_tracks(1);
    library.sql("PRAGMA user_version = 999");
    for access in [Access::Create, Access::ReadWrite, Access::ReadOnly] {
        let error = Catalog::open(library.path(), access).unwrap_err();
        assert!(matches!(error, Error::Newer { found: 999, .. }), "{error}");
        assert!(error.to_string().contains("has schema 999; this release knows schemas up to 1"), "{error}");
        assert!(error.hint().unwrap().contains("later"));
    }
    assert_eq!(library.sql("PRAGMA user_version; SELECT count(*) FROM tracks"), "999\n1");
}

#[test]
fn opening_again_changes_nothing() {
    let library = Library::with_tracks(1);
    let schema = library.sql(".schema");
    let again = Catalog::open(library.path(), Access::Create).unwrap();
    assert_eq!(again.uuid(), library.catalog.uuid());
    assert_eq!(library.sql(".schema"), schema);
    assert_eq!(library.sql("PRAGMA journal_mode; PRAGMA user_version; PRAGMA integrity_check"), "wal\n1\nok");
}

#[test]
fn reading_does_not_write() {
    let library = Library::with_tracks(1);
    let reader = Catalog::open(library.path(), Access::ReadOnly).unwrap();
    assert!(!reader.is_writable());
    assert!(matches!(reader.writer("test"), Err(Error::ReadOnly { .. })));
    assert_eq!(titles(&reader), ["Old"]);
    library.edit(16, "title", Some(&["New"]));
    assert_eq!(titles(&reader), ["New"]);
}

#[test]
fn names_that_are_odd_or_not_text_can_be_opened() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    for name in [&b"a b?c#d%41.db"[..], b"caf\xe9.db", "é'\".db".as_bytes()] {
        let path = folder.path().join(std::ffi::OsStr::from_bytes(name));
        Catalog::open(&path, Access::Create).unwrap();
        assert!(path.is_file());
        Catalog::open(&path, Access::ReadOnly).unwrap();
    }
}

/// A disk of its own, taken away when dropped.
struct Disk {
    at: PathBuf,
}

impl Disk {
    /// `None`, with a reason, where mounting is not allowed.
    fn new(at: PathBuf) -> Option<Self> {
        fs::create_dir(&at).unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "musefs-test"]).arg(&at).output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self { at }),
            _ => {
                eprintln!("skipped: mounting a tmpfs needs root");
                None
            }
        }
    }

    fn make_read_only(&self) {
        told(Command::new("mount").args(["-o", "remount,ro"]).arg(&self.at).output().unwrap());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.at).output();
    }
}

fn copy(from: &Path, to: &Path, suffixes: &[&str]) {
    for suffix in suffixes {
        let with = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
        fs::copy(with(from), with(to)).unwrap();
    }
}

#[test]
fn a_closed_catalogue_on_a_read_only_disk_is_read_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(folder.path().join("disk")) else { return };
    let path = disk.at.join("catalog.db");
    let library = Library::with_tracks(1);
    library.sql("PRAGMA wal_checkpoint(TRUNCATE)");
    copy(library.path(), &path, &[""]);
    disk.make_read_only();
    let catalog = Catalog::open(&path, Access::ReadOnly).unwrap();
    assert!(catalog.is_snapshot());
    assert_eq!(titles(&catalog), ["Old"]);
    for access in [Access::Create, Access::ReadWrite] {
        let error = Catalog::open(&path, access).unwrap_err();
        assert!(matches!(error, Error::ReadOnly { reason: "its disk is read-only", .. }), "{error}");
    }
}

#[test]
fn what_is_only_in_the_write_ahead_log_is_seen_on_a_read_only_disk() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(folder.path().join("disk")) else { return };
    let path = disk.at.join("catalog.db");
    let library = Library::with_tracks(1);
    library.sql("PRAGMA wal_checkpoint(TRUNCATE)");
    // A connection that stays open keeps the log from being taken over.
    let open = library.catalog.change_probe().unwrap();
    library.edit(16, "title", Some(&["Newest"]));
    copy(library.path(), &path, &["", "-wal"]);
    drop(open);
    disk.make_read_only();
    let catalog = Catalog::open(&path, Access::ReadOnly).unwrap();
    assert!(catalog.is_snapshot());
    assert_eq!(titles(&catalog), ["Newest"]);
    assert_eq!(catalog.path(), path);
}

#[test]
fn a_read_only_mount_of_a_writable_disk_is_never_taken_as_immutable() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(folder.path().join("disk")) else { return };
    let seen = Disk { at: folder.path().join("seen") };
    fs::create_dir(&seen.at).unwrap();
    let writer = Catalog::open(&disk.at.join("catalog.db"), Access::Create).unwrap();
    // While it is open, its shared memory is there, and a reader takes part in it without writing.
    let probe = writer.change_probe().unwrap();
    told(Command::new("mount").arg("--bind").args([&disk.at, &seen.at]).output().unwrap());
    told(Command::new("mount").args(["-o", "remount,bind,ro"]).arg(&seen.at).output().unwrap());
    let reader = Catalog::open(&seen.at.join("catalog.db"), Access::ReadOnly).unwrap();
    assert!(!reader.is_snapshot());
    let count = |catalog: &Catalog| catalog.read(|it| it.roots()).unwrap().len();
    assert_eq!(count(&reader), 0);
    writer.writer("test").unwrap().root(Path::new("/music")).unwrap();
    assert_eq!(count(&reader), 1);
    drop((reader, probe, writer));
    // When it is closed, only a copy can be read. Whoever closes it last tidies up.
    let log = disk.at.join("catalog.db-wal");
    wait_until("it is closed", || {
        told(
            Command::new("sqlite3").arg(disk.at.join("catalog.db")).arg("SELECT count(*) FROM roots").output().unwrap(),
        );
        !log.exists()
    });
    let reader = Catalog::open(&seen.at.join("catalog.db"), Access::ReadOnly).unwrap();
    assert!(reader.is_snapshot());
    assert_eq!(count(&reader), 1);
}
