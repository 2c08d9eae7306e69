//! Technical facts, from the frames of the head: no header tells how many follow.

use std::io;

use super::header::FrameHeader;
use crate::facts::scale;
use crate::limits::ADTS_COUNTED_BYTES;
use crate::{ByteRange, Properties, ReadAt};

/// Samples of one channel that a block holds (ISO 13818-7, section 6.2.1.2).
const BLOCK_SAMPLES: u64 = 1024;

/// Exact for streams that are counted whole; of longer ones the length follows from the mean length of the frames.
pub(super) fn properties(source: &dyn ReadAt, audio: ByteRange) -> io::Result<Option<Properties>> {
    let window = source.bytes(audio.offset, audio.len, ADTS_COUNTED_BYTES)?;
    let Some(first) = FrameHeader::parse(&window) else { return Ok(None) };
    let (mut at, mut blocks) = (0, 0);
    while let Some(header) = window.get(at..).and_then(FrameHeader::parse).filter(|next| next.same_stream(&first)) {
        at += header.frame_bytes;
        blocks += u64::from(header.blocks);
    }
    let is_whole = window.len() as u64 == audio.len;
    let counted = blocks * BLOCK_SAMPLES;
    let samples = if is_whole { counted } else { scale(counted, audio.len, at as u64) };
    let stream = Properties {
        codec: "aac".to_owned(),
        sample_rate_hz: Some(first.sample_rate_hz),
        channels: first.channels,
        ..Properties::default()
    };
    Ok(Some(stream.lasting(samples, audio.len)))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
    use super::*;
    use crate::adts::header::tests::frames;

    #[test]
    fn frames_are_counted_up_to_the_limit() {
        let bits = |len: usize, audio_bytes: u64| {
            let bytes = [frames(512, len / 512), frames(1024, 64)].concat();
            let audio = ByteRange { offset: 0, len: audio_bytes };
            properties(&bytes, audio).unwrap().unwrap().duration_ms.unwrap()
        };
        let ms = |frames: u64| (frames * 1024 * 1000 + 22_050) / 44_100;
        assert_eq!(bits(512 * 10, 512 * 10 + 1024 * 64), ms(74));
        // All are counted at the limit, and one byte past it no frame of the second kind is.
        assert_eq!(bits(ADTS_COUNTED_BYTES, ADTS_COUNTED_BYTES as u64), ms(256));
        assert_eq!(bits(ADTS_COUNTED_BYTES, ADTS_COUNTED_BYTES as u64 + 1024 * 64), ms(256 + 128));
        assert_eq!(properties(&b"no frame".to_vec(), ByteRange { offset: 0, len: 8 }).unwrap(), None);
    }
}
