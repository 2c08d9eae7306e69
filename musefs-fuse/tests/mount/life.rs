//! How mounts are made, refused and ended, and that none is left.

use std::{
    ffi::CStr,
    fs::{self, File},
    os::{fd::AsRawFd as _, unix::fs::FileExt as _},
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::shelf::{Behaviour, LIMIT, Rig, Shelf, wait_for};
use musefs_core::vfs::Vfs;
use musefs_fuse::{MountError, Mounted, Options, Stopped, detach, is_dead, mountinfo};

macro_rules! mount {
    () => {
        match Rig::mount(&Options::default()) {
            Some(rig) => rig,
            None => return,
        }
    };
}

fn entry(path: &Path) -> Option<mountinfo::Entry> {
    mountinfo::top_at(&mountinfo::read().unwrap(), path).cloned()
}

#[test]
fn a_mount_shows_what_it_is() {
    let rig = mount!();
    assert_eq!(entry(rig.root()).unwrap().fs_type, "fuse.musefs");
    assert_eq!(rig.mounted.mount_point(), rig.root());
    if rustix::process::geteuid().is_root() {
        let knob = format!("/sys/class/bdi/0:{}/read_ahead_kb", entry(rig.root()).unwrap().minor);
        assert_eq!(fs::read_to_string(knob).unwrap().trim(), "1024");
    }
}

#[test]
fn stopped_cleanly() {
    let rig = mount!();
    fs::read(rig.path("one.flac")).unwrap();
    assert_eq!(rig.mounted.stop(LIMIT).unwrap(), Stopped::Cleanly);
    assert_eq!(entry(rig.root()), None);
    rig.mounted.wait().unwrap();
    assert_eq!(rig.mounted.stop(LIMIT).unwrap(), Stopped::Cleanly, "a second time is no error");
}

#[test]
fn stopped_with_an_open_file() {
    let rig = mount!();
    let open = File::open(rig.path("one.flac")).unwrap();
    let begin = Instant::now();
    assert_eq!(rig.mounted.stop(Duration::from_millis(50)).unwrap(), Stopped::ByForce);
    assert!(begin.elapsed() < LIMIT);
    assert_eq!(entry(rig.root()), None);
    rig.mounted.wait().unwrap();
    // Without root, readers are cut off by the end of the process only.
    assert!(!rustix::process::geteuid().is_root() || open.read_at(&mut [0; 10], 0).is_err());
}

#[test]
fn an_open_file_can_be_read_to_its_end_within_the_time() {
    let rig = mount!();
    let open = File::open(rig.path("one.flac")).unwrap();
    std::thread::scope(|scope| {
        let stopping = scope.spawn(|| rig.mounted.stop(LIMIT).unwrap());
        wait_for("the mount is gone", || entry(rig.root()).is_none());
        open.read_exact_at(&mut vec![0; 300_000], 0).unwrap();
        drop(open);
        assert_eq!(stopping.join().unwrap(), Stopped::Cleanly);
    });
}

#[test]
fn stopped_while_a_disk_is_dead() {
    let rig = mount!();
    rig.shelf.put_behaving("dead", 50, &[0; 100], Behaviour::Stuck);
    let path = rig.path("dead");
    let reader = std::thread::spawn(move || fs::read(path).is_err());
    wait_for("a worker is on it", || rig.mounted.workers().busy == 1);
    assert_eq!(rig.mounted.stop(Duration::from_millis(50)).unwrap(), Stopped::ByForce);
    assert_eq!(entry(rig.root()), None);
    rig.shelf.release();
    assert_eq!(reader.join().unwrap(), rustix::process::geteuid().is_root(), "cut off, where that is allowed");
}

#[test]
fn unmounted_by_somebody_else() {
    let rig = mount!();
    assert!(Command::new("umount").arg(rig.root()).status().unwrap().success());
    rig.mounted.wait().unwrap();
    assert_eq!(rig.mounted.stop(LIMIT).unwrap(), Stopped::Cleanly);
}

#[test]
fn an_aborted_connection_leaves_no_dead_mount() {
    let rig = mount!();
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: only root can mount fusectl");
    }
    let minor = entry(rig.root()).unwrap().minor;
    let control = tempfile::tempdir().unwrap();
    let flags = rustix::mount::MountFlags::empty();
    rustix::mount::mount("fusectl", control.path(), "fusectl", flags, None).unwrap();
    let aborted = fs::write(control.path().join(format!("{minor}/abort")), "1");
    rustix::mount::unmount(control.path(), rustix::mount::UnmountFlags::empty()).unwrap();
    aborted.unwrap();
    rig.mounted.wait().unwrap();
    assert_eq!(entry(rig.root()), None);
}

#[test]
fn a_mount_of_somebody_else_on_top_is_not_touched() {
    let rig = mount!();
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: only root can mount a tmpfs");
    }
    let flags = rustix::mount::MountFlags::empty();
    rustix::mount::mount("over", rig.root(), "tmpfs", flags, c"").unwrap();
    let stopped = rig.mounted.stop(Duration::from_millis(50));
    assert_eq!(entry(rig.root()).unwrap().fs_type, "tmpfs");
    rustix::mount::unmount(rig.root(), rustix::mount::UnmountFlags::empty()).unwrap();
    assert!(matches!(stopped, Err(MountError::Unmount { .. })), "{stopped:?}");
    rig.mounted.stop(LIMIT).unwrap();
    assert_eq!(entry(rig.root()), None);
}

#[test]
fn a_mount_point_is_used_once() {
    let rig = mount!();
    let vfs: Arc<dyn Vfs> = Arc::new(Shelf::default());
    let again = Mounted::start(vfs, rig.root(), &Options::default()).err().unwrap();
    assert!(matches!(again, MountError::AlreadyMounted(_)), "{again}");
    assert!(again.hint().unwrap().contains("fusermount3 -u"));
    fs::read(rig.path("one.flac")).unwrap();
}

#[test]
fn other_users_need_a_word_in_the_configuration() {
    let allowed = fs::read_to_string("/etc/fuse.conf").is_ok_and(|text| text.contains("\nuser_allow_other"));
    if rustix::process::geteuid().is_root() || allowed || !Path::new("/dev/fuse").exists() {
        return eprintln!("skipped: root may always");
    }
    let dir = tempfile::tempdir().unwrap();
    let vfs: Arc<dyn Vfs> = Arc::new(Shelf::default());
    let options = Options { allow_other: true, ..Options::default() };
    let error = Mounted::start(vfs, dir.path(), &options).err().unwrap();
    assert!(matches!(error, MountError::AllowOther), "{error:?}");
    assert_eq!(entry(dir.path()), None);
}

/// A mount whose program has died: its device is closed.
#[test]
fn a_dead_mount_is_told_from_a_living_one() {
    let rig = mount!();
    assert!(!is_dead(rig.root()));
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: only root can leave a dead mount without dying");
    }
    let dir = tempfile::tempdir().unwrap();
    let device = File::options().read(true).write(true).open("/dev/fuse").unwrap();
    let options = format!("fd={},rootmode=40555,user_id=0,group_id=0,subtype=musefs\0", device.as_raw_fd());
    let options = CStr::from_bytes_with_nul(options.as_bytes()).unwrap();
    let flags = rustix::mount::MountFlags::empty();
    rustix::mount::mount("musefs", dir.path(), "fuse", flags, options).unwrap();
    drop(device);
    assert!(is_dead(dir.path()));
    let vfs: Arc<dyn Vfs> = Arc::new(Shelf::default());
    let error = Mounted::start(vfs, dir.path(), &Options::default()).err().unwrap();
    detach(dir.path()).unwrap();
    assert!(matches!(error, MountError::DeadMount(_)), "{error:?}");
    assert_eq!(entry(dir.path()), None);
}
