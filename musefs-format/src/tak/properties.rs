//! Technical facts, from the stream information among the metadata blocks.

use std::io;

use crate::carrier::le;
use crate::limits::HEADER_PACKETS_MAX;
use crate::{ByteRange, Properties, ReadAt};

/// Kind of the block that ends the metadata.
const END: u8 = 0;
const STREAM_INFORMATION: u8 = 1;
/// Of the stream information, without its checksum.
const INFORMATION_BYTES: usize = 10;

pub(super) fn properties(source: &dyn ReadAt, audio: ByteRange) -> io::Result<Option<Properties>> {
    if source.bytes(audio.offset, audio.len, 4)? != b"tBaK" {
        return Ok(None);
    }
    let mut at = audio.offset + 4;
    for _ in 0..HEADER_PACKETS_MAX {
        let block = source.bytes(at, audio.end().saturating_sub(at), 4 + INFORMATION_BYTES)?;
        match block.first().map(|kind| kind & 0x7f) {
            None | Some(END) => break,
            Some(STREAM_INFORMATION) if block.len() == 4 + INFORMATION_BYTES => {
                return Ok(Some(stream(&block[4..], audio.len)));
            }
            Some(_) => at += 4 + le(&block, 1, 3),
        }
    }
    Ok(None)
}

/// Fields of bits, the lowest first: codec (6), profile (4), frame size (4), samples (35), kind of data (3),
/// rate (18), bits (5), channels (4).
fn stream(information: &[u8], audio_bytes: u64) -> Properties {
    let (low, high) = (le(information, 0, 8), le(information, 6, 4));
    let stream = Properties {
        codec: "tak".to_owned(),
        sample_rate_hz: Some((high >> 4 & 0x3_ffff) as u32 + 6_000),
        bits: Some((high >> 22 & 31) as u16 + 8),
        channels: Some((high >> 27 & 15) as u16 + 1),
        ..Properties::default()
    };
    stream.lasting(low >> 14 & ((1 << 35) - 1), audio_bytes)
}
