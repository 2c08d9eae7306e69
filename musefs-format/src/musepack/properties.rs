//! Technical facts, from the header of stream version 7 or the stream header packet of version 8 (Musepack wiki).

use std::io;

use crate::carrier::le;
use crate::limits::HEADER_PACKETS_MAX;
use crate::{ByteRange, Properties, ReadAt};

const SAMPLE_RATES_HZ: [u32; 4] = [44_100, 48_000, 37_800, 32_000];
/// Bytes of the header of version 7; more than any stream header packet has.
const HEADER_BYTES: usize = 28;
/// Samples of one channel in a frame.
const FRAME_SAMPLES: u64 = 1152;
/// Samples that a decoder of version 7 gives before the music.
const DECODER_DELAY_SAMPLES: u64 = 481;

pub(super) fn properties(source: &dyn ReadAt, audio: ByteRange) -> io::Result<Option<Properties>> {
    let header = source.bytes(audio.offset, audio.len, HEADER_BYTES)?;
    let stream = match header.get(..4) {
        Some(b"MPCK") => version_8(source, audio)?,
        Some(&[b'M', b'P', b'+', version]) if version & 15 == 7 && header.len() == HEADER_BYTES => version_7(&header),
        _ => return Ok(None),
    };
    Ok(stream.map(|stream| stream.properties(audio.len)))
}

struct Stream {
    sample_rate_hz: Option<u32>,
    channels: u16,
    samples: u64,
}

impl Stream {
    fn properties(&self, audio_bytes: u64) -> Properties {
        let stream = Properties {
            codec: "musepack".to_owned(),
            sample_rate_hz: self.sample_rate_hz,
            channels: Some(self.channels),
            ..Properties::default()
        };
        stream.lasting(self.samples, audio_bytes)
    }
}

fn version_7(header: &[u8]) -> Option<Stream> {
    let gapless = le(header, 20, 4);
    let (is_gapless, last_frame) = (gapless >> 31 != 0, gapless >> 20 & 0x7ff);
    let surplus = if is_gapless { FRAME_SAMPLES.saturating_sub(last_frame) } else { DECODER_DELAY_SAMPLES };
    Some(Stream {
        sample_rate_hz: Some(SAMPLE_RATES_HZ[usize::from(header[10] & 3)]),
        channels: 2,
        samples: (le(header, 4, 4) * FRAME_SAMPLES).saturating_sub(surplus),
    })
}

/// Packets have a key of two letters and a size that counts both.
fn version_8(source: &dyn ReadAt, audio: ByteRange) -> io::Result<Option<Stream>> {
    let mut at = audio.offset + 4;
    for _ in 0..HEADER_PACKETS_MAX {
        let packet = source.bytes(at, audio.end().saturating_sub(at), HEADER_BYTES + 2)?;
        let Some((key, rest)) = packet.split_first_chunk::<2>() else { break };
        let Some((size, behind)) = number(rest) else { break };
        if key == b"SH" {
            return Ok(stream_header(behind));
        }
        at = at.saturating_add(size.max(3));
    }
    Ok(None)
}

/// Checksum, version, samples, samples of silence in front, and two bytes of packed fields.
fn stream_header(payload: &[u8]) -> Option<Stream> {
    let (samples, rest) = number(payload.get(5..)?)?;
    let (silence, rest) = number(rest)?;
    let &[rate, channels, ..] = rest else { return None };
    Some(Stream {
        sample_rate_hz: SAMPLE_RATES_HZ.get(usize::from(rate >> 5)).copied(),
        channels: u16::from(channels >> 4) + 1,
        samples: samples.saturating_sub(silence),
    })
}

/// A number of seven bits a byte, the highest first, and what follows it; at most 63 bits.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let last = bytes.iter().take(9).position(|byte| byte & 0x80 == 0)?;
    let number = bytes[..=last].iter().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f));
    Some((number, &bytes[last + 1..]))
}
