//! The fuzz targets' checks on their seeds, whole, cut and damaged, without a fuzzer.

#[path = "../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "a library's file, used as a module")]
mod fuzz;

use fuzz::{checks, seeds};

/// Damaged copies of each seed.
const COPIES: u64 = 150;
/// Every length up to this is tried, then a sample: frames tell nothing new.
const HEAD_BYTES: usize = 400;

#[test]
fn seeds_hold() {
    for (name, format, seed) in seeds::seeds() {
        println!("{name}");
        checks::edited(format, &seed);
        for len in (0..seed.len()).filter(|len| *len < HEAD_BYTES || len % 97 == 0) {
            checks::edited(format, &seed[..len]);
        }
    }
}

#[test]
fn damaged_seeds_hold() {
    for (name, format, seed) in seeds::seeds() {
        for copy in 1..=COPIES {
            println!("{name} {copy}");
            let damaged = damaged(&seed, copy);
            checks::edited(format, &damaged);
            checks::ranges(&damaged);
        }
    }
}

/// A copy with up to eight other bytes, most of them near the start, where lengths and flags are.
fn damaged(seed: &[u8], copy: u64) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    let mut state = copy.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // xorshift64: no more than numbers that are equal in each run.
    let mut number = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    for _ in 0..number() % 8 + 1 {
        let end = if number() % 4 == 0 { bytes.len() } else { bytes.len().min(300) };
        let at = number() % end;
        bytes[at] = number() as u8;
    }
    bytes
}
