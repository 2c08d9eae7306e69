//! What the property chunk says (DSDIFF 1.5, section 3.2).

use std::io;

use crate::chunks::Opened;
use crate::limits::DFF_PROPERTY_BYTES;
use crate::{ByteRange, Properties};

/// Bytes of a chunk's header.
const HEADER_BYTES: usize = 12;

pub(super) fn describe(opened: &Opened<'_>) -> io::Result<(Properties, ByteRange)> {
    let audio = opened.audio().unwrap_or_default();
    let property = opened.bytes(b"PROP", DFF_PROPERTY_BYTES)?;
    let frames = opened.source().bytes(audio.offset, audio.len, HEADER_BYTES + 6)?;
    Ok((properties(&property, &frames, audio.len), audio))
}

fn properties(property: &[u8], audio_head: &[u8], audio_bytes: u64) -> Properties {
    let rate = chunk(property, b"FS  ").and_then(|rate| Some(u32::from_be_bytes(*rate.first_chunk()?)));
    let rate = rate.filter(|rate| *rate > 0);
    let channels = chunk(property, b"CHNL").and_then(|channels| Some(u16::from_be_bytes(*channels.first_chunk()?)));
    let channels = channels.filter(|channels| *channels > 0);
    let codec = match chunk(property, b"CMPR").and_then(|compression| compression.first_chunk()) {
        Some(b"DSD ") => "dsd",
        Some(b"DST ") => "dst",
        _ => "",
    };
    let duration_ms = match (codec, rate, channels) {
        ("dst", ..) => dst_ms(audio_head),
        (_, Some(rate), Some(channels)) => {
            let samples = audio_bytes.saturating_mul(8) / u64::from(channels);
            Some(samples.saturating_mul(1000) / u64::from(rate))
        }
        _ => None,
    };
    let duration_ms = duration_ms.filter(|ms| *ms > 0);
    Properties {
        codec: codec.to_owned(),
        duration_ms,
        sample_rate_hz: rate,
        channels,
        bits: (!codec.is_empty()).then_some(1),
        bitrate_bps: duration_ms.map(|ms| audio_bytes.saturating_mul(8000) / ms),
    }
}

/// Frames and frames a second, out of the FRTE chunk that DST audio begins with (section 3.4).
fn dst_ms(audio_head: &[u8]) -> Option<u64> {
    let frames = audio_head.strip_prefix(b"FRTE").and_then(|rest| rest.get(8..))?;
    let (count, rest) = frames.split_first_chunk()?;
    let rate = u64::from(u16::from_be_bytes(*rest.first_chunk()?));
    (u64::from(u32::from_be_bytes(*count)) * 1000).checked_div(rate)
}

/// The content of a chunk inside the property chunk, behind its type.
fn chunk<'a>(property: &'a [u8], name: &[u8; 4]) -> Option<&'a [u8]> {
    let mut rest = property.strip_prefix(b"SND ")?;
    loop {
        let (header, behind) = rest.split_at_checked(HEADER_BYTES)?;
        let len = usize::try_from(u64::from_be_bytes(*header[4..].first_chunk()?)).ok()?;
        if header.starts_with(name) {
            return Some(&behind[..len.min(behind.len())]);
        }
        rest = behind.get(len.checked_add(len % 2)?..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
        let padding = vec![0; content.len() % 2];
        [&name[..], &(content.len() as u64).to_be_bytes(), content, &padding].concat()
    }

    fn property(compression: &[u8]) -> Vec<u8> {
        let rate = chunk(b"FS  ", &2_822_400_u32.to_be_bytes());
        let channels = chunk(b"CHNL", b"\0\x02SLFTSRGT");
        [&b"SND "[..], &rate, &channels, &chunk(b"CMPR", compression)].concat()
    }

    #[test]
    fn properties_are_found() {
        let dsd = properties(&property(b"DSD \x0enot compressed\0"), &[], 705_600);
        assert_eq!((dsd.codec.as_str(), dsd.duration_ms, dsd.bitrate_bps), ("dsd", Some(1000), Some(5_644_800)));
        assert_eq!((dsd.sample_rate_hz, dsd.channels, dsd.bits), (Some(2_822_400), Some(2), Some(1)));
        let frames = chunk(b"FRTE", b"\0\0\0\x96\0\x4b");
        let dst = properties(&property(b"DST \x0bDST Encoded"), &frames, 500_000);
        assert_eq!((dst.codec.as_str(), dst.duration_ms, dst.bitrate_bps), ("dst", Some(2000), Some(2_000_000)));
        let still = properties(&property(b"DST \x0bDST Encoded"), &chunk(b"FRTE", &[0; 6]), 500_000);
        assert_eq!(still.duration_ms, None);
        assert_eq!(properties(b"SND FS  \xff\xff\xff\xff\xff\xff\xff\xff", &[], 9), Properties::default());
    }
}
