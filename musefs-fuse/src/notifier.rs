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
use musefs_core::{
    metrics::Warning,
    vfs::{Changes, NodeId, Vfs},
};

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
        self.vfs.metrics().set_pushing_fails(false);
        tracing::info!("the kernel's caches were emptied; changes are pushed again");
        Ok(())
    }

    /// Listings first: whoever sees a new name by looking for it finds it listed, too.
    fn push(&self, change: &Changes) -> io::Result<()> {
        change.directories.iter().try_for_each(|dir| gone_is_fine(self.caches.drop_listing(directory_inode(*dir))))?;
        change.names.iter().try_for_each(|(parent, name)| self.drop_name(*parent, name))
    }

    fn drop_name(&self, parent: NodeId, name: &[u8]) -> io::Result<()> {
        gone_is_fine(self.caches.drop_name(directory_inode(parent), OsStr::from_bytes(name)))
    }

    fn postpone(&mut self, error: &io::Error, retry: Duration) {
        let what = format_args!("telling the kernel of a change: {error}; until it works names live one second");
        self.vfs.metrics().warn(Warning::Push, what);
        self.vfs.metrics().set_pushing_fails(true);
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use std::sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
    };

    use crossbeam_channel::{Sender, bounded, unbounded};
    use musefs_core::{
        Error,
        metrics::Metrics,
        vfs::{Attributes, Cookie, Device, ListSink, Lookup, Node, Totals},
    };
    use rustix::io::Errno;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    /// A tree of which only "everything" is asked.
    #[derive(Default)]
    struct Tree(Metrics);

    impl Vfs for Tree {
        fn lookup(&self, _: NodeId, _: &[u8]) -> Result<Lookup, Error> {
            Err(Error::NotFound)
        }
        fn attributes(&self, _: Node) -> Result<Attributes, Error> {
            Err(Error::NotFound)
        }
        fn parent(&self, dir: NodeId) -> Result<NodeId, Error> {
            Ok(dir)
        }
        fn list(&self, _: NodeId, _: Cookie, _: &mut dyn ListSink) -> Result<(), Error> {
            Ok(())
        }
        fn device(&self, _: Node) -> Device {
            Device::default()
        }
        fn read_from_memory(&self, _: Node, _: u64, _: &mut [u8]) -> Option<Result<usize, Error>> {
            None
        }
        fn read(&self, _: Node, _: u64, _: &mut [u8]) -> Result<usize, Error> {
            Ok(0)
        }
        fn forget(&self, _: Node) {}
        fn totals(&self) -> Totals {
            Totals::default()
        }
        fn subscribe(&self) -> Receiver<Changes> {
            never()
        }
        fn everything(&self) -> Changes {
            change("everything")
        }
        fn metrics(&self) -> &Metrics {
            &self.0
        }
    }

    /// Writes down what was dropped; fails with `errno` the first `failures` times.
    #[derive(Default)]
    struct Kernel {
        dropped: Mutex<Vec<String>>,
        failures: AtomicU32,
        errno: i32,
    }

    impl Kernel {
        fn drop_it(&self, what: String) -> io::Result<()> {
            if self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
                return Err(io::Error::from_raw_os_error(self.errno));
            }
            self.dropped.lock().unwrap().push(what);
            Ok(())
        }
    }

    impl Caches for Arc<Kernel> {
        fn drop_name(&self, parent: INodeNo, name: &OsStr) -> io::Result<()> {
            self.drop_it(format!("{}/{}", parent.0, name.display()))
        }
        fn drop_listing(&self, dir: INodeNo) -> io::Result<()> {
            self.drop_it(format!("{}/", dir.0))
        }
    }

    fn change(name: &str) -> Changes {
        Changes { names: vec![(NodeId::ROOT, name.as_bytes().into())], directories: vec![NodeId::ROOT] }
    }

    struct Rig {
        kernel: Arc<Kernel>,
        trust: Arc<Trust>,
        changes: Sender<Changes>,
        thread: thread::JoinHandle<()>,
        stop: Sender<()>,
    }

    fn rig(failures: u32, errno: Errno) -> Rig {
        let errno = errno.raw_os_error();
        let kernel = Arc::new(Kernel { failures: failures.into(), errno, ..Kernel::default() });
        let trust = Arc::new(Trust::new(LIMIT));
        let (changes, told) = unbounded();
        let (stop, stopped) = bounded(0);
        let mut pusher = Pusher {
            vfs: Arc::new(Tree::default()),
            caches: Arc::clone(&kernel),
            trust: Arc::clone(&trust),
            owed: Owed::default(),
        };
        let thread = thread::spawn(move || pusher.run(&told, &stopped, Duration::from_millis(1)));
        Rig { kernel, trust, changes, thread, stop }
    }

    impl Rig {
        fn wait(&self, wanted: &[&str]) {
            let end = Instant::now() + LIMIT;
            while *self.kernel.dropped.lock().unwrap() != wanted || self.trust.pushing_fails() {
                assert!(Instant::now() < end, "{:?}", self.kernel.dropped.lock().unwrap());
                thread::yield_now();
            }
        }
    }

    #[test]
    fn changes_are_pushed_in_order() {
        let rig = rig(0, Errno::NOMEM);
        rig.changes.send(change("a")).unwrap();
        rig.changes.send(change("b")).unwrap();
        rig.wait(&["1/", "1/a", "1/", "1/b"]);
        drop(rig.stop);
        rig.thread.join().unwrap();
    }

    #[test]
    fn what_is_not_cached_is_no_failure() {
        let rig = rig(1, Errno::NOENT);
        rig.changes.send(change("a")).unwrap();
        rig.wait(&["1/a"]);
    }

    #[test]
    fn a_failure_is_made_up_for_until_it_works() {
        let rig = rig(3, Errno::NOMEM);
        rig.changes.send(change("gone")).unwrap();
        rig.wait(&["1/gone", "1/", "1/everything"]);
    }

    #[test]
    fn the_thread_ends_with_the_connection_and_with_the_library() {
        let over = rig(1, Errno::NODEV);
        over.changes.send(change("a")).unwrap();
        over.thread.join().unwrap();
        let dropped = rig(0, Errno::NOMEM);
        drop(dropped.changes);
        dropped.thread.join().unwrap();
    }
}
