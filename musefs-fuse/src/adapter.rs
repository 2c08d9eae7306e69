//! The kernel's requests, answered from a library.
//!
//! Metadata is answered on the thread that received the request: it is in memory. Reads of sources are
//! handed to workers. A panic stays within its request, whose reply is dropped and so becomes EIO.
//! Nothing is kept per open file or directory: nobody is told of opens.

use std::{
    cell::RefCell,
    collections::HashMap,
    ffi::OsStr,
    io,
    os::unix::ffi::OsStrExt as _,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use fuser::{
    AccessFlags, BsdFileFlags, CopyFileRangeFlags, Errno, FileHandle, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, IoctlFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry, ReplyIoctl, ReplyLseek, ReplyOpen, ReplyPoll,
    ReplyStatfs, ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use musefs_core::{
    Error,
    metrics::{Op, Outcome, Warning},
    vfs::{Caching, Lookup, Node, NodeKind, Vfs},
    workers::{self, Pool, Stats},
};

use crate::{
    attributes::{BLOCK_BYTES, Ownership, errno, inode_errno},
    inode::node,
    limits::{BACKGROUND_MAX, NAME_BYTES_MAX, READ_BYTES_MAX},
    listing::{self, Entries, Names},
    options::Options,
    reads::{Read, Reads},
    trust::Trust,
};

/// Wanted of the kernel beside fuser's own; asked for one by one, as an old kernel lacks some.
const CAPABILITIES: [InitFlags; 5] = [
    InitFlags::FUSE_PARALLEL_DIROPS,
    InitFlags::FUSE_DO_READDIRPLUS,
    InitFlags::FUSE_READDIRPLUS_AUTO,
    InitFlags::FUSE_AUTO_INVAL_DATA,
    // Node ids need no table, so an inode that the kernel has forgotten can be had again by its number.
    InitFlags::FUSE_EXPORT_SUPPORT,
];

thread_local! {
    /// For bytes that need no worker.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Look-ups that the kernel holds of nodes whose name is never kept: each is a snapshot of its own that
/// lives until it is forgotten. Other nodes need no count.
#[derive(Debug, Default)]
pub(crate) struct Held(Mutex<HashMap<Node, u64>>);

impl Held {
    /// Counts a look-up that is answered, where that matters.
    pub(crate) fn looked_up(&self, node: Node, caching: Caching) {
        if caching == Caching::Never {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(node).or_default() += 1;
        }
    }

    /// Takes back look-ups. True: none is left, or the node was never counted.
    fn forget(&self, node: Node, count: u64) -> bool {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(left) = held.get_mut(&node) else { return true };
        *left = left.saturating_sub(count);
        if *left > 0 {
            return false;
        }
        held.remove(&node);
        true
    }
}

/// A library in the words of the kernel.
pub(crate) struct Adapter {
    vfs: Arc<dyn Vfs>,
    reads: Arc<Pool<Reads>>,
    ownership: Ownership,
    trust: Arc<Trust>,
    held: Held,
    keep_cache: bool,
    /// The kernel stops asking when OPEN, or OPENDIR, is answered ENOSYS.
    silent_open: bool,
    silent_opendir: bool,
}

impl Adapter {
    /// Starts the workers. Fails when threads cannot be made.
    pub(crate) fn new(vfs: Arc<dyn Vfs>, trust: Arc<Trust>, options: &Options) -> io::Result<Self> {
        let pool = workers::Options {
            workers: options.workers,
            deadline: options.deadline,
            buffer_bytes: READ_BYTES_MAX as usize,
        };
        let reads = Arc::new(Pool::start(Reads(Arc::clone(&vfs)), pool)?);
        // Weakly: the workers hold the library.
        let workers = Arc::downgrade(&reads);
        vfs.metrics().watch_workers(move || workers.upgrade().map_or_else(Stats::default, |pool| pool.stats()));
        Ok(Self {
            vfs,
            reads,
            ownership: Ownership::from(options),
            trust,
            held: Held::default(),
            keep_cache: options.keep_cache,
            silent_open: false,
            silent_opendir: false,
        })
    }

    /// The workers.
    pub(crate) fn reads(&self) -> &Arc<Pool<Reads>> {
        &self.reads
    }

    /// Answers a request: the boundary of a panic, as `answer` owns the reply, which says EIO when it is
    /// dropped. None: it was handed to a worker, who counts it.
    fn bounded(&self, op: Op, answer: impl FnOnce() -> Option<Outcome>) {
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|_| {
            let what = format_args!("a fault of musefs in a request ({op:?}); it was answered with EIO");
            self.vfs.metrics().warn(Warning::Request, what);
            Some(Outcome::Failed)
        });
        if let Some(outcome) = outcome {
            self.vfs.metrics().request(op, outcome, start.elapsed());
        }
    }

    /// The answer to everything that writes.
    fn read_only(&self) -> Errno {
        self.vfs.metrics().request(Op::Write, Outcome::Refused, Duration::ZERO);
        Errno::EROFS
    }

    /// The answer that the kernel remembers, so that it asks once.
    fn not_here(&self, op: Op) -> Errno {
        self.vfs.metrics().request(op, Outcome::Refused, Duration::ZERO);
        Errno::ENOSYS
    }

    fn answer_lookup(&self, parent: INodeNo, name: &OsStr, reply: ReplyEntry) -> Outcome {
        // The kernel's own limit for FUSE is 1024: up to that it leaves the answer to us.
        if name.len() > NAME_BYTES_MAX as usize {
            reply.error(Errno::ENAMETOOLONG);
            return Outcome::Absent;
        }
        match self.find(node(parent), name.as_bytes()) {
            Ok(Lookup::Found(attributes, caching)) => {
                self.held.looked_up(attributes.node, caching);
                let (names, attrs) = (self.trust.name(caching), self.trust.attributes());
                let attributes = self.ownership.attributes(&attributes);
                reply.entry_with_ttls(&attrs, &names, &attributes, Generation(0));
                Outcome::Ok
            }
            Ok(Lookup::Absent(caching)) => {
                match self.trust.name(caching) {
                    Duration::ZERO => reply.error(Errno::ENOENT),
                    ttl => reply.entry_with_ttls(&ttl, &ttl, &self.ownership.absent(), Generation(0)),
                }
                Outcome::Absent
            }
            Err(error) => {
                reply.error(errno(&error));
                Outcome::of(&error)
            }
        }
    }

    /// "." and ".." are asked for by those who hold a file handle (`open_by_handle_at`, an NFS server).
    fn find(&self, parent: Node, name: &[u8]) -> Result<Lookup, Error> {
        let found = match name {
            b"." => parent,
            b".." => Node { id: self.vfs.parent(parent.id)?, generation: musefs_core::vfs::Generation(0) },
            _ => return self.vfs.lookup(parent.id, name),
        };
        self.vfs.attributes(found).map(|attributes| Lookup::Found(attributes, Caching::UntilTold))
    }

    fn answer_getattr(&self, inode: INodeNo, reply: ReplyAttr) -> Outcome {
        match self.vfs.attributes(node(inode)) {
            Ok(attributes) => {
                reply.attr(&self.trust.attributes(), &self.ownership.attributes(&attributes));
                Outcome::Ok
            }
            Err(error) => {
                reply.error(inode_errno(&error));
                Outcome::of(&error)
            }
        }
    }

    fn answer_read(&self, inode: INodeNo, offset: u64, size: u32, reply: ReplyData) -> Option<Outcome> {
        match self.clip(node(inode), offset, size) {
            Err(error) => {
                reply.error(inode_errno(&error));
                Some(Outcome::of(&error))
            }
            Ok(Read { len: 0, .. }) => {
                reply.data(&[]);
                Some(Outcome::Ok)
            }
            Ok(read) => BUFFER.with_borrow_mut(|buffer| {
                buffer.resize(buffer.len().max(read.len), 0);
                match self.vfs.read_from_memory(read.node, read.offset, &mut buffer[..read.len]) {
                    Some(outcome) => Some(read.answer(reply, outcome.map(|len| &buffer[..len.min(read.len)]))),
                    None => {
                        self.reads.submit(self.vfs.device(read.node), read, reply);
                        None
                    }
                }
            }),
        }
    }

    /// The part of a READ that lies within the file.
    fn clip(&self, node: Node, offset: u64, size: u32) -> Result<Read, Error> {
        let attributes = self.vfs.attributes(node)?;
        if attributes.kind == NodeKind::Directory {
            return Err(Error::IsADirectory);
        }
        let left = attributes.size.saturating_sub(offset);
        let len = left.min(size.min(READ_BYTES_MAX).into()) as usize;
        Ok(Read { node, offset, len, asked: Instant::now() })
    }

    fn answer_statfs(&self, reply: ReplyStatfs) -> Outcome {
        let totals = self.vfs.totals();
        let blocks = totals.bytes.div_ceil(BLOCK_BYTES.into());
        let nodes = totals.files + totals.directories;
        reply.statfs(blocks, 0, 0, nodes, 0, BLOCK_BYTES, NAME_BYTES_MAX, BLOCK_BYTES);
        Outcome::Ok
    }

    fn forget_node(&self, inode: INodeNo, count: u64) {
        let node = node(inode);
        if self.held.forget(node, count) {
            self.vfs.forget(node);
        }
    }

    fn opened(&self, op: Op, silent: bool, flags: FopenFlags, reply: ReplyOpen) {
        if silent {
            return reply.error(self.not_here(op));
        }
        self.bounded(op, || {
            reply.opened(FileHandle(0), flags);
            Some(Outcome::Ok)
        });
    }
}

impl Filesystem for Adapter {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        for capability in CAPABILITIES {
            if config.add_capabilities(capability).is_err() {
                tracing::debug!(?capability, "the kernel does not offer it");
            }
        }
        self.silent_open = self.keep_cache && config.add_capabilities(InitFlags::FUSE_NO_OPEN_SUPPORT).is_ok();
        self.silent_opendir = config.add_capabilities(InitFlags::FUSE_NO_OPENDIR_SUPPORT).is_ok();
        // Neither can fail: both lie within fuser's bounds. The first also sets the size of READs.
        let _ = config.set_max_write(READ_BYTES_MAX);
        let _ = config.set_max_background(BACKGROUND_MAX);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.bounded(Op::Lookup, || Some(self.answer_lookup(parent, name, reply)));
    }

    fn forget(&self, _: &Request, inode: INodeNo, count: u64) {
        // Nobody waits for an answer, so there is nothing to count.
        if catch_unwind(AssertUnwindSafe(|| self.forget_node(inode, count))).is_err() {
            tracing::error!(inode = inode.0, "a fault of musefs while forgetting");
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        self.bounded(Op::Attributes, || Some(self.answer_getattr(inode, reply)));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let keep = if self.keep_cache { FopenFlags::FOPEN_KEEP_CACHE } else { FopenFlags::empty() };
        self.opened(Op::Open, self.silent_open, keep | FopenFlags::FOPEN_NOFLUSH, reply);
    }

    fn read(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.bounded(Op::Read, || self.answer_read(inode, offset, size, reply));
    }

    fn opendir(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let flags = FopenFlags::FOPEN_KEEP_CACHE | FopenFlags::FOPEN_CACHE_DIR;
        self.opened(Op::Open, self.silent_opendir, flags, reply);
    }

    fn readdir(&self, _: &Request, dir: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        self.bounded(Op::List, || match listing::list(&*self.vfs, node(dir).id, offset, &mut Names(&mut reply)) {
            Ok(()) => {
                reply.ok();
                Some(Outcome::Ok)
            }
            Err(error) => {
                reply.error(inode_errno(&error));
                Some(Outcome::of(&error))
            }
        });
    }

    fn readdirplus(&self, _: &Request, dir: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectoryPlus) {
        self.bounded(Op::List, || {
            let mut entries =
                Entries { reply: &mut reply, ownership: &self.ownership, trust: &self.trust, held: &self.held };
            match listing::list(&*self.vfs, node(dir).id, offset, &mut entries) {
                Ok(()) => {
                    reply.ok();
                    Some(Outcome::Ok)
                }
                Err(error) => {
                    reply.error(inode_errno(&error));
                    Some(Outcome::of(&error))
                }
            }
        });
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        self.bounded(Op::Statfs, || Some(self.answer_statfs(reply)));
    }

    // What the kernel remembers after one ENOSYS and then does, or refuses, without asking. Extended
    // attributes become EOPNOTSUPP, which `ls`, `cp -a`, `rsync -X` and Samba take for "has none":
    // ENODATA would be asked for again for each file of each `ls -l`.

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.error(self.not_here(Op::Other));
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.error(self.not_here(Op::Other));
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.error(self.not_here(Op::Other));
    }

    fn getxattr(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, reply: ReplyXattr) {
        reply.error(self.not_here(Op::Xattr));
    }

    fn listxattr(&self, _: &Request, _: INodeNo, _: u32, reply: ReplyXattr) {
        reply.error(self.not_here(Op::Xattr));
    }

    fn lseek(&self, _: &Request, _: INodeNo, _: FileHandle, _: i64, _: i32, reply: ReplyLseek) {
        reply.error(self.not_here(Op::Other));
    }

    fn poll(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: fuser::PollNotifier,
        _: fuser::PollEvents,
        _: fuser::PollFlags,
        reply: ReplyPoll,
    ) {
        reply.error(self.not_here(Op::Other));
    }

    // What has another answer for every file.

    fn access(&self, _: &Request, _: INodeNo, _: AccessFlags, reply: ReplyEmpty) {
        // Only asked without `default_permissions`, which is always set.
        reply.ok();
    }

    fn readlink(&self, _: &Request, _: INodeNo, reply: ReplyData) {
        reply.error(Errno::EINVAL);
    }

    fn ioctl(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: IoctlFlags,
        _: u32,
        _: &[u8],
        _: u32,
        reply: ReplyIoctl,
    ) {
        // Python's open() asks each time whether it has a terminal before it.
        self.vfs.metrics().request(Op::Other, Outcome::Refused, Duration::ZERO);
        reply.error(Errno::ENOTTY);
    }

    // Writing. The kernel refuses it on a read-only mount; root can remount it read-write.

    fn setattr(
        &self,
        _: &Request,
        _: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        reply.error(self.read_only());
    }

    fn mknod(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, _: u32, reply: ReplyEntry) {
        reply.error(self.read_only());
    }

    fn mkdir(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, reply: ReplyEntry) {
        reply.error(self.read_only());
    }

    fn create(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, _: i32, reply: ReplyCreate) {
        reply.error(self.read_only());
    }

    fn symlink(&self, _: &Request, _: INodeNo, _: &OsStr, _: &Path, reply: ReplyEntry) {
        reply.error(self.read_only());
    }

    fn link(&self, _: &Request, _: INodeNo, _: INodeNo, _: &OsStr, reply: ReplyEntry) {
        reply.error(self.read_only());
    }

    fn unlink(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        reply.error(self.read_only());
    }

    fn rmdir(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        reply.error(self.read_only());
    }

    fn rename(&self, _: &Request, _: INodeNo, _: &OsStr, _: INodeNo, _: &OsStr, _: RenameFlags, reply: ReplyEmpty) {
        reply.error(self.read_only());
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: u64,
        _: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        reply.error(self.read_only());
    }

    fn fallocate(&self, _: &Request, _: INodeNo, _: FileHandle, _: u64, _: u64, _: i32, reply: ReplyEmpty) {
        reply.error(self.read_only());
    }

    fn copy_file_range(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: u64,
        _: INodeNo,
        _: FileHandle,
        _: u64,
        _: u64,
        _: CopyFileRangeFlags,
        reply: ReplyWrite,
    ) {
        reply.error(self.read_only());
    }

    fn setxattr(&self, _: &Request, _: INodeNo, _: &OsStr, _: &[u8], _: i32, _: u32, reply: ReplyEmpty) {
        reply.error(self.read_only());
    }

    fn removexattr(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        reply.error(self.read_only());
    }
}
