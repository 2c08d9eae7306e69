//! Technical facts: the first packet, and granule positions.

use std::io;

use super::codec::{Codec, flac_stream_info, le16, le32};
use super::page::{ENDS, Header, MARK, NO_GRANULE, whole_page};
use super::walk::next_page;
use crate::flac::properties::properties as stream_info;
use crate::limits::OGG_TAIL_BYTES_MAX;
use crate::{ByteRange, Properties, ReadAt};

/// Bytes at the end of the pages in which the last of them is looked for first.
const TAIL_BYTES: u64 = 16 << 10;
/// Granule positions of Opus count samples at this rate, whatever was encoded (RFC 7845, section 4).
const OPUS_RATE_HZ: u32 = 48_000;

/// The stream that is told of.
pub(super) struct Audio<'a> {
    pub(super) codec: Codec,
    pub(super) first_packet: &'a [u8],
    pub(super) serial: u32,
    /// Its pages behind the headers, and those of other streams.
    pub(super) range: ByteRange,
    /// Whether no stream lies beside it: others follow it in a chain.
    pub(super) alone: bool,
}

pub(super) fn properties(source: &dyn ReadAt, audio: &Audio<'_>) -> io::Result<Properties> {
    let mut properties = told(audio);
    let rate = properties.sample_rate_hz.filter(|rate| *rate > 0);
    let samples = samples(source, audio)?;
    if let (Some(rate), Some(samples)) = (rate, samples) {
        let ms = samples.saturating_mul(1000) / u64::from(rate);
        properties.duration_ms = properties.duration_ms.or(Some(ms));
    }
    let ms = properties.duration_ms.filter(|ms| *ms > 0);
    properties.bitrate_bps = ms.map(|ms| audio.range.len.saturating_mul(8000) / ms);
    Ok(properties)
}

/// What the first packet tells.
fn told(audio: &Audio<'_>) -> Properties {
    let first = audio.first_packet;
    let byte = |at: usize| first.get(at).copied().map(u16::from);
    let (sample_rate_hz, channels) = match audio.codec {
        Codec::Vorbis => (le32(first, 12), byte(11)),
        Codec::Opus => (Some(OPUS_RATE_HZ), byte(9)),
        Codec::Speex => (le32(first, 36), le32(first, 48).and_then(|channels| u16::try_from(channels).ok())),
        Codec::Flac => {
            if let Some(properties) = stream_info(flac_stream_info(first), audio.range.len) {
                return properties;
            }
            (None, None)
        }
    };
    Properties { codec: audio.codec.name().to_owned(), sample_rate_hz, channels, ..Properties::default() }
}

/// Samples from the first to the last that plays.
fn samples(source: &dyn ReadAt, audio: &Audio<'_>) -> io::Result<Option<u64>> {
    let Some(last) = last_granule(source, audio)? else { return Ok(None) };
    let skipped = match audio.codec {
        Codec::Opus => opus_start(source, audio)? + u64::from(le16(audio.first_packet, 10).unwrap_or(0)),
        _ => 0,
    };
    Ok(Some(last.saturating_sub(skipped)))
}

/// Granule position of the stream's last whole page with one, looked for from the end. `None` if a link of a chain
/// stands there: how long all of them play only reading all would tell.
fn last_granule(source: &dyn ReadAt, audio: &Audio<'_>) -> io::Result<Option<u64>> {
    let most = audio.range.len.min(OGG_TAIL_BYTES_MAX);
    let mut len = TAIL_BYTES.min(most);
    loop {
        let window = source.bytes(audio.range.end() - len, len, len as usize)?;
        let starts = (0..window.len()).rev().filter(|at| window[*at..].starts_with(MARK));
        let pages = starts.filter_map(|at| whole_page(&window[at..]));
        let is_told =
            |header: &Header<'_>| (audio.alone || header.serial == audio.serial) && header.granule != NO_GRANULE;
        if let Some(header) = pages.map(|(header, _)| header).find(is_told) {
            return Ok((header.serial == audio.serial).then_some(header.granule));
        }
        if len == most {
            return Ok(None);
        }
        len = (len * 4).min(most);
    }
}

/// Samples in front of the first: a stream that was cut out of another does not begin at 0 (RFC 7845, section 4.3).
fn opus_start(source: &dyn ReadAt, audio: &Audio<'_>) -> io::Result<u64> {
    let Some(met) = next_page(source, audio.range.offset)? else { return Ok(0) };
    if met.serial != audio.serial || met.granule == NO_GRANULE || met.page.flags & ENDS != 0 {
        return Ok(0);
    }
    let body = source.bytes(met.page.body_offset(), u64::from(met.page.body), met.page.body as usize)?;
    let (mut samples, mut at, mut start) = (0, 0, 0);
    for len in &met.lacing {
        at += usize::from(*len);
        if *len < 255 {
            samples += opus_samples(body.get(start..at).unwrap_or_default());
            start = at;
        }
    }
    Ok(met.granule.saturating_sub(samples))
}

/// Samples of a packet (RFC 6716, section 3.1).
fn opus_samples(packet: &[u8]) -> u64 {
    let Some(&toc) = packet.first() else { return 0 };
    let frame = match toc >> 3 {
        config @ 0..12 => [480, 960, 1920, 2880][usize::from(config & 3)],
        config @ 12..16 => [480, 960][usize::from(config & 1)],
        config => [120, 240, 480, 960][usize::from(config & 3)],
    };
    let frames = match toc & 3 {
        0 => 1,
        1 | 2 => 2,
        _ => packet.get(1).map_or(0, |count| u64::from(count & 0x3f)),
    };
    frame * frames
}
