//! Technical facts, from the header of the first format; nobody has written down that of the second.

use std::io;

use crate::carrier::le;
use crate::{ByteRange, Properties, ReadAt};

/// With its checksum.
const HEADER_BYTES: usize = 22;

pub(super) fn properties(source: &dyn ReadAt, audio: ByteRange) -> io::Result<Option<Properties>> {
    let header = source.bytes(audio.offset, audio.len, HEADER_BYTES)?;
    let codec = "tta".to_owned();
    if header.starts_with(b"TTA2") {
        return Ok(Some(Properties { codec, ..Properties::default() }));
    }
    if !header.starts_with(b"TTA1") || header.len() < HEADER_BYTES {
        return Ok(None);
    }
    let stream = Properties {
        codec,
        sample_rate_hz: Some(le(&header, 10, 4) as u32).filter(|rate| *rate > 0),
        channels: Some(le(&header, 6, 2) as u16),
        bits: Some(le(&header, 8, 2) as u16),
        ..Properties::default()
    };
    Ok(Some(stream.lasting(le(&header, 14, 4), audio.len)))
}
