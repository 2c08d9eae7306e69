//! From page to page through the headers of a stream.

use std::io;

use super::page::{HEADER_BYTES_MAX, Header, PAGE_BYTES_MAX, find_mark};
use super::structure::Page;
use crate::limits::OGG_GAP_BYTES_MAX;
use crate::{ByteRange, ReadAt};

/// A page as it was met.
#[derive(Clone, Debug)]
pub(super) struct Met {
    pub(super) page: Page,
    pub(super) serial: u32,
    pub(super) granule: u64,
    pub(super) lacing: Vec<u8>,
}

impl Met {
    fn new(offset: u64, header: Header<'_>) -> Self {
        let page = Page {
            offset,
            flags: header.flags,
            sequence: header.sequence,
            segments: header.lacing.len() as u8,
            body: header.body_len() as u32,
        };
        Self { page, serial: header.serial, granule: header.granule, lacing: header.lacing.to_vec() }
    }
}

/// The page that begins at `at`, or else the first whole page behind it; `None` if there is none near.
pub(super) fn next_page(source: &dyn ReadAt, at: u64) -> io::Result<Option<Met>> {
    let bytes = source.bytes(at, HEADER_BYTES_MAX as u64, HEADER_BYTES_MAX)?;
    if let Some(header) = Header::parse(&bytes) {
        let met = Met::new(at, header);
        return Ok((met.page.end() <= source.len()).then_some(met));
    }
    let window = source.bytes(at, OGG_GAP_BYTES_MAX as u64, OGG_GAP_BYTES_MAX)?;
    let mut from = 0;
    while let Some(found) = find_mark(&window, from) {
        let offset = at + found as u64;
        let page = source.bytes(offset, PAGE_BYTES_MAX as u64, PAGE_BYTES_MAX)?;
        if let Some((header, _)) = super::page::whole_page(&page) {
            return Ok(Some(Met::new(offset, header)));
        }
        from = found + 1;
    }
    Ok(None)
}

/// A packet, by where it begins and ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packet {
    /// Index of the page on which it begins, and of its first lacing value there.
    pub(super) first: (usize, usize),
    /// Index of the page on which it ends, and of the first lacing value behind it there.
    pub(super) last: (usize, usize),
    pub(super) len: u64,
}

/// The pages of one stream, and the packets that they hold.
#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) pages: Vec<Met>,
    /// Those that have ended.
    pub(super) packets: Vec<Packet>,
    open: Option<Packet>,
}

impl Stream {
    pub(super) fn push(&mut self, met: Met) {
        let page = self.pages.len();
        for (segment, len) in met.lacing.iter().enumerate() {
            let mut packet = self.open.take().unwrap_or(Packet { first: (page, segment), ..Packet::default() });
            packet.len += u64::from(*len);
            packet.last = (page, segment + 1);
            match len {
                255 => self.open = Some(packet),
                _ => self.packets.push(packet),
            }
        }
        self.pages.push(met);
    }

    /// Bytes of the packet that has not ended.
    pub(super) fn open_bytes(&self) -> u64 {
        self.open.map_or(0, |packet| packet.len)
    }

    /// Where the bytes of a packet are in the source.
    pub(super) fn ranges(&self, packet: Packet) -> Vec<ByteRange> {
        let pages = packet.first.0..=packet.last.0;
        let range = |at: usize| {
            let met = &self.pages[at];
            let from = if at == packet.first.0 { packet.first.1 } else { 0 };
            let to = if at == packet.last.0 { packet.last.1 } else { met.lacing.len() };
            let bytes = |values: &[u8]| values.iter().map(|len| u64::from(*len)).sum::<u64>();
            let offset = met.page.body_offset() + bytes(&met.lacing[..from]);
            ByteRange { offset, len: bytes(&met.lacing[from..to]) }
        };
        pages.map(range).collect()
    }

    /// The first bytes of a packet, at most `limit`.
    pub(super) fn bytes(&self, source: &dyn ReadAt, packet: Packet, limit: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for range in self.ranges(packet) {
            if bytes.len() < limit {
                bytes.extend(source.bytes(range.offset, range.len, limit - bytes.len())?);
            }
        }
        Ok(bytes)
    }
}
