//! Numbers and times that clients remember: inodes, sizes, mtimes.

use std::{collections::BTreeSet, fs, path::Path};

use musefs_tests::{compare, sandbox::Sandbox, tools};

use crate::fixture;

#[test]
fn listed_and_stat_inodes_agree_and_are_unique() {
    let Some((_, _sandbox, mount)) = fixture::mounted_corpus() else { return };
    let tree = compare::walk(mount.path());
    let mut inodes = BTreeSet::from([1]);
    for (path, seen) in &tree {
        assert_eq!(seen.listed_inode, seen.inode, "{path:?}");
        assert!(inodes.insert(seen.inode), "inode {} of {path:?} is used twice", seen.inode);
        assert!(seen.inode < 1 << 63, "{path:?}");
        if !seen.is_dir {
            assert_eq!(seen.links, 1, "{path:?}");
            assert!(seen.inode < 1 << 53, "an unedited track has a number below 2^53: {path:?}");
        }
    }
    mount.unmount();
}

#[test]
fn a_remount_changes_no_inode_size_or_time() {
    let Some(scanned) = fixture::corpus() else { return };
    if !tools::have_fuse() {
        return;
    }
    let sandbox = Sandbox::with_catalog(&scanned.db);
    sandbox.sql(
        "INSERT INTO edits(track, key, position, value) \
         SELECT track, 'title', 0, 'Edited' FROM track_paths WHERE track % 5 = 0",
    );
    let first = sandbox.mount();
    let before = compare::walk(first.path());
    first.unmount();
    let second = sandbox.mount();
    assert_eq!(compare::walk(second.path()), before);
    second.unmount();
}

#[test]
fn a_stat_gives_the_size_that_a_read_gives_before_any_read() {
    let Some(sandbox) = fixture::small() else { return };
    sandbox.sql(
        "INSERT INTO edits(track, key, position, value) SELECT track, 'artist', 0, 'Somebody else' FROM track_paths",
    );
    let mount = fixture::mount(&sandbox);
    let tree = compare::walk(mount.path());
    assert_eq!(compare::files(&tree).count(), 5);
    for (path, seen) in compare::files(&tree) {
        assert_eq!(fs::read(mount.join(path)).unwrap().len() as u64, seen.size, "{path:?}");
    }
    mount.unmount();
}

#[test]
fn the_mtime_of_an_unedited_file_is_that_of_its_source() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = fixture::mount(&sandbox);
    let served = fs::metadata(mount.join("Ann/First/One.flac")).unwrap();
    let source = fs::metadata(sandbox.music().join("in/one.flac")).unwrap();
    assert!(compare::mtime_ns(&served) >= compare::mtime_ns(&source));
    mount.unmount();
}

/// Servers that look for changed files compare a time with the last one seen: a time in the future must stay put.
#[test]
fn a_source_from_the_future_keeps_its_time() {
    let Some(sandbox) = fixture::small() else { return };
    let source = sandbox.music().join("in/one.flac");
    let future = std::time::SystemTime::now() + std::time::Duration::from_secs(365 * 24 * 3600);
    fs::File::options().write(true).open(&source).unwrap().set_modified(future).unwrap();
    sandbox.scan();
    let mount = fixture::mount(&sandbox);
    let seen = |path: &Path| compare::mtime_ns(&fs::metadata(path).unwrap());
    let served = mount.join("Ann/First/One.flac");
    let first = seen(&served);
    assert!(first >= seen(&source));
    mount.unmount();
    let mount = fixture::mount(&sandbox);
    assert_eq!(seen(&served), first);
    mount.unmount();
}
