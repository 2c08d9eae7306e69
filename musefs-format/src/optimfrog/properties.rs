//! Technical facts, from the first block.

use std::io;

use crate::carrier::le;
use crate::{ByteRange, Properties, ReadAt};

/// Mark, size, and the fields that all versions have.
const HEADER_BYTES: usize = 20;
/// Bits of a sample, by half the number of its type: signed or not makes no difference.
const BITS: [u16; 4] = [8, 16, 24, 32];

pub(super) fn properties(source: &dyn ReadAt, audio: ByteRange) -> io::Result<Option<Properties>> {
    let header = source.bytes(audio.offset, audio.len, HEADER_BYTES)?;
    let size = le(&header, 4, 4);
    if !header.starts_with(b"OFR ") || header.len() < HEADER_BYTES || (size != 12 && size < 15) {
        return Ok(None);
    }
    let channels = u16::from(header[15]) + 1;
    let stream = Properties {
        codec: "optimfrog".to_owned(),
        sample_rate_hz: Some(le(&header, 16, 4) as u32).filter(|rate| *rate > 0),
        channels: Some(channels),
        bits: BITS.get(usize::from(header[14] / 2)).copied(),
        ..Properties::default()
    };
    // All channels are counted together.
    Ok(Some(stream.lasting(le(&header, 8, 6) / u64::from(channels), audio.len)))
}
