//! FLAC (RFC 9639): one metadata run and verbatim frames.

use super::{Tags, noise, u32_be, u32_le};

const SAMPLES_PER_FRAME: usize = 1024;

/// A mono FLAC of `frames` frames of 1024 random 16-bit samples at 44.1 kHz (2 KiB a frame), with comments, an
/// optional front cover (PNG) and `padding` bytes of padding.
pub fn flac(seed: u64, frames: usize, tags: Tags<'_>, cover: Option<&[u8]>, padding: usize) -> Vec<u8> {
    let mut file = b"fLaC".to_vec();
    block(&mut file, 0, &stream_info(frames), false);
    block(&mut file, 4, &comments(tags), false);
    if let Some(cover) = cover {
        block(&mut file, 6, &picture(cover), false);
    }
    block(&mut file, 1, &vec![0; padding], true);
    let audio = noise(seed, frames * SAMPLES_PER_FRAME * 2);
    for (number, samples) in audio.chunks(SAMPLES_PER_FRAME * 2).enumerate() {
        frame(&mut file, number, samples);
    }
    file
}

fn block(file: &mut Vec<u8>, kind: u8, data: &[u8], last: bool) {
    file.push(kind | if last { 0x80 } else { 0 });
    file.extend(&u32_be(data.len())[1..]);
    file.extend(data);
}

/// Section 8.2; frame sizes and the MD5 are said to be unknown by zeros.
fn stream_info(frames: usize) -> Vec<u8> {
    let mut info = Vec::new();
    info.extend([(SAMPLES_PER_FRAME >> 8) as u8, SAMPLES_PER_FRAME as u8].repeat(2));
    info.extend([0; 6]);
    // 20 bits of rate, 3 of channels - 1, 5 of bits - 1, 36 of samples.
    let packed = 44_100_u64 << 44 | 15 << 36 | (frames * SAMPLES_PER_FRAME) as u64;
    info.extend(packed.to_be_bytes());
    info.extend([0; 16]);
    info
}

fn comments(tags: Tags<'_>) -> Vec<u8> {
    let vendor = "musefs tests";
    let mut data = u32_le(vendor.len()).to_vec();
    data.extend(vendor.bytes());
    data.extend(u32_le(tags.len()));
    for (key, value) in tags {
        data.extend(u32_le(key.len() + 1 + value.len()));
        data.extend(format!("{key}={value}").bytes());
    }
    data
}

fn picture(png: &[u8]) -> Vec<u8> {
    let mime = "image/png";
    let mut data = u32_be(3).to_vec();
    data.extend(u32_be(mime.len()));
    data.extend(mime.bytes());
    // No description; 1×1 pixels of 8 bits, no palette.
    for number in [0, 1, 1, 8, 0] {
        data.extend(u32_be(number));
    }
    data.extend(u32_be(png.len()));
    data.extend(png);
    data
}

/// Section 9: fixed block size, size in 16 bits, 44.1 kHz, mono, 16 bits, one verbatim subframe.
fn frame(file: &mut Vec<u8>, number: usize, samples: &[u8]) {
    let start = file.len();
    file.extend([0xff, 0xf8, 0x79, 0x08]);
    let number = char::from_u32(number as u32).expect("fewer frames than characters");
    file.extend(number.encode_utf8(&mut [0; 4]).bytes());
    file.extend([((SAMPLES_PER_FRAME - 1) >> 8) as u8, (SAMPLES_PER_FRAME - 1) as u8]);
    file.push(crc(&file[start..], 8, 0x07) as u8);
    file.push(0x02);
    file.extend(samples);
    let crc = crc(&file[start..], 16, 0x8005) as u16;
    file.extend(crc.to_be_bytes());
}

fn crc(bytes: &[u8], bits: u32, polynomial: u32) -> u32 {
    let top = 1 << (bits - 1);
    let mask = (top << 1) - 1;
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte) << (bits - 8), |crc, _| {
            (if crc & top == 0 { crc << 1 } else { crc << 1 ^ polynomial }) & mask
        })
    })
}
