//! MPEG-1 Layer III with ID3v2.3 or ID3v2.4 in front.

use super::{Tags, noise, u32_be};

/// 144 × 128 000 / 44 100, without padding.
const FRAME_LEN: usize = 417;

/// The version of the tag in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Id3 {
    /// No tag at all.
    None,
    /// ID3v2.3 with UTF-16 text.
    V23,
    /// ID3v2.4 with UTF-8 text.
    V24,
}

/// An MP3 of `frames` silent frames of 128 kbit/s (417 bytes a frame) whose ancillary bytes differ by seed.
///
/// # Panics
/// When a tag has no frame in the table of this module.
pub fn mp3(seed: u64, frames: usize, version: Id3, tags: Tags<'_>, cover: Option<&[u8]>, padding: usize) -> Vec<u8> {
    let mut file = match version {
        Id3::None => Vec::new(),
        Id3::V23 | Id3::V24 => tag(version, tags, cover, padding),
    };
    // No main data is used, so all behind the 4 + 32 bytes of head and side information is ancillary. Its bytes stay
    // below 0x80: no false frame starts.
    for bytes in noise(seed, frames * (FRAME_LEN - 36)).chunks(FRAME_LEN - 36) {
        file.extend([0xff, 0xfb, 0x90, 0x04]);
        file.extend([0; 32]);
        file.extend(bytes.iter().map(|byte| byte & 0x7f));
    }
    file
}

fn tag(version: Id3, tags: Tags<'_>, cover: Option<&[u8]>, padding: usize) -> Vec<u8> {
    let mut frames = Vec::new();
    for (key, value) in tags {
        let id = frame_id(version, key);
        let prefix = if id == "TXXX" { Some(*key) } else { None };
        frame(&mut frames, version, id, &text(version, prefix, value));
    }
    if let Some(cover) = cover {
        let mut data = b"\0image/png\0\x03\0".to_vec();
        data.extend(cover);
        frame(&mut frames, version, "APIC", &data);
    }
    frames.extend(vec![0; padding]);
    let mut tag = b"ID3".to_vec();
    tag.extend([if version == Id3::V23 { 3 } else { 4 }, 0, 0]);
    tag.extend(syncsafe(frames.len()));
    tag.extend(frames);
    tag
}

fn frame_id(version: Id3, key: &str) -> &'static str {
    match key {
        "TITLE" => "TIT2",
        "ARTIST" => "TPE1",
        "ALBUMARTIST" => "TPE2",
        "ALBUM" => "TALB",
        "TRACKNUMBER" => "TRCK",
        "DISCNUMBER" => "TPOS",
        "GENRE" => "TCON",
        "COMPILATION" => "TCMP",
        "DATE" if version == Id3::V23 => "TYER",
        "DATE" => "TDRC",
        _ => "TXXX",
    }
}

/// The content of a text frame: encoding, description of a TXXX, value.
fn text(version: Id3, description: Option<&str>, value: &str) -> Vec<u8> {
    let mut data = vec![if version == Id3::V23 { 1 } else { 3 }];
    let mut put = |text: &str, ended: bool| {
        if version == Id3::V23 {
            data.extend([0xff, 0xfe]);
            data.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
            data.extend(ended.then_some([0, 0]).into_iter().flatten());
        } else {
            data.extend(text.bytes());
            data.extend(ended.then_some(0));
        }
    };
    if let Some(description) = description {
        put(description, true);
    }
    put(value, false);
    data
}

fn frame(frames: &mut Vec<u8>, version: Id3, id: &str, data: &[u8]) {
    frames.extend(id.bytes());
    frames.extend(if version == Id3::V23 { u32_be(data.len()) } else { syncsafe(data.len()) });
    frames.extend([0, 0]);
    frames.extend(data);
}

fn syncsafe(len: usize) -> [u8; 4] {
    [21, 14, 7, 0].map(|shift| (len >> shift & 0x7f) as u8)
}
