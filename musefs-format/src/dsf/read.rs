//! Taking a source apart (DSF File Format Specification 1.01).

use std::io;

use super::structure::{DsfStructure, HEADER_BYTES};
use crate::envelope::Envelope;
use crate::{ByteRange, Editing, Facts, Format, Problem, Properties, ReadAt, Structure, Tags};

/// Bytes of the three headers: of the file, of the format and of the audio.
const HEADERS_BYTES: u64 = 92;

pub(super) fn read(source: &dyn ReadAt) -> io::Result<Facts> {
    let head = source.bytes(0, HEADERS_BYTES, HEADERS_BYTES as usize)?;
    let mut facts = Facts {
        format: Format::Dsf,
        properties: Properties::default(),
        audio: ByteRange::default(),
        tags: Tags::new(),
        pictures: Vec::new(),
        structure: Structure::default(),
        editing: Editing::Possible,
        problems: Vec::new(),
    };
    let Some(head) = Headers::parse(&head) else {
        let reason = "its headers are cut or out of order";
        facts.editing = Editing::Opaque(reason.to_owned());
        facts.problems.push(Problem(reason.to_owned()));
        return Ok(facts);
    };
    let end = head.audio_end(source.len());
    let tags_at = head.pointer.max(end).min(source.len());
    let mut envelope = Envelope::default();
    // Bytes behind the audio that no pointer tells of are no tag, but may become one with the pointer that an edit writes.
    let tags_end = if head.pointer == 0 { tags_at } else { envelope.read_leading(source, tags_at)? };
    envelope.keep(tags_end, source.len());
    facts.audio = ByteRange::between(HEADERS_BYTES, end);
    facts.properties = head.properties(facts.audio.len);
    if head.len != source.len() || head.pointer > source.len() {
        facts.problems.push(Problem("its header tells another length than the file has".to_owned()));
    }
    facts.structure = DsfStructure { end: tags_at, len: source.len(), tags: envelope.parts }.encode();
    for found in envelope.found {
        found.fill(&mut facts.tags);
        facts.pictures.extend(found.pictures);
        facts.problems.extend(found.problems);
    }
    Ok(facts)
}

/// The fields of the three headers that matter.
struct Headers {
    /// Of the file.
    len: u64,
    /// Of the tag, 0 for none.
    pointer: u64,
    channels: u32,
    rate_hz: u32,
    samples: u64,
    /// Of the audio chunk with its header.
    audio_len: u64,
}

impl Headers {
    fn parse(head: &[u8]) -> Option<Self> {
        let head = head.first_chunk::<{ HEADERS_BYTES as usize }>()?;
        let u32_at = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let u64_at = |at: usize| u64::from(u32_at(at + 4)) << 32 | u64::from(u32_at(at));
        let in_order = head.starts_with(b"DSD ")
            && (u64_at(4), u64_at(32)) == (HEADER_BYTES, 52)
            && head[28..32] == *b"fmt "
            && head[80..84] == *b"data";
        in_order.then(|| Self {
            len: u64_at(12),
            pointer: u64_at(20),
            channels: u32_at(52),
            rate_hz: u32_at(56),
            samples: u64_at(64),
            audio_len: u64_at(84),
        })
    }

    /// The end of the audio. A length beyond the end of the file or the tag lies.
    fn audio_end(&self, file_len: u64) -> u64 {
        let header = HEADERS_BYTES - 12;
        let limit = if (HEADERS_BYTES..file_len).contains(&self.pointer) { self.pointer } else { file_len };
        let told = header.saturating_add(self.audio_len);
        if told < HEADERS_BYTES { limit } else { told.min(limit) }
    }

    fn properties(&self, audio_bytes: u64) -> Properties {
        let rate = u64::from(self.rate_hz);
        let there = audio_bytes.saturating_mul(8).checked_div(self.channels.into());
        let samples = there.map(|there| if self.samples == 0 { there } else { self.samples.min(there) });
        let duration_ms = samples.and_then(|samples| samples.saturating_mul(1000).checked_div(rate));
        Properties {
            codec: "dsd".to_owned(),
            duration_ms: duration_ms.filter(|ms| *ms > 0),
            sample_rate_hz: Some(self.rate_hz).filter(|rate| *rate > 0),
            channels: u16::try_from(self.channels).ok().filter(|channels| *channels > 0),
            bits: Some(1),
            bitrate_bps: rate.checked_mul(self.channels.into()).filter(|rate| *rate > 0),
        }
    }
}
