//! What `fmt ` and `fact` say (Multimedia Programming Interface and Data Specifications 1.0, chapter 3; `mmreg.h`).

use std::io;

use crate::chunks::{Dialect, Opened};
use crate::facts::scale;
use crate::{ByteRange, Properties};

/// Bytes of `fmt ` that are looked at: as many as the extensible form has.
const FORMAT_BYTES: usize = 40;
/// Of a format whose true tag stands further on.
const EXTENSIBLE: u16 = 0xfffe;

pub(super) fn describe(opened: &Opened<'_>) -> io::Result<(Properties, ByteRange)> {
    let audio = opened.audio().unwrap_or_default();
    let is_big_endian = opened.dialect() == Dialect::Rifx;
    let numbers = |bytes: Vec<u8>| Numbers { bytes, is_big_endian };
    let format = numbers(opened.bytes(b"fmt ", FORMAT_BYTES)?);
    let fact = numbers(opened.bytes(b"fact", 8)?);
    let samples = if opened.dialect() == Dialect::Wave64 { fact.u64(0) } else { fact.u32(0).map(u64::from) };
    Ok((properties(&format, samples, audio.len), audio))
}

/// Numbers at places of a chunk.
struct Numbers {
    bytes: Vec<u8>,
    is_big_endian: bool,
}

impl Numbers {
    fn u16(&self, at: usize) -> Option<u16> {
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.is_big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    fn u32(&self, at: usize) -> Option<u32> {
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn u64(&self, at: usize) -> Option<u64> {
        Some(u64::from_le_bytes(*self.bytes.get(at..)?.first_chunk()?))
    }
}

fn properties(format: &Numbers, samples_told: Option<u64>, audio_bytes: u64) -> Properties {
    let above_zero = |number: &u32| *number > 0;
    let tag = match format.u16(0) {
        Some(EXTENSIBLE) => format.u16(24),
        tag => tag,
    };
    let codec = codec(tag.unwrap_or(0));
    let rate = format.u32(4).filter(above_zero);
    let bytes_a_second = format.u32(8).filter(above_zero);
    let is_plain = matches!(codec, "pcm" | "alaw" | "mulaw");
    let samples = if is_plain { plain_samples(format, audio_bytes) } else { samples_told.filter(|told| *told > 0) };
    let duration_ms = match (samples, rate, bytes_a_second) {
        (Some(samples), Some(rate), _) => Some(scale(samples, 1000, rate.into())),
        (None, _, Some(bytes)) => Some(scale(audio_bytes, 1000, bytes.into())),
        _ => None,
    };
    let duration_ms = duration_ms.filter(|ms| *ms > 0);
    let bitrate_bps = match (is_plain, rate) {
        (true, Some(rate)) => block_bytes(format).map(|block| u64::from(rate) * block * 8),
        _ => duration_ms.map(|ms| scale(audio_bytes, 8000, ms)),
    };
    Properties {
        codec: codec.to_owned(),
        duration_ms,
        sample_rate_hz: rate,
        channels: format.u16(2).filter(|channels| *channels > 0),
        bits: format.u16(14).filter(|bits| *bits > 0 && (is_plain || codec.starts_with("adpcm"))),
        bitrate_bps,
    }
}

/// Samples of one channel, where all have the same length.
fn plain_samples(format: &Numbers, audio_bytes: u64) -> Option<u64> {
    block_bytes(format).map(|block| audio_bytes / block)
}

/// Bytes of a sample of all channels.
fn block_bytes(format: &Numbers) -> Option<u64> {
    let told = u64::from(format.u16(12)?);
    let computed = u64::from(format.u16(2)?) * u64::from(format.u16(14)?.div_ceil(8));
    [told, computed].into_iter().find(|block| *block > 0)
}

/// By the tags of `mmreg.h`, with ffmpeg's names of codecs; all kinds of PCM are one.
fn codec(tag: u16) -> &'static str {
    match tag {
        0x0001 | 0x0003 => "pcm",
        0x0002 => "adpcm_ms",
        0x0006 => "alaw",
        0x0007 => "mulaw",
        0x0011 => "adpcm_ima_wav",
        0x0020 => "adpcm_yamaha",
        0x0022 => "truespeech",
        0x0031 => "gsm_ms",
        0x0045 => "adpcm_g726",
        0x0050 => "mp2",
        0x0055 => "mp3",
        0x00ff | 0x1600 | 0x1601 => "aac",
        0x0160 => "wmav1",
        0x0161 => "wmav2",
        0x0270 => "atrac3",
        0x2000 => "ac3",
        0x2001 => "dts",
        0x674f..=0x6771 | 0x566f => "vorbis",
        0x704f => "opus",
        0xf1ac => "flac",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(tag: u16, channels: u16, rate: u32, bytes_a_second: u32, block: u16, bits: u16) -> Numbers {
        let bytes = [tag, channels].map(u16::to_le_bytes).concat();
        let bytes = [bytes, [rate, bytes_a_second].map(u32::to_le_bytes).concat()].concat();
        Numbers { bytes: [bytes, [block, bits].map(u16::to_le_bytes).concat()].concat(), is_big_endian: false }
    }

    #[test]
    fn formats_are_described() {
        let cases = [
            (format(1, 2, 44_100, 176_400, 4, 16), None, ("pcm", Some(10_000), Some(16), Some(1_411_200))),
            // Block and byte rate are often wrong where they are not needed.
            (format(1, 2, 44_100, 0, 0, 16), Some(7), ("pcm", Some(10_000), Some(16), Some(1_411_200))),
            (format(7, 1, 8000, 8000, 1, 8), None, ("mulaw", Some(220_500), Some(8), Some(64_000))),
            (format(0x55, 2, 44_100, 16_000, 1, 0), Some(441_000), ("mp3", Some(10_000), None, Some(1_411_200))),
            (format(0x55, 2, 44_100, 17_640, 1, 0), Some(0), ("mp3", Some(100_000), None, Some(141_120))),
            (format(0x11, 1, 0, 0, 0, 4), None, ("adpcm_ima_wav", None, Some(4), None)),
            (format(0x1234, 1, 8000, 0, 0, 0), None, ("", None, None, None)),
        ];
        for (format, samples, expected) in cases {
            let found = properties(&format, samples, 1_764_000);
            let found = (found.codec.as_str(), found.duration_ms, found.bits, found.bitrate_bps);
            assert_eq!(found, expected);
        }
        let none = properties(&Numbers { bytes: Vec::new(), is_big_endian: false }, None, 9);
        assert_eq!(none, Properties::default());
    }

    #[test]
    fn the_true_tag_of_the_extensible_form_counts() {
        let mut extensible = format(EXTENSIBLE, 1, 8000, 8000, 1, 8);
        extensible.bytes.extend([22, 0, 8, 0, 4, 0, 0, 0, 6, 0]);
        assert_eq!(properties(&extensible, None, 8000).codec, "alaw");
    }
}
