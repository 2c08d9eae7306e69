//! Pictures inside fields: told as facts, never ranges of the source, for they are coded.

use super::base64::decode;
use crate::flac::picture::PictureBlock;
use crate::limits::PICTURE_FIELD_BYTES;
use crate::picture::look;
use crate::{ByteRange, Picture};

/// The picture of a `METADATA_BLOCK_PICTURE` field (a FLAC picture block in base64) or of the older `COVERART`.
pub(super) fn field_picture(name: &str, value: &[u8]) -> Option<Picture> {
    let bytes = decode(&value[..value.len().min(PICTURE_FIELD_BYTES)]);
    if name.eq_ignore_ascii_case("COVERART") {
        return seen(Picture { kind: 3, ..Picture::default() }, &bytes);
    }
    let block = PictureBlock::parse(&bytes)?;
    let data = bytes.get(block.data_offset..).unwrap_or_default();
    seen(block.picture, data)
}

fn seen(mut picture: Picture, data: &[u8]) -> Option<Picture> {
    let range = ByteRange { offset: 0, len: data.len() as u64 };
    if let Some(look) = look(data, range).ok().flatten() {
        picture.adopt(look);
    }
    (!picture.mime.is_empty()).then_some(picture)
}
