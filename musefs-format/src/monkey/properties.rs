//! Technical facts, from the header of either layout: the descriptor came with version 3.98 of the encoder.

use std::io;

use crate::carrier::le;
use crate::{ByteRange, Properties, ReadAt};

/// First version with a descriptor in front of its header.
const VERSION_DESCRIPTOR: u64 = 3980;
/// Bytes of a descriptor, and of either header.
const HEADER_BYTES: usize = 76;
/// Flags of headers without a descriptor.
const FLAG_8_BITS: u64 = 1;
const FLAG_24_BITS: u64 = 8;

pub(super) fn properties(source: &dyn ReadAt, audio: ByteRange) -> io::Result<Option<Properties>> {
    let read = |offset: u64| source.bytes(offset, audio.end().saturating_sub(offset), HEADER_BYTES);
    let bytes = read(audio.offset)?;
    if !bytes.starts_with(b"MAC") || bytes.len() < 32 {
        return Ok(None);
    }
    let stream = match le(&bytes, 4, 2) {
        VERSION_DESCRIPTOR.. => new(&read(audio.offset + le(&bytes, 8, 4))?),
        version => old(&bytes, version),
    };
    Ok(Some(stream.properties(audio.len)))
}

struct Stream {
    frame_samples: u64,
    last_frame_samples: u64,
    frames: u64,
    bits: u64,
    channels: u64,
    sample_rate_hz: u64,
}

impl Stream {
    fn properties(&self, audio_bytes: u64) -> Properties {
        let stated = |number: u64| u16::try_from(number).ok().filter(|number| *number > 0);
        let samples = self.frames.checked_sub(1).map(|full| full * self.frame_samples + self.last_frame_samples);
        let stream = Properties {
            codec: "ape".to_owned(),
            sample_rate_hz: u32::try_from(self.sample_rate_hz).ok().filter(|rate| *rate > 0),
            channels: stated(self.channels),
            bits: stated(self.bits),
            ..Properties::default()
        };
        stream.lasting(samples.unwrap_or(0), audio_bytes)
    }
}

/// The header behind a descriptor.
fn new(header: &[u8]) -> Stream {
    Stream {
        frame_samples: le(header, 4, 4),
        last_frame_samples: le(header, 8, 4),
        frames: le(header, 12, 4),
        bits: le(header, 16, 2),
        channels: le(header, 18, 2),
        sample_rate_hz: le(header, 20, 4),
    }
}

/// The header before there were descriptors: the version and the level of compression tell how long frames are.
fn old(header: &[u8], version: u64) -> Stream {
    const LEVEL_EXTRA_HIGH: u64 = 4000;
    let (level, flags) = (le(header, 6, 2), le(header, 8, 2));
    let frame_samples = match version {
        3950.. => 73_728 * 4,
        3900.. => 73_728,
        3800.. if level == LEVEL_EXTRA_HIGH => 73_728,
        _ => 9_216,
    };
    Stream {
        frame_samples,
        last_frame_samples: le(header, 28, 4),
        frames: le(header, 24, 4),
        bits: if flags & FLAG_8_BITS != 0 {
            8
        } else if flags & FLAG_24_BITS != 0 {
            24
        } else {
            16
        },
        channels: le(header, 10, 2),
        sample_rate_hz: le(header, 12, 4),
    }
}
