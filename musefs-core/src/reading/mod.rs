//! Reading served bytes: a splice's made bytes from memory, the rest from the source.
//!
//! A range is answered without SQL once its source is open and its header built; no lock is held while
//! a disk is asked, and nothing is allocated per read. After the disk answered, the source's stamp is
//! compared with the catalogue's: bytes of a source that changed meanwhile are never given out.

mod cache;
mod headers;
mod ogg_pages;
mod read_ahead;
mod source;

pub use cache::{OpenTrack, SourceCache};
pub use headers::HeaderCache;
pub use read_ahead::ReadAhead;
pub use source::{OpenSource, Stamp};

use musefs_format::{Given, Splice};

use crate::Error;

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
    let given = ogg_pages::with_search(source, |search| {
        splice.read_with(search, offset, buf, |at, part| read_ahead.read(source, at, part))
    })?;
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
