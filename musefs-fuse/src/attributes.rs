//! Attributes, times and errors in the kernel's words.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{Errno, FileAttr, FileType, INodeNo};
use musefs_core::{
    Error, Kind,
    vfs::{Attributes, NodeKind, Time},
};

use crate::{inode::inode, options::Options};

/// What `statfs` and `stat` call a block; files are read best in pages.
pub(crate) const BLOCK_BYTES: u32 = 4096;

const WRITE_BITS: u16 = 0o222;

/// Owner and permissions, the same for all nodes of a mount.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ownership {
    owner: u32,
    group: u32,
    file_mode: u16,
    dir_mode: u16,
}

impl From<&Options> for Ownership {
    fn from(options: &Options) -> Self {
        let mode = |mode: u16| mode & 0o7777 & !WRITE_BITS;
        Self {
            owner: options.owner,
            group: options.group,
            file_mode: mode(options.file_mode),
            dir_mode: mode(options.dir_mode),
        }
    }
}

impl Ownership {
    /// The attributes of a node for the kernel.
    pub(crate) fn attributes(&self, of: &Attributes) -> FileAttr {
        let (kind, perm) = match of.kind {
            NodeKind::Directory => (FileType::Directory, self.dir_mode),
            NodeKind::File => (FileType::RegularFile, self.file_mode),
        };
        let time = system_time(of.mtime);
        FileAttr {
            ino: inode(of.node),
            size: of.size,
            blocks: of.size.div_ceil(512),
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind,
            perm,
            nlink: of.links,
            uid: self.owner,
            gid: self.group,
            rdev: 0,
            blksize: BLOCK_BYTES,
            flags: 0,
        }
    }

    /// What the kernel is told for a name that it may remember as absent: inode 0.
    pub(crate) fn absent(&self) -> FileAttr {
        FileAttr {
            ino: INodeNo(0),
            size: 0,
            blocks: 0,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: FileType::RegularFile,
            perm: 0,
            nlink: 0,
            uid: self.owner,
            gid: self.group,
            rdev: 0,
            blksize: BLOCK_BYTES,
            flags: 0,
        }
    }
}

/// The errno of an answer that could not be given.
pub(crate) fn errno(error: &Error) -> Errno {
    match error.kind() {
        Kind::NotFound => Errno::ENOENT,
        Kind::NotADirectory => Errno::ENOTDIR,
        Kind::IsADirectory => Errno::EISDIR,
        Kind::Stale => stale(),
        Kind::Io => Errno::EIO,
    }
}

/// The same for requests that name an inode: one that is no longer there is stale, a name is not in question.
pub(crate) fn inode_errno(error: &Error) -> Errno {
    match error.kind() {
        Kind::NotFound => stale(),
        _ => errno(error),
    }
}

fn stale() -> Errno {
    Errno::from_i32(rustix::io::Errno::STALE.raw_os_error())
}

fn system_time(time: Time) -> SystemTime {
    let whole = Duration::from_secs(time.secs.unsigned_abs());
    let seconds = if time.secs < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
    seconds.and_then(|seconds| seconds.checked_add(Duration::from_nanos(time.nanos.into()))).unwrap_or(UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use musefs_core::vfs::{Generation, Node, NodeId};

    use super::*;

    fn file(mtime: Time) -> Attributes {
        let node = Node { id: NodeId(16), generation: Generation(2) };
        Attributes { node, kind: NodeKind::File, size: 513, mtime, links: 1 }
    }

    #[test]
    fn write_bits_are_never_shown() {
        let options = Options { file_mode: 0o640, dir_mode: 0o777, owner: 7, group: 8, ..Options::default() };
        let ownership = Ownership::from(&options);
        let shown = ownership.attributes(&file(Time::default()));
        assert_eq!((shown.perm, shown.uid, shown.gid, shown.blocks), (0o440, 7, 8, 2));
        assert_eq!(shown.ino.0, (2 << 53) + 16);
        let directory = Attributes { kind: NodeKind::Directory, ..file(Time::default()) };
        assert_eq!(ownership.attributes(&directory).perm, 0o555);
    }

    #[test]
    fn times_of_any_year() {
        let of = |secs, nanos| system_time(Time { secs, nanos });
        assert_eq!(of(0, 0), UNIX_EPOCH);
        assert_eq!(of(5, 7), UNIX_EPOCH + Duration::new(5, 7));
        assert_eq!(of(-1, 999_999_999), UNIX_EPOCH - Duration::from_nanos(1));
        assert_eq!(of(-62_135_596_800, 0), UNIX_EPOCH - Duration::from_secs(62_135_596_800));
        assert!(of(i64::MAX, 999_999_999) >= UNIX_EPOCH);
        assert!(of(i64::MIN, 0) <= UNIX_EPOCH);
    }

    #[test]
    fn a_missing_name_and_a_missing_inode_differ() {
        assert_eq!(errno(&Error::NotFound).code(), Errno::ENOENT.code());
        assert_eq!(inode_errno(&Error::NotFound).code(), 116);
        assert_eq!(inode_errno(&Error::Deadline).code(), Errno::EIO.code());
    }
}
