//! The metrics as files: each look-up has a snapshot, whose size is true and whose bytes never change.
//!
//! A file whose content changes while it is read would be cut or padded by its readers, and one of size 0 reads as
//! empty where nothing asks at open. So a look-up makes the text, and a node of its own for it. Look-ups within a
//! second share one snapshot, because `cp` looks a name up twice and wants to find one file. A snapshot is kept until
//! it is forgotten; beyond [`SNAPSHOTS_MAX`] kept ones, look-ups share the newest instead of making more.
//!
//! **Node ids** lie in the range of derived ids (bit 52 set), where bits 24–51 are all set; bit 23 tells the file,
//! and bits 0–22 count its snapshots. The tree gives no directory an id for which [`is_snapshot`] holds.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::limits::SNAPSHOTS_MAX;
use crate::vfs::{NodeId, Time};

pub use crate::names::METRICS_DIRECTORY as DIRECTORY;

/// Id of that directory: one of those that are reserved, and whose cookie no transport has for "." or "..".
pub const DIRECTORY_ID: NodeId = NodeId(3);

const RANGE: u64 = NodeId::DERIVED | (((1 << 28) - 1) << 24);
const FILE_BIT: u64 = 1 << 23;
const SHARED_FOR: Duration = Duration::from_secs(1);

/// The files in [`DIRECTORY`]. Both have the same text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricsFile {
    /// `metrics`
    Metrics,
    /// `musefs.prom`, as node_exporter's textfile collector wants files named.
    Prom,
}

impl MetricsFile {
    /// Both, in the order of their names.
    pub const ALL: [Self; 2] = [Self::Metrics, Self::Prom];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Metrics => "metrics",
            Self::Prom => "musefs.prom",
        }
    }

    /// The file of this name.
    pub fn named(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|file| file.name().as_bytes() == name)
    }
}

/// Whether an id is that of a snapshot, whether it still exists or not.
pub fn is_snapshot(id: NodeId) -> bool {
    id.0 & !(FILE_BIT | (FILE_BIT - 1)) == RANGE
}

/// What a look-up finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Its id, for as long as it is not forgotten.
    pub id: NodeId,
    /// In bytes, exact.
    pub size: u64,
    /// When it was made.
    pub mtime: Time,
}

/// The snapshots that clients may know.
#[derive(Debug, Default)]
pub struct Snapshots {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    kept: HashMap<NodeId, Kept>,
    newest: [Option<NodeId>; 2],
    count: u64,
}

#[derive(Debug)]
struct Kept {
    text: Arc<str>,
    mtime: Time,
    made: Instant,
    forgotten: bool,
}

impl Kept {
    fn found(&self, id: NodeId) -> Snapshot {
        Snapshot { id, size: self.text.len() as u64, mtime: self.mtime }
    }
}

impl Snapshots {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Finds or makes the snapshot that a look-up at `now` answers. `render` makes the text; other look-ups wait for it.
    pub fn look_up(&self, file: MetricsFile, now: Instant, render: impl FnOnce() -> String) -> Snapshot {
        let mut state = self.lock();
        if let Some(shared) = state.shared(file, now) {
            return shared;
        }
        let text: Arc<str> = render().into();
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mtime = Time { secs: since_1970.as_secs() as i64, nanos: since_1970.subsec_nanos() };
        state.add(file, Kept { text, mtime, made: now, forgotten: false })
    }

    /// The snapshot of an id, for attributes.
    pub fn get(&self, id: NodeId) -> Option<Snapshot> {
        self.lock().kept.get(&id).map(|kept| kept.found(id))
    }

    /// Copies bytes from `offset` on into the buffer, and says how many. None: it was forgotten.
    pub fn read(&self, id: NodeId, offset: u64, buffer: &mut [u8]) -> Option<usize> {
        let text = Arc::clone(&self.lock().kept.get(&id)?.text);
        let rest = usize::try_from(offset).ok().and_then(|offset| text.as_bytes().get(offset..)).unwrap_or_default();
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        Some(len)
    }

    /// No client knows the snapshot any more, and none is just being told of it.
    pub fn forget(&self, id: NodeId) {
        let mut state = self.lock();
        if state.newest.contains(&Some(id)) {
            // It may be shared for what is left of its second.
            state.kept.entry(id).and_modify(|kept| kept.forgotten = true);
        } else {
            state.kept.remove(&id);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The newest snapshot, if the look-up is to share it.
    fn shared(&mut self, file: MetricsFile, now: Instant) -> Option<Snapshot> {
        let id = self.newest[file as usize]?;
        let full = self.kept.len() >= SNAPSHOTS_MAX;
        let kept = self.kept.get_mut(&id)?;
        let fresh = now.saturating_duration_since(kept.made) < SHARED_FOR;
        (fresh || (full && !kept.forgotten)).then(|| {
            kept.forgotten = false;
            kept.found(id)
        })
    }

    fn add(&mut self, file: MetricsFile, kept: Kept) -> Snapshot {
        if let Some(before) = self.newest[file as usize].take()
            && self.kept.get(&before).is_some_and(|kept| kept.forgotten)
        {
            self.kept.remove(&before);
        }
        let id = self.next_id(file);
        let found = kept.found(id);
        self.kept.insert(id, kept);
        self.newest[file as usize] = Some(id);
        found
    }

    /// An id that no kept snapshot has. Few are kept, so that one of the next is free.
    fn next_id(&mut self, file: MetricsFile) -> NodeId {
        loop {
            self.count = (self.count + 1) % FILE_BIT;
            let id = NodeId(RANGE | (file as u64 * FILE_BIT) | self.count);
            if !self.kept.contains_key(&id) {
                return id;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

    const FILE: MetricsFile = MetricsFile::Metrics;

    fn after(ms: u64, start: Instant) -> Instant {
        start + Duration::from_millis(ms)
    }

    fn text(snapshots: &Snapshots, id: NodeId) -> Option<String> {
        let mut buffer = [0; 64];
        let len = snapshots.read(id, 0, &mut buffer)?;
        Some(String::from_utf8(buffer[..len].to_vec()).unwrap())
    }

    #[test]
    fn look_ups_within_a_second_share() {
        let (snapshots, start) = (Snapshots::new(), Instant::now());
        let first = snapshots.look_up(FILE, start, || "one".into());
        assert_eq!(first.size, 3);
        assert!(is_snapshot(first.id) && first.id.0 & NodeId::DERIVED != 0 && first.id.0 < 1 << NodeId::BITS);
        assert_eq!(snapshots.look_up(FILE, after(999, start), || unreachable!("shared")), first);
        let other = snapshots.look_up(MetricsFile::Prom, start, || "other file".into());
        assert_ne!(other.id, first.id);
        let second = snapshots.look_up(FILE, after(1000, start), || "second".into());
        assert_ne!(second.id, first.id);
        assert_eq!(text(&snapshots, first.id).unwrap(), "one");
        assert_eq!(text(&snapshots, second.id).unwrap(), "second");
    }

    #[test]
    fn bytes_stay_until_forgotten() {
        let (snapshots, start) = (Snapshots::new(), Instant::now());
        let first = snapshots.look_up(FILE, start, || "one".into());
        snapshots.look_up(FILE, after(2000, start), || "two".into());
        assert_eq!(snapshots.get(first.id), Some(first));
        snapshots.forget(first.id);
        assert_eq!((snapshots.get(first.id), text(&snapshots, first.id)), (None, None));
        snapshots.forget(first.id);
    }

    #[test]
    fn a_forgotten_newest_one_is_shared_for_its_second_and_then_dropped() {
        let (snapshots, start) = (Snapshots::new(), Instant::now());
        let first = snapshots.look_up(FILE, start, || "one".into());
        snapshots.forget(first.id);
        assert_eq!(snapshots.look_up(FILE, after(1, start), || unreachable!("shared")), first);
        snapshots.look_up(FILE, after(2000, start), || "two".into());
        assert!(snapshots.get(first.id).is_some(), "it was looked up again");
        let third = snapshots.look_up(FILE, after(4000, start), || "three".into());
        snapshots.forget(third.id);
        snapshots.look_up(FILE, after(6000, start), || "four".into());
        assert_eq!(snapshots.get(third.id), None);
    }

    #[test]
    fn so_many_are_kept_at_most() {
        let (snapshots, start) = (Snapshots::new(), Instant::now());
        let look_up = |at: usize| snapshots.look_up(FILE, after(at as u64 * 2000, start), || at.to_string());
        let ids: Vec<NodeId> = (0..SNAPSHOTS_MAX).map(|at| look_up(at).id).collect();
        assert_eq!(look_up(SNAPSHOTS_MAX).id, ids[SNAPSHOTS_MAX - 1], "one past the limit shares the newest");
        assert!(ids.iter().all(|id| snapshots.get(*id).is_some()));
        snapshots.forget(ids[0]);
        assert!(!ids.contains(&look_up(SNAPSHOTS_MAX + 1).id));
    }

    #[test]
    fn reads_at_any_offset() {
        let snapshots = Snapshots::new();
        let id = snapshots.look_up(FILE, Instant::now(), || "abcdef".into()).id;
        let mut buffer = [0; 4];
        for (offset, expected) in [(0, &b"abcd"[..]), (4, b"ef"), (6, b""), (7, b""), (u64::MAX, b"")] {
            let len = snapshots.read(id, offset, &mut buffer).unwrap();
            assert_eq!(&buffer[..len], expected, "{offset}");
        }
    }

    #[test]
    fn names() {
        assert_eq!(MetricsFile::named(b"musefs.prom"), Some(MetricsFile::Prom));
        assert_eq!(MetricsFile::named(b"Metrics"), None);
        assert!(!is_snapshot(DIRECTORY_ID) && !is_snapshot(NodeId(NodeId::DERIVED)) && !is_snapshot(NodeId::ROOT));
    }
}
