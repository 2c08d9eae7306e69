//! A catalogue as a tree of files: names and attributes from memory, bytes from splices and sources.
//!
//! One [`Library`] serves any number of transports, which see it as a [`Vfs`]. The tree lives behind a
//! lock that is held for memory look-ups only; [`Follower`] keeps it true to the catalogue.

mod departures;
mod devices;
mod fields;
mod follow;
mod generated;
mod measure;
mod past;
mod place;
mod read;
mod render;

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, Sender, bounded};
use musefs_db::{Catalog, Sequence, Which};

pub use fields::RowFields;
pub use follow::Follower;
pub use place::place;
pub use render::{Mode, View, splice};

use self::{
    devices::Devices,
    follow::Update,
    generated::{Generated, is_generated},
    past::Past,
    render::RenderedFile,
};
use crate::{
    Error,
    limits::CHANGES_QUEUE_MAX,
    metrics::{Metrics, Refresh, TRACK_STATES, files::DIRECTORY_ID},
    reading::{HeaderCache, ReadAhead, SourceCache},
    tree::{Tree, TreeBuilder, TreeOptions},
    vfs::{Attributes, Changes, Cookie, Device, ListSink, Lookup, Node, NodeId, NodeKind, Time, Totals, Vfs},
};

/// How a library is opened.
#[derive(Debug)]
pub struct LibraryOptions {
    /// What the tree shows.
    pub view: View,
    /// Whether names that differ only in case are one.
    pub fold_case: bool,
    /// Bytes that all read-ahead windows share; 0 turns them off.
    pub read_ahead_budget_bytes: usize,
    /// How often the catalogue is looked at when nothing tells of a change.
    pub poll_interval: Duration,
    /// Whether the tree has a directory with the library's metrics.
    pub expose_metrics: bool,
    /// Where the times of directories that something left outlive the mount; `None` forgets them.
    pub state_directory: Option<PathBuf>,
}

/// A served catalogue.
pub struct Library {
    catalog: Catalog,
    view: View,
    poll_interval: Duration,
    tree: RwLock<Tree>,
    past: Mutex<Past>,
    devices: Devices,
    departures_file: Option<PathBuf>,
    /// Up to which change the tree is true.
    sequence: AtomicI64,
    /// Locked for the whole of a refresh: one at a time.
    refreshing: Mutex<()>,
    listeners: Mutex<Vec<Sender<Changes>>>,
    sources: SourceCache,
    headers: HeaderCache,
    read_ahead: ReadAhead,
    metrics: Metrics,
    /// Present when the metrics are exposed.
    generated: Option<Generated>,
    tracks_by_state: Mutex<[u64; TRACK_STATES.len()]>,
}

impl Library {
    /// Renders the whole catalogue.
    ///
    /// # Errors
    /// Those of reading the catalogue.
    pub fn open(catalog: Catalog, options: LibraryOptions) -> Result<Arc<Self>, Error> {
        let departures_file = options.state_directory.map(|state| state.join(format!("departures-{}", catalog.uuid())));
        let departures = departures_file.as_deref().map(departures::load).unwrap_or_default();
        let devices = Devices::default();
        let mut builder = TreeBuilder::new(TreeOptions::new(options.fold_case));
        let sequence = catalog.read(|reader| {
            follow::visit_rendered(reader, &options.view, &devices, Which::All, &mut |_, file| {
                if let Some(file) = file {
                    builder.file(&file.borrow());
                }
            })?;
            reader.sequence()
        })?;
        let library = Arc::new(Self {
            catalog,
            view: options.view,
            poll_interval: options.poll_interval,
            tree: RwLock::new(builder.finish(&departures)),
            past: Mutex::default(),
            devices,
            departures_file,
            sequence: AtomicI64::new(sequence.0),
            refreshing: Mutex::default(),
            listeners: Mutex::default(),
            sources: SourceCache::new(),
            headers: HeaderCache::new(),
            read_ahead: ReadAhead::new(options.read_ahead_budget_bytes),
            metrics: Metrics::new(),
            generated: options.expose_metrics.then(|| Generated::new(Time::now())),
            tracks_by_state: Mutex::default(),
        });
        library.count_tracks();
        Ok(library)
    }

    /// Takes in what changed in the catalogue since the last time; whether anything did.
    ///
    /// # Errors
    /// Those of reading the catalogue; the tree stays as it was.
    pub fn refresh(&self) -> Result<bool, Error> {
        let refreshing = lock(&self.refreshing);
        let started = Instant::now();
        let update = Update::since(&self.catalog, &self.view, &self.devices, self.sequence());
        let update = update.inspect_err(|_| self.metrics.refreshed(Refresh::Failed, started.elapsed()))?;
        if update.sequence == self.sequence() {
            return Ok(false);
        }
        let changes = self.apply(&update);
        self.sequence.store(update.sequence.0, Ordering::Release);
        self.publish(&changes);
        self.metrics.refreshed(
            if changes == Changes::default() { Refresh::Unchanged } else { Refresh::Changed },
            started.elapsed(),
        );
        drop(refreshing);
        self.count_tracks();
        if !changes.directories.is_empty() {
            self.save_departures();
        }
        Ok(true)
    }

    /// The rendered tree, for those who only look.
    pub fn tree(&self) -> RwLockReadGuard<'_, Tree> {
        self.tree.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn sequence(&self) -> Sequence {
        Sequence(self.sequence.load(Ordering::Acquire))
    }

    fn apply(&self, update: &Update) -> Changes {
        let mut tree = self.tree.write().unwrap_or_else(PoisonError::into_inner);
        self.keep_past(&tree, update);
        tree.apply(update.files.iter().map(RenderedFile::borrow), update.gone.iter().copied(), Time::now().as_ms())
    }

    /// Remembers the generations that `update` is about to replace.
    fn keep_past(&self, tree: &Tree, update: &Update) {
        let mut past = lock(&self.past);
        for (file, node) in
            update.files.iter().flat_map(|file| tree.nodes_of(file.track()).map(move |node| (file, node)))
        {
            let current = Node { id: node, generation: file.generation() };
            if let Some(attributes) = tree.attributes(node).filter(|attributes| attributes.node != current) {
                past.keep(attributes);
            }
            past.forget(current);
        }
        let gone = update.gone.iter().flat_map(|track| tree.nodes_of(*track)).filter_map(|node| tree.attributes(node));
        gone.for_each(|attributes| past.keep(attributes));
    }

    /// Sends changes to all who subscribed; waits for a transport that is [`CHANGES_QUEUE_MAX`] refreshes behind.
    fn publish(&self, changes: &Changes) {
        lock(&self.listeners).retain(|listener| listener.send(changes.clone()).is_ok());
    }

    /// The directory of metrics, if `id` lies in it.
    fn generated(&self, id: NodeId) -> Option<&Generated> {
        self.generated.as_ref().filter(|_| is_generated(id))
    }

    fn save_departures(&self) {
        let Some(file) = &self.departures_file else { return };
        let times: Vec<_> = self.tree().departures().collect();
        if let Err(error) = departures::save(file, times.into_iter()) {
            tracing::warn!("keeping the times of directories in {}: {error}", file.display());
        }
    }
}

impl Vfs for Library {
    fn lookup(&self, parent: NodeId, name: &[u8]) -> Result<Lookup, Error> {
        if let Some(generated) = &self.generated {
            if parent == DIRECTORY_ID {
                return Ok(generated.lookup(name, || self.metrics_text()));
            }
            if parent == NodeId::ROOT
                && let Some(found) = generated.lookup_directory(name)
            {
                return Ok(found);
            }
        }
        self.tree().lookup(parent, name)
    }

    fn attributes(&self, node: Node) -> Result<Attributes, Error> {
        if let Some(generated) = self.generated(node.id) {
            return generated.attributes(node.id);
        }
        let current = self.tree().attributes(node.id);
        match current.filter(|attributes| attributes.node == node || attributes.kind == NodeKind::Directory) {
            Some(attributes) => Ok(attributes),
            None => lock(&self.past).get(node).ok_or(Error::Stale),
        }
    }

    fn parent(&self, dir: NodeId) -> Result<NodeId, Error> {
        if self.generated(dir).is_some() {
            return Ok(NodeId::ROOT);
        }
        self.tree().parent(dir).ok_or(Error::NotFound)
    }

    fn list(&self, dir: NodeId, after: Cookie, sink: &mut dyn ListSink) -> Result<(), Error> {
        if let Some(generated) = &self.generated {
            if dir == DIRECTORY_ID {
                generated.list(after, sink, || self.metrics_text());
                return Ok(());
            }
            if dir == NodeId::ROOT && !generated.list_directory(after, sink) {
                return Ok(());
            }
        }
        self.tree().list(dir, after, sink).map(drop)
    }

    fn device(&self, node: Node) -> Device {
        let root = self.tree().root_of(node.id);
        root.map_or_else(Device::default, |root| self.devices.device(root))
    }

    fn read_from_memory(&self, node: Node, offset: u64, buffer: &mut [u8]) -> Option<Result<usize, Error>> {
        self.generated(node.id).map(|generated| generated.read(node.id, offset, buffer))
    }

    fn read(&self, node: Node, offset: u64, buffer: &mut [u8]) -> Result<usize, Error> {
        self.read_node(node, offset, buffer)
    }

    fn forget(&self, node: Node) {
        match self.generated(node.id) {
            Some(generated) => generated.forget(node.id),
            None => lock(&self.past).forget(node),
        }
    }

    fn totals(&self) -> Totals {
        self.tree().totals()
    }

    fn subscribe(&self) -> Receiver<Changes> {
        let (sender, receiver) = bounded(CHANGES_QUEUE_MAX);
        lock(&self.listeners).push(sender);
        receiver
    }

    fn everything(&self) -> Changes {
        self.tree().everything()
    }

    fn metrics(&self) -> &Metrics {
        &self.metrics
    }
}

/// No state behind these locks is left half changed by a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
