//! What a file is known by when it turns up elsewhere: its audio, not its name or tags.

use std::io;

use musefs_format::{ByteRange, ReadAt};

use crate::limits::IDENTITY_BYTES;

/// The identity of some audio.
pub(super) type Identity = [u8; 16];

/// Of the length of the audio and its first and last 16 KiB. Empty audio has none: it would equal all other.
///
/// # Errors
/// Those of the disk.
pub(super) fn identity(source: &dyn ReadAt, audio: ByteRange) -> io::Result<Option<Identity>> {
    if audio.len == 0 {
        return Ok(None);
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(&audio.len.to_le_bytes());
    hasher.update(&source.bytes(audio.offset, audio.len, IDENTITY_BYTES)?);
    if audio.len > IDENTITY_BYTES as u64 {
        let tail_len = (audio.len - IDENTITY_BYTES as u64).min(IDENTITY_BYTES as u64);
        hasher.update(&source.bytes(audio.end() - tail_len, tail_len, IDENTITY_BYTES)?);
    }
    Ok(hasher.finalize().as_bytes().first_chunk().copied())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

    fn of(bytes: &[u8], offset: u64, len: u64) -> Option<Identity> {
        identity(&bytes.to_vec(), ByteRange { offset, len }).unwrap()
    }

    #[test]
    fn only_the_audio_counts() {
        let audio: Vec<u8> = (0..100_000_u32).map(|i| (i >> 5) as u8).collect();
        let tagged = [b"some tag".as_slice(), &audio, b"another"].concat();
        assert_eq!(of(&audio, 0, 100_000), of(&tagged, 8, 100_000));
        assert_ne!(of(&audio, 0, 100_000), of(&audio, 0, 99_999));
        assert_eq!(of(&audio, 0, 0), None);
    }

    #[test]
    fn head_and_tail_both_count_and_short_audio_counts_whole() {
        for len in [10, IDENTITY_BYTES, IDENTITY_BYTES + 1, 2 * IDENTITY_BYTES, 100_000] {
            let audio = vec![7; len];
            for changed in [0, len - 1, len.min(2 * IDENTITY_BYTES) / 2] {
                let mut other = audio.clone();
                other[changed] = 8;
                let seen = changed < IDENTITY_BYTES || len - changed <= IDENTITY_BYTES;
                assert_eq!(of(&audio, 0, len as u64) != of(&other, 0, len as u64), seen, "{len} {changed}");
            }
        }
    }
}
