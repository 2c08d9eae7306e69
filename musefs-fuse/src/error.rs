//! Why a mount could not be made or ended, and what to do about it.

use std::{io, path::PathBuf};

/// Why a mount could not be made or ended.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// The mount point does not exist.
    #[error("mounting at {0}: no such directory")]
    NoMountPoint(PathBuf),
    /// The mount point is no directory.
    #[error("mounting at {0}: not a directory")]
    NotADirectory(PathBuf),
    /// Files would be hidden by the mount.
    #[error("mounting at {0}: the directory is not empty")]
    NotEmpty(PathBuf),
    /// A musefs serves there.
    #[error("mounting at {0}: a musefs is already mounted there")]
    AlreadyMounted(PathBuf),
    /// A FUSE daemon has died and left its mount.
    #[error("mounting at {0}: the mount that is there has lost its program")]
    DeadMount(PathBuf),
    /// Something else is in the way.
    #[error("mounting at {0}: the mount point is busy")]
    Busy(PathBuf),
    /// The mount point cannot be looked at.
    #[error("mounting at {path}: {source}")]
    MountPoint {
        /// Of the mount point.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The kernel's FUSE device is missing.
    #[error("opening /dev/fuse: no such device")]
    NoDevice,
    /// The kernel's FUSE device may not be opened.
    #[error("opening /dev/fuse: {0}")]
    Device(io::Error),
    /// Without root, a helper has to mount, and it is missing.
    #[error("looking for fusermount3: not installed")]
    NoHelper,
    /// `allow_other` is for root, unless the system's configuration says otherwise.
    #[error("mounting for other users: this system only lets root do that")]
    AllowOther,
    /// A security module, a container or missing rights refused it.
    #[error("mounting at {path}: {reason}")]
    Denied {
        /// Of the mount point.
        path: PathBuf,
        /// What the kernel or the helper said.
        reason: String,
    },
    /// Anything else that the helper said.
    #[error("mounting at {path}: fusermount3 says: {reason}")]
    Helper {
        /// Of the mount point.
        path: PathBuf,
        /// What it said.
        reason: String,
    },
    /// The kernel refused a step.
    #[error("{step}: {reason}")]
    Kernel {
        /// What was being done.
        step: &'static str,
        /// What the kernel said.
        reason: String,
    },
    /// Threads or the session could not be started.
    #[error("starting to serve: {0}")]
    Start(#[source] io::Error),
    /// The mount could not be removed.
    #[error("unmounting {path}: {reason}")]
    Unmount {
        /// Of the mount point.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl MountError {
    /// What to do now.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoMountPoint(path) => format!("make it first: mkdir -p '{}'", path.display()),
            Self::NotADirectory(_) => "name an empty directory".into(),
            Self::NotEmpty(_) => "name an empty directory: what is in this one would be hidden".into(),
            Self::AlreadyMounted(path) => format!("end that one first: fusermount3 -u '{}'", path.display()),
            Self::DeadMount(path) => format!("clear it: fusermount3 -uz '{}' (as root: umount -l)", path.display()),
            Self::Busy(path) => format!("see what is there: findmnt '{}'", path.display()),
            Self::MountPoint { .. } => "check the directory and who may enter it".into(),
            Self::NoDevice => "load the module: modprobe fuse; in a container: --device /dev/fuse".into(),
            Self::Device(_) => "your user needs to read and write /dev/fuse; in a container: --device /dev/fuse".into(),
            Self::NoHelper => "install it: apt install fuse3, or dnf install fuse3; or run as root".into(),
            Self::AllowOther => "add the line user_allow_other to /etc/fuse.conf, or leave --allow-other away".into(),
            Self::Denied { .. } => "you need to own the directory; in a container: --cap-add SYS_ADMIN \
                 --security-opt apparmor=unconfined; else look for DENIED in the kernel log (AppArmor, SELinux)"
                .into(),
            Self::Unmount { path, .. } => format!("as root: umount -l '{}'", path.display()),
            Self::Helper { .. } | Self::Kernel { .. } | Self::Start(_) => return None,
        })
    }
}
