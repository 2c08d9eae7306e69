//! Tiny valid audio files by code. `seed` makes the audio of each different; tags are Vorbis comment names.

mod flac;
mod mp3;
mod wav;

pub use flac::flac;
pub use mp3::{Id3, mp3};
pub use wav::wav;

/// Tags by their Vorbis comment names, in the order in which they are written.
pub type Tags<'a> = &'a [(&'a str, &'a str)];

/// The tags of an ordinary track.
pub fn tags<'a>(artist: &'a str, album: &'a str, number: &'a str, title: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![("ARTIST", artist), ("ALBUMARTIST", artist), ("ALBUM", album), ("TRACKNUMBER", number), ("TITLE", title)]
}

/// Bytes that differ by seed, the same each time (a xorshift generator: Marsaglia 2003).
pub fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..len).map(|_| next()).collect()
}

/// A 1×1 PNG, with a comment chunk that makes it as long as wished for and unlike others.
pub fn png(seed: u64, comment_len: usize) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    png_chunk(&mut png, *b"IHDR", &[0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]);
    png_chunk(&mut png, *b"biLL", &noise(seed, comment_len));
    // One grey pixel, stored: zlib header, final stored block of two bytes, Adler-32.
    png_chunk(&mut png, *b"IDAT", &[0x78, 0x01, 1, 2, 0, 0xfd, 0xff, 0, 0x80, 0, 0x82, 0, 0x81]);
    png_chunk(&mut png, *b"IEND", &[]);
    png
}

fn png_chunk(png: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    png.extend(u32_be(data.len()));
    let start = png.len();
    png.extend(kind);
    png.extend(data);
    let crc = png[start..].iter().fold(!0, |crc, byte| crc32_step(crc, *byte));
    png.extend((!crc).to_be_bytes());
}

fn crc32_step(crc: u32, byte: u8) -> u32 {
    (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
}

/// # Panics
/// Beyond 4 GiB, which nobody makes here.
fn u32_be(len: usize) -> [u8; 4] {
    u32::try_from(len).expect("test files are small").to_be_bytes()
}

/// # Panics
/// Beyond 4 GiB, which nobody makes here.
fn u32_le(len: usize) -> [u8; 4] {
    u32::try_from(len).expect("test files are small").to_le_bytes()
}
