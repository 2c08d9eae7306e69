//! The bytes of a served file: a splice over its source.

use std::{convert::Infallible, io};

use crate::ogg::PageSearch;
use crate::{Origin, ReadAt, Splice};

/// Bytes that a read gave, by where they came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// From made bytes.
    pub memory: usize,
    /// From the source.
    pub source: usize,
}

impl Splice {
    /// Fills `buf` with the served bytes from `offset` on; fewer only at the end of the file.
    ///
    /// `read_source` fills a buffer from an offset of the source, whole or not at all.
    ///
    /// # Errors
    /// Those of `read_source`.
    pub fn read<E>(
        &self,
        offset: u64,
        buf: &mut [u8],
        read_source: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<Given, E> {
        self.read_with(&mut PageSearch::default(), offset, buf, read_source)
    }

    /// [`Splice::read`] that takes up where another read of the same splice stopped.
    ///
    /// # Errors
    /// Those of `read_source`.
    pub fn read_with<E>(
        &self,
        search: &mut PageSearch,
        offset: u64,
        buf: &mut [u8],
        mut read_source: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<Given, E> {
        let mut given = Given::default();
        let mut rest = buf;
        for segment in self.range(offset, rest.len() as u64) {
            let (part, behind) = rest.split_at_mut(segment.len as usize);
            match segment.origin {
                Origin::Made(at) => {
                    part.copy_from_slice(&self.made()[at..at + part.len()]);
                    given.memory += part.len();
                }
                Origin::Source(at) => {
                    read_source(at, part)?;
                    given.source += part.len();
                }
                Origin::Offsets(offsets) => {
                    read_source(offsets.at, part)?;
                    offsets.mend(part, &mut read_source)?;
                    given.source += part.len();
                }
                Origin::OggPages(pages) => {
                    pages.fill(part, search, &mut read_source)?;
                    given.source += part.len();
                }
                Origin::OggChecksum(checksum) => {
                    checksum.fill(self, part, search, &mut read_source)?;
                    given.source += part.len();
                }
            }
            rest = behind;
        }
        Ok(given)
    }

    /// The whole served file over a source in memory; for tests.
    pub fn materialise(&self, source: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(self.len()).unwrap_or(usize::MAX)];
        let copy = |at: u64, buf: &mut [u8]| -> Result<(), Infallible> {
            buf.copy_from_slice(&source[at as usize..][..buf.len()]);
            Ok(())
        };
        let Ok(_) = self.read(0, &mut bytes, copy);
        bytes
    }
}

/// A served file that can be read like a source.
pub struct Served<'a> {
    /// How it is put together.
    pub splice: &'a Splice,
    /// What it is put together from.
    pub source: &'a dyn ReadAt,
}

impl ReadAt for Served<'_> {
    fn len(&self) -> u64 {
        self.splice.len()
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let given = self.splice.read(offset, buf, |at, part| -> io::Result<()> {
            let read = self.source.read_at(part, at)?;
            if read == part.len() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
        })?;
        Ok(given.memory + given.source)
    }
}
