//! The checksum of a made page, which is known only when the bytes are read that it takes over from the source.

use super::checksum;
use super::page::PAGE_BYTES_MAX;
use super::renumber::PageSearch;
use crate::{Origin, Splice};

/// Bytes of the checksum of a page in the served file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageChecksum {
    /// Offset of the page in the served file.
    pub page: u64,
    /// Bytes of the page.
    pub len: u32,
    /// Bytes of the checksum before the first that is meant, less than 4.
    pub skipped: u8,
}

impl PageChecksum {
    /// The same without its next `bytes`.
    pub(crate) fn skip(self, bytes: u64) -> Self {
        Self { skipped: self.skipped + bytes as u8, ..self }
    }

    /// Fills `buf` with what is served for it in `splice`. `fetch` fills a buffer with the source's bytes from an offset on.
    ///
    /// # Errors
    /// Those of `fetch`.
    pub fn fill<E>(
        &self,
        splice: &Splice,
        buf: &mut [u8],
        search: &mut PageSearch,
        mut fetch: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let scratch = &mut search.scratch;
        let mut sum = 0;
        for segment in splice.range(self.page, u64::from(self.len).min(PAGE_BYTES_MAX as u64)) {
            let len = segment.len as usize;
            match segment.origin {
                Origin::Made(at) => sum = checksum::extend(sum, &splice.made()[at..at + len]),
                Origin::Source(at) => {
                    scratch.clear();
                    scratch.resize(len, 0);
                    fetch(at, scratch)?;
                    sum = checksum::extend(sum, scratch);
                }
                // The checksum itself counts as zeros; made pages have nothing else.
                Origin::OggChecksum(_) | Origin::OggPages(_) | Origin::Offsets(_) => {
                    sum = checksum::extend_zeros(sum, len as u32);
                }
            }
        }
        buf.copy_from_slice(&sum.to_le_bytes()[usize::from(self.skipped)..][..buf.len()]);
        Ok(())
    }
}
