//! What COMM says (Audio Interchange File Format AIFF-C, draft of 1991, section 4.1).

use std::io;

use crate::chunks::Opened;
use crate::{ByteRange, Properties};

/// Bytes of COMM up to the end of the compression type.
const COMMON_BYTES: usize = 22;
/// Bytes of SSND in front of the samples: offset and block size.
const SOUND_HEAD_BYTES: u64 = 8;

pub(super) fn describe(opened: &Opened<'_>) -> io::Result<(Properties, ByteRange)> {
    let sound = opened.audio().unwrap_or_default();
    let head = opened.source().bytes(sound.offset, sound.len, SOUND_HEAD_BYTES as usize)?;
    let skipped = head.first_chunk().map_or(0, |bytes| u64::from(u32::from_be_bytes(*bytes)));
    let begin = (sound.offset + SOUND_HEAD_BYTES + skipped).min(sound.end());
    let audio = ByteRange::between(begin, sound.end());
    Ok((properties(&opened.bytes(b"COMM", COMMON_BYTES)?, audio.len), audio))
}

fn properties(common: &[u8], audio_bytes: u64) -> Properties {
    let Some(head) = common.first_chunk::<18>() else { return Properties::default() };
    let number = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let (channels, bits) = (number(0), number(6));
    let frames = u64::from(number(2)) << 16 | u64::from(number(4));
    let compression = common.get(18..22).unwrap_or(b"NONE");
    let rate = rate_hz(&head[8..]);
    let codec = codec(compression);
    // Samples of one channel in so many bytes.
    let block = match codec.as_str() {
        "pcm" => Some((1, u64::from(channels) * u64::from(plain_bits(compression, bits).div_ceil(8)))),
        "alaw" | "mulaw" => Some((1, channels.into())),
        "adpcm_ima_qt" => Some((64, 34 * u64::from(channels))),
        "gsm" => Some((160, 33)),
        _ => None,
    };
    let there = block.filter(|(_, bytes)| *bytes > 0).map(|(samples, bytes)| audio_bytes / bytes * samples);
    let is_compressed = matches!(codec.as_str(), "adpcm_ima_qt" | "gsm");
    let told = Some(frames).filter(|frames| *frames > 0 && !is_compressed);
    let samples = told.into_iter().chain(there).min();
    let duration_ms = samples.zip(rate).map(|(samples, rate)| samples * 1000 / u64::from(rate)).filter(|ms| *ms > 0);
    Properties {
        duration_ms,
        sample_rate_hz: rate,
        channels: Some(channels).filter(|channels| *channels > 0),
        bits: match codec.as_str() {
            "pcm" => Some(plain_bits(compression, bits)).filter(|bits| *bits > 0),
            "alaw" | "mulaw" => Some(8),
            _ => None,
        },
        bitrate_bps: duration_ms.map(|ms| audio_bytes.saturating_mul(8000) / ms),
        codec,
    }
}

/// Bits of a sample; of floats COMM often tells something else.
fn plain_bits(compression: &[u8], told: u16) -> u16 {
    match compression {
        b"fl32" | b"FL32" | b"in32" => 32,
        b"fl64" | b"FL64" => 64,
        b"in24" => 24,
        _ => told,
    }
}

/// With ffmpeg's names of codecs; all kinds of PCM are one.
fn codec(compression: &[u8]) -> String {
    match compression {
        b"NONE" | b"twos" | b"sowt" | b"raw " | b"in24" | b"in32" | b"fl32" | b"FL32" | b"fl64" | b"FL64" => "pcm",
        b"alaw" | b"ALAW" => "alaw",
        b"ulaw" | b"ULAW" => "mulaw",
        b"ima4" => "adpcm_ima_qt",
        b"MAC3" => "mace3",
        b"MAC6" => "mace6",
        b"GSM " => "gsm",
        b"QDM2" => "qdm2",
        b"QDMC" => "qdmc",
        b"Qclp" => "qcelp",
        _ => "",
    }
    .to_owned()
}

/// An 80-bit float (IEEE 754, extended), as whole samples a second; `None` if it is none that audio has.
fn rate_hz(bytes: &[u8]) -> Option<u32> {
    let exponent = u16::from_be_bytes(*bytes.first_chunk()?);
    let mantissa = u64::from_be_bytes(*bytes.get(2..)?.first_chunk()?);
    // The first bit of the mantissa stands for 2^(exponent - 16383).
    let shift = (16_383_u16 + 63).checked_sub(exponent).filter(|shift| *shift < 64)?;
    u32::try_from(mantissa >> shift).ok().filter(|rate| *rate > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE_44100: [u8; 10] = [0x40, 0x0e, 0xac, 0x44, 0, 0, 0, 0, 0, 0];

    fn common(channels: u16, frames: u32, bits: u16, compression: &[u8]) -> Vec<u8> {
        [&channels.to_be_bytes()[..], &frames.to_be_bytes(), &bits.to_be_bytes(), &RATE_44100, compression].concat()
    }

    #[test]
    fn rates_are_floats_of_80_bits() {
        assert_eq!(rate_hz(&RATE_44100), Some(44_100));
        assert_eq!(rate_hz(&[0x40, 0x0b, 0xfa, 0, 0, 0, 0, 0, 0, 0]), Some(8000));
        assert_eq!(rate_hz(&[0x40, 0x0f, 0xbb, 0x80, 0, 0, 0, 0, 0, 0]), Some(96_000));
        for none in [[0; 10], [0xff; 10], [0x3f, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0]] {
            assert_eq!(rate_hz(&none), None);
        }
    }

    #[test]
    fn forms_are_described() {
        for (common, expected) in [
            (common(2, 44_100, 16, b""), ("pcm", Some(1000), Some(16))),
            (common(2, 0, 16, b"sowt"), ("pcm", Some(1000), Some(16))),
            // Less is there than is told.
            (common(2, 441_000, 16, b"NONE"), ("pcm", Some(1000), Some(16))),
            (common(1, 44_100, 0, b"fl32"), ("pcm", Some(1000), Some(32))),
            (common(1, 0, 16, b"ulaw"), ("mulaw", Some(4000), Some(8))),
            (common(2, 2594, 16, b"ima4"), ("adpcm_ima_qt", Some(3764), None)),
            (common(0, 0, 16, b"NONE"), ("pcm", None, Some(16))),
            (common(1, 44_100, 16, b"????"), ("", Some(1000), None)),
        ] {
            let found = properties(&common, 44_100 * 4);
            assert_eq!((found.codec.as_str(), found.duration_ms, found.bits), expected);
        }
        assert_eq!(properties(&[0; 17], 1), Properties::default());
    }
}
