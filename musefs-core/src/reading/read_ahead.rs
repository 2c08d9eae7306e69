//! Windows read ahead for sequential streams on slow sources, out of one budget of bytes.
//!
//! A stream starts with reads of exactly what is asked. Once it runs on, the kernel is told so; once its
//! source proves slow, it gets a window that doubles up to [`READ_AHEAD_WINDOW_MAX`]. All streams share
//! the budget: the one used longest ago gives way. The lock guards the table only; disks are asked, and
//! bytes copied, without it. A seek costs nothing more than itself.

use std::{
    collections::HashMap,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::OpenSource;
use crate::{
    Error,
    limits::{READ_AHEAD_STREAMS_MAX, READ_AHEAD_WINDOW_MAX, READ_AHEAD_WINDOW_MIN},
};

/// Requests of one stream overtake each other on their way through the kernel and the workers by this much.
const REORDERED_BYTES: u64 = 2 << 20;

/// Bytes of a run after which it counts as sequential.
const SEQUENTIAL_BYTES: u64 = 256 << 10;

/// A source slower than this while reading on is worth a window: page caches and local disks are faster.
const SLOW_BYTES_PER_SECOND: f64 = 256.0 * 1024.0 * 1024.0;

/// How long one waits for a window that another thread is reading before asking the disk oneself.
const PENDING_WAIT: Duration = Duration::from_secs(10);

/// The read-ahead of all streams.
#[derive(Debug)]
pub struct ReadAhead {
    budget_bytes: usize,
    table: Mutex<Table>,
    window_read: Condvar,
}

#[derive(Debug, Default)]
struct Table {
    streams: HashMap<u64, Stream>,
    used_bytes: usize,
    clock: u64,
}

#[derive(Debug, Default)]
struct Stream {
    /// Where the run so far began and where its next read is expected.
    run_start: u64,
    next: u64,
    slow: bool,
    window_bytes: usize,
    window: Option<Window>,
    /// The range that a thread is reading into the window right now.
    pending: Option<(u64, u64)>,
    used_at: u64,
}

#[derive(Clone, Debug)]
struct Window {
    offset: u64,
    bytes: Arc<Vec<u8>>,
}

/// What to do for a read, decided under the lock and done without it.
enum Plan {
    Copy(Window),
    Exact { sequential: bool },
    Window { len: usize },
    Wait,
}

impl ReadAhead {
    /// A read-ahead of `budget_bytes`; 0 turns it off.
    pub fn new(budget_bytes: usize) -> Self {
        Self { budget_bytes, table: Mutex::default(), window_read: Condvar::new() }
    }

    /// Fills `buf` from `offset` of `source` on.
    ///
    /// # Errors
    /// Those of [`OpenSource::read_exact`].
    pub fn read(&self, source: &OpenSource, offset: u64, buf: &mut [u8]) -> Result<(), Error> {
        if self.budget_bytes == 0 {
            return source.read_exact(offset, buf);
        }
        let filled = self.copy_window(source, offset, buf);
        if filled == buf.len() {
            return Ok(());
        }
        self.ask_source(source, offset + filled as u64, &mut buf[filled..])
    }

    /// Bytes of the budget, and those in use.
    pub fn budget_and_used(&self) -> (usize, usize) {
        (self.budget_bytes, self.lock().used_bytes)
    }

    /// Copies what a window holds of the range: a part is a hit too.
    fn copy_window(&self, source: &OpenSource, offset: u64, buf: &mut [u8]) -> usize {
        let Plan::Copy(window) = self.settle(source.id(), offset) else { return 0 };
        let skipped = (offset - window.offset) as usize;
        let count = buf.len().min(window.bytes.len() - skipped);
        buf[..count].copy_from_slice(&window.bytes[skipped..skipped + count]);
        self.advance(source.id(), offset, count);
        count
    }

    /// Waits while another thread reads the window that will hold `offset`; then a window that holds it, if any.
    fn settle(&self, id: u64, offset: u64) -> Plan {
        let mut table = self.lock();
        let deadline = Instant::now() + PENDING_WAIT;
        loop {
            match table.look(id, offset) {
                Plan::Wait => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Plan::Exact { sequential: false };
                    }
                    let waited = self.window_read.wait_timeout(table, left);
                    table = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                plan => return plan,
            }
        }
    }

    fn ask_source(&self, source: &OpenSource, offset: u64, buf: &mut [u8]) -> Result<(), Error> {
        let plan = self.lock().plan(source, offset, buf.len(), self.budget_bytes);
        let started = Instant::now();
        match plan {
            Plan::Window { len } => {
                let read = read_window(source, offset, len);
                self.keep(source.id(), offset, read.as_ref().ok());
                let bytes = read?;
                buf.copy_from_slice(&bytes[..buf.len()]);
            }
            Plan::Exact { sequential } => {
                source.advise_sequential(sequential);
                source.read_exact(offset, buf)?;
            }
            Plan::Copy(_) | Plan::Wait => source.read_exact(offset, buf)?,
        }
        let speed = buf.len() as f64 / started.elapsed().as_secs_f64().max(1e-9);
        let mut table = self.lock();
        if let Some(stream) = table.streams.get_mut(&source.id()) {
            stream.slow |= speed < SLOW_BYTES_PER_SECOND;
        }
        drop(table);
        self.advance(source.id(), offset, buf.len());
        Ok(())
    }

    /// Stores a window that was read, within the budget, and wakes those who wait for it.
    fn keep(&self, id: u64, offset: u64, bytes: Option<&Arc<Vec<u8>>>) {
        let mut table = self.lock();
        let replaced = table.streams.get_mut(&id).and_then(|stream| {
            stream.pending = None;
            std::mem::replace(&mut stream.window, bytes.map(|bytes| Window { offset, bytes: Arc::clone(bytes) }))
        });
        table.used_bytes -= replaced.map_or(0, |window| window.bytes.len());
        if table.streams.contains_key(&id) {
            table.used_bytes += bytes.map_or(0, |bytes| bytes.len());
        }
        table.shrink_to(self.budget_bytes, id);
        drop(table);
        self.window_read.notify_all();
    }

    fn advance(&self, id: u64, offset: u64, count: usize) {
        if let Some(stream) = self.lock().streams.get_mut(&id) {
            stream.next = stream.next.max(offset + count as u64);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // A panic under this lock can only lose a window.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a window; its one allocation is shared with all who copy from it.
fn read_window(source: &OpenSource, offset: u64, len: usize) -> Result<Arc<Vec<u8>>, Error> {
    let mut bytes = vec![0; len];
    source.read_exact(offset, &mut bytes)?;
    Ok(Arc::new(bytes))
}

impl Table {
    fn look(&mut self, id: u64, offset: u64) -> Plan {
        self.clock += 1;
        let clock = self.clock;
        let Some(stream) = self.streams.get_mut(&id) else { return Plan::Exact { sequential: false } };
        stream.used_at = clock;
        if let Some(window) = &stream.window
            && (window.offset..window.offset + window.bytes.len() as u64).contains(&offset)
        {
            return Plan::Copy(window.clone());
        }
        match stream.pending {
            Some((start, end)) if (start..end).contains(&offset) => Plan::Wait,
            _ => Plan::Exact { sequential: false },
        }
    }

    /// Notes a read that no window holds and decides how much to ask of the disk.
    fn plan(&mut self, source: &OpenSource, offset: u64, len: usize, budget_bytes: usize) -> Plan {
        self.make_room_for(source.id());
        let clock = self.clock;
        let stream = self.streams.entry(source.id()).or_default();
        stream.used_at = clock;
        let runs_on = offset <= stream.next + REORDERED_BYTES && offset + REORDERED_BYTES >= stream.next;
        if !runs_on || offset < stream.run_start {
            (stream.run_start, stream.next, stream.window_bytes) = (offset, offset, 0);
        }
        let sequential = stream.next.max(offset) - stream.run_start >= SEQUENTIAL_BYTES;
        if !sequential || !stream.slow || stream.pending.is_some() {
            return Plan::Exact { sequential };
        }
        stream.window_bytes = (stream.window_bytes * 2).clamp(READ_AHEAD_WINDOW_MIN, READ_AHEAD_WINDOW_MAX);
        let left = source.stamp().size.saturating_sub(offset);
        let window = (stream.window_bytes.min(budget_bytes) as u64).min(left) as usize;
        if window <= len {
            return Plan::Exact { sequential };
        }
        stream.pending = Some((offset, offset + window as u64));
        Plan::Window { len: window }
    }

    /// Drops the stream used longest ago when a new one would be one too many.
    fn make_room_for(&mut self, id: u64) {
        if self.streams.len() < READ_AHEAD_STREAMS_MAX || self.streams.contains_key(&id) {
            return;
        }
        if let Some(oldest) = self.oldest(|stream| stream.pending.is_none())
            && let Some(window) = self.streams.remove(&oldest).and_then(|stream| stream.window)
        {
            self.used_bytes -= window.bytes.len();
        }
    }

    /// Drops windows of others, those used longest ago first, until the budget holds.
    fn shrink_to(&mut self, budget_bytes: usize, keep: u64) {
        while self.used_bytes > budget_bytes {
            let Some(oldest) = self
                .oldest_but(keep)
                .or(Some(keep))
                .filter(|id| self.streams.get(id).is_some_and(|stream| stream.window.is_some()))
            else {
                return;
            };
            if let Some(window) = self.streams.get_mut(&oldest).and_then(|stream| stream.window.take()) {
                self.used_bytes -= window.bytes.len();
            }
        }
    }

    fn oldest_but(&self, keep: u64) -> Option<u64> {
        let others = self.streams.iter().filter(|(id, stream)| **id != keep && stream.window.is_some());
        others.min_by_key(|(_, stream)| stream.used_at).map(|(id, _)| *id)
    }

    fn oldest(&self, which: impl Fn(&Stream) -> bool) -> Option<u64> {
        let candidates = self.streams.iter().filter(|(_, stream)| which(stream));
        candidates.min_by_key(|(_, stream)| stream.used_at).map(|(id, _)| *id)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;
    use crate::reading::Stamp;

    fn source_of(bytes: &[u8]) -> (tempfile::NamedTempFile, OpenSource) {
        use std::os::unix::fs::MetadataExt as _;
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(bytes).expect("writing it");
        let metadata = file.as_file().metadata().expect("its stamp");
        let stamp = Stamp { size: metadata.len(), mtime_ns: metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec() };
        let source = OpenSource::open(file.path().to_owned(), stamp).expect("opening it");
        (file, source)
    }

    /// A stream whose source counts as slow from the start.
    fn slow(read_ahead: &ReadAhead, source: &OpenSource) {
        read_ahead.lock().streams.entry(source.id()).or_default().slow = true;
    }

    fn pattern(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i * 31 + i / 251) as u8).collect()
    }

    #[test]
    fn a_slow_run_gets_windows_and_stays_within_the_budget() {
        let bytes = pattern(6 << 20);
        let (_file, source) = source_of(&bytes);
        let read_ahead = ReadAhead::new(2 << 20);
        slow(&read_ahead, &source);
        let mut buf = vec![0; 128 << 10];
        for (i, chunk) in bytes.chunks(buf.len()).enumerate() {
            read_ahead.read(&source, (i * buf.len()) as u64, &mut buf[..chunk.len()]).expect("reading");
            assert_eq!(&buf[..chunk.len()], chunk);
            let (budget, used) = read_ahead.budget_and_used();
            assert!(used <= budget);
        }
        assert!(read_ahead.budget_and_used().1 > 0, "the run had a window");
    }

    #[test]
    fn a_head_costs_what_it_is() {
        let (_file, source) = source_of(&pattern(1 << 20));
        let read_ahead = ReadAhead::new(64 << 20);
        slow(&read_ahead, &source);
        let mut buf = [0; 4096];
        read_ahead.read(&source, 0, &mut buf).expect("reading");
        read_ahead.read(&source, (1 << 20) - 4096, &mut buf).expect("reading");
        assert_eq!(read_ahead.budget_and_used().1, 0);
    }

    #[test]
    fn streams_share_the_budget_and_the_oldest_gives_way() {
        let bytes = pattern(3 << 20);
        let sources: Vec<_> = (0..6).map(|_| source_of(&bytes)).collect();
        let read_ahead = ReadAhead::new(1 << 20);
        let mut buf = vec![0; 64 << 10];
        for (_, source) in &sources {
            slow(&read_ahead, source);
            for offset in (0..bytes.len()).step_by(buf.len()) {
                read_ahead.read(source, offset as u64, &mut buf).expect("reading");
                assert_eq!(buf, bytes[offset..offset + buf.len()]);
            }
        }
        let (budget, used) = read_ahead.budget_and_used();
        assert!(used > 0 && used <= budget);
    }

    #[test]
    fn more_streams_than_the_limit_forget_the_oldest() {
        let (_file, source) = source_of(&pattern(4096));
        let read_ahead = ReadAhead::new(1 << 20);
        let mut table = read_ahead.lock();
        for id in 0..READ_AHEAD_STREAMS_MAX as u64 {
            table.streams.insert(1_000_000 + id, Stream { used_at: id + 1, ..Stream::default() });
        }
        table.make_room_for(source.id());
        assert_eq!(table.streams.len(), READ_AHEAD_STREAMS_MAX - 1);
        assert!(!table.streams.contains_key(&1_000_000));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn any_sequence_of_reads_gives_the_bytes_of_the_source(
            reads in prop::collection::vec((0usize..3_000_000, 1usize..400_000, any::<bool>()), 1..40),
        ) {
            let bytes = pattern(3_000_000);
            let (_file, source) = source_of(&bytes);
            let read_ahead = ReadAhead::new(1 << 20);
            slow(&read_ahead, &source);
            let mut next = 0;
            for (at, len, goes_on) in reads {
                let offset = if goes_on { next } else { at };
                let len = len.min(bytes.len() - offset);
                let mut buf = vec![0; len];
                read_ahead.read(&source, offset as u64, &mut buf).expect("reading");
                prop_assert_eq!(&buf[..], &bytes[offset..offset + len]);
                next = (offset + len) % bytes.len();
            }
        }
    }
}
