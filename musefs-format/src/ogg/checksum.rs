//! The checksum of pages (RFC 3533, section 6): a CRC of 32 bits, polynomial 0x04c11db7, from 0 on, nothing reflected.
//!
//! It is linear over GF(2): a change of some bytes changes it by the checksum of the difference alone, so that
//! a page is numbered anew without its content.

const POLYNOMIAL: u32 = 0x04c1_1db7;

/// The table for a byte, and for one with 1 to 7 further bytes behind it.
static TABLES: [[u32; 256]; 8] = tables();

/// x^(8 · 2^n) modulo the polynomial: what 2^n zero bytes behind something multiply its checksum with.
static ZEROS: [u32; 32] = zeros();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = (byte as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            sum = times_x(sum);
            bit += 1;
        }
        tables[0][byte] = sum;
        byte += 1;
    }
    let mut at = 1;
    while at < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[at - 1][byte];
            tables[at][byte] = before << 8 ^ tables[0][(before >> 24) as usize];
            byte += 1;
        }
        at += 1;
    }
    tables
}

const fn zeros() -> [u32; 32] {
    let mut powers = [0; 32];
    powers[0] = 1 << 8;
    let mut at = 1;
    while at < 32 {
        powers[at] = product(powers[at - 1], powers[at - 1]);
        at += 1;
    }
    powers
}

const fn times_x(sum: u32) -> u32 {
    sum << 1 ^ if sum >> 31 == 1 { POLYNOMIAL } else { 0 }
}

const fn product(a: u32, b: u32) -> u32 {
    let mut sum = 0;
    let mut bit = 32;
    while bit > 0 {
        bit -= 1;
        sum = times_x(sum) ^ if b >> bit & 1 == 1 { a } else { 0 };
    }
    sum
}

/// The checksum of what has `sum`, with `bytes` behind it.
pub(super) fn extend(mut sum: u32, bytes: &[u8]) -> u32 {
    let mut eights = bytes.chunks_exact(8);
    for eight in &mut eights {
        let first = sum ^ u32::from_be_bytes([eight[0], eight[1], eight[2], eight[3]]);
        let by = first.to_be_bytes().into_iter().chain(eight[4..].iter().copied());
        sum = by.zip(TABLES.iter().rev()).fold(0, |sum, (byte, table)| sum ^ table[usize::from(byte)]);
    }
    for byte in eights.remainder() {
        sum = sum << 8 ^ TABLES[0][usize::from((sum >> 24) as u8 ^ byte)];
    }
    sum
}

/// The checksum of what has `sum`, with `count` zero bytes behind it.
pub(super) fn extend_zeros(sum: u32, count: u32) -> u32 {
    let set = (0..32).filter(|bit| count >> bit & 1 == 1);
    set.fold(sum, |sum, bit| product(sum, ZEROS[bit]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_known_sum() {
        // The check value of CRC-32/POSIX without its final complement.
        assert_eq!(extend(0, b"123456789"), !0x765e_7680);
    }

    proptest! {
        #[test]
        fn parts_and_zeros_add_up(bytes in prop::collection::vec(any::<u8>(), 0..100), cut in any::<prop::sample::Index>(), zeros in 0..70_000_u32) {
            let bitwise = bytes.iter().fold(0_u32, |sum, byte| (0..8).fold(sum ^ u32::from(*byte) << 24, |sum, _| times_x(sum)));
            let sum = extend(0, &bytes);
            prop_assert_eq!(sum, bitwise);
            let (head, tail) = bytes.split_at(cut.index(bytes.len() + 1));
            prop_assert_eq!(extend(extend(0, head), tail), sum);
            prop_assert_eq!(extend_zeros(sum, zeros), extend(sum, &vec![0; zeros as usize]));
        }
    }
}
