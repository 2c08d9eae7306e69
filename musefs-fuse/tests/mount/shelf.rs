//! A small library in memory whose files can be changed, blocked and broken, and a mount of it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, Sender, unbounded};
use musefs_core::{
    Error,
    metrics::Metrics,
    vfs::{
        Attributes, Caching, Changes, Cookie, Device, Generation, ListSink, Lookup, Node, NodeId, NodeKind, Time,
        Totals, Vfs,
    },
};
use musefs_fuse::{Mounted, Options};

/// How long a test waits for what must come.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// The only directory below the root.
pub(crate) const ALBUM: NodeId = NodeId(NodeId::DERIVED | 7);

/// How a file behaves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behaviour {
    /// As it should.
    Good,
    /// Its reads wait until the shelf is released.
    Stuck,
    /// Reads return one byte too few.
    Shrunk,
    /// Reads panic.
    Panics,
}

/// One generation of a file.
#[derive(Clone)]
pub(crate) struct Book {
    pub(crate) bytes: Arc<Vec<u8>>,
    pub(crate) behaviour: Behaviour,
}

#[derive(Default)]
struct State {
    /// Names in [`ALBUM`], and which generation of which file they mean.
    names: BTreeMap<String, Node>,
    /// All generations that are served.
    books: BTreeMap<Node, Book>,
    /// Seconds: every change moves the directory's time.
    version: i64,
    released: bool,
    followers: Vec<Sender<Changes>>,
}

/// The library. Counts what it is asked.
#[derive(Default)]
pub(crate) struct Shelf {
    state: Mutex<State>,
    release: Condvar,
    pub(crate) lookups: AtomicU64,
    pub(crate) attributes: AtomicU64,
    pub(crate) lists: AtomicU64,
    pub(crate) reads: AtomicU64,
    pub(crate) forgotten: Mutex<Vec<Node>>,
    metrics: Metrics,
}

impl Shelf {
    /// Puts a file, as a new generation when the name exists, and tells followers.
    pub(crate) fn put(&self, name: &str, id: u64, bytes: &[u8]) -> Node {
        self.put_behaving(name, id, bytes, Behaviour::Good)
    }

    pub(crate) fn put_behaving(&self, name: &str, id: u64, bytes: &[u8], behaviour: Behaviour) -> Node {
        let mut state = self.state();
        let last = state.books.keys().filter(|node| node.id == NodeId(id)).map(|node| node.generation.0 + 1).max();
        let node = Node { id: NodeId(id), generation: Generation(last.unwrap_or(0)) };
        state.books.insert(node, Book { bytes: Arc::new(bytes.to_vec()), behaviour });
        state.names.insert(name.into(), node);
        Self::tell(&mut state, name);
        node
    }

    pub(crate) fn remove(&self, name: &str) {
        let mut state = self.state();
        state.names.remove(name);
        Self::tell(&mut state, name);
    }

    /// Lets stuck reads go on.
    pub(crate) fn release(&self) {
        self.state().released = true;
        self.release.notify_all();
    }

    /// Requests so far.
    pub(crate) fn asked(&self) -> u64 {
        [&self.lookups, &self.attributes, &self.lists, &self.reads]
            .iter()
            .map(|counter| counter.load(Ordering::SeqCst))
            .sum()
    }

    fn tell(state: &mut State, name: &str) {
        state.version += 1;
        let changes = Changes { names: vec![(ALBUM, name.as_bytes().into())], directories: vec![ALBUM, NodeId::ROOT] };
        state.followers.retain(|follower| follower.send(changes.clone()).is_ok());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panics with the shelf locked")
    }

    fn of(state: &State, node: Node) -> Result<Attributes, Error> {
        let directory = |links| Attributes {
            node,
            kind: NodeKind::Directory,
            size: 0,
            mtime: Time { secs: state.version, nanos: 0 },
            links,
        };
        match node.id {
            NodeId::ROOT => Ok(directory(3)),
            ALBUM => Ok(directory(2)),
            _ => {
                let book = state.books.get(&node).ok_or(Error::NotFound)?;
                let size = book.bytes.len() as u64;
                Ok(Attributes { node, kind: NodeKind::File, size, mtime: Time { secs: 5, nanos: 7 }, links: 1 })
            }
        }
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::SeqCst);
}

const ALBUM_NODE: Node = Node { id: ALBUM, generation: Generation(0) };

impl Vfs for Shelf {
    fn lookup(&self, parent: NodeId, name: &[u8]) -> Result<Lookup, Error> {
        count(&self.lookups);
        assert_ne!(name, b"panic", "on purpose");
        let state = self.state();
        let found = match (parent, name) {
            (NodeId::ROOT, b"album") => Some(ALBUM_NODE),
            (ALBUM, name) => std::str::from_utf8(name).ok().and_then(|name| state.names.get(name).copied()),
            _ => None,
        };
        match found {
            None => Ok(Lookup::Absent(Caching::UntilTold)),
            Some(node) => Ok(Lookup::Found(Self::of(&state, node)?, caching(name))),
        }
    }

    fn attributes(&self, node: Node) -> Result<Attributes, Error> {
        count(&self.attributes);
        Self::of(&self.state(), node)
    }

    fn parent(&self, _: NodeId) -> Result<NodeId, Error> {
        Ok(NodeId::ROOT)
    }

    fn list(&self, dir: NodeId, after: Cookie, sink: &mut dyn ListSink) -> Result<(), Error> {
        count(&self.lists);
        let state = self.state();
        let mut children: Vec<_> = match dir {
            NodeId::ROOT => vec![("album".to_owned(), ALBUM_NODE)],
            _ => state.names.iter().map(|(name, node)| (name.clone(), *node)).collect(),
        };
        children.sort_by_key(|(_, node)| node.id);
        // Cookies as small as they can be: 1 and 2 are not for children.
        let cookie = |node: Node| Cookie(if node.id == ALBUM { 3 } else { node.id.0 - 13 });
        for (name, node) in children.iter().filter(|(_, node)| cookie(*node) > after) {
            let attributes = Self::of(&state, *node)?;
            if !sink.child(&attributes, name.as_bytes(), cookie(*node), caching(name.as_bytes())) {
                break;
            }
        }
        Ok(())
    }

    fn device(&self, node: Node) -> Device {
        Device(self.state().books.get(&node).map_or(0, |book| u64::from(book.behaviour == Behaviour::Stuck)))
    }

    fn read_from_memory(&self, node: Node, offset: u64, buffer: &mut [u8]) -> Option<Result<usize, Error>> {
        // Only what is named as generated needs no disk.
        let generated = self.state().names.get("generated") == Some(&node);
        generated.then(|| self.read(node, offset, buffer))
    }

    fn read(&self, node: Node, offset: u64, buffer: &mut [u8]) -> Result<usize, Error> {
        count(&self.reads);
        let book = self.state().books.get(&node).cloned().ok_or(Error::Stale)?;
        match book.behaviour {
            Behaviour::Good => {}
            Behaviour::Shrunk => return Ok(buffer.len() - 1),
            Behaviour::Panics => panic!("on purpose"),
            Behaviour::Stuck => drop(self.release.wait_while(self.state(), |state| !state.released)),
        }
        let from = offset as usize;
        buffer.copy_from_slice(&book.bytes[from..from + buffer.len()]);
        Ok(buffer.len())
    }

    fn forget(&self, node: Node) {
        self.forgotten.lock().expect("not poisoned").push(node);
    }

    fn totals(&self) -> Totals {
        Totals { bytes: 40_961, files: 10, directories: 2 }
    }

    fn subscribe(&self) -> Receiver<Changes> {
        let (follower, changes) = unbounded();
        self.state().followers.push(follower);
        changes
    }

    fn everything(&self) -> Changes {
        let names = self.state().names.keys().map(|name| (ALBUM, name.as_bytes().into())).collect();
        Changes { names, directories: vec![NodeId::ROOT, ALBUM] }
    }

    fn metrics(&self) -> &Metrics {
        &self.metrics
    }
}

fn caching(name: &[u8]) -> Caching {
    if name == b"generated" { Caching::Never } else { Caching::UntilTold }
}

/// A mounted shelf. Ends the mount when dropped, also by a failed test.
pub(crate) struct Rig {
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) mounted: Mounted,
    // Behind the mount: the directory is removed when nothing is mounted there any more.
    dir: tempfile::TempDir,
}

impl Rig {
    /// None, with a printed reason, where this machine has no FUSE.
    pub(crate) fn mount(options: &Options) -> Option<Self> {
        Self::mount_with(options, |_| {})
    }

    /// The same with more on the shelf from the beginning, of which the kernel is not told.
    pub(crate) fn mount_with(options: &Options, prepare: impl FnOnce(&Shelf)) -> Option<Self> {
        if !Path::new("/dev/fuse").exists() {
            assert!(std::env::var_os("CI").is_none(), "no /dev/fuse on a machine that is to test everything");
            eprintln!("skipped: there is no /dev/fuse here");
            return None;
        }
        let dir = tempfile::tempdir().expect("a temporary directory can be made");
        let shelf = Arc::new(Shelf::default());
        shelf.put("one.flac", 16, &pattern(300_000, 1));
        shelf.put("two.mp3", 17, &pattern(10, 2));
        prepare(&shelf);
        let vfs: Arc<dyn Vfs> = Arc::<Shelf>::clone(&shelf);
        let mounted = Mounted::start(vfs, dir.path(), options).expect("mounting works here");
        // Without root the mount's root admits nobody until the kernel has its attributes, which a change
        // in that moment would prevent.
        std::fs::metadata(dir.path()).expect("the root can be seen");
        Some(Self { shelf, mounted, dir })
    }

    /// The mount point.
    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    /// A path in the album.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("album").join(name)
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.shelf.release();
    }
}

/// Bytes that tell where they are from.
pub(crate) fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 + at / 251 + seed * 13) as u8).collect()
}

/// Waits for a condition.
pub(crate) fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let end = Instant::now() + LIMIT;
    while !condition() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        std::thread::yield_now();
    }
}
