//! The mount is read-only in every way, and answers questions about it cleanly.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::symlink,
    path::Path,
    process::Command,
};

use musefs_tests::{compare, tools};
use rustix::{
    fs::{CWD, FileType, Mode, StatVfsMountFlags, XattrFlags},
    io::Errno,
};

use crate::fixture;

#[test]
fn every_kind_of_write_is_refused_as_read_only() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = fixture::mount(&sandbox);
    let before = compare::walk(mount.path());
    let (file, dir) = (mount.join("Ann/First/One.flac"), mount.join("Ann/First"));
    for (what, result) in attempts(&file, &dir) {
        let error = result.expect_err(what);
        assert_eq!(error.raw_os_error(), Some(Errno::ROFS.raw_os_error()), "{what}: {error}");
    }
    assert_eq!(compare::walk(mount.path()), before);
    mount.unmount();
}

fn attempts(file: &Path, dir: &Path) -> Vec<(&'static str, io::Result<()>)> {
    let new = dir.join("new");
    let open = |options: &mut OpenOptions, path: &Path| options.open(path).map(drop);
    let now = rustix::fs::Timestamps {
        last_access: rustix::fs::Timespec { tv_sec: 1, tv_nsec: 0 },
        last_modification: rustix::fs::Timespec { tv_sec: 1, tv_nsec: 0 },
    };
    vec![
        ("open for writing", open(OpenOptions::new().write(true), file)),
        ("open for both", open(OpenOptions::new().read(true).write(true), file)),
        ("open to append", open(OpenOptions::new().append(true), file)),
        ("truncate on opening", open(OpenOptions::new().write(true).truncate(true), file)),
        ("create", open(OpenOptions::new().write(true).create(true), &new)),
        ("mkdir", fs::create_dir(&new)),
        ("symlink", symlink("x", &new)),
        ("link", fs::hard_link(file, &new)),
        ("rename", fs::rename(file, &new)),
        ("rename of a directory", fs::rename(dir, dir.with_extension("x"))),
        ("unlink", fs::remove_file(file)),
        ("rmdir", fs::remove_dir(dir)),
        ("mknod", rustix::fs::mknodat(CWD, &new, FileType::RegularFile, Mode::RUSR, 0).map_err(Into::into)),
        ("mkfifo", rustix::fs::mknodat(CWD, &new, FileType::Fifo, Mode::RUSR, 0).map_err(Into::into)),
        ("chmod", rustix::fs::chmod(file, Mode::RUSR).map_err(Into::into)),
        ("chown", rustix::fs::chown(file, Some(rustix::fs::Uid::ROOT), None).map_err(Into::into)),
        ("utimens", rustix::fs::utimensat(CWD, file, &now, rustix::fs::AtFlags::empty()).map_err(Into::into)),
        ("setxattr", rustix::fs::setxattr(file, "user.x", b"y", XattrFlags::empty()).map_err(Into::into)),
        ("removexattr", rustix::fs::removexattr(file, "user.x").map_err(Into::into)),
        ("touch of a Finder file", open(OpenOptions::new().write(true).create(true), &dir.join(".DS_Store"))),
    ]
}

#[test]
fn shells_say_read_only_too() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = fixture::mount(&sandbox);
    for command in [
        "touch new",
        "mkdir new",
        "rm -f Ann/First/One.flac",
        "mv Ann Bnn",
        "cp /etc/hostname new",
        "truncate -s 0 Ann/First/One.flac",
    ] {
        let output = tools::run(Command::new("sh").arg("-c").arg(command).current_dir(mount.path()).env("LC_ALL", "C"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("Read-only file system"), "{command}: {said}");
    }
    mount.unmount();
}

#[test]
fn questions_about_the_file_system_are_answered() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = fixture::mount(&sandbox);
    let tree = compare::walk(mount.path());
    let bytes: u64 = compare::files(&tree).map(|(_, seen)| seen.size).sum();
    for path in ["", "Ann", "Ann/First", "Ann/First/One.flac"] {
        let about = rustix::fs::statvfs(mount.join(path)).unwrap();
        assert!(about.f_flag.contains(StatVfsMountFlags::RDONLY), "{path}");
        assert_eq!((about.f_bavail, about.f_bfree, about.f_favail), (0, 0, 0), "{path}: nothing can be written");
        assert_eq!(about.f_namemax, 255, "{path}");
        let total = about.f_blocks * about.f_frsize;
        assert!(total >= bytes && total < bytes + 1_000_000, "{path}: {total} for {bytes} bytes");
        assert!(about.f_files >= compare::files(&tree).count() as u64, "{path}");
        assert_eq!(rustix::fs::access(mount.join(path), rustix::fs::Access::READ_OK), Ok(()), "{path}");
        assert_eq!(rustix::fs::access(mount.join(path), rustix::fs::Access::WRITE_OK), Err(Errno::ROFS), "{path}");
    }
    mount.unmount();
}

#[test]
fn questions_for_extended_attributes_are_answered_cleanly() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = fixture::mount(&sandbox);
    for path in ["", "Ann", "Ann/First/One.flac"] {
        for name in ["user.x", "security.selinux", "system.posix_acl_access", "security.capability"] {
            let mut value = [0_u8; 64];
            let answer = rustix::fs::getxattr(mount.join(path), name, &mut value);
            assert!(matches!(answer, Err(Errno::NODATA | Errno::OPNOTSUPP)), "{name} of {path}: {answer:?}");
        }
        let mut names = [0_u8; 64];
        let answer = rustix::fs::listxattr(mount.join(path), &mut names);
        assert!(matches!(answer, Ok(0) | Err(Errno::OPNOTSUPP)), "{path}: {answer:?}");
    }
    mount.unmount();
}

/// What Samba does with a file before it copies it.
#[test]
fn locks_can_be_taken() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = fixture::mount(&sandbox);
    let file = File::open(mount.join("Ann/First/One.flac")).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockShared).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::Unlock).unwrap();
    drop(file);
    mount.unmount();
}

#[test]
fn absent_names_are_absent_quickly() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = fixture::mount(&sandbox);
    let start = std::time::Instant::now();
    for at in 0..10_000 {
        let error = fs::metadata(mount.join(format!("Ann/First/._{}", at % 500))).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
    assert!(start.elapsed() < std::time::Duration::from_secs(5), "{:?}", start.elapsed());
    let error = fs::metadata(mount.join("Ann/First/One.flac/below a file")).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(Errno::NOTDIR.raw_os_error()));
    let long = fs::metadata(mount.join("x".repeat(256))).unwrap_err();
    assert_eq!(long.raw_os_error(), Some(Errno::NAMETOOLONG.raw_os_error()));
    mount.unmount();
}
