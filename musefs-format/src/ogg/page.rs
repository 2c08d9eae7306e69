//! Pages (RFC 3533, section 6).

use super::checksum;

/// Bytes of a page's header without its lacing values.
pub(super) const HEADER_BYTES: usize = 27;
/// Most lacing values of a page.
pub(super) const SEGMENTS_MAX: usize = 255;
/// Most bytes of a page's header.
pub(super) const HEADER_BYTES_MAX: usize = HEADER_BYTES + SEGMENTS_MAX;
/// Most bytes of a page.
pub(super) const PAGE_BYTES_MAX: usize = HEADER_BYTES_MAX + SEGMENTS_MAX * 255;

/// What stands first in a page: the capture pattern, and the only version of it.
pub(super) const MARK: &[u8] = b"OggS\0";
/// Of the granule position: what a page has on which no packet ends.
pub(super) const NO_GRANULE: u64 = u64::MAX;

/// Where fields stand in a header.
pub(super) const SEQUENCE_AT: usize = 18;
pub(super) const CHECKSUM_AT: usize = 22;

/// Flags of a header.
pub(super) const CONTINUED: u8 = 1;
pub(super) const BEGINS: u8 = 2;
pub(super) const ENDS: u8 = 4;

/// The header of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header<'a> {
    pub(super) flags: u8,
    pub(super) granule: u64,
    pub(super) serial: u32,
    pub(super) sequence: u32,
    pub(super) checksum: u32,
    pub(super) lacing: &'a [u8],
}

impl<'a> Header<'a> {
    /// The header that `bytes` begin with.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let fixed = bytes.first_chunk::<HEADER_BYTES>().filter(|fixed| fixed.starts_with(MARK))?;
        let lacing = bytes.get(HEADER_BYTES..HEADER_BYTES + usize::from(fixed[26]))?;
        let [granule_low, granule_high, serial, sequence, checksum] =
            [6, 10, 14, SEQUENCE_AT, CHECKSUM_AT].map(|at| le32(fixed, at));
        let granule = u64::from(granule_high) << 32 | u64::from(granule_low);
        Some(Self { flags: fixed[5], granule, serial, sequence, checksum, lacing })
    }

    /// Bytes of the header.
    pub(super) fn len(&self) -> usize {
        HEADER_BYTES + self.lacing.len()
    }

    /// Bytes behind the header.
    pub(super) fn body_len(&self) -> usize {
        self.lacing.iter().map(|len| usize::from(*len)).sum()
    }

    /// Whether `page`, whose header this is, has all its bytes and those are as they were written.
    pub(super) fn is_of(&self, page: &[u8]) -> bool {
        let (Some(rest), true) = (page.get(CHECKSUM_AT + 4..), page.len() == self.len() + self.body_len()) else {
            return false;
        };
        let sum = checksum::extend(checksum::extend(0, &page[..CHECKSUM_AT]), &[0; 4]);
        checksum::extend(sum, rest) == self.checksum
    }

    /// The header as it is stored.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = [MARK, &[self.flags], &self.granule.to_le_bytes()].concat();
        bytes.extend([self.serial, self.sequence, self.checksum].map(u32::to_le_bytes).concat());
        bytes.push(self.lacing.len() as u8);
        bytes.extend(self.lacing);
        bytes
    }
}

/// The whole page with a right checksum that `bytes` begin with; its length.
pub(super) fn whole_page(bytes: &[u8]) -> Option<(Header<'_>, usize)> {
    let header = Header::parse(bytes)?;
    let len = header.len() + header.body_len();
    let page = bytes.get(..len)?;
    header.is_of(page).then_some((header, len))
}

/// Where a page may begin, at or behind `from`.
pub(super) fn find_mark(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(MARK.len()).position(|window| window == MARK).map(|at| from + at)
}

fn le32(bytes: &[u8; HEADER_BYTES], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
