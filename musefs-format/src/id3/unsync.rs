//! Unsynchronisation: zero bytes stuffed behind 0xFF, so that old players find no frame inside a tag.
//!
//! ID3v2.3 section 5, ID3v2.4 section 6.1. Reading drops the zero behind each 0xFF.

/// Removes stuffing.
pub fn decode(bytes: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut after_ff = false;
    for &byte in bytes {
        if !(after_ff && byte == 0) {
            decoded.push(byte);
        }
        after_ff = byte == 0xff;
    }
    decoded
}

/// Stuffs so much that [`decode`] gives `bytes` back: behind each 0xFF before a zero, and behind a last one.
pub fn protect(bytes: &[u8]) -> Vec<u8> {
    let mut stuffed = Vec::with_capacity(bytes.len());
    for (at, &byte) in bytes.iter().enumerate() {
        stuffed.push(byte);
        if byte == 0xff && bytes.get(at + 1).is_none_or(|&next| next == 0) {
            stuffed.push(0);
        }
    }
    stuffed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_zeros_behind_ff_go() {
        assert_eq!(decode(&[0xff, 0, 0xe0, 0, 0xff, 0, 0]), [0xff, 0xe0, 0, 0xff, 0]);
    }

    proptest! {
        #[test]
        fn protected_bytes_come_back(bytes in prop::collection::vec(prop_oneof![Just(0xff), Just(0), any::<u8>()], 0..40)) {
            prop_assert_eq!(decode(&protect(&bytes)), bytes);
        }
    }
}
