//! Tables of offsets into their own file, mended while they are read.
//!
//! Where a served file is longer in front of its audio than its source, tables that point at the audio must
//! point further. They may be long, so that they are neither stored nor made: a splice has a range of the source and this
//! rule, which gives the same bytes for any range of it.

/// Entries of equal length, each with an offset at the same place, big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// Offset in the source of the first byte that is meant.
    pub at: u64,
    /// Bytes of the first entry that lie before `at`, less than `entry_bytes`.
    pub skipped: u8,
    /// Bytes of an entry, at least 1.
    pub entry_bytes: u8,
    /// Where in an entry the offset stands.
    pub field: u8,
    /// Whether it has 64 bits; else 32.
    pub wide: bool,
    /// Offsets from this one on are moved.
    pub past: u64,
    /// By how much.
    pub delta: i64,
}

impl Offsets {
    /// The same table without its next `bytes`.
    pub(crate) fn skip(self, bytes: u64) -> Self {
        let skipped = (u64::from(self.skipped) + bytes) % u64::from(self.entry_bytes.max(1));
        Self { at: self.at + bytes, skipped: skipped as u8, ..self }
    }

    /// Mends `bytes`, which are those of the source from `at` on. Of an offset that is cut by either end of them the rest is
    /// got by `fetch`, which fills a buffer with the source's bytes from an offset on.
    ///
    /// # Errors
    /// Those of `fetch`.
    pub fn mend<E>(&self, bytes: &mut [u8], mut fetch: impl FnMut(u64, &mut [u8]) -> Result<(), E>) -> Result<(), E> {
        let width = if self.wide { 8 } else { 4 };
        let skipped = usize::from(self.skipped);
        let mut entry = 0;
        loop {
            // Counted from the first byte of the first entry.
            let start = entry + usize::from(self.field);
            if start >= skipped + bytes.len() {
                return Ok(());
            }
            let (from, to) = (start.max(skipped) - skipped, (start + width).max(skipped) - skipped);
            if let Some(field) = bytes.get_mut(from..to).filter(|field| field.len() == width) {
                self.mend_one(field);
            } else if to > from {
                let mut whole = [0; 8];
                let whole = &mut whole[..width];
                fetch(self.at + start as u64 - skipped as u64, whole)?;
                self.mend_one(whole);
                let to = to.min(bytes.len());
                let cut = from + skipped - start;
                bytes[from..to].copy_from_slice(&whole[cut..cut + to - from]);
            }
            entry += usize::from(self.entry_bytes.max(1));
        }
    }

    /// An offset that would leave its field stays: it pointed nowhere.
    fn mend_one(&self, field: &mut [u8]) {
        let old = field.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
        let most = if self.wide { u64::MAX } else { u64::from(u32::MAX) };
        let new = old.checked_add_signed(self.delta).filter(|new| old >= self.past && *new <= most);
        let new = new.unwrap_or(old).to_be_bytes();
        field.copy_from_slice(&new[new.len() - field.len()..]);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use proptest::prelude::*;

    use super::*;
    use crate::SpliceBuilder;
    use crate::testing::{materialise, materialise_range};

    fn table(wide: bool, past: u64, delta: i64) -> Offsets {
        Offsets { at: 0, skipped: 0, entry_bytes: if wide { 8 } else { 4 }, field: 0, wide, past, delta }
    }

    #[test]
    fn offsets_behind_a_place_move() {
        let none = |_, _: &mut [u8]| -> Result<(), ()> { unreachable!("no offset is cut") };
        for (old, past, delta, new) in [
            (99, 100, 7, 99),
            (100, 100, 7, 107),
            (u32::MAX - 7, 100, 7, u32::MAX),
            (u32::MAX - 6, 100, 7, u32::MAX - 6),
            (100, 100, -100, 0),
            (100, 100, -101, 100),
        ] {
            let mut bytes = old.to_be_bytes();
            table(false, past, delta).mend(&mut bytes, none).unwrap();
            assert_eq!(u32::from_be_bytes(bytes), new, "{old}");
        }
        let mut bytes = u64::from(u32::MAX).to_be_bytes();
        table(true, 0, 1).mend(&mut bytes, none).unwrap();
        assert_eq!(u64::from_be_bytes(bytes), 1 << 32);
    }

    proptest! {
        #[test]
        fn a_range_is_the_same_part_of_the_whole(
            source in prop::collection::vec(any::<u8>(), 1..200),
            (before, behind) in (0..20_u8, 0..20_u8),
            wide in any::<bool>(),
            past in prop_oneof![Just(0), Just(1 << 31), Just(1 << 63)],
            delta in any::<i32>(),
            (offset, len) in (0..200_u64, 0..40_u64),
        ) {
            let entry_bytes = before + if wide { 8 } else { 4 } + behind;
            let offsets = Offsets { entry_bytes, field: before, ..table(wide, past, delta.into()) };
            let mut builder = SpliceBuilder::default();
            builder.offsets(offsets, source.len() as u64 / u64::from(entry_bytes) * u64::from(entry_bytes));
            builder.made(b"end");
            let splice = builder.finish();
            let whole = materialise(&splice, &source);
            let start = offset.min(splice.len()) as usize;
            let end = (offset + len).min(splice.len()) as usize;
            prop_assert_eq!(materialise_range(&splice, &source, offset, len), &whole[start..end]);
        }
    }
}
