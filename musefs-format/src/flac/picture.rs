//! Picture blocks (RFC 9639, section 8.8).

use crate::Picture;

/// What stands in front of the picture's own bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PictureBlock {
    /// What the block claims; its range is empty.
    pub(crate) picture: Picture,
    /// Of the picture's first byte in the block.
    pub(crate) data_offset: usize,
    /// What the block says of the length of the picture in bytes.
    pub(crate) data_len: u32,
}

impl PictureBlock {
    /// Reads a block from its first bytes; `None` if they end before the picture does begin.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let kind = number(&mut rest)?;
        let mime = text(&mut rest)?;
        let description = text(&mut rest)?;
        let [width, height, _depth, _colours, data_len] = [(); 5].map(|()| number(&mut rest));
        let picture = Picture {
            kind: u8::try_from(kind).unwrap_or(0),
            mime,
            width: width?,
            height: height?,
            description,
            ..Picture::default()
        };
        Some(Self { picture, data_offset: bytes.len() - rest.len(), data_len: data_len? })
    }

    /// Whether the block holds an address instead of a picture.
    pub(crate) fn is_link(&self) -> bool {
        self.picture.mime == "-->"
    }
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let (number, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(u32::from_be_bytes(*number))
}

fn text(rest: &mut &[u8]) -> Option<String> {
    let len = number(rest)? as usize;
    let (text, behind) = rest.split_at_checked(len)?;
    *rest = behind;
    Some(String::from_utf8_lossy(text).into_owned())
}
