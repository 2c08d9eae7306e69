//! Every limit on what a file can make this crate do, in one place.

/// Most bytes of text that one value may have when it is read; longer ones are cut, with a problem.
pub const VALUE_BYTES_MAX: usize = 1 << 20;
