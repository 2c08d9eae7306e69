//! The lengths that RF64 keeps apart (EBU Tech 3306, section 4).

use std::io;

use super::dialect::Name;
use crate::ReadAt;
use crate::limits::DS64_SIZES_MAX;

/// Bytes in front of the table: lengths of file and audio, number of samples, number of entries.
const HEAD_BYTES: u64 = 28;
/// Of an entry: name and length.
const ENTRY_BYTES: usize = 12;

/// What a `ds64` chunk tells.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    audio: Option<u64>,
    others: Vec<(Name, u64)>,
}

impl Sizes {
    /// Those of the chunk with its content at `offset`.
    pub(super) fn read(source: &dyn ReadAt, offset: u64, len: u64) -> io::Result<Self> {
        let limit = HEAD_BYTES as usize + DS64_SIZES_MAX * ENTRY_BYTES;
        let content = source.bytes(offset, len, limit)?;
        let number = |at: usize| Some(u64::from_le_bytes(*content.get(at..)?.first_chunk()?));
        let entry = |bytes: &[u8]| {
            let (name, size) = bytes.split_first_chunk()?;
            Some((*name, u64::from_le_bytes(*size.first_chunk()?)))
        };
        let others = content.get(HEAD_BYTES as usize..).unwrap_or_default().chunks_exact(ENTRY_BYTES);
        Ok(Self { audio: number(8), others: others.filter_map(entry).collect() })
    }

    /// The length of a chunk.
    pub(super) fn of(&self, name: Name, is_audio: bool) -> Option<u64> {
        if is_audio {
            return self.audio;
        }
        self.others.iter().find(|(known, _)| *known == name).map(|(_, size)| *size)
    }
}
