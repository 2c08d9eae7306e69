//! Keeping the tree true to the catalogue while others change it.
//!
//! A watch on the catalogue's directory wakes a thread at each commit; a poll backs it up. Only tracks
//! with a newer sequence are rendered again; what a transport must forget is sent to those who subscribed.

use std::{
    path::Path,
    sync::{Arc, Weak},
    thread::{self, JoinHandle},
    time::Duration,
};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use musefs_db::{Catalog, ChangeProbe, Keys, Reader, Sequence, TrackRow, Which};
use notify::{EventKind, RecursiveMode, Watcher as _};

use super::{
    Library,
    devices::Devices,
    fields::RowFields,
    render::{RenderedFile, View},
};
use crate::{Error, template::UniqueIndex};

/// After an event the catalogue's version is looked at again after 1, 2, 3 … milliseconds, so often: 300 ms in all.
///
/// A writer touches its files before its commit is visible; one look per event would miss most commits.
const LOOKS_AFTER_EVENT: u64 = 24;

/// What changed in the catalogue, rendered.
pub(super) struct Update {
    /// New or changed files, in track-id order.
    pub(super) files: Vec<RenderedFile>,
    /// Tracks that are no longer listed.
    pub(super) gone: Vec<i64>,
    /// Up to which change.
    pub(super) sequence: Sequence,
}

impl Update {
    /// Everything that changed after `since`, read in one consistent state of the catalogue.
    pub(super) fn since(catalog: &Catalog, view: &View, devices: &Devices, since: Sequence) -> Result<Self, Error> {
        Ok(catalog.read(|reader| {
            let sequence = reader.sequence()?;
            if sequence == since {
                return Ok(Self { files: Vec::new(), gone: Vec::new(), sequence });
            }
            // Where a name depends on other tracks, one change can move any of them.
            let which = if view.template.needs_uniqueness() { Which::All } else { Which::Since(since) };
            let mut gone: Vec<i64> = reader.removed_since(since)?.into_iter().map(|id| id.0).collect();
            let mut files = Vec::new();
            visit_rendered(reader, view, devices, which, &mut |row, file| match file {
                Some(file) => files.push(file),
                None => gone.push(row.id.0),
            })?;
            Ok(Self { files, gone, sequence })
        })?)
    }
}

/// Renders tracks one by one, in track-id order; `None` for those that the view leaves out.
pub(super) fn visit_rendered(
    reader: &Reader<'_>,
    view: &View,
    devices: &Devices,
    which: Which,
    visit: &mut dyn FnMut(&TrackRow<'_>, Option<RenderedFile>),
) -> Result<(), musefs_db::Error> {
    let keys: Vec<&str> = view.template.tag_keys().collect();
    let unique = unique_index(reader, view, &keys)?;
    reader.visit_tracks(which, &Keys::Only(&keys), &mut |row| {
        visit(row, view.file(row, unique.as_ref(), devices));
        Ok(())
    })
}

fn unique_index(reader: &Reader<'_>, view: &View, keys: &[&str]) -> Result<Option<UniqueIndex>, musefs_db::Error> {
    if !view.template.needs_uniqueness() {
        return Ok(None);
    }
    let mut index = UniqueIndex::new();
    reader.visit_tracks(Which::All, &Keys::Only(keys), &mut |row| {
        view.template.observe(&RowFields::new(row), &view.options, &mut index);
        Ok(())
    })?;
    Ok(Some(index))
}

/// A thread that refreshes a library after each commit; dropped, it stops.
#[derive(Debug)]
pub struct Follower {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    /// Starts to follow. A directory that cannot be watched is polled only, with a warning.
    ///
    /// # Errors
    /// Those of opening the catalogue once more.
    pub fn start(library: &Arc<Library>) -> Result<Self, Error> {
        let probe = library.catalog.change_probe()?;
        let (stop, stopped) = bounded(0);
        let (wake, woken) = bounded(1);
        let watcher = watch(library.catalog.path(), wake);
        let poll_interval = library.poll_interval;
        let library = Arc::downgrade(library);
        let thread = thread::Builder::new().name("follow".to_owned()).spawn(move || {
            let _watcher = watcher;
            follow(&library, probe, &woken, &stopped, poll_interval);
        });
        let thread = thread.map_err(|source| Error::Thread { name: "follow", source })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic of that thread was reported when it happened.
            let _ = thread.join();
        }
    }
}

/// Wakes at events of the directory that concern the catalogue's own files.
fn watch(catalog: &Path, wake: Sender<()>) -> Option<notify::RecommendedWatcher> {
    let name = catalog.file_name()?.to_owned();
    let concerns = move |path: &Path| {
        let file = path.file_name().map(std::ffi::OsStr::as_encoded_bytes);
        file.is_some_and(|file| file.starts_with(name.as_encoded_bytes()))
    };
    let handler = move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        if !matches!(event.kind, EventKind::Access(_)) && event.paths.iter().any(|path| concerns(path)) {
            // A wake-up that waits already will see this change too.
            let _ = wake.try_send(());
        }
    };
    let directory = catalog.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let watcher = notify::recommended_watcher(handler).and_then(|mut watcher| {
        watcher.watch(directory, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    watcher.inspect_err(|error| tracing::warn!("cannot watch {}, polling only: {error}", directory.display())).ok()
}

fn follow(
    library: &Weak<Library>,
    mut probe: ChangeProbe,
    woken: &Receiver<()>,
    stopped: &Receiver<()>,
    poll_interval: Duration,
) {
    loop {
        let looks = crossbeam_channel::select! {
            recv(stopped) -> _ => return,
            recv(woken) -> event => if event.is_ok() { LOOKS_AFTER_EVENT } else { 0 },
            default(poll_interval) => 0,
        };
        if !settle(&mut probe, stopped, looks) {
            continue;
        }
        let Some(library) = library.upgrade() else { return };
        if let Err(error) = library.refresh() {
            tracing::warn!("following the catalogue: {error}");
        }
    }
}

/// Looks at the catalogue's version until it moved: at once, and `looks` times more.
fn settle(probe: &mut ChangeProbe, stopped: &Receiver<()>, looks: u64) -> bool {
    for wait_ms in 1..=looks {
        if moved(probe) {
            return true;
        }
        if stopped.recv_timeout(Duration::from_millis(wait_ms)) != Err(RecvTimeoutError::Timeout) {
            return false;
        }
    }
    moved(probe)
}

/// Whether another connection committed. If that cannot be told, a refresh finds out.
fn moved(probe: &mut ChangeProbe) -> bool {
    probe.moved().unwrap_or(true)
}
