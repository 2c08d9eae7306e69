//! What clients of a real mount see: caching, changes, refusals, faults of one file.

use std::{
    fs::{self, File},
    io::{ErrorKind, Write as _},
    os::unix::fs::{DirEntryExt as _, FileExt as _, MetadataExt as _, PermissionsExt as _, symlink},
    path::Path,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use crate::shelf::{Behaviour, Rig, Shelf, pattern, wait_for};
use musefs_core::{
    metrics::Readings,
    vfs::{Generation, Node, NodeId, Vfs as _},
};
use musefs_fuse::Options;
use rustix::{fs::XattrFlags, io::Errno};

macro_rules! mount {
    ($options:expr) => {
        match Rig::mount(&$options) {
            Some(rig) => rig,
            None => return,
        }
    };
}

/// Reads directories and stats everything, as `find -ls` does.
fn walk(dir: &Path) -> usize {
    let entries: Vec<_> = fs::read_dir(dir).unwrap().map(Result::unwrap).collect();
    entries.iter().map(|entry| if entry.metadata().unwrap().is_dir() { 1 + walk(&entry.path()) } else { 1 }).sum()
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn errno<T>(result: std::io::Result<T>) -> Option<i32> {
    result.err().and_then(|error| error.raw_os_error())
}

#[test]
fn files_are_what_they_are() {
    let rig = mount!(Options { owner: 12, group: 34, ..Options::default() });
    assert_eq!(fs::read(rig.path("one.flac")).unwrap(), pattern(300_000, 1));
    let stat = fs::metadata(rig.path("one.flac")).unwrap();
    assert_eq!((stat.len(), stat.ino(), stat.nlink(), stat.uid(), stat.gid()), (300_000, 16, 1, 12, 34));
    assert_eq!((stat.mtime(), stat.mtime_nsec(), stat.mode()), (5, 7, 0o100_444));
    let root = fs::metadata(rig.root()).unwrap();
    assert_eq!((root.ino(), root.mode()), (1, 0o040_555));
    for entry in fs::read_dir(rig.path("")).unwrap().map(Result::unwrap) {
        assert_eq!(entry.ino(), fs::metadata(entry.path()).unwrap().ino());
    }
    let file_system = rustix::fs::statvfs(rig.path("one.flac")).unwrap();
    assert_eq!((file_system.f_blocks, file_system.f_bavail, file_system.f_files), (11, 0, 12));
}

#[test]
fn preads_at_any_place() {
    let rig = mount!(Options::default());
    let (file, whole) = (File::open(rig.path("one.flac")).unwrap(), pattern(300_000, 1));
    for at in [0, 1, 4095, 4096, 131_071, 299_999, 300_000, 300_001, 1 << 40] {
        for len in [1, 2, 4095, 4096, 131_073] {
            let mut buffer = vec![0; len];
            let got = file.read_at(&mut buffer, at).unwrap();
            let wanted = whole.get(at as usize..).unwrap_or_default();
            assert_eq!(buffer[..got], wanted[..wanted.len().min(len)], "{len} at {at}");
        }
    }
}

#[test]
fn what_was_seen_once_is_not_asked_for_again() {
    let rig = mount!(Options::default());
    assert_eq!(walk(rig.root()), 3);
    fs::read(rig.path("one.flac")).unwrap();
    for _ in 0..3 {
        assert_eq!(fs::metadata(rig.path("missing")).unwrap_err().kind(), ErrorKind::NotFound);
    }
    let before = rig.shelf.asked();
    assert_eq!(walk(rig.root()), 3);
    assert_eq!(fs::read(rig.path("one.flac")).unwrap(), pattern(300_000, 1));
    assert!(fs::metadata(rig.path("missing")).is_err());
    assert_eq!(rig.shelf.asked(), before);
}

#[test]
fn an_edit_is_a_new_inode_and_the_old_one_stays_what_it_was() {
    let rig = mount!(Options::default());
    assert_eq!(names(&rig.path("")), ["one.flac", "two.mp3"]);
    let old = File::open(rig.path("one.flac")).unwrap();
    let mut head = [0; 10];
    old.read_exact_at(&mut head, 0).unwrap();

    let node = rig.shelf.put("one.flac", 16, &pattern(300_000, 9));
    assert_eq!(node.generation.0, 1);
    wait_for("the new inode", || fs::metadata(rig.path("one.flac")).unwrap().ino() == (1 << 53) + 16);
    assert_eq!(fs::read(rig.path("one.flac")).unwrap(), pattern(300_000, 9));

    let mut rest = vec![0; 300_000];
    old.read_exact_at(&mut rest, 0).unwrap();
    assert_eq!(rest, pattern(300_000, 1), "an open file never mixes");
    let stat = old.metadata().unwrap();
    assert_eq!((stat.ino(), stat.len()), (16, 300_000));

    drop(old);
    wait_for("the kernel forgets the old inode", || {
        let forgotten = rig.shelf.forgotten.lock().unwrap();
        forgotten.iter().any(|node| node.id.0 == 16 && node.generation.0 == 0)
    });
}

#[test]
fn names_come_and_go_under_a_cached_listing() {
    let rig = mount!(Options::default());
    assert!(fs::metadata(rig.path("three.ogg")).is_err());
    assert_eq!(names(&rig.path("")), ["one.flac", "two.mp3"]);
    rig.shelf.put("three.ogg", 18, b"3");
    rig.shelf.put("never asked for", 19, b"4");
    rig.shelf.remove("two.mp3");
    wait_for("the listing", || names(&rig.path("")) == ["never asked for", "one.flac", "three.ogg"]);
    assert_eq!(fs::read(rig.path("three.ogg")).unwrap(), b"3");
    assert!(fs::metadata(rig.path("two.mp3")).is_err());
}

#[test]
fn generated_files_are_asked_for_each_time_and_forgotten() {
    let prepare = |shelf: &Shelf| {
        shelf.put("generated", 99, b"first");
    };
    let Some(rig) = Rig::mount_with(&Options::default(), prepare) else { return };
    let first = Node { id: NodeId(99), generation: Generation(0) };
    assert_eq!(fs::read(rig.path("generated")).unwrap(), b"first");
    let held = File::open(rig.path("generated")).unwrap();
    rig.shelf.put("generated", 99, b"second, longer");
    assert_eq!(fs::read(rig.path("generated")).unwrap(), b"second, longer");
    let mut buffer = [0; 9];
    assert_eq!(held.read_at(&mut buffer, 0).unwrap(), 5);
    assert!(!rig.shelf.forgotten.lock().unwrap().contains(&first));
    drop(held);
    wait_for("it is forgotten", || rig.shelf.forgotten.lock().unwrap().contains(&first));
}

/// Everything that would write; each must be refused as on any read-only file system.
fn refusals(rig: &Rig) -> Vec<(&'static str, Option<i32>)> {
    let (file, new) = (rig.path("one.flac"), rig.path("new"));
    let handle = File::open(&file).unwrap();
    let time = fs::FileTimes::new().set_modified(std::time::SystemTime::UNIX_EPOCH);
    let errno = |result: rustix::io::Result<()>| result.err().map(Errno::raw_os_error);
    let fifo = rustix::fs::FileType::Fifo;
    let mode = rustix::fs::Mode::RUSR;
    vec![
        ("create", self::errno(File::create_new(&new))),
        ("mkdir", self::errno(fs::create_dir(&new))),
        ("mknod", errno(rustix::fs::mknodat(rustix::fs::CWD, &new, fifo, mode, 0))),
        ("symlink", self::errno(symlink("x", &new))),
        ("link", self::errno(fs::hard_link(&file, &new))),
        ("rename", self::errno(fs::rename(&file, &new))),
        ("unlink", self::errno(fs::remove_file(&file))),
        ("rmdir", self::errno(fs::remove_dir(rig.path("")))),
        ("chmod", self::errno(fs::set_permissions(&file, fs::Permissions::from_mode(0o600)))),
        ("chown", self::errno(std::os::unix::fs::chown(&file, Some(1), None))),
        ("utimes", self::errno(handle.set_times(time))),
        ("truncate", self::errno(File::options().write(true).truncate(true).open(&file))),
        ("setxattr", errno(rustix::fs::setxattr(&file, "user.x", b"1", XattrFlags::empty()))),
        ("removexattr", errno(rustix::fs::removexattr(&file, "user.x"))),
    ]
}

#[test]
fn writing_is_refused() {
    let rig = mount!(Options::default());
    let read_only = Some(Errno::ROFS.raw_os_error());
    for (what, got) in refusals(&rig) {
        assert_eq!(got, read_only, "{what}");
    }
    assert_eq!(errno(File::options().write(true).open(rig.path("one.flac"))), read_only);
}

#[test]
fn writing_is_refused_even_where_root_has_remounted() {
    let rig = mount!(Options::default());
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: only root can remount");
    }
    let flags = rustix::mount::MountFlags::empty();
    rustix::mount::mount_remount(rig.root(), flags, "").unwrap();
    let read_only = Some(Errno::ROFS.raw_os_error());
    for (what, got) in refusals(&rig) {
        // A name that is not there cannot lose an attribute either way.
        assert_eq!(got, read_only, "{what}");
    }
    let mut open = File::options().write(true).open(rig.path("one.flac")).unwrap();
    assert_eq!(errno(open.write(b"x")), read_only);
    assert_eq!(fs::read(rig.path("one.flac")).unwrap(), pattern(300_000, 1));
}

#[test]
fn extended_attributes_are_cleanly_absent() {
    let rig = mount!(Options::default());
    for path in [rig.path("one.flac"), rig.path("")] {
        let mut value = [0u8; 16];
        let got = rustix::fs::getxattr(&path, "user.x", &mut value);
        assert!(matches!(got, Err(Errno::NODATA | Errno::OPNOTSUPP)), "{got:?}");
        let mut list = [0u8; 16];
        let got = rustix::fs::listxattr(&path, &mut list);
        assert!(matches!(got, Ok(0) | Err(Errno::OPNOTSUPP)), "{got:?}");
    }
}

#[test]
fn one_dead_disk_starves_nobody() {
    let rig = mount!(Options { deadline: Duration::from_millis(300), workers: 4, ..Options::default() });
    let dead: Vec<_> = (0..8)
        .map(|number| {
            let name = format!("dead {number}");
            rig.shelf.put_behaving(&name, 100 + number, &pattern(1000, 0), Behaviour::Stuck);
            rig.path(&name)
        })
        .collect();
    std::thread::scope(|scope| {
        let readers: Vec<_> = dead.iter().map(|path| scope.spawn(move || errno(fs::read(path)))).collect();
        wait_for("both slots are taken", || rig.mounted.workers().busy + rig.mounted.workers().stuck == 2);
        assert_eq!(fs::read(rig.path("one.flac")).unwrap(), pattern(300_000, 1));
        assert_eq!(names(&rig.path("")).len(), 10);
        for reader in readers {
            assert_eq!(reader.join().unwrap(), Some(Errno::IO.raw_os_error()));
        }
        assert_eq!(rig.mounted.workers().stuck, 2);
        assert_eq!(fs::read(rig.path("two.mp3")).unwrap(), pattern(10, 2));
    });
    rig.shelf.release();
    wait_for("the workers come back", || rig.mounted.workers().idle == 4);
    assert_eq!(fs::read(&dead[7]).unwrap(), pattern(1000, 0));
}

#[test]
fn a_fault_stays_within_its_request() {
    let rig = mount!(Options::default());
    rig.shelf.put_behaving("shrunk", 30, &pattern(5000, 0), Behaviour::Shrunk);
    rig.shelf.put_behaving("panics", 31, &pattern(5000, 0), Behaviour::Panics);
    let failed = Some(Errno::IO.raw_os_error());
    for _ in 0..20 {
        assert_eq!(errno(fs::read(rig.path("shrunk"))), failed, "never filled up with zeros");
        assert_eq!(errno(fs::read(rig.path("panics"))), failed);
        assert_eq!(errno(fs::metadata(rig.path("panic"))), failed);
    }
    assert_eq!(fs::read(rig.path("one.flac")).unwrap(), pattern(300_000, 1));
}

#[test]
fn without_kept_pages_each_open_reads_anew() {
    let rig = mount!(Options { keep_cache: false, ..Options::default() });
    for round in 1..4 {
        assert_eq!(fs::read(rig.path("two.mp3")).unwrap(), pattern(10, 2));
        assert_eq!(rig.shelf.reads.load(Ordering::SeqCst), round);
    }
}

#[test]
fn parallel_readers_get_what_is_theirs() {
    let rig = mount!(Options::default());
    let whole = Arc::new(pattern(300_000, 1));
    std::thread::scope(|scope| {
        for thread in 0..16usize {
            let (path, whole) = (rig.path("one.flac"), Arc::clone(&whole));
            scope.spawn(move || {
                let file = File::open(path).unwrap();
                for round in 0..200 {
                    let at = (thread * 7919 + round * 104_729) % 299_000;
                    let mut buffer = vec![0; 1 + (round * 37) % 1000];
                    file.read_exact_at(&mut buffer, at as u64).unwrap();
                    assert_eq!(buffer[..], whole[at..at + buffer.len()]);
                }
            });
        }
    });
}

#[test]
fn requests_are_counted() {
    let rig = mount!(Options::default());
    rig.shelf.put_behaving("shrunk", 30, &pattern(5000, 0), Behaviour::Shrunk);
    fs::read(rig.path("two.mp3")).unwrap();
    assert!(fs::metadata(rig.path("missing")).is_err());
    assert!(fs::read(rig.path("shrunk")).is_err());
    // An answer is counted after it is given.
    let counted = || rig.shelf.metrics().render(Readings::default());
    for line in [
        "musefs_requests_total{op=\"read\",outcome=\"ok\"} 1\n",
        "musefs_requests_total{op=\"read\",outcome=\"failed\"} ",
        "musefs_requests_total{op=\"lookup\",outcome=\"absent\"} 1\n",
        "musefs_workers{state=\"idle\"} 16\n",
    ] {
        wait_for(line, || counted().contains(line));
    }
}
