//! Reads at any offset, by any call.

use std::{
    fs::{self, File},
    os::unix::fs::FileExt as _,
    path::Path,
    thread,
};

use musefs_tests::{
    compare,
    make::{self, Id3},
    mount::Mount,
    sandbox::Sandbox,
    tools,
};

use crate::fixture;

/// A small library with an edit in every track, mounted, so that each file has a made head before its audio.
fn edited() -> Option<(Sandbox, Mount)> {
    let sandbox = fixture::small()?;
    sandbox.sql(
        "INSERT INTO edits(track, key, position, value) SELECT track, 'artist', 0, 'Somebody else' FROM track_paths",
    );
    let mount = fixture::mount(&sandbox);
    Some((sandbox, mount))
}

#[test]
fn reads_at_seams_and_ends_agree_with_the_whole() {
    let Some((_sandbox, mount)) = edited() else { return };
    for (path, _) in compare::files(&compare::walk(mount.path())) {
        let whole = fs::read(mount.join(path)).unwrap();
        assert_seams(&mount.join(path), &whole);
    }
    mount.unmount();
}

fn assert_seams(path: &Path, whole: &[u8]) {
    let end = whole.len() as u64;
    // The audio of every made file starts somewhere in the first pages: each page border and its neighbours.
    let seams = (0..6).flat_map(|page| [page * 4096, page * 4096 + 1, (page + 1) * 4096 - 1]);
    for offset in seams.chain([end - 1, end, end + 1, end + 1_000_000, u64::from(u32::MAX), 1 << 40]) {
        for len in [1, 2, 4095, 4096, 131_073] {
            let mut buffer = vec![0; len];
            // A new descriptor each time, and one read: what is short has to be short at the end only.
            let got = File::open(path).unwrap().read_at(&mut buffer, offset).unwrap();
            let rest = usize::try_from(offset).ok().and_then(|offset| whole.get(offset..)).unwrap_or_default();
            assert_eq!(got, rest.len().min(len), "{path:?} at {offset}");
            assert!(buffer[..got] == rest[..got], "{path:?} at {offset}");
        }
    }
}

#[test]
fn a_mapped_file_reads_like_a_read_one() {
    let Some((_sandbox, mount)) = edited() else { return };
    let program = r"
import mmap, os, sys
for path in sys.argv[1:]:
    with open(path, 'rb') as f:
        with mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED) as shared:
            mapped = bytes(shared)
        with mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE) as private:
            assert bytes(private) == mapped, path
        assert f.read() == mapped and mapped, path
";
    let tree = compare::walk(mount.path());
    tools::succeed(
        tools::python().arg("-c").arg(program).args(compare::files(&tree).map(|(path, _)| mount.join(path))),
    );
    mount.unmount();
}

#[test]
fn an_empty_source_is_an_empty_file() {
    let Some(sandbox) = fixture::small() else { return };
    sandbox.put("in/nothing.flac", b"");
    sandbox.run([std::ffi::OsStr::new("scan"), sandbox.music().as_os_str()]);
    let mount = sandbox.mount();
    let tree = compare::walk(mount.path());
    let track = sandbox.track_of("in/nothing.flac");
    let (path, seen) = compare::files(&tree).find(|(_, seen)| seen.track() == track).expect("it is listed");
    assert_eq!(seen.size, 0);
    assert_eq!(fs::read(mount.join(path)).unwrap(), b"");
    mount.unmount();
}

#[test]
fn the_source_is_read_only_and_untouched_by_reads() {
    let Some(sandbox) = fixture::small() else { return };
    let before = fixture::remember(&sandbox.music());
    let mount = fixture::mount(&sandbox);
    for (path, _) in compare::files(&compare::walk(mount.path())) {
        fs::read(mount.join(path)).unwrap();
    }
    mount.unmount();
    fixture::assert_untouched(&before);
}

/// Players and servers keep many files open; the sources' descriptors are not those of the clients.
#[test]
fn many_open_files_are_no_burden() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = fixture::mount(&sandbox);
    let paths = compare::paths(mount.path());
    let open: Vec<_> = (0..500).map(|at| File::open(mount.join(&paths[at % paths.len()])).unwrap()).collect();
    for (at, file) in open.iter().enumerate() {
        let mut byte = [0];
        assert_eq!(file.read_at(&mut byte, at as u64).unwrap(), 1);
    }
    let descriptors = fs::read_dir(format!("/proc/{}/fd", mount.pid())).unwrap().count();
    assert!(descriptors < 200, "{descriptors} descriptors in the daemon");
    drop(open);
    mount.unmount();
}

/// A server's scan opens many files at once. Their covers stay in their sources.
#[test]
fn many_readers_of_large_covers_need_little_memory() {
    let Some(sandbox) = fixture::small() else { return };
    let cover = make::png(9, 8 << 20);
    for at in 0..8 {
        let tags = make::tags("Eve", "Covers", "1", "Large");
        sandbox.put(format!("{at}.mp3"), &make::mp3(at, 50, Id3::V24, &tags, Some(&cover), 0));
        sandbox.put(format!("{at}.flac"), &make::flac(at, 10, &tags, Some(&cover), 0));
    }
    sandbox.scan();
    sandbox.sql("INSERT INTO edits(track, key, position, value) SELECT track, 'title', 0, 'New' FROM track_paths");
    let mount = fixture::mount(&sandbox);
    let paths: Vec<_> =
        compare::paths(&mount.join("Eve")).into_iter().map(|path| mount.join("Eve").join(path)).collect();
    assert_eq!(paths.len(), 16);
    thread::scope(|scope| {
        for at in 0..64 {
            let path = &paths[at % paths.len()];
            scope.spawn(move || assert!(fs::read(path).unwrap().len() > 8 << 20));
        }
    });
    let status = fs::read_to_string(format!("/proc/{}/status", mount.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak_kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak_kib < 200 << 10, "{} MiB", peak_kib >> 10);
    mount.unmount();
}
