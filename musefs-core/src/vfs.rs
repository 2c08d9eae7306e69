//! The words that a library and its transports share: nodes, attributes, listings.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::{error::Error, metrics::Metrics};

/// A file or directory of the rendered tree: 53 bits, derived, equal after a restart.
///
/// 1 is the root; 2–15 are reserved. A file: view (6 bits) << 46 | occurrence (8 bits) << 38 | track id
/// (38 bits). A directory or generated file: bit 52 | 52 bits of a hash of view and path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u64);

impl NodeId {
    /// The top of the tree.
    pub const ROOT: Self = Self(1);
    /// Set in ids of directories and generated files.
    pub const DERIVED: u64 = 1 << 52;
    /// Number of bits that an id can use.
    pub const BITS: u32 = 53;
}

/// A track's revision modulo 1024; 0 for directories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Generation(pub u16);

impl Generation {
    /// How many generations are told apart.
    pub const COUNT: u64 = 1024;

    /// The generation of a revision.
    pub fn of(revision: u64) -> Self {
        Self((revision % Self::COUNT) as u16)
    }
}

/// What a handle of a transport names: a node in one of its generations, whose bytes never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node {
    /// Which file or directory.
    pub id: NodeId,
    /// Which of its generations.
    pub generation: Generation,
}

/// A point in time: signed seconds since 1970 and nanoseconds (0–999,999,999) after them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    /// Seconds since 1970-01-01T00:00:00Z, negative before.
    pub secs: i64,
    /// Nanoseconds after `secs`.
    pub nanos: u32,
}

impl Time {
    /// The present.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { secs: i64::try_from(since.as_secs()).unwrap_or(i64::MAX), nanos: since.subsec_nanos() }
    }

    /// Whole milliseconds since 1970.
    pub fn as_ms(self) -> i64 {
        self.secs.saturating_mul(1_000).saturating_add(i64::from(self.nanos / 1_000_000))
    }

    /// The time `ns` nanoseconds after 1970.
    pub fn from_ns(ns: i64) -> Self {
        Self { secs: ns.div_euclid(1_000_000_000), nanos: ns.rem_euclid(1_000_000_000) as u32 }
    }
}

/// Whether a node is listed or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Has children.
    Directory,
    /// Has bytes.
    File,
}

/// What `stat` tells. Owner and mode belong to the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Which node, in which generation.
    pub node: Node,
    /// File or directory.
    pub kind: NodeKind,
    /// Bytes of a file; 0 for a directory.
    pub size: u64,
    /// Modification time, also the change time.
    pub mtime: Time,
    /// 1 for files; 2 + sub-directories for directories.
    pub links: u32,
}

/// How long a transport may believe an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    /// Until it is told of a change.
    UntilTold,
    /// A second: the name is another spelling of the listed one, which pushes do not reach.
    Briefly,
    /// Not at all.
    Never,
}

/// The answer to a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The name exists.
    Found(Attributes, Caching),
    /// It does not.
    Absent(Caching),
}

/// Where in a listing one is: the id of the last child that was listed. 0 is the beginning.
///
/// 1 and 2 are left to transports, for "." and "..": no child has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cookie(pub u64);

/// Takes the children of a directory one by one.
pub trait ListSink {
    /// Takes one child. `cookie` continues behind it. False: no room, this child was not taken.
    fn child(&mut self, attributes: &Attributes, name: &[u8], cookie: Cookie, caching: Caching) -> bool;
}

/// What a transport's caches must drop after a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Names (parent, name) that came, went or mean another inode now.
    pub names: Vec<(NodeId, Box<[u8]>)>,
    /// Directories whose listing or attributes changed.
    pub directories: Vec<NodeId>,
}

/// Totals for `statfs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes of all served files together.
    pub bytes: u64,
    /// Files.
    pub files: u64,
    /// Directories.
    pub directories: u64,
}

/// The disk behind a file: reads of one device must not starve those of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Device(pub u64);

/// A library as a transport sees it. Nothing but [`read`](Self::read) may block.
pub trait Vfs: Send + Sync + 'static {
    /// The child of a directory by its name.
    fn lookup(&self, parent: NodeId, name: &[u8]) -> Result<Lookup, Error>;
    /// What `stat` tells; also of old generations that are still kept.
    fn attributes(&self, node: Node) -> Result<Attributes, Error>;
    /// The directory that a directory is in; the root is in itself.
    fn parent(&self, dir: NodeId) -> Result<NodeId, Error>;
    /// The children of a directory behind `after`, in the order of their cookies.
    fn list(&self, dir: NodeId, after: Cookie, sink: &mut dyn ListSink) -> Result<(), Error>;
    /// The disk that [`read`](Self::read) of this node would ask.
    fn device(&self, node: Node) -> Device;
    /// Bytes of a file that need no disk. None: ask [`read`](Self::read), on a worker.
    fn read_from_memory(&self, node: Node, offset: u64, buffer: &mut [u8]) -> Option<Result<usize, Error>>;
    /// Bytes of a file. Fills the buffer except at the end of the file.
    fn read(&self, node: Node, offset: u64, buffer: &mut [u8]) -> Result<usize, Error>;
    /// The transport's clients no longer know this node: what is kept for them only may go.
    fn forget(&self, node: Node);
    /// Totals for `statfs`.
    fn totals(&self) -> Totals;
    /// All changes from now on, in the order in which they were made.
    fn subscribe(&self) -> crossbeam_channel::Receiver<Changes>;
    /// Everything that a cache could hold, as if it had changed.
    fn everything(&self) -> Changes;
    /// Where requests are counted.
    fn metrics(&self) -> &Metrics;
}
