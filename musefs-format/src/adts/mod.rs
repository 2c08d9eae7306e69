//! AAC in ADTS frames, with ID3v2 in front, or an APE tag behind.

pub mod header;
mod properties;

use std::io;

use crate::carrier::{Carrier, Home};
use crate::limits::{JUNK_BYTES_MAX, SNIFF_BYTES};
use crate::{ByteRange, Format, ReadAt};

/// The container of ADTS.
pub const ADTS: Carrier =
    Carrier { format: Format::Adts, name: "ADTS", home: Home::Either, begin, properties: properties::properties };

/// Junk in front of the first frame is passed over; where there is no frame, nothing is junk.
fn begin(source: &dyn ReadAt, stream: ByteRange) -> io::Result<u64> {
    for limit in [SNIFF_BYTES, JUNK_BYTES_MAX] {
        let window = source.bytes(stream.offset, stream.len, limit)?;
        let is_whole = window.len() as u64 == stream.len;
        if let Some(at) = header::find_frames(&window, is_whole) {
            return Ok(stream.offset + at as u64);
        }
        if is_whole {
            break;
        }
    }
    Ok(stream.offset)
}
