//! Children of a directory, written into the kernel's buffers.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

use fuser::{FileType, Generation, ReplyDirectory, ReplyDirectoryPlus};
use musefs_core::{
    Error,
    vfs::{Attributes, Caching, Cookie, ListSink, NodeId, NodeKind, Vfs},
};

use crate::{
    adapter::Held,
    attributes::Ownership,
    inode::{directory_inode, inode},
    trust::Trust,
};

/// Continues behind "." and "..": [`Cookie`]s that no child has.
const BEHIND_SELF: u64 = 1;
const BEHIND_PARENT: u64 = 2;

/// A buffer of the kernel.
pub(crate) trait Listing: ListSink {
    /// Takes "." or "..". False: no room.
    fn link(&mut self, name: &str, directory: &Attributes, behind: u64) -> bool;
}

/// Lists `dir` behind `offset`, "." and ".." first.
pub(crate) fn list(vfs: &dyn Vfs, dir: NodeId, offset: u64, out: &mut dyn Listing) -> Result<(), Error> {
    let itself = directory(vfs, dir)?;
    if offset < BEHIND_SELF && !out.link(".", &itself, BEHIND_SELF) {
        return Ok(());
    }
    if offset < BEHIND_PARENT {
        let parent = directory(vfs, vfs.parent(dir)?)?;
        if !out.link("..", &parent, BEHIND_PARENT) {
            return Ok(());
        }
    }
    let after = if offset <= BEHIND_PARENT { Cookie::default() } else { Cookie(offset) };
    vfs.list(dir, after, out)
}

fn directory(vfs: &dyn Vfs, id: NodeId) -> Result<Attributes, Error> {
    vfs.attributes(crate::inode::node(directory_inode(id)))
}

/// READDIR.
pub(crate) struct Names<'a>(pub(crate) &'a mut ReplyDirectory);

impl ListSink for Names<'_> {
    fn child(&mut self, of: &Attributes, name: &[u8], cookie: Cookie, _: Caching) -> bool {
        let kind = match of.kind {
            NodeKind::Directory => FileType::Directory,
            NodeKind::File => FileType::RegularFile,
        };
        !self.0.add(inode(of.node), cookie.0, kind, OsStr::from_bytes(name))
    }
}

impl Listing for Names<'_> {
    fn link(&mut self, name: &str, directory: &Attributes, behind: u64) -> bool {
        !self.0.add(inode(directory.node), behind, FileType::Directory, name)
    }
}

/// READDIRPLUS: each child that is taken is a look-up, too.
pub(crate) struct Entries<'a> {
    pub(crate) reply: &'a mut ReplyDirectoryPlus,
    pub(crate) ownership: &'a Ownership,
    pub(crate) trust: &'a Trust,
    pub(crate) held: &'a Held,
}

impl ListSink for Entries<'_> {
    fn child(&mut self, of: &Attributes, name: &[u8], cookie: Cookie, caching: Caching) -> bool {
        let name = OsStr::from_bytes(name);
        let attributes = self.ownership.attributes(of);
        let ttl = self.trust.name(caching);
        if self.reply.add(attributes.ino, cookie.0, name, &ttl, &attributes, Generation(0)) {
            return false;
        }
        self.held.looked_up(of.node, caching);
        true
    }
}

impl Listing for Entries<'_> {
    /// The kernel counts no look-up for these two.
    fn link(&mut self, name: &str, directory: &Attributes, behind: u64) -> bool {
        let attributes = self.ownership.attributes(directory);
        let ttl = self.trust.attributes();
        !self.reply.add(attributes.ino, behind, name, &ttl, &attributes, Generation(0))
    }
}
