//! What a sample description says of the audio (ISO/IEC 14496-12, section 12.2.3; QuickTime File Format, "Sound sample
//! descriptions").

use std::io;

use super::boxes::{Boxed, Kind, Walker, be};
use crate::ByteRange;
use crate::limits::MP4_DESCRIPTION_BYTES_MAX;

/// Facts of one audio track.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sound {
    pub(super) codec: String,
    pub(super) rate_hz: Option<u32>,
    pub(super) channels: Option<u16>,
    pub(super) bits: Option<u16>,
    /// Mean, as the encoder tells it.
    pub(super) bitrate_bps: Option<u64>,
}

/// Bytes of a sample entry in front of its fields for sound, header included.
const ENTRY_HEAD_BYTES: u64 = 16;

/// Reads the first entry of an `stsd` box.
pub(super) fn sound(walker: &Walker<'_>, stsd: Boxed) -> io::Result<Option<Sound>> {
    let content = stsd.content();
    // Behind version, flags and count.
    let entries = walker.children(ByteRange::between(content.offset + 8, content.end()))?;
    let Some(&entry) = entries.boxes.first() else { return Ok(None) };
    let fields_at = entry.offset + ENTRY_HEAD_BYTES;
    let fields = walker.source.bytes(fields_at, entry.end.saturating_sub(fields_at), 56)?;
    let Some(mut sound) = fields_of(entry.kind, &fields) else { return Ok(None) };
    let more = match be(&fields, 0, 2) {
        Some(1) => 16,
        Some(2) => 36,
        _ => 0,
    };
    let boxes = walker.children(ByteRange::between(fields_at + 20 + more, entry.end))?.boxes;
    for child in boxes {
        describe(walker, child, &mut sound)?;
    }
    Ok(Some(sound))
}

fn fields_of(kind: Kind, fields: &[u8]) -> Option<Sound> {
    let (codec, told_bits) = codec(kind);
    let is_version_2 = be(fields, 0, 2)? == 2;
    let (channels, bits, rate) = if is_version_2 {
        let rate = f64::from_bits(be(fields, 24, 8)?);
        (be(fields, 32, 4)?, be(fields, 40, 4)?, rate as u64)
    } else {
        (be(fields, 8, 2)?, be(fields, 10, 2)?, be(fields, 16, 4)? >> 16)
    };
    let is_pcm = codec == "pcm";
    Some(Sound {
        codec: codec.to_owned(),
        rate_hz: u32::try_from(rate).ok().filter(|rate| *rate > 0),
        channels: u16::try_from(channels).ok().filter(|channels| *channels > 0),
        bits: told_bits.or_else(|| u16::try_from(bits).ok().filter(|bits| is_pcm && *bits > 0)),
        bitrate_bps: None,
    })
}

/// The codec of a kind of entry, and the bits that the kind itself tells.
fn codec(kind: Kind) -> (&'static str, Option<u16>) {
    match &kind {
        b"mp4a" | b"drms" | b"enca" => ("aac", None),
        b"alac" => ("alac", None),
        b"fLaC" => ("flac", None),
        b"Opus" => ("opus", None),
        b".mp3" | b"ms\0\x55" => ("mp3", None),
        b"ac-3" => ("ac3", None),
        b"ec-3" => ("eac3", None),
        b"ac-4" => ("ac4", None),
        b"dtsc" | b"dtse" | b"dtsh" | b"dtsl" => ("dts", None),
        b"samr" => ("amr_nb", None),
        b"sawb" => ("amr_wb", None),
        b"in24" => ("pcm", Some(24)),
        b"in32" | b"fl32" => ("pcm", Some(32)),
        b"fl64" => ("pcm", Some(64)),
        b"sowt" | b"twos" | b"lpcm" | b"raw " | b"NONE" | b"ipcm" | b"fpcm" => ("pcm", None),
        b"ulaw" => ("pcm_mulaw", None),
        b"alaw" => ("pcm_alaw", None),
        b"ima4" => ("adpcm_ima_qt", None),
        _ => ("unknown", None),
    }
}

/// Takes what a box in the entry says better than the entry.
fn describe(walker: &Walker<'_>, child: Boxed, sound: &mut Sound) -> io::Result<()> {
    let content = child.content();
    if &child.kind == b"wave" {
        for inner in walker.children(content)?.boxes.into_iter().filter(|inner| &inner.kind != b"wave") {
            describe(walker, inner, sound)?;
        }
        return Ok(());
    }
    if !matches!(&child.kind, b"esds" | b"alac" | b"dfLa" | b"dOps" | b"sinf") {
        return Ok(());
    }
    let bytes = walker.source.bytes(content.offset, content.len, MP4_DESCRIPTION_BYTES_MAX)?;
    // What cannot be read tells nothing.
    let _ = match &child.kind {
        b"esds" => elementary_stream(&bytes, sound),
        b"alac" => alac(&bytes, sound),
        b"dfLa" => flac(&bytes, sound),
        b"dOps" => opus(&bytes, sound),
        _ => original(&bytes, sound),
    };
    Ok(())
}

/// ALAC's magic cookie, behind version and flags.
fn alac(bytes: &[u8], sound: &mut Sound) -> Option<()> {
    let cookie = bytes.get(4..)?;
    sound.bits = Some(u16::from(*cookie.get(5)?));
    sound.channels = Some(u16::from(*cookie.get(9)?));
    sound.bitrate_bps = be(cookie, 16, 4).filter(|rate| *rate > 0);
    sound.rate_hz = Some(be(cookie, 20, 4)? as u32);
    Some(())
}

/// STREAMINFO behind version, flags and its block header (FLAC in ISO BMFF, section 3.3.2).
fn flac(bytes: &[u8], sound: &mut Sound) -> Option<()> {
    let packed = be(bytes, 8 + 10, 4)?;
    sound.rate_hz = Some((packed >> 12) as u32);
    sound.channels = Some((packed >> 9 & 7) as u16 + 1);
    sound.bits = Some((packed >> 4 & 0x1f) as u16 + 1);
    Some(())
}

/// Opus always plays at 48 kHz (RFC 7845, section 5.1).
fn opus(bytes: &[u8], sound: &mut Sound) -> Option<()> {
    sound.channels = Some(u16::from(*bytes.get(1)?));
    sound.rate_hz = Some(48_000);
    Some(())
}

/// Encrypted audio: `frma` tells what it was (section 8.12).
fn original(bytes: &[u8], sound: &mut Sound) -> Option<()> {
    let at = bytes.windows(4).position(|window| window == b"frma")?;
    let kind = bytes.get(at + 4..)?.first_chunk::<4>()?;
    let name = codec(*kind).0;
    if name != "unknown" {
        name.clone_into(&mut sound.codec);
    }
    Some(())
}

/// The descriptors of an `esds` box (ISO/IEC 14496-1, section 7.2.6), behind version and flags.
fn elementary_stream(bytes: &[u8], sound: &mut Sound) -> Option<()> {
    let stream = descriptor(bytes.get(4..)?, 3)?;
    let flags = *stream.get(2)?;
    let depends = if flags & 0x80 != 0 { 2 } else { 0 };
    let url = if flags & 0x40 != 0 { 1 + usize::from(*stream.get(3 + depends)?) } else { 0 };
    let clock = if flags & 0x20 != 0 { 2 } else { 0 };
    let decoder = descriptor(stream.get(3 + depends + url + clock..)?, 4)?;
    let codec = match decoder.first()? {
        0x69 | 0x6b => "mp3",
        0xa5 => "ac3",
        0xa6 => "eac3",
        0xa9..=0xac => "dts",
        0xad => "opus",
        0xdd => "vorbis",
        0xe1 => "qcelp",
        _ => "aac",
    };
    codec.clone_into(&mut sound.codec);
    sound.bitrate_bps = be(decoder, 9, 4).filter(|rate| *rate > 0);
    if codec == "aac" {
        aac(descriptor(decoder.get(13..)?, 5)?, sound)?;
    }
    Some(())
}

/// The content of a descriptor with this tag; its size has seven bits a byte.
fn descriptor(bytes: &[u8], tag: u8) -> Option<&[u8]> {
    let (first, mut rest) = bytes.split_first()?;
    if *first != tag {
        return None;
    }
    let mut len = 0;
    for _ in 0..4 {
        let (byte, behind) = rest.split_first()?;
        rest = behind;
        len = len << 7 | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(&rest[..len.min(rest.len())])
}

/// AudioSpecificConfig (ISO/IEC 14496-3, section 1.6.2.1).
fn aac(config: &[u8], sound: &mut Sound) -> Option<()> {
    const SPECTRAL_BAND_REPLICATION: u64 = 5;
    const PARAMETRIC_STEREO: u64 = 29;
    if config.len() < 2 {
        return None;
    }
    let mut bits = Bits::new(config);
    let object = match bits.take(5) {
        31 => 32 + bits.take(6),
        object => object,
    };
    let core_rate = bits.rate();
    let channels = bits.take(4);
    let is_extended = object == SPECTRAL_BAND_REPLICATION || object == PARAMETRIC_STEREO;
    let told = if is_extended { bits.rate() } else { core_rate };
    sound.rate_hz = told.filter(|rate| *rate > 0).or(sound.rate_hz);
    sound.channels = match channels {
        _ if object == PARAMETRIC_STEREO => Some(2),
        channels @ 1..=6 => Some(channels as u16),
        7 => Some(8),
        _ => sound.channels,
    };
    Some(())
}

/// The first bits of a configuration; zeros behind its end.
struct Bits {
    all: u128,
    at: u32,
}

impl Bits {
    fn new(bytes: &[u8]) -> Self {
        let mut padded = [0; 16];
        let len = bytes.len().min(padded.len());
        padded[..len].copy_from_slice(&bytes[..len]);
        Self { all: u128::from_be_bytes(padded), at: 0 }
    }

    /// The next bits, at least one. All that is read of a configuration is less than 128.
    fn take(&mut self, count: u32) -> u64 {
        let value = self.all << self.at >> (u128::BITS - count);
        self.at += count;
        value as u64
    }

    /// By its number in the list of rates, or in full.
    fn rate(&mut self) -> Option<u32> {
        const RATES: [u32; 13] =
            [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350];
        match self.take(4) {
            15 => Some(self.take(24) as u32),
            index => RATES.get(index as usize).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audio_specific_configurations_are_told() {
        for (config, rate, channels) in [
            (&[0x12, 0x10][..], Some(44_100), Some(2)),
            (&[0x11, 0x90], Some(48_000), Some(2)),
            // SBR: 22.05 kHz core, 44.1 kHz output; PS: one channel in the stream.
            (&[0x2b, 0x92, 0x08, 0x00], Some(44_100), Some(2)),
            (&[0xeb, 0x8a, 0x08, 0x00], Some(44_100), Some(2)),
            (&[0x12, 0x38], Some(44_100), Some(8)),
            (&[0x12], None, None),
        ] {
            let mut sound = Sound::default();
            aac(config, &mut sound);
            assert_eq!((sound.rate_hz, sound.channels), (rate, channels), "{config:x?}");
        }
    }

    #[test]
    fn nothing_panics_on_cut_descriptions() {
        let esds = b"\0\0\0\0\x03\x19\0\x01\0\x04\x11\x40\x15\0\0\0\0\0\0\0\0\x01\xf4\0\x05\x02\x12\x10";
        for len in 0..=esds.len() {
            let mut sound = Sound::default();
            let _ = elementary_stream(&esds[..len], &mut sound);
            assert_eq!(sound.rate_hz.is_some(), len == esds.len(), "{len}");
        }
    }
}
