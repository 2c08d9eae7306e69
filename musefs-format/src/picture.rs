//! What a picture is, told by its first bytes: MIME type and pixels.

use std::io;

use crate::limits::JPEG_SEGMENTS_MAX;
use crate::{ByteRange, ReadAt};

/// What the bytes of a picture say of themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// MIME type.
    pub mime: &'static str,
    /// Pixels; 0 when unknown.
    pub width: u32,
    /// Pixels; 0 when unknown.
    pub height: u32,
}

/// Looks at the picture in `range` of `source`; `None` if it is of no known kind.
///
/// Reads 32 bytes, and for JPEG a few more per segment in front of the frame header.
///
/// # Errors
/// Those of `source`.
pub fn look(source: &(impl ReadAt + ?Sized), range: ByteRange) -> io::Result<Option<Look>> {
    let head = source.bytes(range.offset, range.len, 32)?;
    if head.starts_with(&[0xff, 0xd8, 0xff]) {
        let (width, height) = jpeg_size(source, range)?;
        return Ok(Some(Look { mime: "image/jpeg", width, height }));
    }
    Ok(png(&head).or_else(|| gif(&head)).or_else(|| webp(&head)).or_else(|| bmp(&head)))
}

/// Width and height out of the frame header (ITU T.81, section B.2.2), 0 when it is not met.
fn jpeg_size(source: &(impl ReadAt + ?Sized), range: ByteRange) -> io::Result<(u32, u32)> {
    let mut at = range.offset + 2;
    for _ in 0..JPEG_SEGMENTS_MAX {
        let bytes = source.bytes(at, range.end().saturating_sub(at), 9)?;
        let &[0xff, marker, len_high, len_low, ..] = bytes.as_slice() else { break };
        let is_frame = matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        match marker {
            0xff => at += 1,
            0x01 | 0xd0..=0xd7 => at += 2,
            0xd9 | 0xda => break,
            _ if is_frame => {
                let Some(size) = bytes.get(5..9) else { break };
                return Ok((u32::from(be16(&size[2..])), u32::from(be16(size))));
            }
            _ => at += 2 + u64::from(u16::from_be_bytes([len_high, len_low])),
        }
    }
    Ok((0, 0))
}

/// PNG (W3C PNG, section 11.2.1): IHDR is the first chunk.
fn png(head: &[u8]) -> Option<Look> {
    let rest = head.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    let size = rest.get(8..16).filter(|_| rest[4..8] == *b"IHDR");
    let size = size.map_or((0, 0), |size| (be32(size), be32(&size[4..])));
    Some(Look { mime: "image/png", width: size.0, height: size.1 })
}

/// GIF89a specification, section 18.
fn gif(head: &[u8]) -> Option<Look> {
    let rest = head.strip_prefix(b"GIF87a").or_else(|| head.strip_prefix(b"GIF89a"))?;
    let size = rest.get(..4).map_or((0, 0), |size| (le16(size), le16(&size[2..])));
    Some(Look { mime: "image/gif", width: u32::from(size.0), height: u32::from(size.1) })
}

/// WebP (RFC 9649, section 2): extended, lossless or lossy.
fn webp(head: &[u8]) -> Option<Look> {
    if !head.starts_with(b"RIFF") || head.get(8..12)? != b"WEBP" {
        return None;
    }
    let size = match (head.get(12..16), head.get(20..30)) {
        (Some(b"VP8X"), Some(data)) => (1 + le24(&data[4..]), 1 + le24(&data[7..])),
        (Some(b"VP8L"), Some(data)) if data[0] == 0x2f => {
            let bits = u32::from_le_bytes([data[1], data[2], data[3], data[4]]);
            (1 + (bits & 0x3fff), 1 + (bits >> 14 & 0x3fff))
        }
        (Some(b"VP8 "), Some(data)) => (u32::from(le16(&data[6..]) & 0x3fff), u32::from(le16(&data[8..]) & 0x3fff)),
        _ => (0, 0),
    };
    Some(Look { mime: "image/webp", width: size.0, height: size.1 })
}

/// BMP: the size of the header behind the file header tells its kind; heights may be negative.
fn bmp(head: &[u8]) -> Option<Look> {
    let rest = head.strip_prefix(b"BM")?;
    let (len, size) = (rest.get(12..16)?, rest.get(16..24)?);
    let size = match le32(len) {
        12 => (u32::from(le16(size)), u32::from(le16(&size[2..]))),
        40..=124 => (le32(size), le32(&size[4..]).cast_signed().unsigned_abs()),
        _ => return None,
    };
    Some(Look { mime: "image/bmp", width: size.0, height: size.1 })
}

fn be16(bytes: &[u8]) -> u16 {
    u16::from_be_bytes([bytes[0], bytes[1]])
}

fn be32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn le16(bytes: &[u8]) -> u16 {
    u16::from_le_bytes([bytes[0], bytes[1]])
}

fn le24(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0])
}

fn le32(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
    use super::*;

    type Seen = Option<(&'static str, u32, u32)>;

    fn seen(bytes: &[u8]) -> Seen {
        let range = ByteRange { offset: 0, len: bytes.len() as u64 };
        look(bytes, range).unwrap().map(|look| (look.mime, look.width, look.height))
    }

    fn jpeg(segments: usize) -> Vec<u8> {
        let mut bytes = vec![0xff, 0xd8];
        bytes.extend([0xff, 0xe1, 0, 4, 1, 2].repeat(segments));
        bytes.extend([0xff, 0xc0, 0, 17, 8, 0, 30, 0, 40, 3]);
        bytes
    }

    #[test]
    fn kinds_and_sizes_are_told() {
        let bmp = [&b"BM"[..], &[0; 12], &[40, 0, 0, 0, 9, 0, 0, 0], &(-8_i32).to_le_bytes()].concat();
        let table: [(Vec<u8>, Seen); 10] = [
            (jpeg(2), Some(("image/jpeg", 40, 30))),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x05\0\0\0\x06".to_vec(), Some(("image/png", 5, 6))),
            (b"\x89PNG\r\n\x1a\n\0\0".to_vec(), Some(("image/png", 0, 0))),
            (b"GIF89a\x03\x01\x04\0".to_vec(), Some(("image/gif", 259, 4))),
            (b"RIFF....WEBPVP8X....\0\0\0\0\x09\0\0\x13\0\0".to_vec(), Some(("image/webp", 10, 20))),
            (b"RIFF....WEBPVP8L....\x2f\x09\xc0\x04\0\0\0\0\0\0".to_vec(), Some(("image/webp", 10, 20))),
            (b"RIFF....WEBPVP8 ....\0\0\0\x9d\x01\x2a\x0a\0\x14\0".to_vec(), Some(("image/webp", 10, 20))),
            (bmp, Some(("image/bmp", 9, 8))),
            (b"BM, a text".to_vec(), None),
            (Vec::new(), None),
        ];
        for (bytes, expected) in table {
            assert_eq!(seen(&bytes), expected, "{:?}", bytes.escape_ascii().to_string());
        }
    }

    #[test]
    fn jpeg_segments_are_walked_up_to_the_limit() {
        assert_eq!(seen(&jpeg(JPEG_SEGMENTS_MAX - 1)), Some(("image/jpeg", 40, 30)));
        assert_eq!(seen(&jpeg(JPEG_SEGMENTS_MAX)), Some(("image/jpeg", 0, 0)));
    }
}
