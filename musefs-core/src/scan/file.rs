//! A source opened for a probe: positional reads that are counted, bounded and few.
//!
//! Readers ask for many small pieces of a file's head and tail. On a network disk each would be a
//! round trip, so small reads are served from three windows: the head, the tail, and the last place
//! in between.

use std::{
    cell::{Cell, RefCell},
    fs::File,
    io,
    os::unix::fs::FileExt as _,
    path::Path,
};

use musefs_db::Stamp;
use musefs_format::ReadAt;
use rustix::fs::{Mode, OFlags, Stat};

use super::retry::retried;
use crate::limits::{HEAD_WINDOW_BYTES, MIDDLE_WINDOW_BYTES, PROBE_BYTES_MAX, TAIL_WINDOW_BYTES};

/// The stamp in what the system tells of a file.
pub(super) fn stamp_of(stat: &Stat) -> Stamp {
    Stamp {
        size: u64::try_from(stat.st_size).unwrap_or(0),
        mtime_ns: nanoseconds(stat.st_mtime, stat.st_mtime_nsec.into()),
        ctime_ns: nanoseconds(stat.st_ctime, stat.st_ctime_nsec.into()),
    }
}

/// Clamped to what 64 bits hold: the years 1678 to 2262.
fn nanoseconds(seconds: i64, nanoseconds: i128) -> i64 {
    let all = i128::from(seconds) * 1_000_000_000 + nanoseconds;
    all.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// A run of bytes of the file that is held in memory.
#[derive(Default)]
struct Window {
    offset: u64,
    bytes: Vec<u8>,
}

impl Window {
    fn slice(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset.checked_sub(self.offset)?).ok()?;
        self.bytes.get(start..start.checked_add(len)?)
    }
}

/// An open source. Knows how many bytes were read of it, and refuses to read more than a probe may.
pub(super) struct SourceFile {
    file: File,
    opened: Stamp,
    head: Window,
    tail: RefCell<Window>,
    middle: RefCell<Window>,
    bytes_read: Cell<u64>,
}

impl SourceFile {
    /// Opens a source read-only and reads its head.
    ///
    /// # Errors
    /// Those of the disk, after transient ones were waited for.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // NONBLOCK: should a pipe have taken the file's place, opening it must not hang.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::from(retried(|| Ok(rustix::fs::open(path, flags, Mode::empty())?))?);
        let stat = rustix::fs::fstat(&file)?;
        if !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file() {
            return Err(io::Error::other("no longer a regular file"));
        }
        let mut source = Self {
            file,
            opened: stamp_of(&stat),
            head: Window::default(),
            tail: RefCell::default(),
            middle: RefCell::default(),
            bytes_read: Cell::new(0),
        };
        source.head = source.window(0, HEAD_WINDOW_BYTES)?;
        Ok(source)
    }

    /// The first bytes, as many as format detection wants.
    pub(super) fn head(&self) -> &[u8] {
        &self.head.bytes
    }

    /// The stamp as it was when the file was opened.
    pub(super) fn opened_stamp(&self) -> Stamp {
        self.opened
    }

    /// The stamp as it is now.
    ///
    /// # Errors
    /// Those of the disk.
    pub(super) fn stamp(&self) -> io::Result<Stamp> {
        Ok(stamp_of(&rustix::fs::fstat(&self.file)?))
    }

    /// Bytes read from the disk so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes_read.get()
    }

    fn window(&self, offset: u64, len: usize) -> io::Result<Window> {
        let len = self.opened.size.saturating_sub(offset).min(len as u64) as usize;
        let mut bytes = vec![0; len];
        let read = self.read_disk(&mut bytes, offset)?;
        bytes.truncate(read);
        Ok(Window { offset, bytes })
    }

    /// Reads until `buf` is full or the file ends.
    fn read_disk(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buf.len() {
            if self.bytes_read.get().saturating_add((buf.len() - filled) as u64) > PROBE_BYTES_MAX {
                return Err(io::Error::other(format!("more than {PROBE_BYTES_MAX} bytes would have to be read")));
            }
            let rest = &mut buf[filled..];
            let read = retried(|| self.file.read_at(rest, offset.saturating_add(filled as u64)))?;
            if read == 0 {
                break;
            }
            filled += read;
            self.bytes_read.set(self.bytes_read.get() + read as u64);
        }
        Ok(filled)
    }

    /// Serves a small read from the window around it, which is filled when it lies elsewhere.
    fn read_window(
        &self,
        window: &RefCell<Window>,
        start: u64,
        len: usize,
        buf: &mut [u8],
        offset: u64,
    ) -> io::Result<()> {
        let mut window = window.borrow_mut();
        if window.slice(offset, buf.len()).is_none() {
            *window = self.window(start, len)?;
        }
        match window.slice(offset, buf.len()) {
            Some(bytes) => buf.copy_from_slice(bytes),
            // Shorter than it was when it was opened.
            None => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
        Ok(())
    }
}

impl ReadAt for SourceFile {
    fn len(&self) -> u64 {
        self.opened.size
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let wanted = self.opened.size.saturating_sub(offset).min(buf.len() as u64) as usize;
        if wanted == 0 {
            return Ok(0);
        }
        let buf = &mut buf[..wanted];
        if let Some(bytes) = self.head.slice(offset, wanted) {
            buf.copy_from_slice(bytes);
            return Ok(wanted);
        }
        if wanted > MIDDLE_WINDOW_BYTES {
            return self.read_disk(buf, offset);
        }
        let tail_start = self.opened.size.saturating_sub(TAIL_WINDOW_BYTES as u64);
        if offset >= tail_start {
            self.read_window(&self.tail, tail_start, TAIL_WINDOW_BYTES, buf, offset)?;
        } else {
            self.read_window(&self.middle, offset, MIDDLE_WINDOW_BYTES, buf, offset)?;
        }
        Ok(wanted)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use proptest::prelude::*;

    use super::*;

    fn made(len: usize) -> (tempfile::NamedTempFile, Vec<u8>) {
        let bytes: Vec<u8> = (0..len).map(|i| ((i * 31) >> 3) as u8).collect();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        (file, bytes)
    }

    proptest! {
        #[test]
        fn reads_equal_those_of_a_slice(
            len in 0_usize..400_000,
            reads in prop::collection::vec((0_u64..420_000, 0_usize..40_000), 1..20),
        ) {
            let (file, bytes) = made(len);
            let source = SourceFile::open(file.path()).unwrap();
            for (offset, count) in reads {
                let (mut a, mut b) = (vec![0; count], vec![0; count]);
                let (read_a, read_b) = (source.read_at(&mut a, offset).unwrap(), bytes.read_at(&mut b, offset).unwrap());
                prop_assert_eq!(read_a, read_b);
                prop_assert_eq!(a, b);
            }
        }
    }

    #[test]
    fn small_reads_of_head_and_tail_cost_two_reads() {
        let (file, bytes) = made(1 << 20);
        let source = SourceFile::open(file.path()).unwrap();
        for back in [128, 160, 32, 4096] {
            let mut buf = [0; 32];
            source.read_at(&mut buf, bytes.len() as u64 - back).unwrap();
            source.read_at(&mut buf, back).unwrap();
        }
        assert_eq!(source.bytes_read(), (HEAD_WINDOW_BYTES + TAIL_WINDOW_BYTES) as u64);
    }

    #[test]
    fn the_budget_ends_reading() {
        let (file, _) = made(0);
        file.as_file().set_len(2 * PROBE_BYTES_MAX).unwrap();
        let source = SourceFile::open(file.path()).unwrap();
        let mut buf = vec![0; PROBE_BYTES_MAX as usize - HEAD_WINDOW_BYTES];
        assert_eq!(source.read_at(&mut buf, 200_000).unwrap(), buf.len(), "all that a probe may read");
        assert!(source.read_at(&mut buf[..1], PROBE_BYTES_MAX + 400_000).is_err(), "one byte more");
    }

    #[test]
    fn a_file_that_shrank_is_an_error() {
        let (file, _) = made(500_000);
        let source = SourceFile::open(file.path()).unwrap();
        file.as_file().set_len(100_000).unwrap();
        let mut buf = [0; 16];
        assert_eq!(source.read_at(&mut buf, 300_000).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
