//! Where readers get bytes from: positional reads of something with a length.

use std::io;

/// A source of bytes with positional reads. The caller decides what is behind it: a file, a slice, a counter.
pub trait ReadAt {
    /// Length in bytes when the reading began.
    fn len(&self) -> u64;

    /// Whether there is not one byte.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads up to `buf.len()` bytes at `offset`; fewer only at the end, 0 past it.
    ///
    /// # Errors
    /// Those of the device behind it.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;

    /// The bytes of `offset .. offset + len` that exist, at most `limit` of them.
    ///
    /// # Errors
    /// Those of [`ReadAt::read_at`].
    fn bytes(&self, offset: u64, len: u64, limit: usize) -> io::Result<Vec<u8>> {
        let available = self.len().saturating_sub(offset).min(len).min(limit as u64);
        let mut buf = vec![0; available as usize];
        let read = self.read_at(&mut buf, offset)?;
        buf.truncate(read);
        Ok(buf)
    }
}

impl ReadAt for [u8] {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(<[u8]>::len(self));
        let count = buf.len().min(<[u8]>::len(self) - start);
        buf[..count].copy_from_slice(&self[start..start + count]);
        Ok(count)
    }
}

impl ReadAt for Vec<u8> {
    fn len(&self) -> u64 {
        ReadAt::len(self.as_slice())
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.as_slice().read_at(buf, offset)
    }
}

/// A source up to an offset: what stands behind it belongs to something else.
pub(crate) struct Head<'a> {
    source: &'a dyn ReadAt,
    end: u64,
}

impl<'a> Head<'a> {
    /// Of the bytes of `source` those before `end`.
    pub(crate) fn new(source: &'a dyn ReadAt, end: u64) -> Self {
        Self { source, end: end.min(source.len()) }
    }
}

impl ReadAt for Head<'_> {
    fn len(&self) -> u64 {
        self.end
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let len = self.end.saturating_sub(offset).min(buf.len() as u64) as usize;
        self.source.read_at(&mut buf[..len], offset)
    }
}
