//! Pages of a source that get other sequence numbers while they are read.
//!
//! Where the headers take more or fewer pages than before, each later page of the stream has another
//! sequence number, and so another checksum. Where pages begin in the audio nobody knows without reading it: not
//! the structure (a scan reads no audio) and no table of an open file (to fill one for a read at the end of a file, all of
//! it would have to be read). So a page is known by what it is: the mark, a header that fits, and a
//! checksum over all of it that is right. That holds wherever reading begins, so that any range gives the bytes that
//! reading all would give; a page that is damaged has no right number to get and stays as it is.
//!
//! Audio may contain something that looks like a page, even one with a right checksum. What lies inside a
//! page is none: from a known begin of a page on, one steps from page to page. To know one, reading starts two pages of
//! the greatest length in front of the wanted bytes: within the first of them the true begin of a page is met, whatever
//! the first bytes looked like, and from there on steps are right. Who reads on from where it stopped
//! ([`PageSearch`]) saves that. The work is that of the range and a constant, memory a window of
//! [`OGG_WINDOW_BYTES`] and three pages.

use super::checksum;
use super::page::{CHECKSUM_AT, HEADER_BYTES, Header, MARK, PAGE_BYTES_MAX, SEQUENCE_AT, find_mark};
use crate::limits::OGG_WINDOW_BYTES;

/// What finding pages needs besides the source: kept between reads of one splice, it saves work.
#[derive(Debug, Default)]
pub struct PageSearch {
    /// Room for pages. It grows to a window and stays.
    pub scratch: Vec<u8>,
    /// Offset in the source where a page is known to begin, or none between it and where reading stopped.
    pub known: Option<u64>,
}

/// Pages of a source, of which those of one stream get other sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renumbered {
    /// Offset in the source of the first byte that is meant.
    pub at: u64,
    /// Offset in the source of a page at or before it, from which on this holds.
    pub start: u64,
    /// Offset in the source of the first byte behind the last page.
    pub end: u64,
    /// The stream.
    pub serial: u32,
    /// What is added to its sequence numbers, which wrap.
    pub delta: u32,
}

impl Renumbered {
    /// The same pages without the next `bytes`.
    pub(crate) fn skip(self, bytes: u64) -> Self {
        Self { at: self.at + bytes, ..self }
    }

    /// Fills `buf` with what is served for the source from `at` on. `fetch` fills a buffer with the source's bytes from an
    /// offset on.
    ///
    /// # Errors
    /// Those of `fetch`.
    pub fn fill<E>(
        &self,
        buf: &mut [u8],
        search: &mut PageSearch,
        mut fetch: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut at = self.at;
        for part in buf.chunks_mut(OGG_WINDOW_BYTES) {
            let begin = self.entry(at, search.known);
            let end = at + part.len() as u64;
            search.scratch.clear();
            let mut window = Window { offset: begin, end: self.end, bytes: &mut search.scratch, fetch: &mut fetch };
            window.extend_to(end)?;
            search.known = Some(self.renumber(&mut window, end)?);
            part.copy_from_slice(&search.scratch[(at - begin) as usize..][..part.len()]);
            at = end;
        }
        Ok(())
    }

    /// Where to start so that the pages from `at` on are found.
    fn entry(&self, at: u64, known: Option<u64>) -> u64 {
        let far = at.saturating_sub(2 * PAGE_BYTES_MAX as u64).max(self.start);
        known.filter(|known| (far..=at).contains(known)).unwrap_or(far)
    }

    /// Renumbers the pages that begin in the window before `end`; gives where the last of them begins.
    fn renumber<E>(
        &self,
        window: &mut Window<'_, impl FnMut(u64, &mut [u8]) -> Result<(), E>>,
        end: u64,
    ) -> Result<u64, E> {
        let mut last = window.offset;
        let mut at = window.offset;
        while at < end {
            last = at;
            if let Some(len) = window.page_len(at)? {
                self.patch(&mut window.bytes[(at - window.offset) as usize..][..len]);
                at += len as u64;
            } else if let Some(next) = window.next_mark(at + 1) {
                at = next;
            } else {
                // A mark may be cut by the end of the window.
                return Ok(end.saturating_sub(MARK.len() as u64 - 1).max(last));
            }
        }
        Ok(last)
    }

    fn patch(&self, page: &mut [u8]) {
        let Some(Header { serial, sequence, checksum, .. }) = Header::parse(page) else { return };
        if serial != self.serial {
            return;
        }
        let new = sequence.wrapping_add(self.delta);
        let difference = checksum::extend(0, &(sequence ^ new).to_le_bytes());
        let behind = page.len() - SEQUENCE_AT - 4;
        let checksum = checksum ^ checksum::extend_zeros(difference, behind as u32);
        page[SEQUENCE_AT..SEQUENCE_AT + 4].copy_from_slice(&new.to_le_bytes());
        page[CHECKSUM_AT..CHECKSUM_AT + 4].copy_from_slice(&checksum.to_le_bytes());
    }
}

/// Bytes of the source from an offset on, more of them on demand.
struct Window<'a, F> {
    offset: u64,
    /// Of the source: nothing is fetched behind it.
    end: u64,
    bytes: &'a mut Vec<u8>,
    fetch: &'a mut F,
}

impl<E, F: FnMut(u64, &mut [u8]) -> Result<(), E>> Window<'_, F> {
    /// Makes the window reach to `end`; whether the source does.
    fn extend_to(&mut self, end: u64) -> Result<bool, E> {
        let (had, wanted) = (self.bytes.len(), (end.min(self.end) - self.offset) as usize);
        if wanted > had {
            self.bytes.resize(wanted, 0);
            (self.fetch)(self.offset + had as u64, &mut self.bytes[had..])?;
        }
        Ok(end <= self.end)
    }

    /// Length of the page that begins at `at`, if there is one.
    fn page_len(&mut self, at: u64) -> Result<Option<usize>, E> {
        let start = (at - self.offset) as usize;
        if !self.bytes[start..].starts_with(&MARK[..MARK.len().min(self.bytes.len() - start)]) {
            return Ok(None);
        }
        if !self.extend_to(at + HEADER_BYTES as u64)? {
            return Ok(None);
        }
        let segments = self.bytes[start + HEADER_BYTES - 1];
        if !self.extend_to(at + HEADER_BYTES as u64 + u64::from(segments))? {
            return Ok(None);
        }
        let Some(header) = Header::parse(&self.bytes[start..]) else { return Ok(None) };
        let len = header.len() + header.body_len();
        if !self.extend_to(at + len as u64)? {
            return Ok(None);
        }
        let page = &self.bytes[start..start + len];
        Ok(Header::parse(page).filter(|header| header.is_of(page)).map(|_| len))
    }

    fn next_mark(&self, from: u64) -> Option<u64> {
        let found = find_mark(self.bytes, (from - self.offset) as usize)?;
        Some(self.offset + found as u64)
    }
}
