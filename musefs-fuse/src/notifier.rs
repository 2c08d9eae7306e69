//! Tells the kernel what has changed, from one thread that holds no lock.
//!
//! For a name that came, went or means another inode: `inval_entry`. It does nothing, not even to the
//! cached listing, where the name itself is not cached; so each changed directory also gets
//! `inval_inode`. The latter alone would leave names as they were: both are needed. Never from inside a
//! request: the kernel waits there for locks that a request may hold.

use std::{
    ffi::OsStr,
    io,
    os::unix::ffi::OsStrExt as _,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, at, never, select};
use fuser::{INodeNo, Notifier};
use musefs_core::vfs::{Changes, NodeId, Vfs};

use crate::{inode::directory_inode, limits::OWED_NAMES_MAX, trust::Trust};

/// Between two attempts to push everything after a failure.
const RETRY: Duration = Duration::from_secs(1);

/// The kernel's caches.
pub(crate) trait Caches: Send + 'static {
    /// Drops what a name means.
    fn drop_name(&self, parent: INodeNo, name: &OsStr) -> io::Result<()>;
    /// Drops the listing and attributes of a directory.
    fn drop_listing(&self, dir: INodeNo) -> io::Result<()>;
}

impl Caches for Notifier {
    fn drop_name(&self, parent: INodeNo, name: &OsStr) -> io::Result<()> {
        self.inval_entry(parent, name)
    }

    fn drop_listing(&self, dir: INodeNo) -> io::Result<()> {
        // Offset 0, length 0: everything. Attributes alone (-1) leave the listing.
        self.inval_inode(dir, 0, 0)
    }
}

/// Starts the thread. It ends with the library, with the connection, or when `stop` is dropped.
pub(crate) fn start(
    vfs: Arc<dyn Vfs>,
    caches: impl Caches,
    trust: Arc<Trust>,
    stop: Receiver<()>,
) -> io::Result<thread::JoinHandle<()>> {
    let changes = vfs.subscribe();
    let mut pusher = Pusher { vfs, caches, trust, owed: Owed::default() };
    thread::Builder::new().name("musefs-notify".into()).spawn(move || pusher.run(&changes, &stop, RETRY))
}

struct Pusher<C> {
    vfs: Arc<dyn Vfs>,
    caches: C,
    trust: Arc<Trust>,
    owed: Owed,
}

/// What a failed push left behind.
#[derive(Default)]
struct Owed {
    /// Names that may be gone from the tree, so that "everything" would not reach them.
    names: Vec<(NodeId, Box<[u8]>)>,
    /// When to try again.
    due: Option<Instant>,
}

impl<C: Caches> Pusher<C> {
    fn run(&mut self, changes: &Receiver<Changes>, stop: &Receiver<()>, retry: Duration) {
        loop {
            let due = self.owed.due.map_or_else(never, at);
            let pushed = select! {
                recv(stop) -> _ => return,
                recv(changes) -> change => match change {
                    Ok(change) => self.push_or_owe(change),
                    Err(_) => return,
                },
                recv(due) -> _ => self.push_everything(),
            };
            match pushed {
                Ok(()) => {}
                Err(error) if is_over(&error) => return,
                Err(error) => self.postpone(&error, retry),
            }
        }
    }

    fn push_or_owe(&mut self, change: Changes) -> io::Result<()> {
        let pushed = self.push(&change);
        if pushed.is_err() {
            let room = OWED_NAMES_MAX.saturating_sub(self.owed.names.len());
            self.owed.names.extend(change.names.into_iter().take(room));
        }
        pushed
    }

    /// Makes up for failed pushes: nothing that the kernel keeps is believed any more.
    fn push_everything(&mut self) -> io::Result<()> {
        for (parent, name) in &self.owed.names {
            self.drop_name(*parent, name)?;
        }
        self.push(&self.vfs.everything())?;
        self.owed = Owed::default();
        self.trust.set_pushing_fails(false);
        tracing::info!("the kernel's caches were emptied; changes are pushed again");
        Ok(())
    }

    fn push(&self, change: &Changes) -> io::Result<()> {
        change.names.iter().try_for_each(|(parent, name)| self.drop_name(*parent, name))?;
        change.directories.iter().try_for_each(|dir| gone_is_fine(self.caches.drop_listing(directory_inode(*dir))))
    }

    fn drop_name(&self, parent: NodeId, name: &[u8]) -> io::Result<()> {
        gone_is_fine(self.caches.drop_name(directory_inode(parent), OsStr::from_bytes(name)))
    }

    fn postpone(&mut self, error: &io::Error, retry: Duration) {
        if !self.trust.pushing_fails() {
            tracing::warn!(%error, "telling the kernel of a change failed; until it works names live one second");
        }
        self.trust.set_pushing_fails(true);
        let now = Instant::now();
        self.owed.due = self.owed.due.filter(|due| *due > now).or(Some(now + retry));
    }
}

fn gone_is_fine(pushed: io::Result<()>) -> io::Result<()> {
    match pushed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        pushed => pushed,
    }
}

/// The connection has ended.
fn is_over(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::NODEV.raw_os_error())
}
