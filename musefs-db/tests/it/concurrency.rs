//! Several processes at once.

use std::{
    io::{BufRead as _, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Barrier, Mutex},
};

use musefs_db::{Access, Catalog, Sequence};

use crate::common::{File, Library, told, wait_until};

/// Another process in the middle of a write.
struct Holder {
    process: Child,
    input: Option<ChildStdin>,
}

impl Holder {
    fn of(library: &Library) -> Self {
        let program = "import sqlite3, sys\n\
                       db = sqlite3.connect(sys.argv[1], isolation_level=None)\n\
                       db.execute('BEGIN IMMEDIATE')\n\
                       db.execute(\"INSERT INTO edits(track, key, value) VALUES (16, 'mood', 'held')\")\n\
                       print('held', flush=True)\n\
                       sys.stdin.readline()\n\
                       db.execute('COMMIT')\n";
        let mut process = Command::new("python3")
            .args(["-c", program])
            .arg(library.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "held\n");
        Self { input: process.stdin.take(), process }
    }

    fn release(mut self) {
        drop(self.input.take());
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // Only does something when the test failed before the release.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<u8>>>);

impl Told {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Write for Told {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn readers_go_on_and_a_writer_waits_and_says_for_whom() {
    let library = Library::with_tracks(1);
    let holder = Holder::of(&library);
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Old"]);
    let pid = holder.process.id();
    let told = Told::default();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let sink = told.clone();
            let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || sink.clone()).finish();
            tracing::subscriber::with_default(subscriber, || library.edit(16, "title", Some(&["Mine"])))
        });
        let expected = format!("edit waits for python3 (process {pid}) to finish with the catalogue");
        wait_until("the wait is told of", || told.text().contains(&expected));
        assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Old"]);
        holder.release();
        assert!(writer.join().unwrap().is_some());
    });
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "mood=held", "title=Mine"]);
}

#[test]
fn a_batch_between_others_numbers_on_from_them() {
    let library = Library::with_tracks(2);
    let mut writer = library.catalog.writer("scan").unwrap();
    let root = writer.root(std::path::Path::new("/music")).unwrap();
    library.sql("INSERT INTO edits (track, key, value) VALUES (17, 'mood', 'x')");
    let before = library.catalog.read(|reader| reader.sequence()).unwrap();
    let mut batch = writer.batch().unwrap();
    File::new("/music/new").put(&mut batch, root).unwrap();
    assert_eq!(batch.commit().unwrap(), Sequence(before.0 + 1));
    library.sql("INSERT INTO edits (track, key, value) VALUES (18, 'mood', 'x')");
    assert_eq!(library.row(18, |row| row.sequence), Sequence(before.0 + 2));
}

#[test]
fn a_batch_that_is_dropped_leaves_nothing() {
    let library = Library::with_tracks(1);
    let mut writer = library.catalog.writer("scan").unwrap();
    let root = writer.root(std::path::Path::new("/music")).unwrap();
    let mut batch = writer.batch().unwrap();
    File::new("/music/deep/new").tag("rare", &["x"]).put(&mut batch, root).unwrap();
    drop(batch);
    assert_eq!(
        library.sql("SELECT count(*) FROM dirs; SELECT count(*) FROM tracks; SELECT sequence FROM catalog"),
        "1\n1\n1"
    );
    // Neither the directory nor the key is remembered as if it were there.
    let mut batch = writer.batch().unwrap();
    File::new("/music/deep/new").tag("rare", &["x"]).put(&mut batch, root).unwrap();
    batch.commit().unwrap();
    assert_eq!(library.tags(17), ["artist=A", "artist=B", "rare=x", "title=Old"]);
}

#[test]
fn a_writer_that_is_killed_loses_its_batch_only() {
    let library = Library::with_tracks(1);
    let holder = Holder::of(&library);
    drop(holder);
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Old"]);
    assert_eq!(told(library.shell("PRAGMA integrity_check")), "ok");
    assert!(library.edit(16, "title", Some(&["Mine"])).is_some());
}

#[test]
fn many_may_make_one_catalogue_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new").join("catalog.db");
    let all = Barrier::new(4);
    let names: Vec<String> = std::thread::scope(|scope| {
        let open = || {
            all.wait();
            Catalog::open(&path, Access::Create).unwrap().uuid().to_owned()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(names.iter().all(|name| *name == names[0]), "{names:?}");
}

#[test]
fn a_probe_sees_commits_of_others_only_once() {
    let library = Library::with_tracks(1);
    let mut probe = library.catalog.change_probe().unwrap();
    assert!(!probe.moved().unwrap());
    library.sql("INSERT INTO edits (track, key, value) VALUES (16, 'mood', 'x')");
    assert!(probe.moved().unwrap());
    assert!(!probe.moved().unwrap());
    library.edit(16, "title", Some(&["Mine"]));
    assert!(probe.moved().unwrap());
}

#[test]
fn a_read_is_of_one_state() {
    let library = Library::with_tracks(1);
    library
        .catalog
        .read(|reader| {
            let before = reader.sequence()?;
            library.edit(16, "title", Some(&["Mine"]));
            assert_eq!(reader.sequence()?, before);
            Ok(())
        })
        .unwrap();
    assert_eq!(library.tags(16), ["artist=A", "artist=B", "title=Mine"]);
}

#[test]
fn connections_are_counted_and_bounded() {
    let library = Library::with_tracks(1);
    assert_eq!(library.catalog.connections(), 0);
    library.tags(16);
    let readers = library.catalog.connections();
    assert!((1..=musefs_db::limits::READERS_MAX).contains(&readers), "{readers}");
    let writer = library.catalog.writer("test").unwrap();
    assert_eq!(library.catalog.connections(), readers + 1);
    drop(writer);
    assert_eq!(library.catalog.connections(), readers);
    assert!(musefs_db::memory_used_bytes() > 0);
}
