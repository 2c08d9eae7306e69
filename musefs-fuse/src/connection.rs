//! A FUSE connection from the kernel's side: its number, its read-ahead, its end by force.

use std::{
    fs, io,
    os::fd::OwnedFd,
    path::Path,
    process::Stdio,
    time::{Duration, Instant, UNIX_EPOCH},
};

use crossbeam_channel::bounded;
use rustix::{
    fs::{AtFlags, Mode, OFlags, StatxFlags, openat, statx},
    io::Errno,
    mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, UnmountFlags, fsconfig_create, fsmount, fsopen, unmount},
};

use crate::{
    mountinfo::{self, Entry},
    mounting::helper,
};

/// KiB that the kernel reads ahead in a stream; 128 is its own. More makes only the heads of files dearer.
const READ_AHEAD_KIB: u32 = 1024;

/// How long `fusermount3` may take to unmount.
const HELPER_LIMIT: Duration = Duration::from_secs(5);

/// How long a mount may take to say that nobody serves it.
const PROBE_LIMIT: Duration = Duration::from_secs(2);

/// The connection of a mount, by the minor number of its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Connection {
    minor: u32,
}

impl Connection {
    /// Of a mount that is not attached yet. Sends no request.
    pub(crate) fn of_unattached(mount: &OwnedFd) -> io::Result<Self> {
        let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
        let stat = statx(mount, "", flags, StatxFlags::TYPE)?;
        Ok(Self { minor: stat.stx_dev_minor })
    }

    /// Of the mount of ours that a path shows.
    pub(crate) fn of_mount_point(path: &Path) -> io::Result<Option<Self>> {
        let mounts = mountinfo::read()?;
        Ok(mountinfo::top_at(&mounts, path).filter(|entry| entry.is_ours()).map(|entry| Self { minor: entry.minor }))
    }

    fn owns(self, entry: &Entry) -> bool {
        entry.is_ours() && entry.major == 0 && entry.minor == self.minor
    }

    /// Whether its mount stands at `path`, visible or below another.
    pub(crate) fn stands_at(self, path: &Path) -> bool {
        let mounts = mountinfo::read().unwrap_or_default();
        mounts.iter().any(|entry| self.owns(entry) && entry.mount_point == path)
    }

    /// Lets the kernel read further ahead. Only root may, and only files opened later follow.
    pub(crate) fn raise_read_ahead(self) {
        let knob = format!("/sys/class/bdi/0:{}/read_ahead_kb", self.minor);
        if let Err(error) = fs::write(&knob, READ_AHEAD_KIB.to_string()) {
            tracing::debug!(knob, %error, "the kernel's read-ahead stays as it is");
        }
    }

    /// Takes its mount away from `path`, in use or not; open files live on.
    pub(crate) fn detach(self, path: &Path) -> io::Result<()> {
        let mounts = mountinfo::read()?;
        match mountinfo::top_at(&mounts, path) {
            Some(top) if self.owns(top) => detach(path),
            _ if !self.stands_at(path) => Ok(()),
            _ => Err(io::Error::other("another file system is mounted on top of it")),
        }
    }

    /// Ends the connection: whoever waits for it gets an error.
    pub(crate) fn abort(self) -> io::Result<()> {
        let name = format!("{}/abort", self.minor);
        match fs::write(Path::new("/sys/fs/fuse/connections").join(&name), "1") {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let control = private_control()?;
                let abort = openat(control, name, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
                rustix::io::write(abort, b"1").map(drop).map_err(io::Error::from)
            }
            done => done,
        }
    }
}

/// The kernel's control files, mounted for ourselves only where the system has not mounted them.
fn private_control() -> rustix::io::Result<OwnedFd> {
    let context = fsopen("fusectl", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}

/// Lazily unmounts what `path` shows: it is gone at once, what is open there lives on. Whoever calls
/// this has made sure whose mount that is.
///
/// # Errors
/// When it may not be unmounted, or nothing is mounted there.
pub fn detach(path: &Path) -> io::Result<()> {
    match unmount(path, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW) {
        Err(Errno::PERM) => detach_by_helper(path),
        done => Ok(done?),
    }
}

fn detach_by_helper(path: &Path) -> io::Result<()> {
    let mut command = helper().ok_or_else(|| io::Error::other("fusermount3 is not installed"))?;
    let mut child = command.args(["-uz", "--"]).arg(path).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let limit = Instant::now() + HELPER_LIMIT;
    loop {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(io::Error::other(format!("fusermount3 failed: {status}"))),
            None if Instant::now() > limit => {
                child.kill()?;
                return Err(io::Error::other("fusermount3 did not end"));
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Whether the FUSE mount at `mount_point` is known to have lost its program. One that does not answer
/// in time is not: that cannot be told. Not for one's own mount.
pub fn is_dead(mount_point: &Path) -> bool {
    // What is cached is still shown of a dead mount, so a name is asked for that cannot be. In a thread
    // that can be left alone: a mount that hangs must not hang us.
    let now_ns = UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
    let unheard = mount_point.join(format!(".musefs-probe-{}-{now_ns}", std::process::id()));
    let (tell, told) = bounded(1);
    std::thread::spawn(move || {
        let errno = fs::symlink_metadata(unheard).err().and_then(|error| error.raw_os_error());
        // Nobody may be waiting any more.
        let _ = tell.send(errno == Some(Errno::NOTCONN.raw_os_error()));
    });
    told.recv_timeout(PROBE_LIMIT).unwrap_or(false)
}
