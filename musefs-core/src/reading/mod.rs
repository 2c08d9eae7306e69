//! Reading served bytes: a splice's made bytes from memory, the rest from the source.
//!
//! A range is answered without SQL once its source is open and its header built; no lock is held while
//! a disk is asked, and nothing is allocated per read. After the disk answered, the source's stamp is
//! compared with the catalogue's: bytes of a source that changed meanwhile are never given out.

mod cache;
mod headers;
mod read_ahead;
mod source;

pub use cache::{OpenTrack, SourceCache};
pub use headers::HeaderCache;
pub use read_ahead::ReadAhead;
pub use source::{OpenSource, Stamp};

use musefs_format::{Origin, Splice};

use crate::Error;

/// Bytes that a read gave, by where they came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// From made bytes.
    pub memory: usize,
    /// From the source.
    pub source: usize,
}

/// Reads `offset ..` of the file that `splice` describes into `buf`; fewer bytes only at its end.
///
/// # Errors
/// [`Error::Source`] when the disk fails, [`Error::SourceChanged`] when the source is not what was catalogued.
pub fn read_splice(
    splice: &Splice,
    source: &OpenSource,
    read_ahead: &ReadAhead,
    offset: u64,
    buf: &mut [u8],
) -> Result<Given, Error> {
    let mut given = Given::default();
    let mut rest = buf;
    for segment in splice.range(offset, rest.len() as u64) {
        let (part, behind) = rest.split_at_mut(segment.len as usize);
        match segment.origin {
            Origin::Made(at) => {
                part.copy_from_slice(&splice.made()[at..at + part.len()]);
                given.memory += part.len();
            }
            Origin::Source(at) => {
                read_ahead.read(source, at, part)?;
                given.source += part.len();
            }
            Origin::Offsets(offsets) => {
                read_ahead.read(source, offsets.at, part)?;
                offsets.mend(part, |at, bytes| read_ahead.read(source, at, bytes))?;
                given.source += part.len();
            }
        }
        rest = behind;
    }
    if given.source > 0 {
        source.check_stamp()?;
    }
    Ok(given)
}

/// Reads `offset ..` of a source that is served whole into `buf`; fewer bytes only at its end.
///
/// # Errors
/// As [`read_splice`].
pub fn read_whole(source: &OpenSource, read_ahead: &ReadAhead, offset: u64, buf: &mut [u8]) -> Result<Given, Error> {
    let available = source.stamp().size.saturating_sub(offset).min(buf.len() as u64) as usize;
    if available > 0 {
        read_ahead.read(source, offset, &mut buf[..available])?;
        source.check_stamp()?;
    }
    Ok(Given { memory: 0, source: available })
}
