//! Clients that copy whole trees: `find`, `cp`, `rsync`, many readers at once.

use std::{
    fs::{self, File},
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use musefs_tests::{compare, make, sandbox::Sandbox, tools};

use crate::fixture;

const READERS: u64 = 16;
const READS_PER_READER: usize = 400;

#[test]
fn find_sees_every_file_once_with_its_size() {
    let Some((_, _sandbox, mount)) = fixture::mounted_corpus() else { return };
    let listed = tools::succeed(Command::new("find").arg(mount.path()).args(["-type", "f", "-printf", "%s %P\\0"]));
    let mut found: Vec<_> = listed.split_terminator('\0').collect();
    found.sort_unstable_by_key(|line| line.split_once(' ').map(|(_, path)| path));
    let tree = compare::walk(mount.path());
    let mut expected: Vec<_> =
        compare::files(&tree).map(|(path, seen)| format!("{} {}", seen.size, path.display())).collect();
    expected.sort_unstable_by(|a, b| a.split_once(' ').map(|x| x.1).cmp(&b.split_once(' ').map(|x| x.1)));
    assert_eq!(found, expected);
    mount.unmount();
}

#[test]
fn cp_copies_the_tree_and_cmp_finds_no_difference() {
    let Some((_, sandbox, mount)) = fixture::mounted_corpus() else { return };
    let copy = sandbox.root().join("copy");
    tools::succeed(Command::new("cp").arg("-r").arg(mount.path()).arg(&copy));
    let tree = compare::walk(mount.path());
    assert_eq!(
        compare::files(&tree).map(|(path, seen)| (path, seen.size)).collect::<Vec<_>>(),
        compare::files(&compare::walk(&copy)).map(|(path, seen)| (path, seen.size)).collect::<Vec<_>>()
    );
    tools::succeed(Command::new("diff").arg("-r").arg(mount.path()).arg(&copy));
    mount.unmount();
}

#[test]
fn rsync_with_checksums_is_idle_the_second_time() {
    if !tools::have(&["rsync"]) {
        return;
    }
    let Some((_, sandbox, mount)) = fixture::mounted_corpus() else { return };
    let copy = sandbox.root().join("copy");
    let rsync = || {
        let from = format!("{}/", mount.path().display());
        tools::succeed(Command::new("rsync").args(["-rtc", "--itemize-changes", &from]).arg(&copy))
    };
    assert!(!rsync().is_empty());
    assert_eq!(rsync(), "", "the second run copied something");
    mount.unmount();
}

#[test]
fn many_readers_at_random_places_get_the_right_bytes() {
    let Some((_, sandbox, mount)) = fixture::mounted_corpus() else { return };
    let sources: std::collections::BTreeMap<u64, PathBuf> = sandbox.sources().into_iter().collect();
    let tree = compare::walk(mount.path());
    let pairs: Vec<(PathBuf, Vec<u8>)> = compare::files(&tree)
        .filter(|(_, seen)| seen.size > 0)
        .map(|(path, seen)| (mount.join(path), fs::read(&sources[&seen.track()]).unwrap()))
        .collect();
    thread::scope(|scope| {
        for reader in 0..READERS {
            let pairs = &pairs;
            scope.spawn(move || read_at_random(pairs, reader));
        }
    });
    mount.unmount();
}

fn read_at_random(pairs: &[(PathBuf, Vec<u8>)], seed: u64) {
    let random = make::noise(seed + 1, READS_PER_READER * 12);
    for bytes in random.chunks_exact(12) {
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let (path, expected) = &pairs[number(0) % pairs.len()];
        // Up to a little past the end.
        let offset = number(4) % (expected.len() + 100);
        let len = 1 << (number(8) % 18);
        assert_read(path, expected, offset, len);
    }
}

fn assert_read(path: &Path, expected: &[u8], offset: usize, len: usize) {
    let file = File::open(path).unwrap();
    let mut buffer = vec![0; len];
    let mut got = 0;
    while got < len {
        match file.read_at(&mut buffer[got..], (offset + got) as u64).unwrap() {
            0 => break,
            n => got += n,
        }
    }
    let wanted = expected.get(offset..).unwrap_or_default();
    let wanted = &wanted[..wanted.len().min(len)];
    assert!(buffer[..got] == *wanted, "{} at {offset}, {len} bytes", path.display());
}

#[test]
fn a_copy_of_an_edited_tree_is_complete_too() {
    let Some(sandbox) = fixture::small() else { return };
    sandbox.sql(
        "INSERT INTO edits(track, key, position, value) SELECT track, 'title', 0, 'New ' || track FROM track_paths",
    );
    let mount = fixture::mount(&sandbox);
    copy_and_compare(&sandbox, mount.path());
    mount.unmount();
}

fn copy_and_compare(sandbox: &Sandbox, mount: &Path) {
    let copy = sandbox.root().join("copy");
    tools::succeed(Command::new("cp").arg("-r").arg(mount).arg(&copy));
    tools::succeed(Command::new("diff").arg("-r").arg(mount).arg(&copy));
    for (path, seen) in compare::files(&compare::walk(mount)) {
        assert_eq!(fs::read(copy.join(path)).unwrap().len() as u64, seen.size, "{path:?}");
    }
}
