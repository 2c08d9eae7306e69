//! Which format a file has: by content, with the extension as a hint.

mod frames;
mod names;

use std::io;

use serde::{Deserialize, Serialize};

use crate::ReadAt;
use crate::id3::v2;
use crate::limits::{JUNK_BYTES_MAX, LEADING_TAGS_MAX, SNIFF_BYTES};

/// The containers that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Format {
    /// Native FLAC.
    Flac,
    /// MPEG audio layer I–III, with or without tags.
    Mpeg,
    /// AAC in ADTS frames.
    Adts,
    /// MP4, M4A, M4B, 3GP and their kin.
    Mp4,
    /// Vorbis in Ogg.
    OggVorbis,
    /// Opus in Ogg.
    OggOpus,
    /// FLAC in Ogg.
    OggFlac,
    /// Speex in Ogg.
    OggSpeex,
    /// Ogg with something else, or with several kinds of streams.
    OggOther,
    /// WAVE in RIFF, RIFX, RF64, BW64 and Wave64.
    Wav,
    /// AIFF and AIFF-C.
    Aiff,
    /// Monkey's Audio.
    MonkeysAudio,
    /// WavPack.
    WavPack,
    /// Musepack SV7 and SV8.
    Musepack,
    /// True Audio.
    TrueAudio,
    /// OptimFROG.
    OptimFrog,
    /// Tom's lossless audio kompressor.
    Tak,
    /// DSD stream file.
    Dsf,
    /// DSDIFF.
    Dff,
    /// Matroska and WebM.
    Matroska,
    /// ASF, WMA.
    Asf,
    /// An audio extension, but content of no known kind.
    Unknown,
}

pub use names::extension_format;

/// Extensions of films: their containers hold audio too, but a library of music does not list them.
const FILM_EXTENSIONS: [&str; 8] = ["mkv", "mk3d", "m4v", "mov", "qt", "wmv", "avi", "mpg"];

/// The format that the content shows, judged from the first bytes of a file (at least 64 KiB of it, if it is as long).
///
/// ID3v2 tags in front are looked behind as far as `head` goes. `extension` (lower-case, no dot) decides between
/// candidates only where content alone does not.
pub fn sniff(head: &[u8], extension: Option<&str>) -> Option<Format> {
    let start = behind_tags(head);
    match usize::try_from(start).ok().and_then(|start| head.get(start..)) {
        Some(body) => format_of(body, start > 0, extension),
        None => Some(tagged_format(extension)),
    }
}

/// [`sniff`] for a whole source: longer leading tags are looked behind too, and more junk before MPEG audio.
///
/// # Errors
/// Those of `source`.
pub fn sniff_source(source: &dyn ReadAt, extension: Option<&str>) -> io::Result<Option<Format>> {
    let start = leading_tags_end(source)?;
    let body = source.bytes(start, SNIFF_BYTES as u64, SNIFF_BYTES)?;
    let promised = matches!(extension.and_then(extension_format), Some(Format::Mpeg | Format::Adts));
    match format_of(&body, start > 0, extension) {
        None if promised => Ok(format_of(&source.bytes(0, u64::MAX, JUNK_BYTES_MAX)?, false, extension)),
        found => Ok(found),
    }
}

/// [`behind_tags`] of a whole source.
pub(crate) fn leading_tags_end(source: &dyn ReadAt) -> io::Result<u64> {
    let mut at = 0;
    for _ in 0..LEADING_TAGS_MAX {
        let Some(len) = leading_tag_len(&source.bytes(at, 32, 32)?) else { break };
        at = behind_zeros(source, at + len)?;
    }
    Ok(at)
}

/// Offset of the first byte at or behind `at` that is not zero, as far as [`SNIFF_BYTES`]: careless taggers leave gaps.
pub(crate) fn behind_zeros(source: &dyn ReadAt, at: u64) -> io::Result<u64> {
    let gap = source.bytes(at, SNIFF_BYTES as u64, SNIFF_BYTES)?;
    Ok(at + gap.iter().take_while(|byte| **byte == 0).count() as u64)
}

/// Offset of the first byte behind all leading ID3v2 and APEv2 tags and the zeros that pad them; may lie past `head`.
fn behind_tags(head: &[u8]) -> u64 {
    let mut at = 0;
    for _ in 0..LEADING_TAGS_MAX {
        let Some(len) = usize::try_from(at).ok().and_then(|at| head.get(at..)).and_then(leading_tag_len) else { break };
        at += len;
        let zeros = head.iter().skip(at as usize).take_while(|byte| **byte == 0).count() as u64;
        at += zeros;
    }
    at
}

/// Length of the tag at the start of `bytes`.
fn leading_tag_len(bytes: &[u8]) -> Option<u64> {
    if let Some(header) = v2::Header::parse(bytes) {
        return Some(header.tag_bytes());
    }
    let header = bytes.first_chunk::<32>().filter(|header| header.starts_with(b"APETAGEX"))?;
    let size = u32::from_le_bytes([header[12], header[13], header[14], header[15]]);
    Some(32 + u64::from(size))
}

/// The format behind a tag when nothing there tells it: the extension's if files of it carry ID3v2 in front.
fn tagged_format(extension: Option<&str>) -> Format {
    let hinted = extension.and_then(extension_format).filter(|format| *format != Format::Unknown);
    hinted.unwrap_or(Format::Mpeg)
}

fn format_of(body: &[u8], tagged: bool, extension: Option<&str>) -> Option<Format> {
    if extension.is_some_and(|extension| FILM_EXTENSIONS.contains(&extension)) {
        return None;
    }
    let hint = extension.and_then(extension_format);
    magic(body, hint)
        .or_else(|| frames::format(body, tagged, hint))
        .or_else(|| tagged.then(|| tagged_format(extension)))
}

/// Containers with a mark at their start.
fn magic(body: &[u8], hint: Option<Format>) -> Option<Format> {
    const WAVE64: [u8; 16] = *b"riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00";
    const ASF: [u8; 16] = [0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11, 0xa6, 0xd9, 0, 0xaa, 0, 0x62, 0xce, 0x6c];
    let marks: [(&[u8], Format); 14] = [
        (b"fLaC", Format::Flac),
        (b"wvpk", Format::WavPack),
        (b"MPCK", Format::Musepack),
        (b"MP+", Format::Musepack),
        (b"MAC ", Format::MonkeysAudio),
        (b"MACF", Format::MonkeysAudio),
        (b"TTA1", Format::TrueAudio),
        (b"TTA2", Format::TrueAudio),
        (b"OFR ", Format::OptimFrog),
        (b"tBaK", Format::Tak),
        (b"DSD ", Format::Dsf),
        (b"\x1a\x45\xdf\xa3", Format::Matroska),
        (&WAVE64, Format::Wav),
        (&ASF, Format::Asf),
    ];
    if let Some((_, format)) = marks.iter().find(|(mark, _)| body.starts_with(mark)) {
        return Some(*format);
    }
    match (body.get(..4)?, body.get(8..12).unwrap_or_default()) {
        (b"OggS", _) => Some(ogg(body)),
        (b"RIFF" | b"RIFX" | b"RF64" | b"BW64", b"WAVE") => Some(Format::Wav),
        (b"FORM", b"AIFF" | b"AIFC") => Some(Format::Aiff),
        (b"FRM8", _) if body.get(12..16) == Some(b"DSD ") => Some(Format::Dff),
        (_, brand) => mp4(body.get(4..8)?, brand, hint),
    }
}

/// ISO base media files that hold audio: pictures (HEIF, AVIF, Canon raw) use the same boxes.
fn mp4(kind: &[u8], brand: &[u8], hint: Option<Format>) -> Option<Format> {
    const PICTURE_BRANDS: [&[u8; 4]; 10] =
        [b"heic", b"heix", b"heim", b"heis", b"hevc", b"avif", b"avis", b"mif1", b"msf1", b"crx "];
    let is_media = match kind {
        b"ftyp" => !PICTURE_BRANDS.iter().any(|picture| *picture == brand),
        b"moov" | b"mdat" | b"free" | b"skip" | b"wide" => hint == Some(Format::Mp4),
        _ => false,
    };
    is_media.then_some(Format::Mp4)
}

/// The codec of a physical Ogg stream (RFC 3533): each logical stream begins with a page of its own, all of them first.
fn ogg(body: &[u8]) -> Format {
    let mut rest = body;
    let mut found = None;
    while let Some((packet, behind)) = first_ogg_page(rest) {
        let codec = ogg_codec(packet);
        if found.is_some() {
            return Format::OggOther;
        }
        found = Some(codec);
        rest = behind;
    }
    found.unwrap_or(Format::OggOther)
}

/// The body of a page that begins a logical stream, and what follows the page.
fn first_ogg_page(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    const BEGINS_STREAM: u8 = 2;
    let header = bytes.first_chunk::<27>()?;
    if !header.starts_with(b"OggS") || header[5] & BEGINS_STREAM == 0 {
        return None;
    }
    let lacing = bytes.get(27..27 + usize::from(header[26]))?;
    let len: usize = lacing.iter().map(|len| usize::from(*len)).sum();
    let body = &bytes[27 + lacing.len()..];
    Some(body.split_at(len.min(body.len())))
}

fn ogg_codec(packet: &[u8]) -> Format {
    let marks: [(&[u8], Format); 4] = [
        (b"\x01vorbis", Format::OggVorbis),
        (b"OpusHead", Format::OggOpus),
        (b"\x7fFLAC", Format::OggFlac),
        (b"Speex   ", Format::OggSpeex),
    ];
    marks.iter().find(|(mark, _)| packet.starts_with(mark)).map_or(Format::OggOther, |(_, format)| *format)
}

#[cfg(test)]
mod tests;
