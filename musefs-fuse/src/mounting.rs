//! Makes the mount: directly where that is allowed, else through `fusermount3`.
//!
//! The direct way prepares a mount that is attached nowhere; serving begins before anyone can see it.

use std::{
    fs, io,
    io::{IoSliceMut, Read as _},
    mem::MaybeUninit,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::net::UnixStream,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use rustix::{
    fs::{CWD, Mode, OFlags, open},
    io::Errno,
    mount::{
        FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, fsconfig_create, fsconfig_set_flag,
        fsconfig_set_string, fsmount, fsopen, move_mount,
    },
    net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg},
};

use crate::{connection::is_dead, error::MountError, mountinfo, options::Options};

/// What `df` shows as the device.
const SOURCE: &str = "musefs";
/// Becomes `fuse.musefs`, [`mountinfo::FS_TYPE`].
const SUBTYPE: &str = "musefs";

/// A connection to the kernel that nobody serves yet.
pub(crate) struct Prepared {
    /// `/dev/fuse`, bound to the mount.
    pub(crate) device: OwnedFd,
    /// A mount that is not attached yet. None: the helper has attached it.
    pub(crate) unattached: Option<OwnedFd>,
}

/// The absolute path of a mount point that can be used.
pub(crate) fn check_mount_point(path: &Path) -> Result<PathBuf, MountError> {
    let seen = |source: io::Error| match Errno::from_io_error(&source) {
        Some(Errno::NOENT) => MountError::NoMountPoint(path.into()),
        Some(Errno::NOTDIR) => MountError::NotADirectory(path.into()),
        Some(Errno::NOTCONN) => MountError::DeadMount(path.into()),
        _ => MountError::MountPoint { path: path.into(), source },
    };
    let absolute = fs::canonicalize(path).map_err(seen)?;
    let mounts = mountinfo::read().map_err(seen)?;
    if let Some(top) = mountinfo::top_at(&mounts, &absolute).filter(|top| top.is_fuse()) {
        if is_dead(&absolute) {
            return Err(MountError::DeadMount(absolute));
        }
        if top.is_ours() {
            return Err(MountError::AlreadyMounted(absolute));
        }
    }
    if fs::read_dir(&absolute).map_err(seen)?.next().is_some() {
        return Err(MountError::NotEmpty(absolute));
    }
    Ok(absolute)
}

/// Prepares a mount at a checked mount point.
pub(crate) fn prepare(path: &Path, options: &Options) -> Result<Prepared, MountError> {
    match directly(options) {
        // Not root, or a container that filters the newer calls: the helper may still be allowed to.
        Err(Errno::PERM | Errno::NOSYS) => through_helper(path, options),
        Err(Errno::ACCESS) => Err(denied(path, "permission denied")),
        Err(other) => Err(MountError::Kernel { step: "preparing the mount", reason: other.to_string() }),
        Ok(prepared) => prepared,
    }
}

/// Makes a prepared mount visible.
pub(crate) fn attach(mount: OwnedFd, path: &Path) -> Result<(), MountError> {
    move_mount(&mount, "", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH).map_err(|errno| match errno {
        Errno::BUSY => MountError::Busy(path.into()),
        Errno::PERM | Errno::ACCESS => denied(path, &errno.to_string()),
        errno => MountError::Kernel { step: "attaching the mount", reason: errno.to_string() },
    })
}

/// The outer error says whether there is another way.
fn directly(options: &Options) -> Result<Result<Prepared, MountError>, Errno> {
    let context = fsopen("fuse", FsOpenFlags::FSOPEN_CLOEXEC)?;
    let device = match open_device() {
        Ok(device) => device,
        Err(error) => return Ok(Err(error)),
    };
    let configured = configure(&context, &device, options);
    let mount = configured.and_then(|()| {
        let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY
            | MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOATIME;
        fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
    });
    match mount {
        Ok(mount) => Ok(Ok(Prepared { device, unattached: Some(mount) })),
        Err(errno @ (Errno::PERM | Errno::ACCESS | Errno::NOSYS)) => Err(errno),
        Err(errno) => {
            let reason = kernel_message(context).unwrap_or_else(|| errno.to_string());
            Ok(Err(MountError::Kernel { step: "preparing the mount", reason }))
        }
    }
}

fn open_device() -> Result<OwnedFd, MountError> {
    open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map_err(|errno| match errno {
        Errno::NOENT | Errno::NXIO | Errno::NODEV => MountError::NoDevice,
        errno => MountError::Device(errno.into()),
    })
}

fn configure(context: &OwnedFd, device: &OwnedFd, options: &Options) -> rustix::io::Result<()> {
    let set = |key: &str, value: &str| fsconfig_set_string(context, key, value);
    set("source", SOURCE)?;
    set("subtype", SUBTYPE)?;
    // As a number in a string: the kernel does not take a descriptor as such here.
    set("fd", &device.as_raw_fd().to_string())?;
    // Counts until the kernel has asked for the root's attributes, and again when it is told of a change
    // to the root in that very moment: as it is, or a user is refused there.
    set("rootmode", &format!("4{:04o}", options.dir_mode & 0o555))?;
    set("user_id", &rustix::process::getuid().as_raw().to_string())?;
    set("group_id", &rustix::process::getgid().as_raw().to_string())?;
    fsconfig_set_flag(context, "default_permissions")?;
    fsconfig_set_flag(context, "ro")?;
    if options.allow_other {
        fsconfig_set_flag(context, "allow_other")?;
    }
    fsconfig_create(context)
}

/// What the kernel has to say about a failed step: a letter, a space, a text.
fn kernel_message(context: OwnedFd) -> Option<String> {
    let mut message = [0; 256];
    let len = fs::File::from(context).read(&mut message).ok()?;
    let text = String::from_utf8_lossy(message.get(2..len)?).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Has `fusermount3`, which runs as root, mount and send the device back through its standard input.
fn through_helper(path: &Path, options: &Options) -> Result<Prepared, MountError> {
    // Asked first, as the helper's own words for it are of no help.
    drop(open_device()?);
    let (ours, theirs) = UnixStream::pair().map_err(MountError::Start)?;
    let mut words = vec!["ro", "nosuid", "nodev", "noatime", "default_permissions", "fsname=musefs", "subtype=musefs"];
    if options.allow_other {
        words.push("allow_other");
    }
    let child = helper()
        .ok_or(MountError::NoHelper)?
        .args(["-o", &words.join(","), "--"])
        .arg(path)
        .env("_FUSE_COMMFD", "0")
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(MountError::Start)?;
    let device = receive(&ours).map_err(MountError::Start)?;
    let said = child.wait_with_output().map_err(MountError::Start)?;
    device.map(|device| Prepared { device, unattached: None }).ok_or_else(|| {
        let text = String::from_utf8_lossy(&said.stderr);
        refusal(path, text.trim())
    })
}

/// `fusermount3`, or `fusermount` of an older system. None: neither is installed.
pub(crate) fn helper() -> Option<Command> {
    let places = std::env::var_os("PATH").unwrap_or_default();
    let more = ["/usr/bin", "/bin", "/usr/local/bin"].map(PathBuf::from);
    let found = |name: &str| {
        std::env::split_paths(&places).chain(more.clone()).map(|place| place.join(name)).find(|path| path.is_file())
    };
    found("fusermount3").or_else(|| found("fusermount")).map(Command::new)
}

/// The descriptor that comes with a byte. None: the helper has closed its end without sending one.
fn receive(socket: &UnixStream) -> io::Result<Option<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    rustix::io::retry_on_intr(|| {
        recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)
    })?;
    Ok(control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    }))
}

/// Makes sense of what the helper said.
fn refusal(path: &Path, text: &str) -> MountError {
    // It begins with its name, by which it may have been called with a path.
    let reason = text.split_once(": ").map_or(text, |(_, reason)| reason).to_owned();
    if text.contains("user_allow_other") {
        MountError::AllowOther
    } else if ["not permitted", "ermission denied", "no write access"].iter().any(|word| text.contains(word)) {
        MountError::Denied { path: path.into(), reason }
    } else if text.contains("busy") {
        MountError::Busy(path.into())
    } else {
        MountError::Helper { path: path.into(), reason }
    }
}

fn denied(path: &Path, reason: &str) -> MountError {
    MountError::Denied { path: path.into(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

    #[test]
    fn what_the_helper_says() {
        let path = Path::new("/m");
        for (text, wanted) in [
            (
                "fusermount3: option allow_other only allowed if 'user_allow_other' is set in /etc/fuse.conf",
                "mounting for other users: this system only lets root do that",
            ),
            (
                "fusermount3: mount failed: Operation not permitted",
                "mounting at /m: mount failed: Operation not permitted",
            ),
            (
                "fusermount3: user has no write access to mountpoint /m",
                "mounting at /m: user has no write access to mountpoint /m",
            ),
            ("fusermount: mount failed: Device or resource busy", "mounting at /m: the mount point is busy"),
            (
                "fusermount3: too many FUSE filesystems mounted",
                "mounting at /m: fusermount3 says: too many FUSE filesystems mounted",
            ),
        ] {
            assert_eq!(refusal(path, text).to_string(), wanted);
        }
    }

    #[test]
    fn mount_points_that_cannot_be_used() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        assert!(matches!(check_mount_point(&file), Err(MountError::NoMountPoint(_))));
        assert!(check_mount_point(dir.path()).is_ok());
        fs::write(&file, "").unwrap();
        assert!(matches!(check_mount_point(&file), Err(MountError::NotADirectory(_))));
        assert!(matches!(check_mount_point(&file.join("x")), Err(MountError::NotADirectory(_))));
        assert!(matches!(check_mount_point(dir.path()), Err(MountError::NotEmpty(_))));
    }
}
