//! RIFF WAVE with PCM and an optional INFO list.

use super::{Tags, noise, u32_le};

/// A mono WAV of `len` bytes of random 16-bit samples at 8 kHz; tags go into a `LIST INFO` chunk behind them.
///
/// # Panics
/// When a tag has no chunk in the table of this function.
pub fn wav(seed: u64, len: usize, tags: Tags<'_>) -> Vec<u8> {
    let mut body = b"WAVE".to_vec();
    let format = [1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0x80, 0x3e, 0, 0, 2, 0, 16, 0];
    chunk(&mut body, b"fmt ", &format);
    chunk(&mut body, b"data", &noise(seed, len));
    if !tags.is_empty() {
        let mut list = b"INFO".to_vec();
        for (key, value) in tags {
            let id: &[u8; 4] = match *key {
                "TITLE" => b"INAM",
                "ARTIST" => b"IART",
                "ALBUM" => b"IPRD",
                "TRACKNUMBER" => b"ITRK",
                "ALBUMARTIST" => continue,
                other => panic!("INFO has no chunk for {other}"),
            };
            let mut text = value.as_bytes().to_vec();
            text.push(0);
            chunk(&mut list, id, &text);
        }
        chunk(&mut body, b"LIST", &list);
    }
    let mut file = b"RIFF".to_vec();
    file.extend(u32_le(body.len()));
    file.extend(body);
    file
}

fn chunk(out: &mut Vec<u8>, id: &[u8; 4], data: &[u8]) {
    out.extend(id);
    out.extend(u32_le(data.len()));
    out.extend(data);
    if data.len() % 2 == 1 {
        out.push(0);
    }
}
