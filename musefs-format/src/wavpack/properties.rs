//! Technical facts, from the first block with samples (WavPack 4 and 5 binary file format, sections 2 and 3).

use std::io;

use crate::carrier::le;
use crate::limits::{WAVPACK_BLOCKS_MAX, WAVPACK_SUB_BLOCKS_MAX};
use crate::{ByteRange, Properties, ReadAt};

const HEADER_BYTES: u64 = 32;
const FLAG_MONO: u64 = 4;
const FLAG_FINAL: u64 = 1 << 12;
const FLAG_DSD: u64 = 1 << 31;
/// Samples a second by index; the last index stands for a sub-block that tells.
const SAMPLE_RATES_HZ: [u32; 15] = [
    6_000, 8_000, 9_600, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000,
    192_000,
];
const SUB_BLOCK_CHANNELS: u8 = 0x0d;
const SUB_BLOCK_DSD: u8 = 0x0e;
const SUB_BLOCK_SAMPLE_RATE: u8 = 0x27;

struct Block {
    at: u64,
    /// With the header.
    len: u64,
    /// Of the file, each channel; `None` if the encoder did not know.
    total_samples: Option<u64>,
    samples: u64,
    flags: u64,
}

impl Block {
    fn read(source: &dyn ReadAt, at: u64, end: u64) -> io::Result<Option<Self>> {
        let header = source.bytes(at, end.saturating_sub(at).min(HEADER_BYTES), HEADER_BYTES as usize)?;
        if header.len() as u64 != HEADER_BYTES || !header.starts_with(b"wvpk") {
            return Ok(None);
        }
        let (low, high) = (le(&header, 12, 4), u64::from(header[11]));
        // The value that stands for "unknown" is skipped in the count of 40 bits.
        let total_samples = (low != u64::from(u32::MAX)).then(|| low + (high << 32) - high);
        let len = le(&header, 4, 4) + 8;
        Ok(Some(Self { at, len, total_samples, samples: le(&header, 20, 4), flags: le(&header, 24, 4) }))
    }

    fn channels(&self) -> u16 {
        if self.flags & FLAG_MONO == 0 { 2 } else { 1 }
    }
}

/// What sub-blocks tell where the flags of a block cannot.
#[derive(Default)]
struct Details {
    channels: Option<u16>,
    sample_rate_hz: Option<u32>,
    /// Of two: how many times faster bytes of DSD come than the flags tell.
    dsd_power: u32,
}

pub(super) fn properties(source: &dyn ReadAt, audio: ByteRange) -> io::Result<Option<Properties>> {
    let Some((block, channels)) = first_block(source, audio)? else { return Ok(None) };
    let details = details(source, &block, audio.end())?;
    let rate = details.sample_rate_hz.or_else(|| SAMPLE_RATES_HZ.get((block.flags >> 23 & 15) as usize).copied());
    let is_dsd = block.flags & FLAG_DSD != 0;
    // Of DSD, eight samples of one bit count as one.
    let times = if is_dsd { 8_u32 << details.dsd_power } else { 1 };
    let bits = ((block.flags & 3) as u16 + 1) * 8;
    let stream = Properties {
        codec: "wavpack".to_owned(),
        sample_rate_hz: rate.and_then(|rate| rate.checked_mul(times)).filter(|rate| *rate > 0),
        channels: Some(details.channels.unwrap_or(channels)),
        bits: Some(if is_dsd { 1 } else { bits.saturating_sub((block.flags >> 13 & 31) as u16) }),
        ..Properties::default()
    };
    let samples = block.total_samples.unwrap_or(0).saturating_mul(if is_dsd { 8 } else { 1 });
    Ok(Some(stream.lasting(samples, audio.len)))
}

/// The first block with samples (or else the first), and the channels of it and of all that belong to it.
fn first_block(source: &dyn ReadAt, audio: ByteRange) -> io::Result<Option<(Block, u16)>> {
    let mut found: Option<(Block, u16)> = None;
    let mut at = audio.offset;
    for _ in 0..WAVPACK_BLOCKS_MAX {
        let Some(block) = Block::read(source, at, audio.end())? else { break };
        at = at.saturating_add(block.len);
        let is_final = block.flags & FLAG_FINAL != 0 && block.samples > 0;
        found = match found {
            Some((first, channels)) if first.samples > 0 => Some((first, channels + block.channels())),
            _ => Some((block.channels(), block)).map(|(channels, block)| (block, channels)),
        };
        if is_final {
            break;
        }
    }
    Ok(found)
}

fn details(source: &dyn ReadAt, block: &Block, end: u64) -> io::Result<Details> {
    let mut details = Details::default();
    let end = block.at.saturating_add(block.len).min(end);
    let mut at = block.at + HEADER_BYTES;
    for _ in 0..WAVPACK_SUB_BLOCKS_MAX {
        let bytes = source.bytes(at, end.saturating_sub(at).min(8), 8)?;
        let (Some(id), true) = (bytes.first(), bytes.len() > 2) else { break };
        let (header, size) = if id & 0x80 == 0 { (2, 1) } else { (4, 3) };
        let words = le(&bytes, 1, size);
        let value = bytes.get(header..).unwrap_or_default();
        let len = (words * 2).saturating_sub(u64::from(id >> 6 & 1));
        match id & 0x3f {
            SUB_BLOCK_CHANNELS if len > 0 => details.channels = channels(value, len),
            SUB_BLOCK_SAMPLE_RATE if len >= 3 => {
                details.sample_rate_hz = Some(le(value, 0, len.min(4) as usize) as u32)
            }
            SUB_BLOCK_DSD if len > 0 => details.dsd_power = u32::from(value.first().copied().unwrap_or(0).min(16)),
            _ => {}
        }
        at += header as u64 + words * 2;
    }
    Ok(details)
}

/// Up to five bytes hold a count of one byte and a mask; longer ones a count of twelve bits less one.
fn channels(value: &[u8], len: u64) -> Option<u16> {
    let count = if len <= 5 { le(value, 0, 1) } else { (le(value, 0, 1) | (le(value, 2, 1) & 15) << 8) + 1 };
    u16::try_from(count).ok().filter(|count| *count > 0)
}
